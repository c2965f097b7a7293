/*
 * Traces a process and never serves it: it stays held when it is about to end.
 *
 *   ks-trace PID FILE    makes FILE when it has taken hold
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	pid_t pid;

	if (argc != 3) {
		fprintf(stderr, "usage: ks-trace PID FILE\n");
		return 2;
	}
	pid = (pid_t)strtol(argv[1], NULL, 10);
	if (ptrace(PTRACE_SEIZE, pid, NULL, (void *)PTRACE_O_TRACEEXIT) < 0) {
		fprintf(stderr, "ks-trace: cannot trace %d: %s\n", (int)pid, strerror(errno));
		return 1;
	}
	close(open(argv[2], O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
	for (;;)
		pause();
}
