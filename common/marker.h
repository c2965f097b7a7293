/* The marker file that says: this was done, once. */
#ifndef SB_MARKER_H
#define SB_MARKER_H

#include <stdint.h>
#include <sys/types.h>

enum sb_marker_state {
	SB_MARKER_ABSENT,   /* not there, and nothing was tried: only before a run */
	SB_MARKER_PRESENT,  /* already done */
	SB_MARKER_STAMPED,  /* made now */
	SB_MARKER_WITHHELD, /* the work is not finished */
	SB_MARKER_REFUSED,  /* something else is in its place, or it could not be created */
	SB_MARKER_DRY_RUN,
	SB_MARKER_STATES,
};

/* As in JSON. */
const char *sb_marker_state_name(enum sb_marker_state state);

/*
 * The default place: below XDG_STATE_HOME or ~/.local/state when we act for ourselves, in
 * /var/lib/sb-tools when for another user. Fresh memory that the caller frees; NULL when there is
 * none, or no home to put it in.
 */
char *sb_marker_default_path(uid_t uid);

/*
 * One lstat(2). A marker counts only if it is a regular file, of the uid or of root, and writable
 * by nobody else: PRESENT, ABSENT, or REFUSED with the reason (a constant) in *ret_why.
 */
enum sb_marker_state sb_marker_check(const char *path, uid_t uid, const char **ret_why);

/*
 * Creates it, with "<epoch> removed=<n>\n", mode 0600, synced; parent directories are made with
 * mode 0700. Never follows a link, never overwrites: -EEXIST. Leaves nothing behind on an error.
 * It comes to be whole or not at all, also when we are killed.
 */
int sb_marker_stamp(const char *path, uint64_t removed);

#endif
