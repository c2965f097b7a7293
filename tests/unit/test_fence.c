/* May this entry go? Facts in, verdict out: every rule at both sides of its bound. */
#include "fence.h"

#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#define S   INT64_C(1000000000)
#define DAY (86400 * S)
#define NOW (20000 * DAY)
#define UID 1000U

static const char *prefix = "p";
static const struct sb_prefixes prefixes = {&prefix, 1};

/* What no fence objects to. */
static struct sb_facts perfect(void)
{
	return (struct sb_facts){.mode = S_IFDIR | 0700,
				 .uid = UID,
				 .mtime_ns = NOW - 2 * DAY,
				 .dev = 1,
				 .inode = 2};
}

static enum sb_verdict look(const struct sb_rules *rules, const struct sb_facts *facts)
{
	return sb_fence_look(rules, SB_SHAPE_KEYED, UID, NOW, facts);
}

static void defaults(void **state)
{
	struct sb_rules sweep = sb_rules_sweep(prefixes), legacy = sb_rules_legacy();

	(void)state;
	assert_int_equal(sweep.min_age_ns, 60 * S);
	assert_int_equal(sweep.max_age_ns, DAY);
	assert_int_equal(sweep.threshold, 0);
	assert_true(sweep.whole_trees && !sweep.legacy && !sweep.exact_mode);
	assert_int_equal(legacy.max_age_ns, DAY);
	assert_int_equal(legacy.threshold, 64);
	assert_true(legacy.legacy && legacy.exact_mode && legacy.directories_only);
	assert_false(legacy.whole_trees);
	assert_int_equal(SB_FENCE_MODE, 0700);
	assert_int_equal(SB_FENCE_BUDGET, 10 * S);
}

static void looks(void **state)
{
	struct sb_rules rules = sb_rules_sweep(prefixes);
	struct sb_facts facts = perfect();

	(void)state;
	assert_int_equal(look(&rules, &facts), SB_VERDICT_REMOVE);
	facts.uid = UID + 1;
	assert_int_equal(look(&rules, &facts), SB_VERDICT_FOREIGN);
	facts.mtime_ns = NOW;
	assert_int_equal(look(&rules, &facts), SB_VERDICT_FOREIGN);
	/* What is mounted there has its own owner and age. */
	facts.covered = true;
	assert_int_equal(look(&rules, &facts), SB_VERDICT_REMOVE);
	facts.gone = true;
	assert_int_equal(look(&rules, &facts), SB_VERDICT_VANISHED);
	assert_int_equal(sb_fence_look(&rules, SB_SHAPE_MALFORMED, UID, NOW, &facts),
			 SB_VERDICT_MALFORMED);
	assert_int_equal(sb_fence_look(&rules, SB_SHAPE_OTHER, UID, NOW, &facts),
			 SB_VERDICT_MALFORMED);
}

static void young(void **state)
{
	struct sb_rules rules = sb_rules_sweep(prefixes);
	struct sb_facts facts = perfect();

	(void)state;
	facts.mtime_ns = NOW - 60 * S + 1;
	assert_int_equal(look(&rules, &facts), SB_VERDICT_YOUNG);
	facts.mtime_ns = NOW - 60 * S;
	assert_int_equal(look(&rules, &facts), SB_VERDICT_REMOVE);
	facts.mtime_ns = NOW + 1;
	rules.min_age_ns = 0;
	assert_int_equal(look(&rules, &facts), SB_VERDICT_YOUNG);
	facts.mtime_ns = INT64_MAX;
	assert_int_equal(look(&rules, &facts), SB_VERDICT_YOUNG);
	facts.mtime_ns = INT64_MIN;
	assert_int_equal(look(&rules, &facts), SB_VERDICT_REMOVE);
}

