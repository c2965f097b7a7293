/* The shapes of entry names. Pure: no system call, any bytes. */
#ifndef SB_NAMES_H
#define SB_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#define SB_NAMES_DEFAULT_PREFIX "kirocrew_sb_"

/* Prefixes as given, matched byte for byte; borrowed strings. */
struct sb_prefixes {
	const char **item;
	size_t count;
};

enum sb_shape {
	SB_SHAPE_OTHER,	    /* bears none of the prefixes */
	SB_SHAPE_MALFORMED, /* bears one, but is not PREFIX<pid>_<rest> */
	SB_SHAPE_KEYED,
};

/* What no process can be called: the pid of a keyed entry whose digits name none. */
#define SB_NAMES_NO_PID ((pid_t)0)

/* Why a text cannot be a prefix, in words, or NULL when it can: empty, or with a '/'. */
const char *sb_names_check_prefix(const char *prefix);

/*
 * The shape of an entry's name. *ret_pid is written for SB_SHAPE_KEYED: the pid, 1 to INT_MAX, or
 * SB_NAMES_NO_PID for a run of digits too large for any process (it is the shape, and it is dead).
 * A number with a leading zero, so 0 too, is malformed. "." and ".." are SB_SHAPE_OTHER under any
 * prefix.
 */
enum sb_shape sb_names_shape(const struct sb_prefixes *prefixes, const char *name, pid_t *ret_pid);

/* Whether length bytes of name start with one of the prefixes. */
bool sb_names_bears_prefix(const struct sb_prefixes *prefixes, const char *name, size_t length);

/* "." and "..": listed in every directory, and no entry of any. */
bool sb_names_is_dot(const char *name);

/* Python's mkdtemp: "tmp" and exactly eight of [a-z0-9_]. */
bool sb_names_is_legacy(const char *name, size_t length);

#endif
