#include "evidence.h"

#include <string.h>

static const char *const evidence_names[SB_EVIDENCE_COUNT] = {
	[SB_EVIDENCE_AUTO] = "auto",
	[SB_EVIDENCE_KERNEL] = "kernel",
	[SB_EVIDENCE_NAMESPACES] = "namespaces",
	[SB_EVIDENCE_MOUNTINFO] = "mountinfo",
};

static const char *const level_names[SB_LEVEL_COUNT] = {
	[SB_LEVEL_UNPROVEN] = "unproven",
	[SB_LEVEL_COVERED] = "covered",
	[SB_LEVEL_COMPLETE] = "complete",
};

const char *sb_evidence_name(enum sb_evidence evidence)
{
	return evidence_names[evidence];
}

const char *sb_level_name(enum sb_level level)
{
	return level_names[level];
}

bool sb_evidence_parse(const char *name, enum sb_evidence *ret)
{
	for (int i = 0; i < SB_EVIDENCE_COUNT; i++)
		if (strcmp(name, evidence_names[i]) == 0) {
			*ret = (enum sb_evidence)i;
			return true;
		}
	return false;
}

bool sb_level_parse_required(const char *name, enum sb_level *ret)
{
	for (int i = SB_LEVEL_COVERED; i < SB_LEVEL_COUNT; i++)
		if (strcmp(name, level_names[i]) == 0) {
			*ret = (enum sb_level)i;
			return true;
		}
	return false;
}
