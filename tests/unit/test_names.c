/* The shapes of names: what is ours, what is nobody's. */
#include "names.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static const char *default_prefix[] = {SB_NAMES_DEFAULT_PREFIX};
static const struct sb_prefixes by_default = {default_prefix, 1};

#define P "kirocrew_sb_"

static void the_default_prefix(void **state)
{
	(void)state;
	assert_string_equal(SB_NAMES_DEFAULT_PREFIX, P);
}

static void shapes(void **state)
{
	static const struct {
		const char *name;
		enum sb_shape shape;
		pid_t pid;
	} cases[] = {
		{P "1_a", SB_SHAPE_KEYED, 1},
		{P "4711_x", SB_SHAPE_KEYED, 4711},
		{P "1__", SB_SHAPE_KEYED, 1},
		{P "12_a_b_c", SB_SHAPE_KEYED, 12},
		{P "12_\n", SB_SHAPE_KEYED, 12},
		{P "2147483647_x", SB_SHAPE_KEYED, INT_MAX},
		{P "2147483648_x", SB_SHAPE_KEYED, SB_NAMES_NO_PID},
		{P "99999999999999999999_x", SB_SHAPE_KEYED, SB_NAMES_NO_PID},
		{P "18446744073709551617_x", SB_SHAPE_KEYED, SB_NAMES_NO_PID}, /* 2^64 + 1 */
		{P "4294967297_x", SB_SHAPE_KEYED, SB_NAMES_NO_PID},	       /* 2^32 + 1 */
		{P "0_x", SB_SHAPE_MALFORMED, 0},
		{P "00_x", SB_SHAPE_MALFORMED, 0},
		{P "-1_x", SB_SHAPE_MALFORMED, 0},
		{P "+5_x", SB_SHAPE_MALFORMED, 0},
		{P " 5_x", SB_SHAPE_MALFORMED, 0},
		{P "5 _x", SB_SHAPE_MALFORMED, 0},
		{P "007_x", SB_SHAPE_MALFORMED, 0},
		{P "12", SB_SHAPE_MALFORMED, 0},
		{P "12x_x", SB_SHAPE_MALFORMED, 0},
		{P "_12", SB_SHAPE_MALFORMED, 0},
		{P "12_", SB_SHAPE_MALFORMED, 0},
		{P "", SB_SHAPE_MALFORMED, 0},
		{P "\xd9\xa1_x", SB_SHAPE_MALFORMED, 0}, /* ARABIC-INDIC DIGIT ONE */
		{P "0x10_x", SB_SHAPE_MALFORMED, 0},
		{"kirocrew_sb", SB_SHAPE_OTHER, 0},
		{"Kirocrew_sb_12_x", SB_SHAPE_OTHER, 0},
		{"x" P "12_x", SB_SHAPE_OTHER, 0},
		{" " P "12_x", SB_SHAPE_OTHER, 0},
		{"12_x", SB_SHAPE_OTHER, 0},
		{"", SB_SHAPE_OTHER, 0},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		pid_t pid = -7;
		enum sb_shape shape = sb_names_shape(&by_default, cases[i].name, &pid);

		if (shape != cases[i].shape)
			print_error("'%s'\n", cases[i].name);
		assert_int_equal(shape, cases[i].shape);
		if (shape == SB_SHAPE_KEYED)
			assert_int_equal(pid, cases[i].pid);
	}
}

static void prefixes_are_literal(void **state)
{
	const char *odd[] = {"a*", "[x]", ".", "P", "^", "%s"};
	const struct sb_prefixes prefixes = {odd, 6};
	pid_t pid;

	(void)state;
	assert_int_equal(sb_names_shape(&prefixes, "a*12_x", &pid), SB_SHAPE_KEYED);
	assert_int_equal(sb_names_shape(&prefixes, "ab12_x", &pid), SB_SHAPE_OTHER);
	assert_int_equal(sb_names_shape(&prefixes, "aaa12_x", &pid), SB_SHAPE_OTHER);
	assert_int_equal(sb_names_shape(&prefixes, "[x]12_x", &pid), SB_SHAPE_KEYED);
	assert_int_equal(sb_names_shape(&prefixes, "x12_x", &pid), SB_SHAPE_OTHER);
	assert_int_equal(sb_names_shape(&prefixes, ".12_x", &pid), SB_SHAPE_KEYED);
	assert_int_equal(sb_names_shape(&prefixes, "z12_x", &pid), SB_SHAPE_OTHER);
	assert_int_equal(sb_names_shape(&prefixes, "Pq12_x", &pid), SB_SHAPE_MALFORMED);
	assert_int_equal(sb_names_shape(&prefixes, "PP12_x", &pid), SB_SHAPE_MALFORMED);
	assert_int_equal(sb_names_shape(&prefixes, "%s12_x", &pid), SB_SHAPE_KEYED);
}

