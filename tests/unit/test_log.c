/* What is said when there is no memory to say it. */
#include "log.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define LONG (64 << 20) /* bytes: more than any heap has in store */

static char text[LONG + 1];

static void say(void)
{
	sb_log_say(SB_LOG_WARNING, "%s", text);
}

static void say_about(void)
{
	sb_log_about(SB_LOG_WARNING, text, "is too long");
}

static void say_cannot(void)
{
	sb_log_cannot(SB_LOG_ERROR, "say", text, -1);
}

static void say_what_is_not_wanted(void)
{
	sb_log_say(SB_LOG_DEBUG, "%s", text);
	sb_log_cannot(SB_LOG_DEBUG, "say", text, -1);
	sb_log_about(SB_LOG_DEBUG, text, "is too long");
}

/* What a process without memory writes to stderr. */
static void listen(void (*prepare)(void), void (*speak)(void), char *ret, size_t size)
{
	int ends[2];
	ssize_t n;
	pid_t child;

	assert_int_equal(pipe(ends), 0);
	fflush(NULL);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		struct rlimit before, none;

		dup2(ends[1], STDERR_FILENO);
		if (prepare)
			prepare();
		getrlimit(RLIMIT_AS, &before);
		none = (struct rlimit){0, before.rlim_max};
		setrlimit(RLIMIT_AS, &none);
		speak();
		setrlimit(RLIMIT_AS, &before);
		exit(0);
	}
	close(ends[1]);
	n = read(ends[0], ret, size - 1);
	assert_true(n >= 0);
	ret[n] = '\0';
	close(ends[0]);
	waitpid(child, NULL, 0);
}

static void without_memory_it_says_so(void **state)
{
	void (*const speakers[])(void) = {say, say_about, say_cannot};
	char said[256];

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip(); /* the sanitizer needs memory of its own */
#endif
	for (size_t i = 0; i < sizeof(speakers) / sizeof(speakers[0]); i++) {
		listen(NULL, speakers[i], said, sizeof(said));
		assert_string_equal(said, "test: out of memory, for which a message was lost\n");
	}
	listen(NULL, say_what_is_not_wanted, said, sizeof(said));
	assert_string_equal(said, "");
}

/* As systemd does for a unit whose stderr is the journal's. */
static void let_stderr_be_the_journal(void)
{
	char stream[64];
	struct stat st;

	fstat(STDERR_FILENO, &st);
	snprintf(stream, sizeof(stream), "%llu:%llu", (unsigned long long)st.st_dev,
		 (unsigned long long)st.st_ino);
	setenv("JOURNAL_STREAM", stream, 1);
	sb_log_init("test", 0);
}

static void without_memory_the_journal_learns_the_level(void **state)
{
	char said[256];

	(void)state;
#ifdef __SANITIZE_ADDRESS__
	skip();
#endif
	listen(let_stderr_be_the_journal, say, said, sizeof(said));
	assert_string_equal(said, "<4>test: out of memory, for which a message was lost\n");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(without_memory_it_says_so),
		cmocka_unit_test(without_memory_the_journal_learns_the_level),
	};

	memset(text, 'x', LONG);
	sb_log_init("test", 0);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