static void legacy_looks(void **state)
{
	struct sb_rules rules = sb_rules_legacy();
	struct sb_facts facts = perfect();

	(void)state;
	assert_int_equal(look(&rules, &facts), SB_VERDICT_REMOVE);
	facts.mtime_ns = NOW - DAY;
	assert_int_equal(look(&rules, &facts), SB_VERDICT_YOUNG);
	facts.mtime_ns = NOW - DAY - 1;
	assert_int_equal(look(&rules, &facts), SB_VERDICT_REMOVE);
	for (mode_t mode = 0; mode <= 07777; mode++) {
		facts.mode = S_IFDIR | mode;
		assert_int_equal(look(&rules, &facts),
				 mode == 0700 ? SB_VERDICT_REMOVE : SB_VERDICT_WRONG_MODE);
	}
	facts.uid = UID + 1;
	assert_int_equal(look(&rules, &facts), SB_VERDICT_FOREIGN);
	facts.mode = S_IFREG | 0700;
	assert_int_equal(look(&rules, &facts), SB_VERDICT_NOT_DIRECTORY);
	facts = perfect();
	facts.mode = S_IFLNK | 0700;
	assert_int_equal(look(&rules, &facts), SB_VERDICT_NOT_DIRECTORY);
}

static enum sb_verdict process(const struct sb_facts *facts, const struct sb_pid_facts *pid)
{
	struct sb_rules rules = sb_rules_sweep(prefixes);

	return sb_fence_process(&rules, NOW, facts, pid);
}

static void processes(void **state)
{
	struct sb_facts facts = perfect();
	struct sb_pid_facts pid = {.scanned_ns = INT64_MAX};
	struct sb_rules legacy = sb_rules_legacy();

	(void)state;
	assert_int_equal(process(&facts, &pid), SB_VERDICT_REMOVE);
	/* It lived while pins were read, and may have bound the entry after that. */
	pid.alive_at_scan = true;
	assert_int_equal(process(&facts, &pid), SB_VERDICT_ALIVE);
	pid.alive_at_scan = false;
	pid.alive = true;
	assert_int_equal(process(&facts, &pid), SB_VERDICT_ALIVE);
	/* Names without a number have no process. */
	assert_int_equal(sb_fence_process(&legacy, NOW, &facts, &pid), SB_VERDICT_REMOVE);
}

static void recycled_numbers(void **state)
{
	struct sb_facts facts = perfect();
	struct sb_pid_facts pid = {.alive = true,
				   .started_known = true,
				   .started_ns = NOW - DAY,
				   .scanned_ns = INT64_MAX};

	(void)state;
	assert_int_equal(process(&facts, &pid), SB_VERDICT_REMOVE);
	/* Its start has to lie two seconds and more behind the entry's making. */
	pid.started_ns = facts.mtime_ns + 2 * S + 1;
	assert_int_equal(process(&facts, &pid), SB_VERDICT_REMOVE);
	pid.started_ns = facts.mtime_ns + 2 * S;
	assert_int_equal(process(&facts, &pid), SB_VERDICT_ALIVE);
	pid.started_ns = facts.mtime_ns - 30 * DAY;
	assert_int_equal(process(&facts, &pid), SB_VERDICT_ALIVE);
	pid.started_ns = NOW - DAY;
	pid.started_known = false;
	assert_int_equal(process(&facts, &pid), SB_VERDICT_ALIVE);
	pid.started_known = true;
	/* It came after the scan: whom it followed may have bound the entry in between. */
	pid.scanned_ns = pid.started_ns;
	assert_int_equal(process(&facts, &pid), SB_VERDICT_ALIVE);
	pid.scanned_ns = pid.started_ns + 1;
	assert_int_equal(process(&facts, &pid), SB_VERDICT_REMOVE);
	pid.alive_at_scan = true;
	assert_int_equal(process(&facts, &pid), SB_VERDICT_REMOVE);
	/* Gone by now, and who it was when the scan ran cannot be told any more. */
	pid.alive = false;
	assert_int_equal(process(&facts, &pid), SB_VERDICT_ALIVE);
	pid.alive = true;
	/* Up to the age, whoever bears the number keeps the entry. */
	facts.mtime_ns = NOW - DAY;
	pid.started_ns = NOW - S;
	pid.scanned_ns = NOW;
	assert_int_equal(process(&facts, &pid), SB_VERDICT_ALIVE);
	facts.mtime_ns = NOW - DAY - 1;
	assert_int_equal(process(&facts, &pid), SB_VERDICT_REMOVE);
	facts.covered = true;
	assert_int_equal(process(&facts, &pid), SB_VERDICT_ALIVE);
}

