/* A map from 64-bit numbers to 64-bit numbers. */
#include "idmap.h"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

/* Keys as the kernel hands them out: in a row, apart by powers of two, and the extremes. */
static uint64_t key_of(uint64_t i)
{
	return i < 10000 ? i : i < 20000 ? (i - 10000) << 32 : UINT64_MAX - i;
}

static void holds_what_was_put(void **state)
{
	struct sb_idmap map = {0};
	uint64_t value;

	(void)state;
	assert_false(sb_idmap_get(&map, 0, NULL));
	for (uint64_t i = 1; i < 30000; i++)
		assert_int_equal(sb_idmap_put(&map, key_of(i), i), 0);
	for (uint64_t i = 1; i < 30000; i++) {
		assert_true(sb_idmap_get(&map, key_of(i), &value));
		assert_int_equal(value, i);
		assert_true(sb_idmap_get(&map, key_of(i), NULL));
	}
	assert_int_equal(map.count, 29999);
	assert_false(sb_idmap_get(&map, 123456789, &value));
	sb_idmap_free(&map);
}

static void replaces(void **state)
{
	struct sb_idmap map = {0};
	uint64_t value = 0;

	(void)state;
	assert_int_equal(sb_idmap_put(&map, 5, 1), 0);
	assert_int_equal(sb_idmap_put(&map, 5, 2), 0);
	assert_int_equal(map.count, 1);
	assert_true(sb_idmap_get(&map, 5, &value));
	assert_int_equal(value, 2);
	sb_idmap_free(&map);
}

static void zero_and_the_largest_are_keys_and_values_like_others(void **state)
{
	struct sb_idmap map = {0};
	uint64_t value = 1;

	(void)state;
	assert_int_equal(sb_idmap_put(&map, UINT64_MAX, 3), 0);
	assert_false(sb_idmap_get(&map, 0, NULL));
	assert_int_equal(sb_idmap_put(&map, 0, 0), 0);
	assert_true(sb_idmap_get(&map, 0, &value));
	assert_int_equal(value, 0);
	assert_true(sb_idmap_get(&map, UINT64_MAX, &value));
	assert_int_equal(value, 3);
	sb_idmap_free(&map);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(holds_what_was_put),
		cmocka_unit_test(replaces),
		cmocka_unit_test(zero_and_the_largest_are_keys_and_values_like_others),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
