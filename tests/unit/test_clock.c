/* Time and deadlines. */
#include "clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

#include <cmocka.h>

static void now_goes_forward(void **state)
{
	uint64_t before = sb_clock_now();

	(void)state;
	assert_true(before > 0);
	for (int i = 0; i < 1000; i++) {
		uint64_t now = sb_clock_now();

		assert_true(now >= before);
		before = now;
	}
}

static void the_wall_clock_is_that_of_the_host(void **state)
{
	int64_t before = (int64_t)time(NULL);
	int64_t wall = sb_clock_wall() / (int64_t)SB_NS_PER_S;

	(void)state;
	assert_true(wall >= before && wall <= (int64_t)time(NULL) + 1);
}

static void stamps(void **state)
{
	(void)state;
	assert_int_equal(sb_clock_from_stamp(0, 0), 0);
	assert_int_equal(sb_clock_from_stamp(1, 5), 1000000005);
	assert_int_equal(sb_clock_from_stamp(-1, 999999999), -1);
	/* 2099 fits; the ends of time saturate, on the side they lie on. */
	assert_int_equal(sb_clock_from_stamp(INT64_C(4070908800), 0),
			 INT64_C(4070908800) * (int64_t)SB_NS_PER_S);
	assert_true(sb_clock_from_stamp(INT64_MAX, 999999999) == INT64_MAX);
	assert_true(sb_clock_from_stamp(INT64_MIN, 0) == INT64_MIN);
	assert_true(sb_clock_from_stamp(INT64_C(9223372037), 0) == INT64_MAX);
	assert_true(sb_clock_from_stamp(INT64_C(-9223372037), 0) == INT64_MIN);
	assert_true(sb_clock_from_stamp(INT64_C(9223372035), 999999999) > 0);
}

static void budgets(void **state)
{
	struct sb_budget none = sb_budget_start(0);
	struct sb_budget hour = sb_budget_start(3600 * SB_NS_PER_S);
	struct sb_budget longest = sb_budget_start(UINT64_MAX);
	struct sb_budget shortest = sb_budget_start(1);

	(void)state;
	assert_false(sb_budget_spent(&none));
	assert_true(sb_budget_left(&none) == UINT64_MAX);
	assert_false(sb_budget_spent(&hour));
	assert_true(sb_budget_left(&hour) <= 3600 * SB_NS_PER_S);
	assert_true(sb_budget_left(&hour) > 3500 * SB_NS_PER_S);
	assert_false(sb_budget_spent(&longest));
	while (sb_clock_now() <= shortest.deadline_ns)
		continue;
	assert_true(sb_budget_spent(&shortest));
	assert_int_equal(sb_budget_left(&shortest), 0);
}

static void seconds(void **state)
{
	(void)state;
	assert_true(sb_clock_seconds(0) == 0.0);
	assert_true(sb_clock_seconds(1500 * SB_NS_PER_MS) == 1.5);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(now_goes_forward),
		cmocka_unit_test(the_wall_clock_is_that_of_the_host),
		cmocka_unit_test(stamps),
		cmocka_unit_test(budgets),
		cmocka_unit_test(seconds),
	};

	return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