static void pins(void **state)
{
	struct sb_facts facts = perfect();
	struct sb_pin_facts pin = {0};

	(void)state;
	assert_int_equal(sb_fence_pins(&facts, &pin), SB_VERDICT_UNPROVEN);
	pin.proven = true;
	assert_int_equal(sb_fence_pins(&facts, &pin), SB_VERDICT_REMOVE);
	pin.pinned = true;
	assert_int_equal(sb_fence_pins(&facts, &pin), SB_VERDICT_PINNED);
	pin.only_mounted_here = true;
	assert_int_equal(sb_fence_pins(&facts, &pin), SB_VERDICT_MOUNTED);
	/* A pin that was seen counts without proof of the rest. */
	pin = (struct sb_pin_facts){.pinned = true};
	assert_int_equal(sb_fence_pins(&facts, &pin), SB_VERDICT_PINNED);
	facts.mode = S_IFREG;
	assert_int_equal(sb_fence_pins(&facts, &pin), SB_VERDICT_REMOVE);
	facts.covered = true;
	assert_int_equal(sb_fence_pins(&facts, &pin), SB_VERDICT_MOUNTED);
	facts.mode = S_IFDIR;
	pin = (struct sb_pin_facts){.proven = true};
	assert_int_equal(sb_fence_pins(&facts, &pin), SB_VERDICT_MOUNTED);
}

static void names_are_those_of_the_json(void **state)
{
	(void)state;
	for (int i = 0; i < SB_VERDICT_COUNT; i++) {
		assert_non_null(sb_verdict_name((enum sb_verdict)i));
		for (int j = 0; j < i; j++)
			assert_string_not_equal(sb_verdict_name((enum sb_verdict)i),
						sb_verdict_name((enum sb_verdict)j));
	}
	assert_string_equal(sb_verdict_name(SB_VERDICT_BELOW_THRESHOLD), "below_threshold");
	assert_string_equal(sb_verdict_name(SB_VERDICT_NOT_DIRECTORY), "not_directory");
}

static void shapes(void **state)
{
	struct sb_rules sweep = sb_rules_sweep(prefixes), legacy = sb_rules_legacy();
	pid_t pid = -1;

	(void)state;
	assert_int_equal(sb_fence_shape(&sweep, "p12_x", &pid), SB_SHAPE_KEYED);
	assert_int_equal(pid, 12);
	assert_int_equal(sb_fence_shape(&sweep, "tmpabcdefgh", &pid), SB_SHAPE_OTHER);
	assert_int_equal(sb_fence_shape(&legacy, "p12_x", &pid), SB_SHAPE_OTHER);
	assert_int_equal(sb_fence_shape(&legacy, "tmpabcdefgh", &pid), SB_SHAPE_KEYED);
	assert_int_equal(pid, SB_NAMES_NO_PID);
}

static void ages(void **state)
{
	bool future;

	(void)state;
	assert_int_equal(sb_fence_age(NOW, NOW, &future), 0);
	assert_false(future);
	assert_int_equal(sb_fence_age(NOW, NOW + 1, &future), 0);
	assert_true(future);
	assert_true(sb_fence_age(INT64_MAX, INT64_MIN, &future) == UINT64_MAX);
	assert_false(future);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(defaults),  cmocka_unit_test(looks),
		cmocka_unit_test(young),     cmocka_unit_test(legacy_looks),
		cmocka_unit_test(processes), cmocka_unit_test(recycled_numbers),
		cmocka_unit_test(pins),	     cmocka_unit_test(names_are_those_of_the_json),
		cmocka_unit_test(shapes),    cmocka_unit_test(ages),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
