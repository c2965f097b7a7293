/*
 * The adversary of root's run: an ordinary user at work in its own directory while that is swept.
 *
 *   attacker [--empty] [--mounts] BASE ROOT SEED FILE ENTRY...
 *
 *   --empty     most entries are made without anything in them, as a heal wants them
 *   --mounts    a second process binds the canaries over the last ENTRY and below it, in a mount
 *               namespace of its own
 *
 * In BASE there are canary-user, canary-root and victim, which it only ever refers to, and a
 * directory hoard of its own. Without an end, it makes the entries in ROOT, exchanges them and what
 * is in them, at every level, with links to the canaries and back, takes directories out and puts
 * them in elsewhere, links the victim into them, and removes things. FILE holds how many exchanges
 * succeeded. It ends when its parent does. What it does itself never passes through a link.
 */
#include "scope.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define LEVELS	    3 /* below an entry */
#define WIDTH	    3 /* directories in each */
#define LINKS	    4
#define SWAPS	    8 /* exchanges in a row, there and back */
#define OUTS	    4 /* directories that are kept outside */
#define OLD_SECONDS (2 * 86400)

static const char *base, *root_path;
static int root, hoard, count_file;
static char **entries;
static size_t entry_count;
static uint64_t chance, exchanges;
static bool mostly_empty;

static void __attribute__((noreturn)) die(const char *what, const char *object)
{
	fprintf(stderr, "attacker: cannot %s '%s': %s\n", what, object, strerror(errno));
	exit(1);
}

/* xorshift64*: the same seed plays the same game. */
static uint64_t draw(uint64_t below)
{
	chance ^= chance >> 12;
	chance ^= chance << 25;
	chance ^= chance >> 27;
	return chance * UINT64_C(2685821657736338717) % below;
}

static void die_with_parent(pid_t parent)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		exit(0);
}

/* A directory below the root, through no link; -1 when it is not there. */
static int open_below(const char *path)
{
	struct open_how how = {.flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
			       .resolve = RESOLVE_NO_SYMLINKS | RESOLVE_BENEATH};

	return (int)syscall(SYS_openat2, root, path, &how, sizeof(how));
}

/* A random place at that depth in an entry: its directory, and its name there. */
static int open_place(const char *entry, size_t depth, char *ret_name, size_t size)
{
	char path[512];
	size_t length = (size_t)snprintf(path, sizeof(path), "%s", entry);

	if (depth == 0) {
		snprintf(ret_name, size, "%s", entry);
		return open_below(".");
	}
	for (size_t i = 1; i < depth; i++)
		length += (size_t)snprintf(path + length, sizeof(path) - length, "/%d",
					   (int)draw(WIDTH));
	snprintf(ret_name, size, "%d", (int)draw(WIDTH));
	return open_below(path);
}

static void make_old(int dir, const char *name)
{
	struct timespec times[2] = {{.tv_nsec = UTIME_OMIT}, {0}};

	clock_gettime(CLOCK_REALTIME, &times[1]);
	times[1].tv_sec -= OLD_SECONDS;
	utimensat(dir, name, times, AT_SYMLINK_NOFOLLOW);
}

