/*
 * Processes that ended, and were not waited for.
 *
 *   ks-zombies N COMMAND [ARG...]  leaves N zombies unreaped, runs COMMAND, ends with its status
 *   ks-zombies leader              the leader ends, a thread lives on until SIGTERM
 *   ks-zombies stubborn            the same, with SIGTERM ignored
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static void *live_on(void *unused)
{
	(void)unused;
	for (;;)
		pause();
	return NULL;
}

static int lead(bool stubborn)
{
	pthread_t thread;

	if (stubborn)
		signal(SIGTERM, SIG_IGN);
	if (pthread_create(&thread, NULL, live_on, NULL) != 0)
		return 1;
	pthread_exit(NULL);
}

static int leave(long count, char **command)
{
	int status;
	pid_t child;

	for (long i = 0; i < count; i++) {
		siginfo_t info;

		child = fork();
		if (child == 0)
			_exit(0);
		/* It has ended, and stays what it is. */
		if (child < 0 || waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0)
			return 1;
	}
	child = fork();
	if (child == 0) {
		execvp(command[0], command);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0)
		return 1;
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	if (argc == 2 && strcmp(argv[1], "leader") == 0)
		return lead(false);
	if (argc == 2 && strcmp(argv[1], "stubborn") == 0)
		return lead(true);
	if (argc > 2)
		return leave(strtol(argv[1], NULL, 10), argv + 2);
	fprintf(stderr, "usage: ks-zombies leader|stubborn|N COMMAND [ARG...]\n");
	return 2;
}
