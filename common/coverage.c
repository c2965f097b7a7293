#include "coverage.h"

#include "scope.h"
#include "text.h"

#include <stdio.h>
#include <string.h>

char *sb_coverage_describe(const struct sb_coverage *coverage, char *buffer, size_t size)
{
	snprintf(buffer, size, "%s (%s)", sb_level_name(coverage->level),
		 sb_evidence_name(coverage->evidence));
	return buffer;
}

static void say_gap(const struct sb_gap *gap, enum sb_log_level level)
{
	const char *reason = gap->reason ? gap->reason : "out of memory";
	sb_auto_free char *comm = sb_text_escape(gap->comm, strlen(gap->comm));
	char uid[16] = "?";

	if (gap->pid == 0) {
		sb_log_say(level, "gap: %s", reason);
		return;
	}
	if (gap->uid_known)
		snprintf(uid, sizeof(uid), "%u", gap->uid);
	if (gap->tid != gap->pid)
		sb_log_say(level, "gap: pid %d, thread %d (%s), uid %s: %s", (int)gap->pid,
			   (int)gap->tid, comm ? comm : "?", uid, reason);
	else
		sb_log_say(level, "gap: pid %d (%s), uid %s: %s", (int)gap->pid, comm ? comm : "?",
			   uid, reason);
}

void sb_coverage_say_gaps(const struct sb_coverage *coverage, size_t most, enum sb_log_level level)
{
	size_t said = coverage->gaps_kept < most ? coverage->gaps_kept : most;

	for (size_t i = 0; i < said; i++)
		say_gap(&coverage->gaps[i], level);
	if (coverage->gap_count > said)
		sb_log_say(level, "gap: and %zu more", coverage->gap_count - said);
}
