/*
 * The words of the scan's verdict, shared by whoever asks for one and whoever gives one: kinds of
 * evidence, levels of proof, gaps. One table each, so that option, text and JSON cannot drift.
 */
#ifndef SB_EVIDENCE_H
#define SB_EVIDENCE_H

#include "proc.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* From the strongest down. */
enum sb_evidence {
	SB_EVIDENCE_AUTO, /* the strongest that can be had; only ever asked for */
	SB_EVIDENCE_KERNEL,
	SB_EVIDENCE_NAMESPACES,
	SB_EVIDENCE_MOUNTINFO,
	SB_EVIDENCE_COUNT,
};

/* From the weakest up. */
enum sb_level {
	SB_LEVEL_UNPROVEN,
	SB_LEVEL_COVERED,
	SB_LEVEL_COMPLETE,
	SB_LEVEL_COUNT,
};

const char *sb_evidence_name(enum sb_evidence evidence);
const char *sb_level_name(enum sb_level level);

/* The value of that name; false when there is none. Only covered and complete can be required. */
bool sb_evidence_parse(const char *name, enum sb_evidence *ret);
bool sb_level_parse_required(const char *name, enum sb_level *ret);

/* Something that could not be looked at. */
struct sb_gap {
	pid_t pid; /* 0: of no task in particular */
	pid_t tid;
	bool uid_known;
	uid_t uid;
	char comm[SB_PROC_COMM_MAX];
	char *reason; /* owned: what is missing, and what would close it */
};

#define SB_GAPS_KEPT 20 /* gaps told in full; the rest are counted */

struct sb_coverage {
	enum sb_level level;
	bool complete;
	bool covered;
	enum sb_evidence evidence; /* the weakest kind that the verdict rests on */
	size_t namespaces;	   /* distinct mount namespaces read */
	size_t tasks;		   /* tasks looked at, threads included */
	size_t passes;		   /* listings, or walks */
	size_t gap_count;
	struct sb_gap gaps[SB_GAPS_KEPT];
	size_t gaps_kept;
	uint64_t elapsed_ns;
};

#endif
