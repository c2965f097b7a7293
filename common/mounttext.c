/* The text of mountinfo, through libmount. */
#include "nsmount.h"
#include "proc.h"
#include "scope.h"

#include <errno.h>
#include <fcntl.h>
#include <libmount.h>
#include <poll.h>
#include <string.h>

/* A table that changes all the time is given up: what was seen pins, and absence proves nothing. */
#define STILL_TRIES 16

#define TEXT_FIRST   16384 /* bytes */
#define TEXT_LARGEST ((size_t)256 << 20)

static const struct {
	const char *type;
	enum sb_fs_kind kind;
} kinds[] = {
	{"tmpfs", SB_FS_TMPFS},	    {"ramfs", SB_FS_TMPFS},
	{"devtmpfs", SB_FS_TMPFS}, /* by its magic number too */
	{"overlay", SB_FS_OVERLAY}, {"nsfs", SB_FS_NSFS},
};

static enum sb_fs_kind kind_of(const char *type)
{
	for (size_t i = 0; type && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (strcmp(type, kinds[i].type) == 0)
			return kinds[i].kind;
	return SB_FS_OTHER;
}

/*
 * An overlay's options as the kernel wrote them: the last field of its line. libmount gives them
 * with the escapes undone, and then a comma in a name cannot be told from one between options.
 */
static char *raw_options(const char *line)
{
	size_t length = strcspn(line, "\n");
	size_t start = length;

	while (start > 0 && line[start - 1] != ' ')
		start--;
	return strndup(line + start, length - start);
}

/* line is where the text of this mount starts. */
static int add_fs(struct sb_mount_table *table, struct libmnt_fs *fs, const char *line)
{
	sb_auto_free char *options = NULL;
	struct sb_mount mount = {
		.id = (uint32_t)mnt_fs_get_id(fs),
		.parent_id = (uint32_t)mnt_fs_get_parent_id(fs),
		.device = mnt_fs_get_devno(fs),
		.kind = kind_of(mnt_fs_get_fstype(fs)),
		.root = mnt_fs_get_root(fs),
		.point = mnt_fs_get_target(fs),
	};

	if (!mount.root || !mount.point)
		return -EBADMSG;
	if (mount.kind == SB_FS_OVERLAY) {
		options = raw_options(line);
		if (!options)
			return -ENOMEM;
		mount.options = options;
	}
	return sb_mount_table_add(table, &mount);
}

/* A line that cannot be parsed must not be passed over: it may be the one that pins. */
static int refuse_line(struct libmnt_table *libmount_table, const char *filename, int line)
{
	(void)libmount_table;
	(void)filename;
	(void)line;
	return -EBADMSG;
}

static size_t count_lines(const char *text, size_t length)
{
	size_t lines = 0;

	for (const char *p = text; (p = memchr(p, '\n', length - (size_t)(p - text))); p++)
		lines++;
	return lines;
}

/* text holds a line for each mount, in the same order. */
static int copy_table(struct libmnt_table *from, const char *text, struct sb_mount_table *to)
{
	struct libmnt_iter *iter = mnt_new_iter(MNT_ITER_FORWARD);
	struct libmnt_fs *fs;
	int r = 0;

	if (!iter)
		return -ENOMEM;
	while (r == 0 && mnt_table_next_fs(from, iter, &fs) == 0) {
		r = add_fs(to, fs, text);
		text += strcspn(text, "\n") + 1;
	}
	mnt_free_iter(iter);
	return r;
}

int sb_nsmount_parse(const char *text, size_t length, struct sb_mount_table *ret)
{
	struct sb_mount_table table = {0};
	struct libmnt_table *parsed;
	FILE *stream;
	int r;

	if (length == 0) {
		*ret = table;
		return 0;
	}
	if (text[length - 1] != '\n' || memchr(text, '\0', length))
		return -EBADMSG;
	parsed = mnt_new_table();
	stream = fmemopen((void *)(uintptr_t)text, length, "r");
	if (!parsed || !stream) {
		r = -ENOMEM;
	} else {
		mnt_table_set_parser_errcb(parsed, refuse_line);
		r = mnt_table_parse_stream(parsed, stream, "mountinfo") == 0 ? 0 : -EBADMSG;
	}
	if (r == 0 && (size_t)mnt_table_get_nents(parsed) != count_lines(text, length))
		r = -EBADMSG; /* whatever libmount took for a comment or a blank, we do not */
	if (r == 0)
		r = copy_table(parsed, text, &table);
	if (stream)
		fclose(stream);
	mnt_unref_table(parsed);
	if (r < 0)
		sb_mount_table_free(&table);
	else
		*ret = table;
	return r;
}

/* Reads all that fd has from its start, growing the buffer. */
static int read_all(int fd, char **buffer, size_t *size, size_t *ret_length)
{
	size_t length = 0;

	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	for (;;) {
		ssize_t n;

		if (*size - length < *size / 4 + 1) {
			size_t bigger = *size ? *size * 2 : TEXT_FIRST;
			char *grown = bigger <= TEXT_LARGEST ? realloc(*buffer, bigger) : NULL;

			if (!grown)
				return bigger <= TEXT_LARGEST ? -ENOMEM : -EFBIG;
			*buffer = grown;
			*size = bigger;
		}
		n = read(fd, *buffer + length, *size - length - 1);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		length += (size_t)n;
	}
	(*buffer)[length] = '\0';
	*ret_length = length;
	return 0;
}

/* proc_pid_mountinfo(5): a change of the table since it was opened, or last asked, is POLLPRI. */
static bool has_changed(int fd)
{
	struct pollfd waited = {.fd = fd, .events = POLLPRI};

	return poll(&waited, 1, 0) > 0 && (waited.revents & POLLPRI);
}

int sb_nsmount_read_text(int procfs, const char *path, char **ret, size_t *ret_length)
{
	sb_auto_close int fd = openat(procfs, path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
	sb_auto_free char *buffer = NULL;
	size_t size = 0, length = 0;
	int r = -EBUSY;

	if (fd < 0)
		return -errno;
	for (int i = 0; i < STILL_TRIES && r == -EBUSY; i++) {
		int failed = read_all(fd, &buffer, &size, &length);

		if (failed < 0)
			return failed;
		r = has_changed(fd) ? -EBUSY : 0;
	}
	*ret = buffer;
	*ret_length = length;
	buffer = NULL;
	return r;
}
