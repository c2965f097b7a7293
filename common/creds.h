/* Touching files as another user: nothing goes that the user could not have removed. */
#ifndef SB_CREDS_H
#define SB_CREDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Zero-initialize; free with sb_creds_free. */
struct sb_creds {
	bool needed; /* the user is not who we are */
	uid_t uid;
	gid_t gid;
	gid_t *groups;
	size_t group_count;
	gid_t *own_groups; /* ours, to come back to */
	size_t own_group_count;
	uint64_t own_effective; /* our capabilities, as bits */
};

/*
 * Gives up for good, before another user is acted for, all capabilities but those that this takes:
 * to become the user, to reach its directories and to see its mounts; and every way to gain new
 * ones. Before any thread is started. -errno.
 */
int sb_creds_confine(void);

/*
 * For a thread that only lists and looks: what it may read it still may, and nothing else. -errno.
 */
int sb_creds_confine_reader(void);

/* Looks up what acting for uid takes; nothing when it is our own effective uid. -errno. */
int sb_creds_prepare(uid_t uid, struct sb_creds *ret);

/*
 * From here on this thread, and those that it starts, touch files with the user's filesystem uid
 * and gid, with the user's groups and only these, and with no capability in effect but those that
 * lead back. 0 when not needed.
 */
int sb_creds_assume(const struct sb_creds *creds);

/* As before sb_creds_assume. A failure means that we are not who we should be: -errno. */
int sb_creds_restore(const struct sb_creds *creds);

void sb_creds_free(struct sb_creds *creds);

#endif
