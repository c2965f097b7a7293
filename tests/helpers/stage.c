/*
 * Makes entries, faster than a shell can.
 *
 *   stage [OPTION...] DIR COUNT
 *
 *   --age=SECONDS    how long ago they were made (default: two days)
 *   --prefix=PREFIX  PREFIX<pid>_<i>, of pids that no process can have (default: kirocrew_sb_)
 *   --per-pid=N      so many entries for each pid (default: 8, as a launcher leaves them)
 *   --legacy         names as of mkdtemp instead
 *   --files          files instead of directories
 *   --uid=UID        of that user's
 *   --deep           one entry, COUNT directories deep, called PREFIX<pid>_deep
 */
#include "names.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* Above the kernel's PID_MAX_LIMIT of 4 Mi: such a process never was and never will be. */
#define FIRST_PID UINT64_C(4194999)

static struct {
	uint64_t age, per_pid, uid;
	const char *prefix;
	bool legacy, files, deep, own;
} opt = {.age = UINT64_C(2) * 86400, .per_pid = 8, .prefix = SB_NAMES_DEFAULT_PREFIX};

static void __attribute__((noreturn)) die(const char *what, const char *object)
{
	fprintf(stderr, "stage: cannot %s '%s': %s\n", what, object, strerror(errno));
	exit(1);
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: stage [OPTION...] DIR COUNT\n", stderr);
	exit(2);
}

static uint64_t number(const char *text)
{
	uint64_t value;

	if (sb_text_parse_u64(text, UINT32_MAX, &value) < 0)
		usage();
	return value;
}

static void name_entry(uint64_t i, char *ret, size_t size)
{
	static const char digits[] = "abcdefghijklmnopqrstuvwxyz0123456789_";
	const size_t base = sizeof(digits) - 1;

	if (!opt.legacy) {
		snprintf(ret, size, "%s%llu_%llu", opt.prefix,
			 (unsigned long long)(FIRST_PID + i / opt.per_pid), (unsigned long long)i);
		return;
	}
	snprintf(ret, size, "tmp");
	for (size_t at = 3; at < 11; at++, i /= base)
		ret[at] = digits[i % base];
	ret[11] = '\0';
}

static void set_owner_and_age(int dir, const char *name)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {0}};

	clock_gettime(CLOCK_REALTIME, &times[1]);
	times[1].tv_sec -= (time_t)opt.age;
	if (opt.own && fchownat(dir, name, (uid_t)opt.uid, (gid_t)opt.uid, AT_SYMLINK_NOFOLLOW) < 0)
		die("give away", name);
	if (utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW) < 0)
		die("age", name);
}

static void make_one(int dir, const char *name)
{
	int fd;

	if (!opt.files) {
		if (mkdirat(dir, name, 0700) < 0)
			die("make", name);
		return;
	}
	fd = openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		die("make", name);
	close(fd);
}

/* Each level is made from the one above: no path could be that long. */
static void make_deep(int top, uint64_t depth)
{
	char name[256];
	int dir = top;

	snprintf(name, sizeof(name), "%s%llu_deep", opt.prefix, (unsigned long long)FIRST_PID);
	for (uint64_t i = 0; i < depth; i++) {
		const char *level = i ? "d" : name;
		int fd;

		if (mkdirat(dir, level, 0700) < 0)
			die("make", level);
		fd = openat(dir, level, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		if (fd < 0)
			die("open", level);
		if (dir != top)
			close(dir);
		dir = fd;
	}
	set_owner_and_age(top, name);
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"age", required_argument, NULL, 'a'},	   {"prefix", required_argument, NULL, 'p'},
		{"per-pid", required_argument, NULL, 'n'}, {"legacy", no_argument, NULL, 'l'},
		{"files", no_argument, NULL, 'f'},	   {"uid", required_argument, NULL, 'u'},
		{"deep", no_argument, NULL, 'd'},	   {0},
	};
	int key;

	while ((key = getopt_long(argc, argv, "+", options, NULL)) != -1)
		switch (key) {
		case 'a':
			opt.age = number(optarg);
			break;
		case 'p':
			opt.prefix = optarg;
			break;
		case 'n':
			opt.per_pid = number(optarg);
			break;
		case 'l':
			opt.legacy = true;
			break;
		case 'f':
			opt.files = true;
			break;
		case 'u':
			opt.uid = number(optarg);
			opt.own = true;
			break;
		case 'd':
			opt.deep = true;
			break;
		default:
			usage();
		}
	if (argc - optind != 2 || opt.per_pid == 0)
		usage();
}

int main(int argc, char **argv)
{
	uint64_t count;
	int dir;

	parse(argc, argv);
	count = number(argv[optind + 1]);
	dir = open(argv[optind], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0)
		die("open", argv[optind]);
	if (opt.deep) {
		make_deep(dir, count);
		return 0;
	}
	for (uint64_t i = 0; i < count; i++) {
		char name[256];

		name_entry(i, name, sizeof(name));
		make_one(dir, name);
		set_owner_and_age(dir, name);
	}
	return 0;
}
