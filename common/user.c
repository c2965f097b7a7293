#include "user.h"

#include "scope.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <string.h>
#include <sys/stat.h>

/* (uid_t)-1 means "no uid" to the kernel. */
#define UID_LARGEST ((uint64_t)UINT32_MAX - 1)

int sb_user_resolve(const char *text, uid_t *ret_uid)
{
	struct passwd *pw;
	uint64_t number;
	int r = sb_text_parse_u64(text, UID_LARGEST, &number);

	if (r == -ERANGE)
		return r;
	errno = 0;
	/* A user may be called 1000x, or even 1000: a name comes first, as with chown(1). */
	pw = getpwnam(text);
	if (pw) {
		*ret_uid = pw->pw_uid;
		return 0;
	}
	if (r == 0) {
		*ret_uid = (uid_t)number;
		return 0;
	}
	return errno == 0 || errno == ESRCH || errno == ENOENT ? -ENOENT : -errno;
}

char *sb_user_name(uid_t uid)
{
	struct passwd *pw = getpwuid(uid);
	char *name = NULL;

	if (pw)
		return strdup(pw->pw_name);
	return asprintf(&name, "%u", uid) < 0 ? NULL : name;
}

char *sb_user_home(uid_t uid)
{
	struct passwd *pw = getpwuid(uid);

	return pw && pw->pw_dir && *pw->pw_dir ? strdup(pw->pw_dir) : NULL;
}

int sb_user_groups(uid_t uid, gid_t *ret_gid, gid_t **ret_groups, size_t *ret_count)
{
	struct passwd *pw;
	int count = 64; /* more than nearly anybody has; asked again when it is not enough */

	errno = 0;
	pw = getpwuid(uid);
	if (!pw) {
		if (errno && errno != ENOENT && errno != ESRCH)
			return -errno;
		*ret_gid = uid;
		*ret_groups = NULL;
		*ret_count = 0;
		return 0;
	}
	for (;;) {
		gid_t *groups = calloc((size_t)count, sizeof(*groups));
		int had = count;

		if (!groups)
			return -ENOMEM;
		if (getgrouplist(pw->pw_name, pw->pw_gid, groups, &count) >= 0) {
			*ret_gid = pw->pw_gid;
			*ret_groups = groups;
			*ret_count = (size_t)count;
			return 0;
		}
		free(groups);
		if (count <= had)
			return -EIO;
	}
}

int sb_uid_set_add(struct sb_uid_set *set, uid_t first, uid_t last)
{
	struct sb_uid_range *grown = reallocarray(set->range, set->count + 1, sizeof(*set->range));

	if (!grown)
		return -ENOMEM;
	set->range = grown;
	grown[set->count++] = (struct sb_uid_range){first, last};
	return 0;
}

bool sb_uid_set_has(const struct sb_uid_set *set, uid_t uid)
{
	for (size_t i = 0; i < set->count; i++)
		if (uid >= set->range[i].first && uid <= set->range[i].last)
			return true;
	return false;
}

void sb_uid_set_free(struct sb_uid_set *set)
{
	free(set->range);
	*set = (struct sb_uid_set){0};
}

/* "owner:first:count", where the owner is the name or the number of uid. */
static int add_line(char *line, uid_t uid, const char *name, struct sb_uid_set *set)
{
	char *save = NULL;
	const char *owner = strtok_r(line, ":", &save);
	const char *first_text = strtok_r(NULL, ":", &save);
	const char *count_text = strtok_r(NULL, ":\n", &save);
	uint64_t number, first, count, last;

	if (!owner || !first_text || !count_text)
		return 0;
	if (strcmp(owner, name) != 0 &&
	    (sb_text_parse_u64(owner, UID_LARGEST, &number) < 0 || number != uid))
		return 0;
	if (sb_text_parse_u64(first_text, UID_LARGEST, &first) < 0 ||
	    sb_text_parse_u64(count_text, UID_LARGEST, &count) < 0 || count == 0)
		return 0;
	last = first + count - 1;
	return sb_uid_set_add(set, (uid_t)first, (uid_t)(last > UID_LARGEST ? UID_LARGEST : last));
}

/* A fifo in the place of a file would be waited for. */
static int open_regular(const char *file, FILE **ret)
{
	sb_auto_close int fd = open(file, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return -errno;
	if (!S_ISREG(st.st_mode))
		return -EINVAL;
	*ret = fdopen(fd, "r");
	if (!*ret)
		return -errno;
	sb_scope_take_fd(&fd);
	return 0;
}

int sb_user_add_subordinates(uid_t uid, const char *file, struct sb_uid_set *set)
{
	sb_auto_free char *name = sb_user_name(uid);
	sb_auto_fclose FILE *f = NULL;
	sb_auto_free char *line = NULL;
	size_t size = 0;
	int r = name ? open_regular(file, &f) : -ENOMEM;

	if (r < 0)
		return r == -ENOENT ? 0 : r;
	while (getline(&line, &size, f) >= 0) {
		r = add_line(line, uid, name, set);
		if (r < 0)
			return r;
	}
	return ferror(f) ? -EIO : 0;
}
