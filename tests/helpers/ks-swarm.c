/*
 * Many processes that are hard to end, in the background; returns when all of them run.
 *
 *   ks-swarm hop N       N processes that fork and exit without a pause, for ever
 *   ks-swarm spin N      N processes that ignore SIGTERM and spin
 *   ks-swarm sleep N     N processes that sleep, and end on SIGTERM
 *   ks-swarm bomb        one that forks itself as often as it may (bound it by ulimit -u)
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void hop(void)
{
	for (;;) {
		pid_t child = fork();

		if (child > 0)
			_exit(0);
		/* Without room for a child it tries again. */
	}
}

static void spin(void)
{
	signal(SIGTERM, SIG_IGN);
	for (volatile unsigned long i = 0;; i++)
		;
}

static void sleep_on(void)
{
	for (;;)
		pause();
}

static void bomb(void)
{
	for (;;)
		if (fork() < 0)
			usleep(1000);
}

static const struct {
	const char *name;
	void (*live)(void);
} lives[] = {{"hop", hop}, {"spin", spin}, {"sleep", sleep_on}, {"bomb", bomb}};

int main(int argc, char **argv)
{
	long count = argc > 2 ? strtol(argv[2], NULL, 10) : 1;

	for (size_t i = 0; argc > 1 && i < sizeof(lives) / sizeof(lives[0]); i++) {
		if (strcmp(argv[1], lives[i].name) != 0)
			continue;
		for (long k = 0; k < count; k++) {
			pid_t child = fork();

			if (child == 0)
				lives[i].live();
			if (child < 0) {
				fprintf(stderr, "ks-swarm: cannot fork: %s\n", strerror(errno));
				return 1;
			}
		}
		return 0;
	}
	fprintf(stderr, "usage: ks-swarm hop|spin|sleep|bomb [N]\n");
	return 2;
}
