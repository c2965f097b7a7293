/*
 * What sb-killstray is measured against, and by.
 *
 *   killstray strays N PIDS [MS]   starts N processes that end on SIGTERM, one of them MS
 *                                  milliseconds later, and writes their numbers into PIDS
 *   killstray know PIDS            ends those, knowing their numbers: pidfds, SIGTERM, poll
 *   killstray time COMMAND...      runs it and prints its wall time in microseconds
 */
#include "clock.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOST 4096

static int late_ms;

static void end_late(int number)
{
	(void)number;
	poll(NULL, 0, late_ms);
	_exit(0);
}

static int start_strays(long count, const char *file)
{
	FILE *f = fopen(file, "we");

	if (!f)
		return 1;
	for (long i = 0; i < count; i++) {
		pid_t child = fork();

		if (child == 0) {
			setsid();
			if (i == 0 && late_ms)
				signal(SIGTERM, end_late);
			for (;;)
				pause();
		}
		if (child < 0)
			return 1;
		fprintf(f, "%d\n", (int)child);
	}
	return fclose(f) != 0;
}

static int end_known(const char *file)
{
	static struct pollfd pollers[MOST];
	nfds_t count = 0, left;
	FILE *f = fopen(file, "re");
	char line[32];

	if (!f)
		return 1;
	while (count < MOST && fgets(line, sizeof(line), f))
		pollers[count++] = (struct pollfd){
			.fd = (int)syscall(SYS_pidfd_open, strtol(line, NULL, 10), 0),
			.events = POLLIN,
		};
	fclose(f);
	for (nfds_t i = 0; i < count; i++)
		syscall(SYS_pidfd_send_signal, pollers[i].fd, SIGTERM, NULL, 0);
	for (left = count; left;) {
		poll(pollers, count, -1);
		for (nfds_t i = 0; i < count; i++)
			if (pollers[i].revents) {
				pollers[i].fd = -1; /* poll passes it over from here on */
				pollers[i].revents = 0;
				left--;
			}
	}
	printf("stray processes killed: %lu\n", (unsigned long)count);
	return 0;
}

static int time_command(char **command)
{
	uint64_t start = sb_clock_now();
	pid_t child = fork();
	int status;

	if (child == 0) {
		execvp(command[0], command);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) < 0 || status != 0)
		return 1;
	fprintf(stderr, "%llu\n", (unsigned long long)((sb_clock_now() - start) / 1000));
	return 0;
}

int main(int argc, char **argv)
{
	if (argc >= 4 && strcmp(argv[1], "strays") == 0) {
		late_ms = argc > 4 ? (int)strtol(argv[4], NULL, 10) : 0;
		return start_strays(strtol(argv[2], NULL, 10), argv[3]);
	}
	if (argc == 3 && strcmp(argv[1], "know") == 0)
		return end_known(argv[2]);
	if (argc > 2 && strcmp(argv[1], "time") == 0)
		return time_command(argv + 2);
	fprintf(stderr, "usage: killstray strays N PIDS [MS] | know PIDS | time COMMAND...\n");
	return 2;
}
