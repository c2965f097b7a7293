#include "proc.h"

#include "scope.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/vfs.h>

#define LIST_BUFFER   65536 /* bytes a call to getdents64 */
#define RESUME_BUFFER 4096  /* the same, for the few tasks that are new */
#define READ_FIRST    16384 /* bytes: most files of procfs fit */
#define READ_LARGEST  ((size_t)256 << 20)
#define STAT_MAX      1024	  /* bytes: 52 numbers and a name of 64 bytes at the most */
#define STATUS_MAX    16384	  /* bytes: a list of groups, cpus or memory nodes can be long */
#define PF_KTHREAD    0x00200000U /* include/linux/sched.h */

int sb_proc_list_start(struct sb_proc_lister *lister, int fd)
{
	*lister = (struct sb_proc_lister){.fd = fd, .size = LIST_BUFFER};
	if (lseek(fd, 0, SEEK_SET) < 0)
		return -errno;
	lister->buffer = malloc(lister->size);
	return lister->buffer ? 0 : -ENOMEM;
}

void sb_proc_list_mark(struct sb_proc_lister *lister, pid_t last)
{
	lister->mark = last;
	lister->resume = 0;
}

int sb_proc_list_resume(struct sb_proc_lister *lister)
{
	/* With nothing behind the mark so far, what is new comes at the end. */
	if (lister->mark && !lister->resume && lister->numbers > SB_PROC_LIST_BACK)
		lister->resume = lister->stood[lister->numbers % SB_PROC_LIST_BACK];
	/* The kernel fills what it is given, and most of that would not be new. */
	if (lister->resume)
		lister->size = RESUME_BUFFER;
	lister->at = lister->filled = 0;
	lister->numbers = 0;
	lister->next = lister->resume;
	return lseek(lister->fd, lister->resume, SEEK_SET) < 0 ? -errno : 0;
}

bool sb_proc_list_is_drained(const struct sb_proc_lister *lister)
{
	return lister->at >= lister->filled;
}

/* Keeps where the last numbers stood, until the first one behind the mark. */
static void note_position(struct sb_proc_lister *lister, pid_t number, off_t position)
{
	if (lister->resume || !lister->mark)
		return;
	lister->stood[lister->numbers++ % SB_PROC_LIST_BACK] = position;
	if (number > lister->mark && lister->numbers > SB_PROC_LIST_BACK)
		lister->resume = lister->stood[lister->numbers % SB_PROC_LIST_BACK];
}

void sb_proc_list_end(struct sb_proc_lister *lister)
{
	free(lister->buffer);
	lister->buffer = NULL;
}

int sb_proc_list_next(struct sb_proc_lister *lister, struct sb_proc_id *ret)
{
	for (;;) {
		const struct dirent64 *entry;
		uint64_t number;
		off_t position;

		if (lister->at >= lister->filled) {
			ssize_t n = getdents64(lister->fd, lister->buffer, lister->size);

			if (n <= 0)
				return n < 0 ? -errno : 0;
			lister->filled = (size_t)n;
			lister->at = 0;
		}
		entry = (const struct dirent64 *)(lister->buffer + lister->at);
		lister->at += entry->d_reclen;
		position = lister->next;
		lister->next = entry->d_off;
		if (entry->d_name[0] < '1' || entry->d_name[0] > '9')
			continue;
		if (sb_text_parse_u64(entry->d_name, INT_MAX, &number) == 0) {
			*ret = (struct sb_proc_id){(pid_t)number, entry->d_ino};
			note_position(lister, ret->number, position);
			return 1;
		}
	}
}

