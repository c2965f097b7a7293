/* One status out of many. */
#include "status.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static void numbers_are_those_of_the_manual(void **state)
{
	(void)state;
	assert_int_equal(SB_STATUS_DONE, 0);
	assert_int_equal(SB_STATUS_FAILED, 1);
	assert_int_equal(SB_STATUS_REFUSED, 2);
	assert_int_equal(SB_STATUS_UNPROVEN, 3);
	assert_int_equal(SB_STATUS_MORE, 4);
	assert_int_equal(SB_STATUS_YOUNG, 5);
	assert_int_equal(SB_STATUS_LOCKED, 6);
	assert_int_equal(SB_STATUS_PINNED, 7);
	assert_int_equal(SB_STATUS_COUNT, 8);
}

static void the_weightiest_wins(void **state)
{
	static const int order[] = {2, 6, 1, 7, 3, 4, 5, 0};

	(void)state;
	assert_int_equal(sb_status_worst(0), 0);
	/* Every set there can be. */
	for (sb_status_set set = 0; set < 1U << SB_STATUS_COUNT; set++) {
		size_t i = 0;

		while (order[i] != 0 && !(set & SB_STATUS_BIT(order[i])))
			i++;
		assert_int_equal(sb_status_worst(set), order[i]);
	}
}

static void all_have_a_meaning(void **state)
{
	(void)state;
	for (int i = 0; i < SB_STATUS_COUNT; i++) {
		const char *meaning = sb_status_meaning((enum sb_status)i);

		assert_non_null(meaning);
		assert_true(strlen(meaning) > 3);
		for (int j = 0; j < i; j++)
			assert_string_not_equal(meaning, sb_status_meaning((enum sb_status)j));
	}
}

static void help_tells_those_asked_for(void **state)
{
	char *text =
		sb_status_help(SB_STATUS_BIT(SB_STATUS_DONE) | SB_STATUS_BIT(SB_STATUS_PINNED));

	(void)state;
	assert_non_null(text);
	assert_non_null(strstr(text, "Exit status:\n"));
	assert_non_null(strstr(text, "\n  0  done\n"));
	assert_non_null(strstr(text, "\n  7  "));
	assert_null(strstr(text, "\n  1  "));
	assert_null(strstr(text, "\n  6  "));
	free(text);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers_are_those_of_the_manual),
		cmocka_unit_test(the_weightiest_wins),
		cmocka_unit_test(all_have_a_meaning),
		cmocka_unit_test(help_tells_those_asked_for),
	};

	return cmocka_run_group_tests_name("status", tests, NULL, NULL);
}
