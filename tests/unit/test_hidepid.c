/* What the options of a mount of procfs say about processes that are kept back. */
#include "hidepid.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define BEFORE "21 20 0:19 / /sys rw - sysfs sysfs rw\n"
#define MOUNT  "22 20 0:20 / /proc rw,nosuid shared:5 master:1 - proc "
#define AFTER  "23 20 0:21 / /proc2 rw - proc proc rw,hidepid=invisible\n"

static void options(void **state)
{
	static const struct {
		const char *rest;
		bool found, hides;
		gid_t gid;
	} cases[] = {
		{"proc rw\n", true, false, 0},
		{"proc rw,hidepid=off\n", true, false, 0},
		{"proc rw,hidepid=noaccess\n", true, false, 0},
		{"proc rw,hidepid=invisible\n", true, true, 0},
		{"proc rw,hidepid=ptraceable\n", true, true, SB_HIDEPID_NO_GROUP},
		{"proc rw,hidepid=1\n", true, false, 0},
		{"proc rw,hidepid=2\n", true, true, 0},
		{"proc rw,hidepid=4,subset=pid\n", true, true, SB_HIDEPID_NO_GROUP},
		{"proc rw,hidepid=22\n", true, false, 0},
		{"proc rw,gid=33,hidepid=invisible\n", true, true, 33},
		{"proc rw,hidepid=invisible,gid=33\n", true, true, 33},
		/* Ptraceable knows no group. */
		{"proc rw,gid=33,hidepid=ptraceable\n", true, true, SB_HIDEPID_NO_GROUP},
		/* The source is anybody's text, and no option. */
		{"hidepid=2 rw\n", true, false, 0},
		{"proc rw,nohidepid=2\n", true, false, 0},
		/* No such line. */
		{"proc\n", false, false, 0},
		{"\n", false, false, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sb_hidepid hidepid = {false, 0};
		char text[512];

		snprintf(text, sizeof(text), "%s%s%s%s", BEFORE, MOUNT, cases[i].rest, AFTER);
		assert_int_equal(sb_hidepid_parse(text, strlen(text), 22, &hidepid),
				 cases[i].found);
		if (!cases[i].found)
			continue;
		assert_int_equal(hidepid.hides, cases[i].hides);
		assert_int_equal(hidepid.gid, cases[i].gid);
	}
}

static void another_number(void **state)
{
	static const char text[] = BEFORE MOUNT "proc rw,hidepid=2\n";
	struct sb_hidepid hidepid;

	(void)state;
	assert_false(sb_hidepid_parse(text, strlen(text), 2, &hidepid));
	assert_false(sb_hidepid_parse(text, strlen(text), 220, &hidepid));
	assert_false(sb_hidepid_parse("", 0, 22, &hidepid));
	/* Cut off within the line. */
	assert_false(sb_hidepid_parse(text, strlen(text) - 1, 22, &hidepid));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(options),
		cmocka_unit_test(another_number),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
