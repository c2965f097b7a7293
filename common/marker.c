#include "marker.h"

#include "scope.h"
#include "user.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#define SYSTEM_DIR "/var/lib/sb-tools"
#define USER_DIR   "sb-tools"
#define FILE_NAME  "legacy-heal"

static const char *const state_names[SB_MARKER_STATES] = {
	[SB_MARKER_ABSENT] = "absent",	 [SB_MARKER_PRESENT] = "present",
	[SB_MARKER_STAMPED] = "stamped", [SB_MARKER_WITHHELD] = "withheld",
	[SB_MARKER_REFUSED] = "refused", [SB_MARKER_DRY_RUN] = "dry-run",
};

const char *sb_marker_state_name(enum sb_marker_state state)
{
	return state_names[state];
}

char *sb_marker_default_path(uid_t uid)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	sb_auto_free char *known_home = NULL;
	char *path = NULL;
	int length;

	if (uid != geteuid()) {
		length = asprintf(&path, SYSTEM_DIR "/" FILE_NAME ".%u.done", uid);
		return length < 0 ? NULL : path;
	}
	/* The XDG base directory specification: a path that is not absolute is to be ignored. */
	if (state && *state == '/') {
		length = asprintf(&path, "%s/" USER_DIR "/" FILE_NAME ".done", state);
		return length < 0 ? NULL : path;
	}
	if (!home || *home != '/') {
		known_home = sb_user_home(uid);
		home = known_home;
	}
	if (!home)
		return NULL;
	length = asprintf(&path, "%s/.local/state/" USER_DIR "/" FILE_NAME ".done", home);
	return length < 0 ? NULL : path;
}

enum sb_marker_state sb_marker_check(const char *path, uid_t uid, const char **ret_why)
{
	struct stat st;

	*ret_why = NULL;
	if (lstat(path, &st) < 0) {
		if (errno == ENOENT)
			return SB_MARKER_ABSENT;
		*ret_why = strerror(errno);
		return SB_MARKER_REFUSED;
	}
	if (!S_ISREG(st.st_mode))
		*ret_why = "it is no regular file";
	else if (st.st_uid != uid && st.st_uid != 0)
		*ret_why = "it belongs to another user";
	else if (st.st_mode & (S_IWGRP | S_IWOTH))
		*ret_why = "others may write to it";
	return *ret_why ? SB_MARKER_REFUSED : SB_MARKER_PRESENT;
}

/* Makes the directories above path that are missing, from the top down. */
static int make_parents(const char *path)
{
	sb_auto_free char *copy = strdup(path);

	if (!copy)
		return -ENOMEM;
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0700) < 0 && errno != EEXIST)
			return -errno;
		*slash = '/';
	}
	return 0;
}

static int write_all(int fd, uint64_t removed)
{
	char text[64];
	int length = snprintf(text, sizeof(text), "%lld removed=%llu\n", (long long)time(NULL),
			      (unsigned long long)removed);
	ssize_t n = write(fd, text, (size_t)length);

	if (n != length)
		return n < 0 ? -errno : -ENOSPC;
	return fsync(fd) < 0 ? -errno : 0;
}

/* The name is durable only when the directory that holds it is. */
static int sync_parent(const char *path)
{
	sb_auto_free char *copy = strdup(path);
	sb_auto_close int fd = -1;
	char *slash;

	if (!copy)
		return -ENOMEM;
	slash = strrchr(copy, '/');
	if (slash == copy)
		slash++;
	if (slash)
		*slash = '\0';
	fd = open(slash ? copy : ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (fd < 0)
		return -errno;
	/* Some file systems know nothing to sync in a directory. */
	return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

int sb_marker_stamp(const char *path, uint64_t removed)
{
	sb_auto_close int fd = -1;
	int r = make_parents(path);

	if (r < 0)
		return r;
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	/* Whatever the umask made of it. */
	r = fchmod(fd, 0600) < 0 ? -errno : write_all(fd, removed);
	if (r == 0)
		r = sync_parent(path);
	if (r < 0)
		unlink(path);
	return r;
}
