/* Opening files that keep a mount namespace: never anything else. */
#include "nsfile.h"

#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static int procfs;
static char dir[] = "/tmp/nsfile.XXXXXX";

static const char *below(const char *name)
{
	static char path[64];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	return path;
}

static uint64_t own_inode(void)
{
	struct stat st;

	assert_int_equal(stat(SB_PROC_DIR "/self/ns/uts", &st), 0);
	return st.st_ino;
}

static void what_stands_there_has_to_be_the_namespace(void **state)
{
	int fd = open(below("plain"), O_CREAT | O_WRONLY | O_CLOEXEC, 0600);
	struct stat st;

	(void)state;
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	close(fd);
	assert_int_equal(symlink(SB_PROC_DIR "/self/ns/uts", below("link")), 0);
	assert_int_equal(mkfifo(below("fifo"), 0600), 0);
	/* A file of another kind, its own inode number or not; a fifo must not be waited for. */
	assert_int_equal(sb_nsfile_open(procfs, "self", below("plain"), st.st_ino), -ESTALE);
	assert_int_equal(sb_nsfile_open(procfs, "self", below("fifo"), own_inode()), -ESTALE);
	assert_int_equal(sb_nsfile_open(procfs, "self", below("link"), own_inode()), -ESTALE);
	/* Not there, and nothing that the kernel had cached. */
	assert_true(sb_nsfile_open(procfs, "self", below("none"), own_inode()) < 0);
	assert_int_equal(sb_nsfile_open(procfs, "4194999", below("plain"), 1), -ENOENT);
	assert_int_equal(sb_nsfile_open(procfs, "self", SB_PROC_DIR "/self/ns/uts", own_inode()),
			 -ESTALE);
}

static void the_namespace_itself(void **state)
{
	char through[128];
	struct stat st;
	int fd;

	(void)state;
	/* Whoever may not mount has no such file; the bats tests do this as root. */
	if (mount(SB_PROC_DIR "/self/ns/uts", below("plain"), NULL, MS_BIND, NULL) < 0)
		return;
	fd = sb_nsfile_open(procfs, "self", below("plain"), own_inode());
	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	assert_true(st.st_ino == own_inode());
	assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
	close(fd);
	/* Through a magic link, which would lead out of the task's root. */
	snprintf(through, sizeof(through), SB_PROC_DIR "/self/root%s", below("plain"));
	assert_true(sb_nsfile_open(procfs, "self", through, own_inode()) < 0);
	/* Another namespace than the line named. */
	assert_int_equal(sb_nsfile_open(procfs, "self", below("plain"), own_inode() + 1), -ESTALE);
	assert_int_equal(umount2(below("plain"), MNT_DETACH), 0);
}

static int start(void **state)
{
	(void)state;
	procfs = open(SB_PROC_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return procfs >= 0 && mkdtemp(dir) ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	unlink(below("plain"));
	unlink(below("link"));
	unlink(below("fifo"));
	close(procfs);
	return rmdir(dir);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_stands_there_has_to_be_the_namespace),
		cmocka_unit_test(the_namespace_itself),
	};

	return cmocka_run_group_tests_name("nsfile", tests, start, end);
}
