/* Signals to one process, and to nobody else. */
#include "process.h"

#include "pidfd.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

/* Signal 0 harms nobody, so that a refusal can be told from a signal that went through. */
static void no_signal_to_init_nor_to_a_group(void **state)
{
	static const pid_t numbers[] = {1, 0, -1, INT32_MIN};
	const struct sb_process_view view = {.pidfd = {.open = true}};
	struct sb_process process = {.fd = sb_pidfd_open(getpid()), .stat_known = true};

	(void)state;
	assert_true(process.fd >= 0);
	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
		process.pid = numbers[i];
		assert_int_equal(sb_process_signal(&view, &process, 0), -EINVAL);
	}
	process.pid = getpid();
	assert_int_equal(sb_process_signal(&view, &process, 0), 0);
	sb_process_forget(&process);
}

/* Whose start is not known could be anybody by now. */
static void no_signal_to_a_mere_number(void **state)
{
	const struct sb_process_view view = {0};
	const struct sb_process process = {.pid = getpid(), .fd = -1};

	(void)state;
	assert_int_equal(sb_process_signal(&view, &process, 0), -EINVAL);
}

static void whose_it_is(void **state)
{
	struct sb_process process = {.real_uid = 1, .saved_uid = 2};

	(void)state;
	assert_false(sb_process_is_of(&process, 1)); /* not known */
	process.uid_known = true;
	assert_true(sb_process_is_of(&process, 1));
	assert_true(sb_process_is_of(&process, 2));
	assert_false(sb_process_is_of(&process, 3));
}

static void no_pidfd_of_a_group(void **state)
{
	(void)state;
	assert_int_equal(sb_pidfd_open(0), -EINVAL);
	assert_int_equal(sb_pidfd_open(-1), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_signal_to_init_nor_to_a_group),
		cmocka_unit_test(no_signal_to_a_mere_number),
		cmocka_unit_test(whose_it_is),
		cmocka_unit_test(no_pidfd_of_a_group),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
