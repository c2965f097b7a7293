#include "pipes.h"

#include "proc.h"
#include "scope.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#define FD_PATH	   48  /* "PID/fdinfo/FD" */
#define FDINFO_MAX 512 /* bytes: pos, flags, mnt_id, ino, and the locks of a file */

/*
 * Whether PID/fd/FD is a pipe, and which: 1, 0 or -errno. A cached answer will do: its type does
 * not change.
 */
static int is_pipe(int procfs, const char *path, struct sb_pipe_end *end)
{
	struct sb_proc_object object;
	int r = sb_proc_identify(procfs, path, &object);

	if (r < 0)
		return sb_proc_is_answer(r) ? 0 : r;
	if (!S_ISFIFO(object.mode))
		return 0;
	end->device = object.device;
	end->inode = object.inode;
	return 1;
}

/*
 * Which end, by the "flags:" line of fdinfo, in octal: 1; 0 when it is neither, or closed
 * meanwhile; -errno: who let us see that it is a pipe lets us see this too.
 */
static int learn_direction(int procfs, const char *path, struct sb_pipe_end *end)
{
	char text[FDINFO_MAX];
	ssize_t n = sb_proc_read_into(procfs, path, text, sizeof(text));
	const char *line = n > 0 ? strstr(text, "flags:") : NULL;
	unsigned long flags;

	if (n == -ENOENT || n == -ESRCH)
		return 0;
	if (!line)
		return n < 0 ? (int)n : -EINVAL;
	flags = strtoul(line + strlen("flags:"), NULL, 8);
	if (flags & O_PATH || (flags & O_ACCMODE) == O_RDWR)
		return 0;
	end->writes = (flags & O_ACCMODE) == O_WRONLY;
	return 1;
}

static int read_end(int procfs, pid_t pid, int fd, struct sb_pipe_end *ret)
{
	char path[FD_PATH];
	int r;

	snprintf(path, sizeof(path), "%d/fd/%d", (int)pid, fd);
	r = is_pipe(procfs, path, ret);
	if (r <= 0)
		return r;
	snprintf(path, sizeof(path), "%d/fdinfo/%d", (int)pid, fd);
	return learn_direction(procfs, path, ret);
}

void sb_pipes_read(int procfs, pid_t pid, struct sb_pipe_ends *ret)
{
	*ret = (struct sb_pipe_ends){0};
	for (int fd = 0; fd < SB_PIPES_STANDARD; fd++) {
		int r = read_end(procfs, pid, fd, &ret->item[ret->count]);

		if (r > 0)
			ret->count++;
		else if (r < 0)
			ret->error = r;
	}
}

static bool is_same(const struct sb_pipe_end *a, const struct sb_pipe_end *b)
{
	return a->device == b->device && a->inode == b->inode && a->writes == b->writes;
}

static bool is_known_pipe(const struct sb_pipes *pipes, const struct sb_pipe_end *end)
{
	for (size_t i = 0; i < pipes->count; i++)
		if (pipes->sought[i].device == end->device && pipes->sought[i].inode == end->inode)
			return true;
	return false;
}

static bool is_sought(const struct sb_pipes *pipes, const struct sb_pipe_end *end)
{
	for (size_t i = 0; i < pipes->count; i++)
		if (is_same(&pipes->sought[i], end))
			return true;
	return false;
}

static int add(struct sb_pipes *pipes, const struct sb_pipe_end *end)
{
	struct sb_pipe_end *sought = reallocarray(pipes->sought, pipes->count + 1, sizeof(*sought));
	bool *found;

	if (!sought)
		return -ENOMEM;
	pipes->sought = sought;
	found = reallocarray(pipes->found, pipes->count + 1, sizeof(*found));
	if (!found)
		return -ENOMEM;
	pipes->found = found;
	pipes->sought[pipes->count] = *end;
	pipes->found[pipes->count++] = false;
	return 0;
}

int sb_pipes_seek(struct sb_pipes *pipes, const struct sb_pipe_ends *ends, bool onward)
{
	int r = 0;

	for (size_t i = 0; i < ends->count && r == 0; i++) {
		struct sb_pipe_end opposite = ends->item[i];

		opposite.writes = !opposite.writes;
		if (!(onward ? is_known_pipe(pipes, &opposite) : is_sought(pipes, &opposite)))
			r = add(pipes, &opposite);
	}
	return r;
}

bool sb_pipes_match(struct sb_pipes *pipes, const struct sb_pipe_ends *ends)
{
	bool any = false;

	for (size_t i = 0; i < pipes->count; i++)
		for (size_t k = 0; k < ends->count; k++)
			if (is_same(&pipes->sought[i], &ends->item[k]))
				any = pipes->found[i] = true;
	return any;
}

void sb_pipes_free(struct sb_pipes *pipes)
{
	free(pipes->sought);
	free(pipes->found);
	*pipes = (struct sb_pipes){0};
}
