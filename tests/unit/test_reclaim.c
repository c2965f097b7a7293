/*
 * Removing one judged entry while others change the tree at the worst moment: unlinkat(2) and
 * statx(2) are taken over here, so that a change can be made between two steps.
 */
#include "reclaim.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/test-reclaim.XXXXXX";
static int top = -1;

/* Called before, or after, each unlinkat of that name. */
static const char *watched;
static void (*before)(void);
static void (*after)(void);
static int interrupts;	      /* so many calls are interrupted by a signal */
static bool without_mount_id; /* as before 5.8 */

int unlinkat(int dir, const char *name, int flags)
{
	bool hit = watched && strcmp(name, watched) == 0;
	int r, error;

	if (interrupts > 0) {
		interrupts--;
		errno = EINTR;
		return -1;
	}
	if (hit && before)
		before();
	r = (int)syscall(SYS_unlinkat, dir, name, flags);
	error = errno;
	if (hit && after)
		after();
	errno = error;
	return r;
}

int statx(int dir, const char *restrict path, int flags, unsigned int mask,
	  struct statx *restrict stx)
{
	int r = (int)syscall(SYS_statx, dir, path, flags, mask, stx);

	if (r == 0 && without_mount_id) {
		stx->stx_mask &= ~(unsigned int)STATX_MNT_ID;
		stx->stx_mnt_id = 0;
	}
	return r;
}

static int start(void **state)
{
	(void)state;
	watched = NULL;
	before = after = NULL;
	interrupts = 0;
	without_mount_id = false;
	return 0;
}

static int enter(void **state)
{
	(void)state;
	if (!mkdtemp(directory) || chdir(directory) < 0)
		return -1;
	top = open(".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return top < 0 ? -1 : 0;
}

static int leave(void **state)
{
	(void)state;
	close(top);
	return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static void touch(const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	close(fd);
}

static bool is_there(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0;
}

static bool never(uint64_t below, void *closure)
{
	(void)below;
	(void)closure;
	return false;
}

static bool at_once(uint64_t below, void *closure)
{
	(void)closure;
	return below > 0;
}

static const struct sb_reclaim_patience patient = {.ended = never};

static enum sb_verdict reclaim(const struct sb_facts *facts, struct sb_reclaimed *ret)
{
	sb_reclaim_entry(top, "entry", facts, &patient, ret);
	return ret->verdict;
}

static void look(struct sb_facts *ret)
{
	assert_int_equal(sb_reclaim_look(top, "entry", ret), 0);
}

static void make_tree(void)
{
	assert_int_equal(mkdir("entry", 0700), 0);
	assert_int_equal(mkdir("entry/a", 0700), 0);
	assert_int_equal(mkdir("entry/a/b", 0700), 0);
	touch("entry/a/b/f");
}

static void looks(void **state)
{
	struct sb_facts facts;

	(void)state;
	look(&facts);
	assert_true(facts.gone);
	assert_int_equal(mkdir("entry", 0710), 0);
	look(&facts);
	assert_false(facts.gone || facts.covered);
	assert_int_equal(facts.mode & S_IFMT, S_IFDIR);
	assert_int_equal(facts.uid, geteuid());
	assert_true(facts.inode);
	assert_int_equal(rmdir("entry"), 0);
}

static void removes_a_tree(void **state)
{
	struct sb_reclaimed result;
	struct sb_facts facts;

	(void)state;
	make_tree();
	look(&facts);
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_REMOVE);
	assert_int_equal(result.below, 3);
	assert_false(is_there("entry"));
}

static void without_patience_only_what_is_empty(void **state)
{
	struct sb_reclaimed result;
	struct sb_facts facts;

	(void)state;
	make_tree();
	look(&facts);
	sb_reclaim_entry(top, "entry", &facts, NULL, &result);
	assert_int_equal(result.verdict, SB_VERDICT_POPULATED);
	assert_true(is_there("entry/a/b/f"));
	sb_reclaim_probe(top, "entry", &facts, &result);
	assert_int_equal(result.verdict, SB_VERDICT_POPULATED);
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_REMOVE);
}

