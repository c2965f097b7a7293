/* Removing one judged entry, and nothing else, whatever others do to the tree meanwhile. */
#ifndef SB_RECLAIM_H
#define SB_RECLAIM_H

#include "fence.h"

#include <stddef.h>

/* What one look at an entry tells, relative to its directory. -errno but for -ENOENT (gone). */
int sb_reclaim_look(int dir, const char *name, struct sb_facts *ret);

/* Whether to stop inside a large tree, of which so much went; asked after each removal. */
struct sb_reclaim_patience {
	bool (*ended)(uint64_t below, void *closure);
	void *closure;
};

/* What came of it. */
struct sb_reclaimed {
	enum sb_verdict verdict; /* REMOVE: gone, FAILED, MOUNTED, POPULATED, VANISHED */
	int error;		 /* -errno of FAILED */
	bool unfinished; /* FAILED for want of patience alone: the rest is for the next pass */
	uint64_t below;	 /* what was removed below it */
};

/*
 * Removes the entry called name in dir, if it still is what was judged. A directory goes with all
 * that is below it when patience is given for that, else only if it is empty. Links go as
 * themselves; nothing but directories is ever opened, and those only when they are on the entry's
 * own mount. What cannot be removed stays, and does not keep what is beside it; but a mount ends it
 * at once.
 */
void sb_reclaim_entry(int dir, const char *name, const struct sb_facts *judged,
		      const struct sb_reclaim_patience *patience, struct sb_reclaimed *ret);

/* What sb_reclaim_entry would come to for a directory that may only go empty: nothing is touched.
 */
void sb_reclaim_probe(int dir, const char *name, const struct sb_facts *judged,
		      struct sb_reclaimed *ret);

#endif