int sb_proc_read(int procfs, const char *path, char **ret, size_t *ret_length)
{
	sb_auto_close int fd = openat(procfs, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	sb_auto_free char *buffer = NULL;
	size_t size = READ_FIRST, length = 0;

	if (fd < 0)
		return -errno;
	buffer = malloc(size);
	if (!buffer)
		return -ENOMEM;
	for (;;) {
		ssize_t n = read(fd, buffer + length, size - length - 1);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		length += (size_t)n;
		if (n == 0)
			break;
		if (size - length < size / 4) {
			char *grown = size < READ_LARGEST ? realloc(buffer, size * 2) : NULL;

			if (!grown)
				return size < READ_LARGEST ? -ENOMEM : -EFBIG;
			buffer = grown;
			size *= 2;
		}
	}
	buffer[length] = '\0';
	*ret = buffer;
	*ret_length = length;
	buffer = NULL;
	return 0;
}

ssize_t sb_proc_read_into(int procfs, const char *path, char *buffer, size_t size)
{
	sb_auto_close int fd = openat(procfs, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n;

	if (fd < 0)
		return -errno;
	do
		n = read(fd, buffer, size - 1);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	buffer[n] = '\0';
	return n;
}

ssize_t sb_proc_readlink(int procfs, const char *path, char *buffer, size_t size)
{
	ssize_t n = readlinkat(procfs, path, buffer, size - 1);

	if (n < 0)
		return -errno;
	buffer[n] = '\0';
	return n;
}

int sb_proc_identify(int procfs, const char *path, struct sb_proc_object *ret)
{
	struct statx stx;
	struct stat st;

	if (statx(procfs, path, AT_STATX_DONT_SYNC | AT_NO_AUTOMOUNT, STATX_TYPE | STATX_INO,
		  &stx) == 0) {
		*ret = (struct sb_proc_object){
			stx.stx_mode & S_IFMT,
			makedev(stx.stx_dev_major, stx.stx_dev_minor),
			stx.stx_ino,
		};
		return 0;
	}
	/*
	 * What a filter denies looks like what the process denies: the other call tells. EINVAL is
	 * how the C library puts ENOSYS.
	 */
	if (errno != ENOSYS && errno != EPERM && errno != EINVAL)
		return -errno;
	if (fstatat(procfs, path, &st, AT_NO_AUTOMOUNT) < 0)
		return -errno;
	*ret = (struct sb_proc_object){st.st_mode & S_IFMT, st.st_dev, st.st_ino};
	return 0;
}

bool sb_proc_is_answer(int error)
{
	return error == -ENOENT || error == -ESRCH || error == -EACCES || error == -EPERM;
}

void sb_proc_comm(int procfs, const char *task, char buffer[SB_PROC_COMM_MAX])
{
	char path[64];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/comm", task);
	n = sb_proc_read_into(procfs, path, buffer, SB_PROC_COMM_MAX);
	if (n > 0 && buffer[n - 1] == '\n')
		n--;
	if (n <= 0) {
		buffer[0] = '?';
		n = 1;
	}
	buffer[n] = '\0';
}

/* The numbers behind the name in stat, counted from its state on, which is number 0. */
enum {
	FIELD_PARENT = 1,
	FIELD_FLAGS = 6,
	FIELD_THREADS = 17,
	FIELD_START = 19,
	FIELDS_NEEDED = FIELD_START + 1,
};

/* Splits blank-separated fields in place; how many there were, FIELDS_NEEDED at the most. */
static size_t split_fields(char *text, char *fields[FIELDS_NEEDED])
{
	char *rest = NULL;
	size_t count = 0;

	for (char *field = strtok_r(text, " \n", &rest); field && count < FIELDS_NEEDED;
	     field = strtok_r(NULL, " \n", &rest))
		fields[count++] = field;
	return count;
}

/* The number in front of the name, and the blank between them. */
static bool parse_leading_pid(const char *text, const char *open, uint64_t *ret)
{
	char number[16];
	size_t length = (size_t)(open - text);

	if (length < 2 || length > sizeof(number) || open[-1] != ' ')
		return false;
	memcpy(number, text, length - 1);
	number[length - 1] = '\0';
	return sb_text_parse_u64(number, INT_MAX, ret) == 0;
}

int sb_proc_parse_stat(const char *text, size_t length, struct sb_proc_stat *ret)
{
	/* The name may hold anything, ") S 1 " too; what follows it holds no parenthesis. */
	const char *open = memchr(text, '(', length);
	const char *close = memrchr(text, ')', length);
	struct sb_proc_stat stat = {0};
	char numbers[STAT_MAX];
	char *fields[FIELDS_NEEDED];
	uint64_t pid, parent, flags, threads;
	size_t comm, rest;

	if (!open || !close || close < open || !parse_leading_pid(text, open, &pid))
		return -EINVAL;
	comm = (size_t)(close - open - 1);
	rest = length - (size_t)(close + 1 - text);
	if (comm >= sizeof(stat.comm) || rest >= sizeof(numbers))
		return -EINVAL;
	memcpy(stat.comm, open + 1, comm);
	memcpy(numbers, close + 1, rest);
	numbers[rest] = '\0';
	if (split_fields(numbers, fields) < FIELDS_NEEDED || strlen(fields[0]) != 1 ||
	    sb_text_parse_u64(fields[FIELD_PARENT], INT_MAX, &parent) < 0 ||
	    sb_text_parse_u64(fields[FIELD_FLAGS], UINT32_MAX, &flags) < 0 ||
	    sb_text_parse_u64(fields[FIELD_THREADS], INT_MAX, &threads) < 0 ||
	    sb_text_parse_u64(fields[FIELD_START], UINT64_MAX, &stat.start) < 0)
		return -EINVAL;
	stat.pid = (pid_t)pid;
	stat.state = fields[0][0];
	stat.parent = (pid_t)parent;
	stat.kernel_thread = (flags & PF_KTHREAD) != 0;
	stat.threads = (unsigned int)threads;
	*ret = stat;
	return 0;
}

#define STATUS_LINE_MAX 512 /* bytes: a number for each of 32 nested pid namespaces fits */

/* Copies what stands behind key on the line of status that starts with it. False: no such line. */
static bool status_line(const char *text, size_t length, const char *key,
			char line[STATUS_LINE_MAX])
{
	size_t skip = strlen(key);

	/* Names are escaped there, so that a line is a line. */
	while (length) {
		const char *end = memchr(text, '\n', length);
		size_t size = end ? (size_t)(end - text) : 0;

		if (!end)
			return false; /* cut off: half a number is no number */
		if (size > skip && size - skip < STATUS_LINE_MAX && memcmp(text, key, skip) == 0) {
			memcpy(line, text + skip, size - skip);
			line[size - skip] = '\0';
			return true;
		}
		length -= size + 1;
		text = end + 1;
	}
	return false;
}

/* How many numbers a line of status has. */
static unsigned int count_numbers(const char *line)
{
	unsigned int count = 0;

	while (*line) {
		line += strspn(line, " \t");
		count += *line != '\0';
		line += strcspn(line, " \t");
	}
	return count;
}

int sb_proc_parse_status(const char *text, size_t length, struct sb_proc_status *ret)
{
	char uids[STATUS_LINE_MAX], tracer[STATUS_LINE_MAX], numbers[STATUS_LINE_MAX];
	unsigned int real, effective, saved;
	int pid;

	if (!status_line(text, length, "Uid:", uids) ||
	    !status_line(text, length, "TracerPid:", tracer) ||
	    sscanf(uids, "%u %u %u", &real, &effective, &saved) != 3 ||
	    sscanf(tracer, "%d", &pid) != 1)
		return -EINVAL;
	*ret = (struct sb_proc_status){
		.real_uid = real,
		.effective_uid = effective,
		.saved_uid = saved,
		.tracer = pid,
		.levels = status_line(text, length, "NSpid:", numbers) ? count_numbers(numbers) : 0,
	};
	return 0;
}

int sb_proc_read_stat(int procfs, const char *task, struct sb_proc_stat *ret)
{
	char path[64], text[STAT_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/stat", task);
	n = sb_proc_read_into(procfs, path, text, sizeof(text));
	return n < 0 ? (int)n : sb_proc_parse_stat(text, (size_t)n, ret);
}

int sb_proc_read_status(int procfs, const char *task, struct sb_proc_status *ret)
{
	char path[64], text[STATUS_MAX];
	ssize_t n;

	snprintf(path, sizeof(path), "%s/status", task);
	n = sb_proc_read_into(procfs, path, text, sizeof(text));
	return n < 0 ? (int)n : sb_proc_parse_status(text, (size_t)n, ret);
}

bool sb_proc_parse_ns(const char *text, const char *kind, uint64_t *ret_inode)
{
	size_t length = strlen(kind);
	char digits[24];
	const char *end;

	if (strncmp(text, kind, length) != 0 || text[length] != ':' || text[length + 1] != '[')
		return false;
	text += length + 2;
	end = strchr(text, ']');
	if (!end || end[1] || (size_t)(end - text) >= sizeof(digits))
		return false;
	memcpy(digits, text, (size_t)(end - text));
	digits[end - text] = '\0';
	return sb_text_parse_u64(digits, UINT64_MAX, ret_inode) == 0;
}

bool sb_proc_is_procfs(int procfs)
{
	struct statfs fs;

	return fstatfs(procfs, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

bool sb_proc_is_initial(int procfs)
{
	char link[40];
	uint64_t inode;

	return sb_proc_readlink(procfs, "self/ns/pid", link, sizeof(link)) > 0 &&
	       sb_proc_parse_ns(link, "pid", &inode) && inode == SB_PROC_INITIAL_PIDNS;
}