static void stops_when_patience_ends(void **state)
{
	const struct sb_reclaim_patience impatient = {.ended = at_once};
	struct sb_reclaimed result;
	struct sb_facts facts;

	(void)state;
	make_tree();
	touch("entry/a/b/g");
	look(&facts);
	sb_reclaim_entry(top, "entry", &facts, &impatient, &result);
	assert_true(result.unfinished);
	assert_int_equal(result.below, 1);
	assert_true(is_there("entry/a/b"));
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_REMOVE);
	assert_false(result.unfinished);
}

static void a_signal_is_no_failure(void **state)
{
	struct sb_reclaimed result;
	struct sb_facts facts;

	(void)state;
	make_tree();
	look(&facts);
	interrupts = 3;
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_REMOVE);
	assert_int_equal(interrupts, 0);
	touch("entry");
	look(&facts);
	interrupts = 1;
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_REMOVE);
}

/* Another directory takes the name of what was judged. */
static void another_under_that_name(void **state)
{
	struct sb_reclaimed result;
	struct sb_facts facts;

	(void)state;
	make_tree();
	look(&facts);
	assert_int_equal(rename("entry", "judged"), 0);
	make_tree();
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_VANISHED);
	assert_true(is_there("entry/a/b/f"));
	sb_reclaim_probe(top, "entry", &facts, &result);
	assert_int_equal(result.verdict, SB_VERDICT_VANISHED);
	look(&facts);
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_REMOVE);
	assert_int_equal(rename("judged", "entry"), 0);
	look(&facts);
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_REMOVE);
}

static void another_kind_under_that_name(void **state)
{
	struct sb_reclaimed result;
	struct sb_facts facts;

	(void)state;
	assert_int_equal(mkdir("entry", 0700), 0);
	look(&facts);
	assert_int_equal(rmdir("entry"), 0);
	touch("entry");
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_VANISHED);
	assert_true(is_there("entry"));
	look(&facts);
	assert_int_equal(unlink("entry"), 0);
	assert_int_equal(mkdir("entry", 0700), 0);
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_VANISHED);
	assert_int_equal(rmdir("entry"), 0);
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_VANISHED);
}

static void replace_by_link(void)
{
	assert_int_equal(rename("entry/a", "moved"), 0);
	assert_int_equal(symlink("../victim", "entry/a"), 0);
	after = NULL;
}

/* rmdir has said "not empty"; before it is opened, a link stands in its place. */
static void a_link_in_place_of_a_directory_is_not_followed(void **state)
{
	struct sb_reclaimed result;
	struct sb_facts facts;

	(void)state;
	make_tree();
	assert_int_equal(mkdir("victim", 0700), 0);
	touch("victim/f");
	look(&facts);
	watched = "a";
	after = replace_by_link;
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_REMOVE);
	assert_true(is_there("victim/f"));
	assert_true(is_there("moved/b/f"));
	watched = NULL;
	assert_int_equal(rename("moved", "entry"), 0);
	look(&facts);
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_REMOVE);
	unlink("victim/f");
	rmdir("victim");
}

static void move_away(void)
{
	assert_int_equal(rename("entry/a/b", "victim/b"), 0);
	before = NULL;
}

/* The directory being emptied is moved elsewhere: what is above it there was not judged. */
static void does_not_climb_out_of_the_entry(void **state)
{
	struct sb_reclaimed result;
	struct sb_facts facts;

	(void)state;
	make_tree();
	assert_int_equal(mkdir("victim", 0700), 0);
	touch("victim/precious");
	look(&facts);
	watched = "f";
	before = move_away;
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_FAILED);
	assert_true(is_there("victim/precious"));
	assert_true(is_there("victim/b"));
	watched = NULL;
	rmdir("victim/b");
	unlink("victim/precious");
	rmdir("victim");
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_REMOVE);
}

