#include "cgroup.h"

#include "proc.h"
#include "scope.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/vfs.h>

#ifndef CGROUP2_SUPER_MAGIC
#define CGROUP2_SUPER_MAGIC 0x63677270
#endif

#define EVENTS_MAX 256 /* bytes of cgroup.events */
#define OPEN_FLAGS (O_RDONLY | O_DIRECTORY | O_CLOEXEC)

struct members {
	pid_t *item;
	size_t count;
};

/* Cgroups that are still to be read, by their paths below the root of the subtree. */
struct paths {
	char **item;
	size_t count;
};

int sb_cgroup_open(const char *path)
{
	sb_auto_close int fd = open(path, OPEN_FLAGS);
	char type[32];
	struct statfs fs;
	ssize_t n;

	if (fd < 0)
		return -errno;
	if (fstatfs(fd, &fs) < 0)
		return -errno;
	if ((unsigned long)fs.f_type != CGROUP2_SUPER_MAGIC)
		return -EMEDIUMTYPE;
	/* The root has no type. */
	n = sb_proc_read_into(fd, "cgroup.type", type, sizeof(type));
	if (n > 0 && strncmp(type, "threaded", strlen("threaded")) == 0)
		return -EOPNOTSUPP;
	return sb_scope_take_fd(&fd);
}

static int add_member(struct members *members, const char *digits)
{
	uint64_t number;
	pid_t *grown;

	if (sb_text_parse_u64(digits, INT_MAX, &number) < 0)
		return -EINVAL;
	grown = reallocarray(members->item, members->count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	members->item = grown;
	members->item[members->count++] = (pid_t)number;
	return 0;
}

static int read_members(int directory, struct members *members)
{
	sb_auto_free char *text = NULL;
	char *rest = NULL;
	size_t length;
	int r = sb_proc_read(directory, "cgroup.procs", &text, &length);

	/* Removed meanwhile; or threaded, when its processes belong to a cgroup above it. */
	if (r == -ENOENT || r == -ENODEV || r == -EOPNOTSUPP)
		return 0;
	if (r < 0)
		return r;
	for (char *line = strtok_r(text, "\n", &rest); line && r == 0;
	     line = strtok_r(NULL, "\n", &rest))
		r = add_member(members, line);
	return r;
}

static int push(struct paths *paths, const char *above, const char *name)
{
	char **grown = reallocarray(paths->item, paths->count + 1, sizeof(*grown));

	if (!grown)
		return -ENOMEM;
	paths->item = grown;
	if (asprintf(&paths->item[paths->count], "%s/%s", above, name) < 0)
		return -ENOMEM;
	paths->count++;
	return 0;
}

static int push_children(int directory, const char *path, struct paths *paths)
{
	sb_auto_closedir DIR *dir = NULL;
	const struct dirent *entry;
	int fd = openat(directory, ".", OPEN_FLAGS);
	int r = 0;

	if (fd < 0)
		return errno == ENOENT ? 0 : -errno;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -ENOMEM;
	}
	/* It ends with NULL, and fails with NULL. */
	while (r == 0 && (errno = 0, entry = readdir(dir)))
		if (entry->d_type == DT_DIR && entry->d_name[0] != '.')
			r = push(paths, path, entry->d_name);
	if (r == 0 && errno != 0 && errno != ENOENT)
		r = -errno;
	return r;
}

static int read_cgroup(int cgroup, const char *path, struct members *members, struct paths *paths)
{
	sb_auto_close int directory = openat(cgroup, path, OPEN_FLAGS | O_NOFOLLOW);
	int r;

	if (directory < 0)
		return errno == ENOENT || errno == ENODEV ? 0 : -errno;
	r = read_members(directory, members);
	return r < 0 ? r : push_children(directory, path, paths);
}

int sb_cgroup_list(int cgroup, pid_t **ret, size_t *ret_count)
{
	struct members members = {0};
	struct paths paths = {0};
	int r = read_cgroup(cgroup, ".", &members, &paths);

	while (r == 0 && paths.count) {
		sb_auto_free char *path = paths.item[--paths.count];

		r = read_cgroup(cgroup, path, &members, &paths);
	}
	while (paths.count)
		free(paths.item[--paths.count]);
	free(paths.item);
	if (r < 0) {
		free(members.item);
		return r;
	}
	*ret = members.item;
	*ret_count = members.count;
	return 0;
}

int sb_cgroup_kill(int cgroup)
{
	sb_auto_close int fd = openat(cgroup, "cgroup.kill", O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return write(fd, "1", 1) < 0 ? -errno : 0;
}

int sb_cgroup_populated(int cgroup)
{
	char text[EVENTS_MAX];
	ssize_t n = sb_proc_read_into(cgroup, "cgroup.events", text, sizeof(text));
	const char *value = n > 0 ? strstr(text, "populated ") : NULL;

	if (n < 0)
		return (int)n;
	if (!value)
		return -EINVAL;
	return value[strlen("populated ")] != '0';
}

int sb_cgroup_open_events(int cgroup)
{
	int fd = openat(cgroup, "cgroup.events", O_RDONLY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}
