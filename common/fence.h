/*
 * May this entry go? Pure: facts in, verdict out. The questions are asked in the contract's order,
 * cheap facts first, so that costly ones (is the process alive, is the entry pinned) are gathered
 * only for entries to which nothing cheaper objects.
 */
#ifndef SB_FENCE_H
#define SB_FENCE_H

#include "names.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* What is decided about an entry; its name is the JSON key, the word in the text, the counter. */
enum sb_verdict {
	SB_VERDICT_REMOVE, /* no objection (so far) */
	SB_VERDICT_FAILED, /* nothing objected, but it could not be removed */
	SB_VERDICT_PINNED,
	SB_VERDICT_UNPROVEN,
	SB_VERDICT_ALIVE,
	SB_VERDICT_YOUNG,
	SB_VERDICT_FOREIGN,
	SB_VERDICT_WRONG_MODE,
	SB_VERDICT_NOT_DIRECTORY,
	SB_VERDICT_MALFORMED,
	SB_VERDICT_POPULATED,
	SB_VERDICT_BELOW_THRESHOLD,
	SB_VERDICT_MOUNTED,
	SB_VERDICT_VANISHED,
	SB_VERDICT_COUNT,
};

/* "pinned", "wrong_mode", ...: as in JSON. */
const char *sb_verdict_name(enum sb_verdict verdict);

/* A set of verdicts: those that a command can give. */
typedef unsigned int sb_verdict_set;

#define SB_VERDICT_BIT(verdict) (1U << (verdict))

/* The rules of one command. What differs between the two that sweep is here and nowhere else. */
struct sb_rules {
	sb_verdict_set kept;   /* the verdicts under which it can keep an entry */
	bool legacy;	       /* mkdtemp's shape instead of the keyed one */
	bool directories_only; /* anything else is kept */
	bool exact_mode;       /* only SB_FENCE_MODE will do */
	bool whole_trees;      /* a populated directory goes with all that is below it */
	struct sb_prefixes prefixes;
	uint64_t min_age_ns; /* what is younger is kept */
	uint64_t max_age_ns; /* keyed: older than this, a recycled pid keeps nothing; legacy: not
				older than this is kept */
	uint64_t threshold;  /* so many must qualify before the first goes; 0 and 1: no such rule */
};

#define SB_FENCE_MODE	 0700				/* what mkdtemp makes */
#define SB_FENCE_MAX_AGE (UINT64_C(86400) * 1000000000) /* 24 h in ns: no sandbox lives a day */
#define SB_FENCE_MIN_AGE \
	(UINT64_C(60) * 1000000000) /* 60 s: a child may bind after the launcher died */
#define SB_FENCE_BUDGET (UINT64_C(10) * 1000000000) /* 10 s a run */
#define SB_FENCE_PILE	64			    /* that many strays are no accident */

/* As shipped; sweep rules borrow the prefixes. */
struct sb_rules sb_rules_sweep(struct sb_prefixes prefixes);
struct sb_rules sb_rules_legacy(void);

/* Whether an entry of that name concerns the rules at all, and as what. */
enum sb_shape sb_fence_shape(const struct sb_rules *rules, const char *name, pid_t *ret_pid);

/* What a single look at the entry tells. */
struct sb_facts {
	bool gone;
	bool covered; /* something is mounted on it: what is seen is not the entry */
	mode_t mode;  /* with the file type */
	uid_t uid;
	int64_t mtime_ns; /* wall clock */
	dev_t dev;
	uint64_t inode;
};

/* What is known of the process whose number the entry bears. */
struct sb_pid_facts {
	bool alive;
	bool started_known;
	int64_t started_ns; /* wall clock, when alive and known */
	/*
	 * When the pins were read: a process that lived then may have bound the entry since, and
	 * died. INT64_MAX: they were not read yet.
	 */
	int64_t scanned_ns;
	bool alive_at_scan;
};

/* What the scan says of the entry. */
struct sb_pin_facts {
	bool pinned;
	bool only_mounted_here;
	bool proven; /* absence of a pin is established as far as was required */
};

/*
 * The three stages. SB_VERDICT_REMOVE means that this stage does not object; the entry may go only
 * when all three that apply have said so.
 */
enum sb_verdict sb_fence_look(const struct sb_rules *rules, enum sb_shape shape, uid_t target,
			      int64_t now_ns, const struct sb_facts *facts);
enum sb_verdict sb_fence_process(const struct sb_rules *rules, int64_t now_ns,
				 const struct sb_facts *facts, const struct sb_pid_facts *process);
enum sb_verdict sb_fence_pins(const struct sb_facts *facts, const struct sb_pin_facts *pins);

/* The age in nanoseconds; a stamp in the future has none: 0, and *ret_future. */
uint64_t sb_fence_age(int64_t now_ns, int64_t mtime_ns, bool *ret_future);

#endif