static void mount_over(void)
{
	assert_int_equal(mount("victim", "entry/a", "", MS_BIND, NULL), 0);
	after = NULL;
}

static void mount_on_itself(void)
{
	assert_int_equal(mount("entry", "entry", "", MS_BIND, NULL), 0);
	after = NULL;
}

static void a_mount_that_appears(void)
{
	struct sb_reclaimed result;
	struct sb_facts facts;

	make_tree();
	assert_int_equal(mkdir("victim", 0700), 0);
	touch("victim/precious");
	look(&facts);
	watched = "a";
	after = mount_over;
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_MOUNTED);
	assert_true(is_there("victim/precious"));
	assert_int_equal(umount2("entry/a", MNT_DETACH), 0);
	/* On the entry itself, after it was judged. */
	assert_int_equal(mount("victim", "entry", "", MS_BIND, NULL), 0);
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_MOUNTED);
	assert_true(is_there("victim/precious"));
	assert_int_equal(umount2("entry", MNT_DETACH), 0);
	watched = NULL;
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_REMOVE);
	unlink("victim/precious");
	rmdir("victim");
}

/* Of the same file system: only the mount's id tells it from a directory of the entry's own. */
static void does_not_cross_a_mount(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	a_mount_that_appears();
}

static void does_not_enter_a_mount_of_itself(void **state)
{
	struct sb_reclaimed result;
	struct sb_facts facts;

	(void)state;
	if (geteuid() != 0)
		skip();
	make_tree();
	look(&facts);
	/* Device and inode are those that were judged. */
	watched = "entry";
	after = mount_on_itself;
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_MOUNTED);
	assert_true(is_there("entry/a/b/f"));
	assert_int_equal(umount2("entry", MNT_DETACH), 0);
	watched = NULL;
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_REMOVE);
}

static void does_not_cross_a_mount_on_old_kernels(void **state)
{
	(void)state;
	if (geteuid() != 0)
		skip();
	without_mount_id = true;
	a_mount_that_appears();
}

static int refills;

static void refill(void)
{
	char path[64];

	snprintf(path, sizeof(path), "entry/a/%d", refills++);
	assert_int_equal(mkdir(path, 0700), 0);
	snprintf(path + strlen(path), sizeof(path) - strlen(path), "/x");
	assert_int_equal(mkdir(path, 0700), 0);
}

/* As fast as it is emptied somebody fills it: that has to end. */
static void gives_up_on_what_is_refilled(void **state)
{
	struct sb_reclaimed result;
	struct sb_facts facts;

	(void)state;
	make_tree();
	look(&facts);
	watched = "a";
	before = refill;
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_FAILED);
	assert_true(refills < 100);
	assert_true(is_there("entry/a"));
	watched = NULL;
	assert_int_equal(reclaim(&facts, &result), SB_VERDICT_REMOVE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(looks, start),
		cmocka_unit_test_setup(removes_a_tree, start),
		cmocka_unit_test_setup(without_patience_only_what_is_empty, start),
		cmocka_unit_test_setup(stops_when_patience_ends, start),
		cmocka_unit_test_setup(a_signal_is_no_failure, start),
		cmocka_unit_test_setup(another_under_that_name, start),
		cmocka_unit_test_setup(another_kind_under_that_name, start),
		cmocka_unit_test_setup(a_link_in_place_of_a_directory_is_not_followed, start),
		cmocka_unit_test_setup(does_not_climb_out_of_the_entry, start),
		cmocka_unit_test_setup(does_not_cross_a_mount, start),
		cmocka_unit_test_setup(does_not_enter_a_mount_of_itself, start),
		cmocka_unit_test_setup(does_not_cross_a_mount_on_old_kernels, start),
		cmocka_unit_test_setup(gives_up_on_what_is_refilled, start),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