static void the_prefix_that_makes_it_keyed_wins(void **state)
{
	/* "ab" alone would call "ab1_2_x" malformed or keyed by its own digits. */
	const char *both[] = {"a", "ab", "ab1_"};
	const struct sb_prefixes prefixes = {both, 3};
	const struct sb_prefixes none = {NULL, 0};
	pid_t pid = 0;

	(void)state;
	assert_int_equal(sb_names_shape(&prefixes, "ab12_x", &pid), SB_SHAPE_KEYED);
	assert_int_equal(pid, 12);
	assert_int_equal(sb_names_shape(&prefixes, "abc", &pid), SB_SHAPE_MALFORMED);
	assert_int_equal(sb_names_shape(&none, "ab12_x", &pid), SB_SHAPE_OTHER);
}

static void prefixes_that_cannot_be(void **state)
{
	(void)state;
	assert_null(sb_names_check_prefix("x"));
	assert_null(sb_names_check_prefix("."));
	assert_null(sb_names_check_prefix(" "));
	assert_non_null(sb_names_check_prefix(""));
	assert_non_null(sb_names_check_prefix("/"));
	assert_non_null(sb_names_check_prefix("x/"));
	assert_non_null(sb_names_check_prefix("a/b"));
}

static void bearing_a_prefix_within_a_path(void **state)
{
	const char path[] = P "12_x/below";

	(void)state;
	assert_true(sb_names_bears_prefix(&by_default, path, sizeof(P) + 3));
	assert_true(sb_names_bears_prefix(&by_default, path, sizeof(P) - 1));
	assert_false(sb_names_bears_prefix(&by_default, path, sizeof(P) - 2));
	assert_false(sb_names_bears_prefix(&by_default, path, 0));
	assert_false(sb_names_bears_prefix(&by_default, "other", 5));
}

static void legacy(void **state)
{
	static const struct {
		const char *name;
		bool is;
	} cases[] = {
		{"tmpabcdefgh", true},	 {"tmp01234567", true},
		{"tmp________", true},	 {"tmpa1_b2_c3", true},
		{"tmpabcdefg", false},	 {"tmpabcdefghi", false},
		{"tmpABCDEFGH", false},	 {"tmpabcdefgH", false},
		{"tmpabc.efgh", false},	 {"tmpabc-efgh", false},
		{"Tmpabcdefgh", false},	 {"tm_abcdefgh", false},
		{"xtmpabcdefg", false},	 {"tmpabcdef\xc3\xa4", false},
		{"tmp", false},		 {"", false},
		{"tmpabcdefg\n", false}, {"tmp abcdefg", false},
		{"tmp{abcdefg", false},	 {"tmp`abcdefg", false},
		{"tmp/abcdefg", false},	 {"tmp:abcdefg", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		if (sb_names_is_legacy(cases[i].name, strlen(cases[i].name)) != cases[i].is)
			print_error("'%s'\n", cases[i].name);
		assert_int_equal(sb_names_is_legacy(cases[i].name, strlen(cases[i].name)),
				 cases[i].is);
	}
	/* A component of a longer path is judged by its own length. */
	assert_true(sb_names_is_legacy("tmpabcdefgh/x", 11));
	assert_false(sb_names_is_legacy("tmpabcdefghi", 10));
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_default_prefix),
		cmocka_unit_test(shapes),
		cmocka_unit_test(prefixes_are_literal),
		cmocka_unit_test(the_prefix_that_makes_it_keyed_wins),
		cmocka_unit_test(prefixes_that_cannot_be),
		cmocka_unit_test(bearing_a_prefix_within_a_path),
		cmocka_unit_test(legacy),
	};

	return cmocka_run_group_tests_name("names", tests, NULL, NULL);
}
