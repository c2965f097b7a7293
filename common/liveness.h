/* Is the process of that number alive, was it when the pins were read, and since when? */
#ifndef SB_LIVENESS_H
#define SB_LIVENESS_H

#include "fence.h"
#include "idmap.h"

#include <stdbool.h>

/* Free with sb_liveness_free. */
struct sb_liveness {
	int procfs;	    /* owned; -1 when there is none */
	bool numbers_prove; /* else every number counts as alive */
	struct sb_idmap alive_at_scan;
	bool listed;	    /* alive_at_scan is known */
	int64_t scanned_ns; /* wall clock; INT64_MAX: no scan yet */
	pid_t last_pid;	    /* entries of one launcher come in runs */
	bool last_alive;
	bool last_valid;
};

/*
 * procfs_given and trust_pidns as for the scan. Outside the initial pid namespace numbers prove
 * nothing, for the launcher may live outside of ours; nor where that cannot be learnt.
 */
void sb_liveness_start(struct sb_liveness *liveness, const char *procfs, bool procfs_given,
		       bool trust_pidns);

/*
 * To be called right before the pins are read: remembers who lives. A process that lived then may
 * bind its entry after that, and be dead when it is asked about.
 */
void sb_liveness_note_scan(struct sb_liveness *liveness);

/* What is known of a number; with its start only if wanted, for that costs a file. */
void sb_liveness_ask(struct sb_liveness *liveness, pid_t pid, bool want_start,
		     struct sb_pid_facts *ret);

void sb_liveness_free(struct sb_liveness *liveness);

#endif
