/* Users, by name or number, and the subordinate uids that are lent to them. */
#ifndef SB_USER_H
#define SB_USER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * The uid of a user name, or of a decimal number whether or not somebody bears it.
 * -ENOENT: no such user. -ERANGE: a number that is no uid. Other errors: the user database.
 */
int sb_user_resolve(const char *text, uid_t *ret_uid);

/* The user's name in fresh memory that the caller frees, or its number when it has none. */
char *sb_user_name(uid_t uid);

/* The user's home from the user database, in fresh memory; NULL when there is none. */
char *sb_user_home(uid_t uid);

/*
 * The user's primary group and all groups, from the user database, into fresh memory that the
 * caller frees; *ret_count entries. A user that the database does not know has gid = uid and no
 * further group. -errno when the database fails.
 */
int sb_user_groups(uid_t uid, gid_t *ret_gid, gid_t **ret_groups, size_t *ret_count);

/* Sets of uids, as ranges. Zero-initialize; free with sb_uid_set_free. */
struct sb_uid_set {
	struct sb_uid_range {
		uid_t first;
		uid_t last;
	} * range;
	size_t count;
};

int sb_uid_set_add(struct sb_uid_set *set, uid_t first, uid_t last);
bool sb_uid_set_has(const struct sb_uid_set *set, uid_t uid);
void sb_uid_set_free(struct sb_uid_set *set);

/*
 * Adds the user's subordinate uids (subuid(5): "name:first:count" or "uid:first:count"). A file
 * that does not exist lends nothing; one that cannot be read is an error.
 */
int sb_user_add_subordinates(uid_t uid, const char *file, struct sb_uid_set *set);

#define SB_USER_SUBUID_FILE "/etc/subuid"

#endif
