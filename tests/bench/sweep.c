/*
 * What sb-sweep and sb-legacy-heal are measured against, and with.
 *
 *   sweep bare DIR           removes all empty directories in DIR: getdents64 and unlinkat, no more
 *   sweep time COMMAND...    runs a command; "<microseconds> <peak memory in KiB>" on stderr
 */
#include "clock.h"
#include "names.h"

#include <dirent.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIST_BUFFER 65536 /* as the tools have it */

static int run_bare(const char *path)
{
	static char buffer[LIST_BUFFER];
	int dir = open(path, O_RDONLY | O_DIRECTORY);
	ssize_t filled;

	if (dir < 0)
		return 1;
	while ((filled = getdents64(dir, buffer, sizeof(buffer))) > 0)
		for (ssize_t at = 0; at < filled;) {
			const struct dirent64 *entry = (const struct dirent64 *)(buffer + at);

			at += entry->d_reclen;
			if (!sb_names_is_dot(entry->d_name) &&
			    unlinkat(dir, entry->d_name, AT_REMOVEDIR) < 0)
				return 1;
		}
	return filled < 0;
}

static int run_timed(char **command)
{
	uint64_t started = sb_clock_now();
	struct rusage usage;
	int status;
	pid_t child = fork();

	if (child < 0)
		return 1;
	if (child == 0) {
		execvp(command[0], command);
		_exit(127);
	}
	if (wait4(child, &status, 0, &usage) < 0)
		return 1;
	fprintf(stderr, "%llu %ld\n", (unsigned long long)(sb_clock_now() - started) / 1000,
		usage.ru_maxrss);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int main(int argc, char **argv)
{
	if (argc == 3 && strcmp(argv[1], "bare") == 0)
		return run_bare(argv[2]);
	if (argc >= 3 && strcmp(argv[1], "time") == 0)
		return run_timed(argv + 2);
	fprintf(stderr, "usage: sweep bare DIR | sweep time COMMAND...\n");
	return 2;
}
