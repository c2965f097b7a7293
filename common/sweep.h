/*
 * One pass over one root: look at each entry, ask the fences, remove what may go, count the rest.
 * Shared by sb-sweep and sb-legacy-heal, which differ in their rules alone.
 */
#ifndef SB_SWEEP_H
#define SB_SWEEP_H

#include "age.h"
#include "clock.h"
#include "creds.h"
#include "fence.h"
#include "liveness.h"
#include "pinscan.h"

#define SB_SWEEP_FAILURES_KEPT 10

struct sb_sweep_failure {
	char *name; /* owned: its true bytes */
	int error;  /* errno, positive */
};

/* What a pass found and did: one per root, and one for their sum. */
struct sb_sweep_counts {
	uint64_t seen;
	uint64_t removed_dirs;	/* in a dry run: what would be */
	uint64_t removed_files; /* anything but a directory */
	uint64_t verdict[SB_VERDICT_COUNT];
	uint64_t by_age[SB_VERDICT_COUNT][SB_AGE_COUNT];
};

struct sb_root {
	const char *path; /* borrowed */
	uid_t uid;	  /* the target uid there */
	bool required;	  /* given by the user: its absence is a failure */
	int fd;		  /* -1 until opened */
	dev_t dev;
	uint64_t inode;
	bool present;
	bool duplicate;	 /* the same directory as an earlier root: not swept twice */
	int error;	 /* errno, positive; 0: none */
	const char *why; /* that error in better words than those of errno, or NULL; a constant */
	struct sb_sweep_counts counts;
	struct sb_sweep_failure failures[SB_SWEEP_FAILURES_KEPT];
	size_t failures_kept;
	bool engaged;  /* there was a pile: enough candidates to touch any */
	bool finished; /* the walk reached the end */
	bool foreign_known;
	uid_t foreign_uid;     /* of the first foreign entry */
	uint64_t inodes_total; /* 0: the file system does not count them */
	uint64_t inodes_before;
	uint64_t inodes_after; /* in a dry run: at most so many would be used */
};

struct sb_sweep {
	/* What is asked for. */
	struct sb_rules rules;
	bool dry_run;
	uint64_t budget_ns; /* 0: none. For each root's part of the run; scanning does not count */
	struct sb_pinscan_options scan_options;
	/* Told of each entry decided, by its true bytes. May be NULL. */
	void (*tell)(const struct sb_root *root, const char *name, enum sb_verdict verdict,
		     int error, void *closure);
	void *tell_closure;
	/*
	 * Wall clock at the start of the run, for all ages: whoever comes later, perhaps after the
	 * scan and under a number known as dead, makes what is too young to go.
	 */
	int64_t now_ns;
	/* What comes of it. */
	struct sb_liveness liveness;
	struct sb_pinscan *scan; /* NULL: none was made */
	int scan_error;		 /* -errno: one was tried, and there is no result */
	bool scanned;
	struct sb_budget budget;
	bool interrupted;
	uint64_t seen;	  /* entries of all roots so far */
	uint64_t removed; /* of them and below them; in a dry run those that would be */
};

/*
 * Opens a root and checks that it is a directory, no link; its error and presence are told there.
 */
void sb_root_open(struct sb_root *root);
void sb_root_close(struct sb_root *root);

/* Whether it is open, and no other root's directory again: there is something to tell of it. */
bool sb_root_is_swept(const struct sb_root *root);

/* Makes a sweep ready: the options above must be set. Starts the budget. */
void sb_sweep_start(struct sb_sweep *sweep);

/*
 * One pass over an open root. What happens to entries is counted there; an error that ends the
 * pass is told as the root's. Whatever ends it early leaves finished false.
 */
void sb_sweep_root(struct sb_sweep *sweep, struct sb_root *root);

/* Adds the counts of a root to a sum. */
void sb_sweep_add(struct sb_sweep_counts *sum, const struct sb_sweep_counts *counts);

/* The coverage of the scan that was made; NULL when none was needed. */
const struct sb_coverage *sb_sweep_coverage(const struct sb_sweep *sweep);

void sb_sweep_free(struct sb_sweep *sweep);

#endif
