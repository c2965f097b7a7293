/* Ending the strays of a user: TERM, a time of grace, then KILL in rounds until none is left. */
#ifndef SB_STRAYS_H
#define SB_STRAYS_H

#include "clock.h"
#include "spare.h"
#include "straytable.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define SB_STRAYS_GRACE_NS  (2 * SB_NS_PER_S) /* from TERM to KILL, unless told otherwise */
#define SB_STRAYS_ROUNDS_NS (5 * SB_NS_PER_S) /* the rounds of KILL take no longer */
#define SB_STRAYS_GAPS_KEPT 20

struct sb_strays_options {
	int procfs; /* borrowed: a procfs of our own pid namespace */
	uid_t uid;
	uint64_t grace_ns;
	bool dry_run; /* look only */
	struct sb_spare_wishes wishes;
	const pid_t *only; /* not empty: those alone who have these numbers at first */
	size_t only_count;
	int cgroup; /* borrowed, of sb_cgroup_open: those in it alone; -1: everywhere */
};

/* A process that is there and could not be read. */
struct sb_stray_gap {
	pid_t pid;
	int error;
};

struct sb_strays {
	const struct sb_strays_options *options; /* borrowed */
	struct sb_process_view view;
	struct sb_spare_facts facts;
	struct sb_straytable table; /* all that were met, in that order */
	size_t passes;		    /* listings made */
	bool settled;	  /* two listings in a row met nobody new, and nobody unread left */
	bool interrupted; /* by SIGINT or SIGTERM */
	bool hidden;	  /* processes may be kept from us: hidepid */
	int hiding_error; /* -errno: whether they are could not be learnt; or 0 */
	bool outside;	  /* the cgroup holds processes of other pid namespaces */
	int unlisted;  /* not 0: the cgroup may hold one whom the kernel does not list; or -errno */
	int error;     /* -errno of a listing that failed, or 0 */
	size_t others; /* no strays, of the last listing */
	size_t gap_count; /* of the last listing */
	struct sb_stray_gap gaps[SB_STRAYS_GAPS_KEPT];
};

/* Counts over the table. */
struct sb_strays_counts {
	size_t found, signalled, ended_by_term, ended_by_kill, survivors;
};

/*
 * 0, and what became of it, to be freed with sb_strays_free; options must outlive it. -errno when
 * it could not even begin; -ENODATA as sb_spare_learn.
 */
int sb_strays_run(const struct sb_strays_options *options, struct sb_strays **ret);
void sb_strays_free(struct sb_strays *strays);

struct sb_strays_counts sb_strays_count(const struct sb_strays *strays);

/* Whether all was seen that there was to see, so that the counts can be trusted. */
bool sb_strays_proven(const struct sb_strays *strays);

/*
 * Why a stray goes on living, as it is now: its state (a letter of stat; '?' unknown) and the
 * reason in words, into buffer of size bytes.
 */
char sb_strays_reason(const struct sb_strays *strays, const struct sb_stray *stray, char *buffer,
		      size_t size);

/* Our own session, hence an own share of the processors, and priority, as far as we may. */
void sb_strays_raise_ourselves(void);

#endif