static void make_file(int dir, const char *name)
{
	sb_auto_close int fd =
		openat(dir, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
}

static void make_branch(const char *entry)
{
	char name[256];

	if (mostly_empty && draw(256))
		return;
	for (size_t depth = 1; depth <= LEVELS; depth++) {
		sb_auto_close int dir = open_place(entry, depth, name, sizeof(name));

		if (dir < 0)
			continue;
		mkdirat(dir, name, 0700);
		make_file(dir, "file");
	}
}

static void make_entry(const char *entry)
{
	mkdirat(root, entry, 0700);
	for (int i = 0; i < WIDTH * LEVELS; i++)
		make_branch(entry);
}

/* A link to a canary, in the hoard, as old as the entries. */
static void make_link(const char *name, uint64_t which)
{
	static const char *const targets[] = {"canary-user", "canary-root", "canary-user/a",
					      "canary-root/a"};
	char target[512];

	snprintf(target, sizeof(target), "%s/%s", base, targets[which % LINKS]);
	if (symlinkat(target, hoard, name) == 0)
		make_old(hoard, name);
}

static void exchange(const char *entry)
{
	char name[256], link[32];
	uint64_t which = draw(LINKS);
	sb_auto_close int dir = open_place(entry, draw(LEVELS + 1), name, sizeof(name));

	if (dir < 0)
		return;
	snprintf(link, sizeof(link), "link%d", (int)which);
	make_link(link, which);
	for (int i = 0; i < SWAPS; i++)
		exchanges += renameat2(dir, name, hoard, link, RENAME_EXCHANGE) == 0;
}

static void carry(const char *entry)
{
	char name[256], out[32];
	sb_auto_close int dir = open_place(entry, draw(LEVELS + 1), name, sizeof(name));

	snprintf(out, sizeof(out), "out%d", (int)draw(OUTS));
	if (dir >= 0 && renameat2(dir, name, hoard, out, RENAME_NOREPLACE) < 0)
		renameat2(hoard, out, dir, name, RENAME_NOREPLACE);
}

static void link_victim(const char *entry)
{
	char name[256], victim[512];
	sb_auto_close int dir = open_place(entry, 1 + draw(LEVELS), name, sizeof(name));

	snprintf(victim, sizeof(victim), "%s/victim", base);
	if (dir < 0 || linkat(AT_FDCWD, victim, dir, "victim", 0) < 0)
		return;
	if (mostly_empty)
		unlinkat(dir, "victim", 0);
}

static void discard(const char *entry)
{
	char name[256];
	sb_auto_close int dir = open_place(entry, draw(LEVELS + 1), name, sizeof(name));

	if (dir >= 0 && unlinkat(dir, name, AT_REMOVEDIR) < 0)
		unlinkat(dir, name, 0);
}

static void tell(void)
{
	char text[32];
	int length = snprintf(text, sizeof(text), "%020llu\n", (unsigned long long)exchanges);

	if (pwrite(count_file, text, (size_t)length, 0) != length)
		die("write", "the count");
}

static void play(void)
{
	static void (*const moves[])(const char *entry) = {
		make_entry, make_entry, make_branch, exchange,	  exchange,
		exchange,   carry,	carry,	     link_victim, discard,
	};

	for (;;) {
		const char *entry = entries[draw(entry_count)];

		moves[draw(sizeof(moves) / sizeof(moves[0]))](entry);
		/* What was changed in it has made it young. */
		make_old(root, entry);
		tell();
	}
}

static void play_mounts(void)
{
	char canary[512], target[512];
	const char *entry = entries[entry_count - 1];

	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) < 0)
		die("unshare", "user and mount namespace");
	die_with_parent(getppid());
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		die("make private", "/");
	for (;;) {
		snprintf(canary, sizeof(canary), "%s/canary-%s", base, draw(2) ? "user" : "root");
		snprintf(target, sizeof(target), draw(2) ? "%s/%s" : "%s/%s/0", root_path, entry);
		if (mount(canary, target, NULL, MS_BIND, NULL) == 0)
			umount2(target, MNT_DETACH);
	}
}

int main(int argc, char **argv)
{
	bool mounts = false;
	pid_t parent = getppid(), self;
	char path[512];

	for (; argc > 1 && strncmp(argv[1], "--", 2) == 0; argv++, argc--) {
		mostly_empty = mostly_empty || strcmp(argv[1], "--empty") == 0;
		mounts = mounts || strcmp(argv[1], "--mounts") == 0;
	}
	if (argc < 6 || sb_text_parse_u64(argv[3], UINT32_MAX, &chance) < 0) {
		fputs("usage: attacker [OPTION...] BASE ROOT SEED FILE ENTRY...\n", stderr);
		return 2;
	}
	chance = chance * 2 + 1; /* never 0, which would stay 0 */
	die_with_parent(parent);
	base = argv[1];
	root_path = argv[2];
	entries = argv + 5;
	entry_count = (size_t)argc - 5;
	snprintf(path, sizeof(path), "%s/hoard", base);
	root = open(root_path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	hoard = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	count_file = open(argv[4], O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	if (root < 0 || hoard < 0 || count_file < 0)
		die("open", "the playground");
	tell();
	puts("ready");
	fflush(stdout);
	self = getpid();
	if (mounts && fork() == 0) {
		die_with_parent(self);
		play_mounts();
	}
	play();
}
