/* The words of the verdict. */
#include "evidence.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

static void kinds(void **state)
{
	static const char *const names[SB_EVIDENCE_COUNT] = {"auto", "kernel", "namespaces",
							     "mountinfo"};
	enum sb_evidence kind;

	(void)state;
	for (int i = 0; i < SB_EVIDENCE_COUNT; i++) {
		assert_string_equal(sb_evidence_name((enum sb_evidence)i), names[i]);
		assert_true(sb_evidence_parse(names[i], &kind));
		assert_int_equal(kind, i);
	}
	assert_false(sb_evidence_parse("", &kind));
	assert_false(sb_evidence_parse("Kernel", &kind));
	assert_false(sb_evidence_parse("kern", &kind));
	assert_false(sb_evidence_parse("kernel ", &kind));
	/* "The weakest kind used" is a maximum. */
	assert_true(SB_EVIDENCE_KERNEL < SB_EVIDENCE_NAMESPACES);
	assert_true(SB_EVIDENCE_NAMESPACES < SB_EVIDENCE_MOUNTINFO);
}

static void levels(void **state)
{
	static const char *const names[SB_LEVEL_COUNT] = {"unproven", "covered", "complete"};
	enum sb_level level = SB_LEVEL_UNPROVEN;

	(void)state;
	for (int i = 0; i < SB_LEVEL_COUNT; i++)
		assert_string_equal(sb_level_name((enum sb_level)i), names[i]);
	assert_true(sb_level_parse_required("covered", &level));
	assert_int_equal(level, SB_LEVEL_COVERED);
	assert_true(sb_level_parse_required("complete", &level));
	assert_int_equal(level, SB_LEVEL_COMPLETE);
	/* Nobody can ask for no proof at all. */
	assert_false(sb_level_parse_required("unproven", &level));
	assert_false(sb_level_parse_required("", &level));
	assert_false(sb_level_parse_required("COMPLETE", &level));
	assert_int_equal(level, SB_LEVEL_COMPLETE);
	assert_true(SB_LEVEL_UNPROVEN < SB_LEVEL_COVERED && SB_LEVEL_COVERED < SB_LEVEL_COMPLETE);
}

static void twenty_gaps_are_told_in_full(void **state)
{
	(void)state;
	assert_int_equal(SB_GAPS_KEPT, 20);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(kinds),
		cmocka_unit_test(levels),
		cmocka_unit_test(twenty_gaps_are_told_in_full),
	};

	return cmocka_run_group_tests_name("evidence", tests, NULL, NULL);
}
