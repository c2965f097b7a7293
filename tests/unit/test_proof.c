/* What a gap takes away, and how many are told. */
#include "proof.h"

#include "coverage.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void nothing_lost_is_complete(void **state)
{
	struct sb_proof proof;
	char text[64];

	(void)state;
	sb_proof_start(&proof, -1);
	sb_proof_finish(&proof);
	assert_int_equal(proof.coverage.level, SB_LEVEL_COMPLETE);
	assert_true(proof.coverage.complete && proof.coverage.covered);
	proof.coverage.evidence = SB_EVIDENCE_KERNEL;
	assert_string_equal(sb_coverage_describe(&proof.coverage, text, sizeof(text)),
			    "complete (kernel)");
	sb_coverage_free(&proof.coverage);
}

static void the_weakest_counts(void **state)
{
	struct sb_proof proof;

	(void)state;
	sb_proof_start(&proof, -1);
	sb_proof_lose(&proof, SB_LOSES_COMPLETE, NULL, "one");
	sb_proof_finish(&proof);
	assert_int_equal(proof.coverage.level, SB_LEVEL_COVERED);
	assert_false(proof.coverage.complete);
	assert_true(proof.coverage.covered);
	sb_coverage_free(&proof.coverage);

	sb_proof_start(&proof, -1);
	sb_proof_lose(&proof, SB_LOSES_BOTH, NULL, "two");
	sb_proof_lose(&proof, SB_LOSES_COMPLETE, NULL, "three");
	sb_proof_finish(&proof);
	assert_int_equal(proof.coverage.level, SB_LEVEL_UNPROVEN);
	assert_false(proof.coverage.complete || proof.coverage.covered);
	assert_int_equal(proof.coverage.gap_count, 2);
	sb_coverage_free(&proof.coverage);
}

static void an_unread_task_loses_by_whose_it_is(void **state)
{
	(void)state;
	assert_int_equal(sb_proof_loss_of(&(struct sb_task){.possible_holder = true}),
			 SB_LOSES_BOTH);
	assert_int_equal(sb_proof_loss_of(&(struct sb_task){.possible_holder = false}),
			 SB_LOSES_COMPLETE);
}

static void twenty_are_told_and_all_are_counted(void **state)
{
	int procfs = open(SB_PROC_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct sb_task task = {.pid = getpid(), .tid = getpid(), .uid_known = true, .uid = 7};
	struct sb_proof proof;

	(void)state;
	strcpy(task.path, "self");
	sb_proof_start(&proof, procfs);
	for (int i = 0; i < 25; i++)
		sb_proof_lose(&proof, SB_LOSES_COMPLETE, i ? NULL : &task, "number %d", i);
	sb_proof_finish(&proof);
	assert_int_equal(proof.coverage.gap_count, 25);
	assert_int_equal(proof.coverage.gaps_kept, 20);
	assert_string_equal(proof.coverage.gaps[0].reason, "number 0");
	assert_int_equal(proof.coverage.gaps[0].pid, getpid());
	assert_int_equal(proof.coverage.gaps[0].uid, 7);
	assert_string_equal(proof.coverage.gaps[0].comm, "test_proof");
	assert_string_equal(proof.coverage.gaps[19].reason, "number 19");
	assert_int_equal(proof.coverage.gaps[19].pid, 0);
	sb_coverage_free(&proof.coverage);
	assert_int_equal(proof.coverage.gaps_kept, 0);
	close(procfs);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_lost_is_complete),
		cmocka_unit_test(the_weakest_counts),
		cmocka_unit_test(an_unread_task_loses_by_whose_it_is),
		cmocka_unit_test(twenty_are_told_and_all_are_counted),
	};

	return cmocka_run_group_tests_name("proof", tests, NULL, NULL);
}
