/*
 * The processes of the target uid that were met, by identity, each with the verdict on it, which
 * is passed once and stands.
 */
#ifndef SB_STRAYTABLE_H
#define SB_STRAYTABLE_H

#include "idmap.h"
#include "process.h"
#include "spare.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sb_stray {
	struct sb_process process;
	uint64_t inode;		  /* of its directory in procfs; 0: unknown */
	struct sb_pipe_ends ends; /* when it was met; not read while no pipe counts */
	bool judged;
	enum sb_spare spare;
	bool termed, killed; /* signalled so */
	bool ended;	     /* after its end nothing of it is asked any more */
	int error;	     /* -errno of a signal that it could not be sent */
};

/* Zero-initialize, set view and facts; free with sb_straytable_free. */
struct sb_straytable {
	const struct sb_process_view *view;
	struct sb_spare_facts *facts;
	struct sb_stray **item; /* in the order they were met */
	size_t count, capacity;
	struct sb_idmap by_pid; /* the last one met under a number: its place in item */
	size_t held, hold_max;	/* pidfds that are kept, of how many */
};

void sb_straytable_start(struct sb_straytable *table, const struct sb_process_view *view,
			 struct sb_spare_facts *facts);
void sb_straytable_free(struct sb_straytable *table);

/*
 * Who has this number now. *ret: the process of the target uid, known before or new (*ret_new);
 * NULL when it is another uid's. Not judged yet when new. -ESRCH: departed before it was known
 * whether it is the uid's, or while it was looked at. Else it could not be read.
 */
int sb_straytable_meet(struct sb_straytable *table, const struct sb_proc_id *id,
		       struct sb_stray **ret, bool *ret_new);

/* Reads its pipes once more if that failed; -errno if it fails again. */
int sb_straytable_learn_ends(struct sb_straytable *table, struct sb_stray *stray);

/* Judges one that was not judged yet; as sb_spare_judge. */
int sb_straytable_judge(struct sb_straytable *table, struct sb_stray *stray);

/*
 * Not one of those that were listed after all: it took the number of one over meanwhile. It is left
 * alone, and who has that number at the next listing is met anew.
 */
void sb_straytable_disown(struct sb_straytable *table, struct sb_stray *stray);

/* A stray that has not ended, as far as is known. */
bool sb_stray_lives(const struct sb_stray *stray);

/* Finds out who has ended meanwhile. */
void sb_straytable_refresh(struct sb_straytable *table);

/* Sends a signal; an end or a refusal is noted. Whether it was sent. */
bool sb_straytable_signal(struct sb_straytable *table, struct sb_stray *stray, int signal);

/*
 * Waits until no stray lives that was signalled (any: until one of them ended), or the deadline of
 * the monotonic clock, in nanoseconds, or SIGINT or SIGTERM.
 */
void sb_straytable_wait(struct sb_straytable *table, uint64_t deadline_ns, bool any);

#endif
