/* Touching files as another user: nothing goes that the user could not have removed. */
#ifndef SB_CREDS_H
#define SB_CREDS_H

#include <stdbool.h>
#include <stddef.h>
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
};

/* Looks up what acting for uid takes; nothing when it is our own effective uid. -errno. */
int sb_creds_prepare(uid_t uid, struct sb_creds *ret);

/*
 * From here on files are touched with the user's filesystem uid and gid, with the user's groups
 * and only these, and without the capabilities that override permissions (the kernel drops those
 * with the filesystem uid, credentials(7); -EPERM where it was told not to). 0 when not needed.
 */
int sb_creds_assume(const struct sb_creds *creds);

/* As before sb_creds_assume. A failure means that we are not who we should be: -errno. */
int sb_creds_restore(const struct sb_creds *creds);

void sb_creds_free(struct sb_creds *creds);

#endif
