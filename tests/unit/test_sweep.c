/*
 * One pass over one root, while others change an entry between being looked at and being removed:
 * statx(2) and unlinkat(2) are taken over here, so that the change comes at that very moment.
 */
#include "sweep.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

/* Above the kernel's PID_MAX_LIMIT: nobody ever. */
#define ENTRY "p4194999_x"
#define OLD   INT64_C(200000) /* seconds: more than two days */

static char directory[] = "/tmp/test-sweep.XXXXXX";
static const char *prefix = "p";

/* Called once: after the Nth statx of that name, after an unlinkat of it. */
static const char *watched;
static int countdown;
static void (*after_statx)(void);
static void (*after_unlinkat)(void);

static bool is_watched(const char *name)
{
	return watched && strcmp(name, watched) == 0;
}

int statx(int dir, const char *restrict path, int flags, unsigned int mask,
	  struct statx *restrict stx)
{
	int r = (int)syscall(SYS_statx, dir, path, flags, mask, stx);
	int error = errno;

	if (after_statx && is_watched(path) && --countdown == 0)
		after_statx();
	errno = error;
	return r;
}

int unlinkat(int dir, const char *name, int flags)
{
	int r = (int)syscall(SYS_unlinkat, dir, name, flags);
	int error = errno;

	if (after_unlinkat && is_watched(name)) {
		after_unlinkat();
		after_unlinkat = NULL;
	}
	errno = error;
	return r;
}

static int enter(void **state)
{
	(void)state;
	watched = NULL;
	after_statx = after_unlinkat = NULL;
	memcpy(directory + sizeof(directory) - 7, "XXXXXX", 7);
	return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static void set_age(const char *path, int64_t seconds)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {0}};

	clock_gettime(CLOCK_REALTIME, &times[1]);
	times[1].tv_sec -= seconds;
	assert_int_equal(utimensat(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW), 0);
}

static void touch(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static void make_directory(const char *path)
{
	assert_int_equal(mkdir(path, 0700), 0);
	set_age(path, OLD);
}

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

/* A pass with these rules over the directory; what it counted. */
static struct sb_sweep_counts pass(struct sb_rules rules)
{
	struct sb_root root = {.path = directory, .uid = geteuid(), .fd = -1};
	struct sb_sweep sweep = {
		.rules = rules,
		.scan_options = {.procfs = "/proc",
				 .uids = &root.uid,
				 .uid_count = 1,
				 .require = SB_LEVEL_COVERED,
				 .trust_pidns = true,
				 .match.prefixes = rules.prefixes,
				 .match.legacy = rules.legacy},
	};

	sb_sweep_start(&sweep);
	sb_root_open(&root);
	sb_sweep_root(&sweep, &root);
	assert_true(root.finished);
	assert_int_equal(root.error, 0);
	sb_root_close(&root);
	sb_sweep_free(&sweep);
	return root.counts;
}

static struct sb_rules keyed(void)
{
	return sb_rules_sweep((struct sb_prefixes){&prefix, 1});
}

static void need_root(void)
{
	if (geteuid() != 0)
		skip(); /* others' tasks could keep a scan from proving anything */
}

static void grow_young(void)
{
	set_age(ENTRY, 0);
}

static void nothing_happens(void **state)
{
	struct sb_sweep_counts counts;

	(void)state;
	need_root();
	make_directory(ENTRY);
	counts = pass(keyed());
	assert_int_equal(counts.removed_dirs, 1);
	assert_false(is_there(ENTRY));
}

/* The launcher's child used it while the pins were read. */
static void what_grew_young_before_the_scan_ended_stays(void **state)
{
	struct sb_sweep_counts counts;

	(void)state;
	need_root();
	make_directory(ENTRY);
	watched = ENTRY;
	countdown = 1;
	after_statx = grow_young;
	counts = pass(keyed());
	assert_int_equal(counts.verdict[SB_VERDICT_YOUNG], 1);
	assert_true(is_there(ENTRY));
	assert_int_equal(rmdir(ENTRY), 0);
}

static void a_populated_one_is_judged_once_more(void **state)
{
	struct sb_sweep_counts counts;

	(void)state;
	need_root();
	make_directory(ENTRY);
	touch(ENTRY "/f");
	set_age(ENTRY, OLD);
	watched = ENTRY;
	after_unlinkat = grow_young;
	counts = pass(keyed());
	assert_int_equal(counts.verdict[SB_VERDICT_YOUNG], 1);
	assert_true(is_there(ENTRY "/f"));
	set_age(ENTRY, OLD);
	assert_int_equal(pass(keyed()).removed_dirs, 1);
}

static void replace_file(void)
{
	touch("newcomer");
	set_age("newcomer", OLD);
	assert_int_equal(rename("newcomer", ENTRY), 0);
}

static void a_file_that_took_the_name_stays(void **state)
{
	struct sb_sweep_counts counts;

	(void)state;
	touch(ENTRY);
	set_age(ENTRY, OLD);
	watched = ENTRY;
	countdown = 1;
	after_statx = replace_file;
	counts = pass(keyed());
	assert_int_equal(counts.verdict[SB_VERDICT_VANISHED], 1);
	assert_true(is_there(ENTRY));
	assert_int_equal(pass(keyed()).removed_files, 1);
}

static void chmod_held_back(void)
{
	assert_int_equal(chmod("tmpaaaaaaaa", 0755), 0);
}

/*
 * Each is looked at when it is listed, and once more after the scan: the change comes after that,
 * while they wait for the pile to be complete.
 */
static void a_mode_that_changed_while_it_was_held_back_counts(void **state)
{
	static const char *const names[] = {"tmpaaaaaaaa", "tmpaaaaaaab", "tmpaaaaaaac"};
	struct sb_rules rules = sb_rules_legacy();
	struct sb_sweep_counts counts;

	(void)state;
	need_root();
	for (size_t i = 0; i < 3; i++)
		make_directory(names[i]);
	rules.threshold = 3;
	watched = names[0];
	countdown = 2;
	after_statx = chmod_held_back;
	counts = pass(rules);
	assert_int_equal(counts.verdict[SB_VERDICT_WRONG_MODE], 1);
	assert_int_equal(counts.removed_dirs, 2);
	assert_true(is_there(names[0]));
	assert_int_equal(rmdir(names[0]), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(nothing_happens, enter, leave),
		cmocka_unit_test_setup_teardown(what_grew_young_before_the_scan_ended_stays, enter,
						leave),
		cmocka_unit_test_setup_teardown(a_populated_one_is_judged_once_more, enter, leave),
		cmocka_unit_test_setup_teardown(a_file_that_took_the_name_stays, enter, leave),
		cmocka_unit_test_setup_teardown(a_mode_that_changed_while_it_was_held_back_counts,
						enter, leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
