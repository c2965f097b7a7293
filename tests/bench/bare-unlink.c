/*
 * What removing entries costs at the least: bare-unlink DIR [files], a loop of nothing
 * but getdents64 and unlinkat. No question is asked of anything.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <dirent.h>
#include <unistd.h>

#define LIST_BUFFER 65536 /* as that of sb-sweep */

static char buffer[LIST_BUFFER] __attribute__((aligned(8)));

static int fail(const char *what, const char *object)
{
	fprintf(stderr, "bare-unlink: cannot %s '%s': %s\n", what, object, strerror(errno));
	return 1;
}

int main(int argc, char **argv)
{
	int dir, flags = argc > 2 && strcmp(argv[2], "files") == 0 ? 0 : AT_REMOVEDIR;
	ssize_t filled;

	if (argc < 2) {
		fputs("usage: bare-unlink DIR [files]\n", stderr);
		return 2;
	}
	dir = open(argv[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		return fail("open", argv[1]);
	while ((filled = getdents64(dir, buffer, sizeof(buffer))) > 0) {
		const struct dirent64 *entry;

		for (ssize_t at = 0; at < filled; at += entry->d_reclen) {
			entry = (const struct dirent64 *)(buffer + at);
			if (entry->d_name[0] == '.')
				continue;
			if (unlinkat(dir, entry->d_name, flags) < 0)
				return fail("remove", entry->d_name);
		}
	}
	return filled < 0 ? fail("list", argv[1]) : 0;
}
