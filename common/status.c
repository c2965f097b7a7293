#include "status.h"

#include "scope.h"

static const char *const meanings[SB_STATUS_COUNT] = {
	[SB_STATUS_DONE] = "done",
	[SB_STATUS_FAILED] = "something failed: read the messages",
	[SB_STATUS_REFUSED] = "wrong usage, or refused as unsafe; nothing was touched",
	[SB_STATUS_UNPROVEN] = "unproven: what needs proof was kept; retry, or run as root",
	[SB_STATUS_MORE] = "more to do: out of budget, or stopped by a signal; run again",
	[SB_STATUS_YOUNG] = "kept for age only; run again later",
	[SB_STATUS_LOCKED] = "the lock was not obtained; run again",
	[SB_STATUS_PINNED] = "pinned: leave it alone",
};

static const enum sb_status by_weight[] = {
	SB_STATUS_REFUSED,  SB_STATUS_LOCKED, SB_STATUS_FAILED, SB_STATUS_PINNED,
	SB_STATUS_UNPROVEN, SB_STATUS_MORE,   SB_STATUS_YOUNG,
};

enum sb_status sb_status_worst(sb_status_set set)
{
	for (unsigned int i = 0; i < sizeof(by_weight) / sizeof(by_weight[0]); i++)
		if (set & SB_STATUS_BIT(by_weight[i]))
			return by_weight[i];
	return SB_STATUS_DONE;
}

const char *sb_status_meaning(enum sb_status status)
{
	return meanings[status];
}

char *sb_status_help(sb_status_set set)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	if (!f)
		return NULL;
	fputs("Exit status:\n", f);
	for (int i = 0; i < SB_STATUS_COUNT; i++)
		if (set & SB_STATUS_BIT(i))
			fprintf(f, "  %d  %s\n", i, meanings[i]);
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}
