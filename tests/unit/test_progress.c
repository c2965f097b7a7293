/* The progress line: its text, and what it does to a terminal. */
#include "progress.h"

#include "log.h"

#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

static void assert_line(struct sb_progress_facts facts, size_t width, const char *expected)
{
	char buffer[128];

	assert_int_equal(sb_progress_format(&facts, width, buffer, sizeof(buffer)),
			 strlen(expected));
	assert_string_equal(buffer, expected);
}

static void text(void **state)
{
	(void)state;
	assert_line(
		(struct sb_progress_facts){412331, 398112, false, SB_NS_PER_S / 2, 6 * SB_NS_PER_S},
		80, "412,331 seen, 398,112 removed, 824,662/s, 6 s left");
	assert_line((struct sb_progress_facts){999, 0, false, 0, UINT64_MAX}, 80,
		    "999 seen, 0 removed, 0/s");
	assert_line((struct sb_progress_facts){5, 4, true, SB_NS_PER_S, UINT64_MAX}, 80,
		    "5 seen, 4 to remove, 5/s");
	assert_line((struct sb_progress_facts){1000, 1000, false, SB_NS_PER_S, 0}, 80,
		    "1,000 seen, 1,000 removed, 1,000/s, 0 s left");
	assert_line((struct sb_progress_facts){412331, 398112, false, SB_NS_PER_S, 0}, 10,
		    "412,331 se");
}

/* What a pass writes to stderr, which is a file here. */
static char *written_by(void (*pass)(void))
{
	char path[] = "/tmp/sb-progress.XXXXXX";
	int file = mkstemp(path), saved = dup(STDERR_FILENO);
	char *buffer = calloc(1, 65536);

	assert_true(file >= 0 && saved >= 0 && buffer);
	unlink(path);
	dup2(file, STDERR_FILENO);
	pass();
	dup2(saved, STDERR_FILENO);
	close(saved);
	assert_true(pread(file, buffer, 65535, 0) >= 0);
	close(file);
	return buffer;
}

/* Tells counts until the line has been written at least once. */
static void tell_for_a_while(void)
{
	uint64_t start = sb_clock_now();

	for (uint64_t i = 1; sb_clock_now() - start < 350 * SB_NS_PER_MS; i++)
		sb_progress_tell(i, i);
}

static void pass_always(void)
{
	struct sb_budget budget = sb_budget_start(10 * SB_NS_PER_S);

	sb_progress_start(SB_PROGRESS_ALWAYS, "sb-x", &budget, false);
	tell_for_a_while();
	sb_progress_end();
}

static void pass_auto(void)
{
	struct sb_budget budget = sb_budget_start(0);

	sb_progress_start(SB_PROGRESS_AUTO, "sb-x", &budget, false);
	tell_for_a_while();
	sb_progress_end();
}

static void pass_with_a_message(void)
{
	struct sb_budget budget = sb_budget_start(0);

	sb_progress_start(SB_PROGRESS_ALWAYS, "sb-x", &budget, false);
	tell_for_a_while();
	sb_log_say(SB_LOG_WARNING, "a message");
	sb_progress_end();
}

static void pass_over_at_once(void)
{
	struct sb_budget budget = sb_budget_start(0);

	sb_progress_start(SB_PROGRESS_ALWAYS, "sb-x", &budget, false);
	sb_progress_tell(1, 1);
	sb_progress_end();
}

/* What a terminal shows of it in its last line: \r goes back, later characters win. */
static void last_line(const char *bytes, char *screen, size_t size)
{
	size_t column = 0;

	memset(screen, ' ', size - 1);
	screen[size - 1] = '\0';
	for (; *bytes; bytes++) {
		if (*bytes == '\r') {
			column = 0;
		} else if (*bytes == '\n') {
			column = 0;
			memset(screen, ' ', size - 1);
		} else if (column < size - 1) {
			screen[column++] = *bytes;
		}
	}
	for (size_t i = size - 1; i > 0 && screen[i - 1] == ' '; i--)
		screen[i - 1] = '\0';
}

static void always_shows_and_erases(void **state)
{
	char *bytes = written_by(pass_always);
	char screen[256];
	size_t lines = 0;

	(void)state;
	assert_non_null(strstr(bytes, "\rsb-x: "));
	assert_non_null(strstr(bytes, " s left"));
	assert_null(strchr(bytes, '\n'));
	/* Ten times a second at most: two or three in 350 ms, and the erasing. */
	for (const char *at = bytes; (at = strstr(at, "seen, ")); at++)
		lines++;
	assert_in_range(lines, 1, 6);
	last_line(bytes, screen, sizeof(screen));
	assert_string_equal(screen, "");
	free(bytes);
}

static void auto_is_silent_in_a_file(void **state)
{
	char *bytes = written_by(pass_auto);

	(void)state;
	assert_string_equal(bytes, "");
	free(bytes);
}

static void a_message_has_a_line_of_its_own(void **state)
{
	char *bytes = written_by(pass_with_a_message);
	char *message = strstr(bytes, "a message\n");
	char screen[256];

	(void)state;
	assert_non_null(message);
	message[strlen("a message")] = '\0';
	last_line(bytes, screen, sizeof(screen));
	assert_non_null(strstr(screen, ": a message"));
	assert_null(strstr(screen, "seen"));
	free(bytes);
}

static void a_short_pass_shows_nothing(void **state)
{
	char *bytes = written_by(pass_over_at_once);

	(void)state;
	assert_string_equal(bytes, "");
	free(bytes);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(text),
		cmocka_unit_test(always_shows_and_erases),
		cmocka_unit_test(auto_is_silent_in_a_file),
		cmocka_unit_test(a_message_has_a_line_of_its_own),
		cmocka_unit_test(a_short_pass_shows_nothing),
	};

	return cmocka_run_group_tests_name("progress", tests, NULL, NULL);
}
