/* The exit statuses of the whole suite: one table. */
#ifndef SB_STATUS_H
#define SB_STATUS_H

enum sb_status {
	SB_STATUS_DONE = 0,
	SB_STATUS_FAILED = 1,
	SB_STATUS_REFUSED = 2,
	SB_STATUS_UNPROVEN = 3,
	SB_STATUS_MORE = 4,
	SB_STATUS_YOUNG = 5,
	SB_STATUS_LOCKED = 6,
	SB_STATUS_PINNED = 7,
	SB_STATUS_COUNT,
};

/* Statuses gathered while a command runs: bits, to be narrowed to one at its end. */
typedef unsigned int sb_status_set;

#define SB_STATUS_BIT(status) (1U << (status))

/* The one that a caller must hear first: 2, then 6, 1, 7, 3, 4, 5; 0 when there is none. */
enum sb_status sb_status_worst(sb_status_set set);

/* What a status means, in a few words. */
const char *sb_status_meaning(enum sb_status status);

/*
 * The part of --help that tells the statuses a command can end with, in fresh memory that the
 * caller frees; NULL when there is none.
 */
char *sb_status_help(sb_status_set set);

#endif
