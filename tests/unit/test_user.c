/* Users and the uids that are lent to them. */
#include "user.h"

#include <errno.h>
#include <grp.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cmocka.h>

#define NOBODYS_UID 61234 /* that no account has */

static void resolving(void **state)
{
	static const struct {
		const char *text;
		int result;
		uid_t uid;
	} cases[] = {
		{"root", 0, 0},
		{"0", 0, 0},
		{"61234", 0, NOBODYS_UID},
		{"4294967294", 0, 4294967294U},
		{"4294967295", -ERANGE, 0}, /* (uid_t)-1: no uid */
		{"4294967296", -ERANGE, 0},
		{"99999999999999999999", -ERANGE, 0},
		{"", -ENOENT, 0},
		{"-1", -ENOENT, 0},
		{"+0", -ENOENT, 0},
		{" 0", -ENOENT, 0},
		{"0x0", -ENOENT, 0},
		{"no-such-user-here", -ENOENT, 0},
		{"root\n", -ENOENT, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uid_t uid = 4711;
		int r = sb_user_resolve(cases[i].text, &uid);

		if (r != cases[i].result)
			print_error("'%s': %d\n", cases[i].text, r);
		assert_int_equal(r, cases[i].result);
		assert_int_equal(uid, r ? 4711 : cases[i].uid);
	}
}

static void names_and_homes(void **state)
{
	char *name = sb_user_name(0);
	char *home = sb_user_home(0);

	(void)state;
	assert_string_equal(name, "root");
	assert_non_null(home);
	free(name);
	free(home);
	name = sb_user_name(NOBODYS_UID);
	assert_string_equal(name, "61234");
	free(name);
	assert_null(sb_user_home(NOBODYS_UID));
}

/* Asked for with room for all. */
static int count_groups(const char *name, gid_t gid)
{
	static gid_t list[65536];
	int count = sizeof(list) / sizeof(list[0]);

	assert_true(getgrouplist(name, gid, list, &count) >= 0);
	return count;
}

static void groups(void **state)
{
	gid_t gid = 4711, *list = NULL;
	size_t count = 0;

	(void)state;
	assert_int_equal(sb_user_groups(0, &gid, &list, &count), 0);
	assert_int_equal(gid, 0);
	assert_int_equal(count, count_groups("root", 0));
	free(list);
	list = NULL;
	assert_int_equal(sb_user_groups(NOBODYS_UID, &gid, &list, &count), 0);
	assert_int_equal(gid, NOBODYS_UID);
	assert_int_equal(count, 0);
	assert_null(list);
}

static void sets(void **state)
{
	struct sb_uid_set set = {0};

	(void)state;
	assert_false(sb_uid_set_has(&set, 0));
	assert_int_equal(sb_uid_set_add(&set, 1000, 1000), 0);
	assert_int_equal(sb_uid_set_add(&set, 100000, 165535), 0);
	assert_false(sb_uid_set_has(&set, 999));
	assert_true(sb_uid_set_has(&set, 1000));
	assert_false(sb_uid_set_has(&set, 1001));
	assert_false(sb_uid_set_has(&set, 99999));
	assert_true(sb_uid_set_has(&set, 100000));
	assert_true(sb_uid_set_has(&set, 165535));
	assert_false(sb_uid_set_has(&set, 165536));
	assert_false(sb_uid_set_has(&set, UINT32_MAX));
	sb_uid_set_free(&set);
	assert_false(sb_uid_set_has(&set, 1000));
	sb_uid_set_free(&set);
}

/* What subuid(5) text lends to a uid. */
static int lend(const char *text, uid_t uid, struct sb_uid_set *set)
{
	int fd = memfd_create("subuid", MFD_CLOEXEC);
	char path[64];
	int r;

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	r = sb_user_add_subordinates(uid, path, set);
	close(fd);
	return r;
}

static void subordinates(void **state)
{
	struct sb_uid_set set = {0};

	(void)state;
	assert_int_equal(lend("root:100000:65536\n61234:200000:10\nother:300000:65536\n"
			      "61234:400000:1",
			      NOBODYS_UID, &set),
			 0);
	assert_int_equal(set.count, 2);
	assert_false(sb_uid_set_has(&set, 100000));
	assert_true(sb_uid_set_has(&set, 200000));
	assert_true(sb_uid_set_has(&set, 200009));
	assert_false(sb_uid_set_has(&set, 200010));
	assert_false(sb_uid_set_has(&set, 300000));
	assert_true(sb_uid_set_has(&set, 400000));
	assert_false(sb_uid_set_has(&set, 400001));
	sb_uid_set_free(&set);
	/* By name as well as by number. */
	assert_int_equal(lend("root:100000:65536\n0:900000:5\n", 0, &set), 0);
	assert_true(sb_uid_set_has(&set, 165535));
	assert_true(sb_uid_set_has(&set, 900004));
	sb_uid_set_free(&set);
}

static void lines_that_lend_nothing(void **state)
{
	static const char *const lines[] = {
		"",
		"\n",
		"# root:1:2\n",
		"root\n",
		"root:\n",
		"root:5\n",
		"root:5:\n",
		"root:5:0\n",
		"root:-5:9\n",
		"root:x:9\n",
		"root:5:9x\n",
		"root: 5:9\n",
		"rootx:5:9\n",
		"roo:5:9\n",
		"4294967296:5:9\n",
		"root:4294967296:5\n",
		":::\n",
		":5:9\n",
		" root:5:9\n",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
		struct sb_uid_set set = {0};

		assert_int_equal(lend(lines[i], 0, &set), 0);
		if (set.count)
			print_error("'%s'\n", lines[i]);
		assert_int_equal(set.count, 0);
		sb_uid_set_free(&set);
	}
}

static void ranges_end_with_the_last_uid(void **state)
{
	struct sb_uid_set set = {0};

	(void)state;
	assert_int_equal(lend("root:4294967290:4294967294\n", 0, &set), 0);
	assert_true(sb_uid_set_has(&set, 4294967294U));
	assert_false(sb_uid_set_has(&set, 5)); /* it does not wrap around */
	sb_uid_set_free(&set);
}

static void files_that_are_missing_or_unreadable(void **state)
{
	struct sb_uid_set set = {0};

	(void)state;
	assert_int_equal(sb_user_add_subordinates(0, "/nonexistent/subuid", &set), 0);
	assert_int_equal(set.count, 0);
	/* A directory opens, and cannot be read: nothing may be taken for "lends nothing". */
	assert_true(sb_user_add_subordinates(0, "/", &set) < 0);
	assert_true(sb_user_add_subordinates(0, "/proc/self/mem", &set) < 0);
	sb_uid_set_free(&set);
	assert_string_equal(SB_USER_SUBUID_FILE, "/etc/subuid");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(resolving),
		cmocka_unit_test(names_and_homes),
		cmocka_unit_test(groups),
		cmocka_unit_test(sets),
		cmocka_unit_test(subordinates),
		cmocka_unit_test(lines_that_lend_nothing),
		cmocka_unit_test(ranges_end_with_the_last_uid),
		cmocka_unit_test(files_that_are_missing_or_unreadable),
	};

	return cmocka_run_group_tests_name("user", tests, NULL, NULL);
}
