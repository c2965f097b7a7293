#include "marker.h"

#include "scope.h"
#include "user.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/random.h>
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

/* Makes a file of that name, whole and on the disk, or nothing that counts. */
static int write_beside(int dir, const char *name, uint64_t removed)
{
	sb_auto_close int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return -errno;
	/* Whatever the umask made of it. */
	r = fchmod(fd, 0600) < 0 ? -errno : write_all(fd, removed);
	/* A network file system may tell only now that there was no room. */
	if (close(sb_scope_take_fd(&fd)) < 0 && r == 0)
		r = -errno;
	return r;
}

/* Gives a file its final name, if nothing at all bears that yet. */
static int put_in_place(int dir, const char *beside, const char *name)
{
	if (renameat2(dir, beside, dir, name, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS && errno != EPERM)
		return -errno;
	/* NFS, or a filter of system calls: a second name never replaces anything either. */
	if (linkat(dir, beside, dir, name, 0) < 0)
		return -errno;
	unlinkat(dir, beside, 0);
	return 0;
}

/* The name is durable only when the directory that holds it is. */
static int sync_directory(int dir)
{
	sb_auto_close int fd = openat(dir, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	/* A directory that may be written but not read cannot be synced. */
	if (fd < 0)
		return errno == EACCES ? 0 : -errno;
	/* Some file systems know nothing to sync in a directory. */
	return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

/* The directory that path lies in. A descriptor, or -errno; *ret_name is the rest of the path. */
static int open_parent(const char *path, const char **ret_name)
{
	const char *slash = strrchr(path, '/');
	sb_auto_free char *parent =
		slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	int fd;

	if (!parent)
		return -ENOMEM;
	*ret_name = slash ? slash + 1 : path;
	fd = open(parent, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

/*
 * A marker is trusted for being there. So it is written under a name that means nothing, and takes
 * its own when it is whole: killed at any moment, there is none or there is a good one.
 */
int sb_marker_stamp(const char *path, uint64_t removed)
{
	sb_auto_close int dir = -1;
	sb_auto_free char *beside = NULL;
	const char *name;
	uint64_t chance;
	int r = make_parents(path);

	if (r < 0)
		return r;
	dir = open_parent(path, &name);
	if (dir < 0)
		return dir;
	if (getrandom(&chance, sizeof(chance), 0) != (ssize_t)sizeof(chance))
		return -EIO;
	if (asprintf(&beside, "%s.%016llx.new", name, (unsigned long long)chance) < 0) {
		beside = NULL;
		return -ENOMEM;
	}
	r = write_beside(dir, beside, removed);
	if (r == 0)
		r = put_in_place(dir, beside, name);
	if (r < 0) {
		unlinkat(dir, beside, 0);
		return r;
	}
	r = sync_directory(dir);
	if (r < 0)
		unlinkat(dir, name, 0);
	return r;
}
