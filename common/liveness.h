/* Is the process of that number alive, was it when the pins were read, and since when? */
#ifndef SB_LIVENESS_H
#define SB_LIVENESS_H

#include "fence.h"
#include "idmap.h"

#include <stdbool.h>

#define SB_LIVENESS_ANSWERS 1024

/* Free with sb_liveness_free. */
struct sb_liveness {
	int procfs;	    /* owned; or -errno */
	bool named;	    /* the user named that procfs: the numbers are those of its namespace */
	bool numbers_prove; /* else every number counts as alive */
	struct sb_idmap alive_at_scan;
	int64_t scanned_ns; /* wall clock; INT64_MAX: no scan yet */
	struct sb_liveness_answer {
		pid_t pid; /* 0: of nobody */
		bool alive;
		bool start_asked;
		bool started_known;
		int64_t started_ns;
	} answers[SB_LIVENESS_ANSWERS]; /* a slot for each pid of the same remainder */
};

/*
 * A million entries bear few pids, so answers are remembered until the end of the run or the scan.
 * That is sound because a run judges ages by the time at which it began: what a later process makes
 * under a number that was dead is too young to go.
 *
 * procfs_given and trust_pidns as for the scan. Outside the initial pid namespace numbers prove
 * nothing, for the launcher may live outside of ours; nor where that cannot be learnt.
 */
void sb_liveness_start(struct sb_liveness *liveness, const char *procfs, bool procfs_given,
		       bool trust_pidns);

/*
 * To be called right before the pins are read: remembers who lives. A process that lived then may
 * bind its entry after that, and be dead when it is asked about. -errno when that cannot be learnt:
 * then no scan proves anything.
 */
int sb_liveness_note_scan(struct sb_liveness *liveness);

/* What is known of a number; with its start only if wanted, for that costs a file. */
void sb_liveness_ask(struct sb_liveness *liveness, pid_t pid, bool want_start,
		     struct sb_pid_facts *ret);

void sb_liveness_free(struct sb_liveness *liveness);

#endif
