/* Parsing what procfs tells of processes, whatever they are called. */
#include "argv.h"
#include "proc.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define NUMBERS "17 23 23 34816 23 4194304 100 0 0 0 0 0 0 0 20 0 3 0 4711 1000 200"

#define LONG_STATE "42 (a) SS " NUMBERS
#define NEGATIVE   "42 (a) S -" NUMBERS

static void reads_as(const char *comm)
{
	struct sb_proc_stat stat;
	char text[1024];
	int length = snprintf(text, sizeof(text), "42 (%s) S %s\n", comm, NUMBERS);

	assert_int_equal(sb_proc_parse_stat(text, (size_t)length, &stat), 0);
	assert_string_equal(stat.comm, comm);
	assert_int_equal(stat.state, 'S');
	assert_int_equal(stat.parent, 17);
	assert_int_equal(stat.threads, 3);
	assert_int_equal(stat.start, 4711);
	assert_false(stat.kernel_thread);
}

static void names_may_hold_anything(void **state)
{
	static const char *const names[] = {
		"sleep", "",	"a b",	    "a\nb",	    ") S 1 ",	 ") Z 1 1 1",
		"(((",	 ")))", "(sd-pam)", "\xff\xfe\x80", "tab\there", "a) R 0 0 0 0 0",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		reads_as(names[i]);
}

static void kernel_threads_are_told(void **state)
{
	const char text[] = "2 (kthreadd) S 0 0 0 0 -1 2129984 0 0 0 0 0 0 0 0 20 0 1 0 5 0 0\n";
	struct sb_proc_stat stat;

	(void)state;
	assert_int_equal(sb_proc_parse_stat(text, strlen(text), &stat), 0);
	assert_true(stat.kernel_thread);
	assert_int_equal(stat.parent, 0);
	assert_int_equal(stat.start, 5);
}

static void what_is_no_stat_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"42",
		"42 (",
		"42 (a",
		"42 (a)",
		"42 )a(",
		"42 (a) S",
		"42 (a) S 1 2 3\n",
		LONG_STATE,
		NEGATIVE,
		"42 (a) S 17 23 23 34816 23 4194304 100 0 0 0 0 0 0 0 20 0 3 0 x 1\n",
		"42 (a) S 17 23 23 34816 23 4194304 100 0 0 0 0 0 0 0 20 0 3 0\n",
	};
	char name[SB_PROC_COMM_MAX + 64];
	struct sb_proc_stat stat;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(sb_proc_parse_stat(texts[i], strlen(texts[i]), &stat), -EINVAL);
	memset(name, 'x', sizeof(name));
	name[0] = '(';
	name[SB_PROC_COMM_MAX + 1] = ')';
	assert_int_equal(sb_proc_parse_stat(name, sizeof(name), &stat), -EINVAL);
}

static void status_tells_uids_and_tracer(void **state)
{
	const char text[] =
		"Name:\ta\\nUid:\t1 1 1\nTracerPid:\t77\nUid:\t1000\t0\t33\t1000\nGid:\t5\n";
	struct sb_proc_status status;

	(void)state;
	assert_int_equal(sb_proc_parse_status(text, strlen(text), &status), 0);
	assert_int_equal(status.real_uid, 1000);
	assert_int_equal(status.effective_uid, 0);
	assert_int_equal(status.saved_uid, 33);
	assert_int_equal(status.tracer, 77);
	assert_int_equal(status.levels, 0);
}

static void status_tells_the_levels_of_pid_namespaces(void **state)
{
	static const struct {
		const char *line;
		unsigned int levels;
	} cases[] = {
		{"NSpid:\t1\n", 1},
		{"NSpid:\t5000\t5000\n", 2},
		{"NSpid:\t7 8\t9\nNSpgid:\t7\n", 3},
		{"NSpid:\t\n", 0},
		{"NSpid:\t1\t2", 0}, /* cut off */
		{"", 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sb_proc_status status;
		char text[128];

		snprintf(text, sizeof(text), "TracerPid:\t0\nUid:\t1\t2\t3\t4\n%s", cases[i].line);
		assert_int_equal(sb_proc_parse_status(text, strlen(text), &status), 0);
		assert_int_equal(status.levels, cases[i].levels);
	}
}

static void what_is_no_status_is_refused(void **state)
{
	static const char *const texts[] = {
		"",
		"Uid:\t1\t2\t3\t4\n",
		"TracerPid:\t0\n",
		"TracerPid:\t0\nUid:\t1\t2\n",
		"TracerPid:\t0\nUid:\t1\t2\t3",
		"TracerPid:\tx\nUid:\t1\t2\t3\t4\n",
	};
	struct sb_proc_status status;

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_int_equal(sb_proc_parse_status(texts[i], strlen(texts[i]), &status),
				 -EINVAL);
}

static void arguments_are_joined(void **state)
{
	static const struct {
		const char *bytes;
		size_t length;
		const char *joined;
	} cases[] = {
		{"sleep\0infinity\0", 15, "sleep infinity"},
		{"/usr/bin/sleep\0infinity\0", 24, "sleep infinity"},
		{"./sleep\0/infinity\0", 18, "sleep /infinity"},
		{"sleep\0infinity", 14, "sleep infinity"},
		{"sleep\0infinity\0\0\0", 17, "sleep infinity"},
		{"sleep\0\0infinity\0", 16, "sleep  infinity"},
		{"", 0, ""},
		{"/", 1, ""},
	};
	char buffer[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		sb_argv_join(cases[i].bytes, cases[i].length, buffer, sizeof(buffer));
		assert_string_equal(buffer, cases[i].joined);
	}
	sb_argv_join("sleep\0infinity\0", 15, buffer, 9);
	assert_string_equal(buffer, "sleep in");
}

static void links_of_namespaces(void **state)
{
	static const char *const texts[] = {
		"",
		"mnt",
		"mnt:",
		"mnt:[",
		"mnt:[]",
		"mnt:4026531840",
		"mnt:[4026531840",
		"mnt:[4026531840] ",
		"mnt:[-1]",
		"mnt:[18446744073709551616]",
		"mnt:[000000000000000000000000001]",
		"net:[4026531840]",
		"mntx:[4026531840]",
	};
	uint64_t inode = 0;

	(void)state;
	assert_true(sb_proc_parse_ns("mnt:[4026531840]", "mnt", &inode));
	assert_int_equal(inode, 4026531840);
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++)
		assert_false(sb_proc_parse_ns(texts[i], "mnt", &inode));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_may_hold_anything),
		cmocka_unit_test(kernel_threads_are_told),
		cmocka_unit_test(what_is_no_stat_is_refused),
		cmocka_unit_test(status_tells_uids_and_tracer),
		cmocka_unit_test(status_tells_the_levels_of_pid_namespaces),
		cmocka_unit_test(what_is_no_status_is_refused),
		cmocka_unit_test(arguments_are_joined),
		cmocka_unit_test(links_of_namespaces),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
