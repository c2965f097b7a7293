/* Is the process of that number alive, was it when the pins were read, and since when? */
#include "liveness.h"

#include "clock.h"
#include "names.h"
#include "proc.h"

#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define NOBODY ((pid_t)4194999) /* above the kernel's PID_MAX_LIMIT */

static pid_t start_child(void)
{
	pid_t child = fork();

	if (child == 0) {
		/* A test that fails does not come to end it. */
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		for (;;)
			pause();
	}
	assert_true(child > 0);
	return child;
}

static void end_child(pid_t child)
{
	kill(child, SIGKILL);
	assert_int_equal(waitpid(child, NULL, 0), child);
}

static void tells_the_living_from_the_dead(void **state)
{
	struct sb_liveness liveness;
	struct sb_pid_facts facts;
	pid_t child = start_child();

	(void)state;
	sb_liveness_start(&liveness, SB_PROC_DIR, false, true);
	sb_liveness_ask(&liveness, child, false, &facts);
	assert_true(facts.alive && !facts.started_known && !facts.alive_at_scan);
	assert_true(facts.scanned_ns == INT64_MAX);
	sb_liveness_ask(&liveness, NOBODY, false, &facts);
	assert_false(facts.alive);
	sb_liveness_ask(&liveness, SB_NAMES_NO_PID, false, &facts);
	assert_false(facts.alive);
	sb_liveness_ask(&liveness, 1, false, &facts);
	assert_true(facts.alive);
	end_child(child);
	/* Answers are remembered, which keeps what could go; with the scan they begin anew. */
	sb_liveness_ask(&liveness, child, false, &facts);
	assert_true(facts.alive);
	assert_int_equal(sb_liveness_note_scan(&liveness), 0);
	sb_liveness_ask(&liveness, child, false, &facts);
	assert_false(facts.alive);
	assert_false(facts.alive_at_scan);
	sb_liveness_free(&liveness);
}

static void remembers_who_lived_when_the_pins_were_read(void **state)
{
	struct sb_liveness liveness;
	struct sb_pid_facts facts;
	pid_t child = start_child();

	(void)state;
	sb_liveness_start(&liveness, SB_PROC_DIR, false, true);
	sb_liveness_ask(&liveness, child, false, &facts);
	assert_int_equal(sb_liveness_note_scan(&liveness), 0);
	end_child(child);
	sb_liveness_ask(&liveness, child, false, &facts);
	assert_false(facts.alive);
	assert_true(facts.alive_at_scan);
	assert_true(facts.scanned_ns <= sb_clock_wall());
	sb_liveness_ask(&liveness, NOBODY, false, &facts);
	assert_false(facts.alive || facts.alive_at_scan);
	sb_liveness_free(&liveness);
}

static void tells_when_a_process_started(void **state)
{
	struct sb_liveness liveness;
	struct sb_pid_facts facts;
	int64_t before = sb_clock_wall();
	pid_t child = start_child();

	(void)state;
	sb_liveness_start(&liveness, SB_PROC_DIR, false, true);
	sb_liveness_ask(&liveness, child, true, &facts);
	assert_true(facts.started_known);
	/* Ticks of 10 ms. */
	assert_true(facts.started_ns > before - (int64_t)SB_NS_PER_S / 10);
	assert_true(facts.started_ns <= sb_clock_wall());
	end_child(child);
	sb_liveness_free(&liveness);
}

static void where_numbers_prove_nothing_all_are_alive(void **state)
{
	char empty[] = "/tmp/test-liveness.XXXXXX";
	struct sb_liveness liveness;
	struct sb_pid_facts facts;

	(void)state;
	assert_non_null(mkdtemp(empty));
	sb_liveness_start(&liveness, empty, true, false);
	sb_liveness_ask(&liveness, NOBODY, true, &facts);
	assert_true(facts.alive && !facts.started_known);
	/* But for what no process can be called. */
	sb_liveness_ask(&liveness, SB_NAMES_NO_PID, true, &facts);
	assert_false(facts.alive);
	sb_liveness_free(&liveness);
	sb_liveness_start(&liveness, "/nowhere", true, false);
	sb_liveness_ask(&liveness, NOBODY, true, &facts);
	assert_true(facts.alive);
	sb_liveness_free(&liveness);
	rmdir(empty);
}

/* A list of the living that could not be made: then anybody may have lived. */
static void without_a_list_no_scan_proves(void **state)
{
	struct sb_liveness liveness;
	struct sb_pid_facts facts;

	(void)state;
	sb_liveness_start(&liveness, "/nowhere", true, true);
	assert_int_equal(sb_liveness_note_scan(&liveness), -ENOENT);
	sb_liveness_ask(&liveness, NOBODY, false, &facts);
	assert_true(facts.alive); /* its numbers are those of that procfs, and who lists them? */
	sb_liveness_free(&liveness);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(tells_the_living_from_the_dead),
		cmocka_unit_test(remembers_who_lived_when_the_pins_were_read),
		cmocka_unit_test(tells_when_a_process_started),
		cmocka_unit_test(where_numbers_prove_nothing_all_are_alive),
		cmocka_unit_test(without_a_list_no_scan_proves),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
