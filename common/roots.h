/* The roots of a run: which they are, whose, and opened. */
#ifndef SB_ROOTS_H
#define SB_ROOTS_H

#include "sweep.h"

/* Zero-initialize; free with sb_roots_free. */
struct sb_roots {
	struct sb_root *item;
	size_t count;
	char **owned; /* paths made here */
	size_t owned_count;
	uid_t *uids; /* the different target uids */
	size_t uid_count;
	dev_t *devices; /* those of the open roots */
	size_t device_count;
};

/* Adds a root; path is borrowed. -ENOMEM. */
int sb_roots_add(struct sb_roots *roots, const char *path, uid_t uid, bool required);

/* Adds /run/user/UID, which may be absent. -ENOMEM. */
int sb_roots_add_runtime(struct sb_roots *roots, uid_t uid);

/* Adds the default roots: /run/user/UID, /dev/shm and ${TMPDIR:-/tmp}, as far as present. -ENOMEM.
 */
int sb_roots_add_default(struct sb_roots *roots, uid_t uid);

/*
 * Adds every directory of /run/user whose name is a number, each for its owner. A /run/user that
 * is absent adds none. -errno when it cannot be listed.
 */
int sb_roots_add_all_users(struct sb_roots *roots);

/* Opens them, finds those that are the same, and gathers uids and devices. -ENOMEM. */
int sb_roots_open(struct sb_roots *roots);

void sb_roots_free(struct sb_roots *roots);

#endif
