/*
 * The peak of memory of a command: peak COMMAND [ARG...] runs it, its standard output dropped, and
 * prints the largest resident set that it had, in KiB. Small itself, for a child counts what it was
 * before it became the command.
 */
#include <fcntl.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage usage;
	pid_t child;
	int status;

	if (argc < 2) {
		fputs("usage: peak COMMAND [ARG...]\n", stderr);
		return 2;
	}
	child = fork();
	if (child == 0) {
		int null = open("/dev/null", O_WRONLY | O_CLOEXEC);

		if (null < 0 || dup2(null, STDOUT_FILENO) < 0)
			_exit(126);
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (child < 0 || wait4(child, &status, 0, &usage) < 0)
		return 1;
	printf("%ld\n", usage.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
