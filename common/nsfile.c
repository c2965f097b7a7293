#include "nsfile.h"

#include "proc.h"
#include "scope.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

#define NSFS_MAGIC_NUMBER 0x6e736673

#ifndef RESOLVE_CACHED
#define RESOLVE_CACHED 0x20 /* 5.12 */
#endif

/*
 * The path is walked within the task's root, through no magic link. What is mounted on is in the
 * kernel's cache for as long as the mount stands, so RESOLVE_CACHED finds it without asking a
 * FUSE server that may never answer; before 5.12 it has to be done without.
 */
static int open_within(int root, const char *point)
{
	struct open_how how = {
		.flags = O_PATH | O_CLOEXEC | O_NOFOLLOW,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS | RESOLVE_CACHED,
	};
	int fd = (int)syscall(SYS_openat2, root, point, &how, sizeof(how));

	if (fd < 0 && errno == EINVAL) {
		how.resolve &= ~(uint64_t)RESOLVE_CACHED;
		fd = (int)syscall(SYS_openat2, root, point, &how, sizeof(how));
	}
	return fd < 0 ? -errno : fd;
}

int sb_nsfile_open(int procfs, const char *task_path, const char *point, uint64_t inode)
{
	sb_auto_close int root = -1;
	sb_auto_close int found = -1;
	char path[64];
	struct statfs fs;
	struct stat st;
	int fd;

	snprintf(path, sizeof(path), "%s/root", task_path);
	root = openat(procfs, path, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (root < 0)
		return -errno;
	found = open_within(root, point);
	if (found < 0)
		return found;
	if (fstatfs(found, &fs) < 0 || fstat(found, &st) < 0)
		return -errno;
	if (fs.f_type != NSFS_MAGIC_NUMBER || st.st_ino != inode)
		return -ESTALE;
	/* Opened again by what was looked at, so that nothing can be put in its place. */
	snprintf(path, sizeof(path), SB_PROC_DIR "/self/fd/%d", found);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}
