/* Ages of entries: where one class ends and the next begins. */
#include "age.h"

#include "clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void classes(void **state)
{
	(void)state;
	assert_int_equal(sb_age_of(0), SB_AGE_MINUTE);
	assert_int_equal(sb_age_of(60 * SB_NS_PER_S - 1), SB_AGE_MINUTE);
	assert_int_equal(sb_age_of(60 * SB_NS_PER_S), SB_AGE_HOUR);
	assert_int_equal(sb_age_of(3600 * SB_NS_PER_S - 1), SB_AGE_HOUR);
	assert_int_equal(sb_age_of(3600 * SB_NS_PER_S), SB_AGE_DAY);
	assert_int_equal(sb_age_of(86400 * SB_NS_PER_S - 1), SB_AGE_DAY);
	assert_int_equal(sb_age_of(86400 * SB_NS_PER_S), SB_AGE_WEEK);
	assert_int_equal(sb_age_of(7 * 86400 * SB_NS_PER_S - 1), SB_AGE_WEEK);
	assert_int_equal(sb_age_of(7 * 86400 * SB_NS_PER_S), SB_AGE_OLDER);
	assert_int_equal(sb_age_of(UINT64_MAX), SB_AGE_OLDER);
}

static void each_has_a_name(void **state)
{
	(void)state;
	for (int age = 0; age < SB_AGE_COUNT; age++)
		assert_non_null(sb_age_name((enum sb_age)age));
	assert_string_equal(sb_age_name(SB_AGE_MINUTE), "under a minute");
	assert_string_equal(sb_age_name(SB_AGE_OLDER), "a week or more");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(classes),
		cmocka_unit_test(each_has_a_name),
	};

	return cmocka_run_group_tests_name("age", tests, NULL, NULL);
}
