/*
 * Holds binds in a mount namespace of its own, as a sandbox does, and says "ready PID TID" once all
 * is as asked; then sleeps until it is killed, or until its parent ends.
 *
 *   pin-hold [OPTION...] SOURCE TARGET [SOURCE TARGET...]
 *
 *   --userns          as root of a user namespace of its own
 *   --same-ns         no namespace of its own: binds where it stands
 *   --thread          a sibling thread unshares and binds; the leader stays outside
 *   --leader-exit     with --thread: the leader ends, and is a zombie while the thread holds
 *   --by-fd           a child that ends made the namespace: only a descriptor holds it
 *   --flood=N:DIR     N more binds, on a tmpfs mounted on DIR, half of them before the pairs
 *   --chroot=DIR      afterwards changes root to DIR, as seen in the namespace
 *   --drop=UID        afterwards becomes UID
 *   --no-dump         afterwards is not dumpable, so that its owner cannot look into it
 */
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static struct {
	bool userns, same_ns, thread, leader_exit, by_fd, no_dump, drop;
	uint64_t uid, flood;
	const char *flood_dir, *root;
	char **pairs;
} opt;

static void __attribute__((noreturn)) die(const char *what, const char *object)
{
	fprintf(stderr, "pin-hold: cannot %s '%s': %s\n", what, object, strerror(errno));
	exit(1);
}

static void __attribute__((noreturn)) usage(void)
{
	fputs("usage: pin-hold [OPTION...] SOURCE TARGET [SOURCE TARGET...]\n", stderr);
	exit(2);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die("write", path);
	close(fd);
}

static void enter_user_namespace(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	char map[64];

	if (unshare(CLONE_NEWUSER) < 0)
		die("unshare", "user namespace");
	/* Becoming root of it made the process not dumpable, and its files root's. */
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	write_text("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	write_text("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", gid);
	write_text("/proc/self/gid_map", map);
}

static void flood(uint64_t from, uint64_t to)
{
	char path[4096];

	for (uint64_t i = from; i < to; i++) {
		snprintf(path, sizeof(path), "%s/%llu", opt.flood_dir, (unsigned long long)i);
		if (mkdir(path, 0700) < 0)
			die("make", path);
		if (mount(path, path, NULL, MS_BIND, NULL) < 0)
			die("bind", path);
	}
}

static void build_namespace(void)
{
	if (!opt.same_ns) {
		if (unshare(CLONE_FS | CLONE_NEWNS) < 0)
			die("unshare", "mount namespace");
		if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
			die("make private", "/");
	}
	if (opt.flood && mount("flood", opt.flood_dir, "tmpfs", 0, "mode=755") < 0)
		die("mount a tmpfs on", opt.flood_dir);
	flood(0, opt.flood / 2);
	for (char **pair = opt.pairs; pair[0]; pair += 2)
		if (mount(pair[0], pair[1], NULL, MS_BIND, NULL) < 0)
			die("bind", pair[0]);
	flood(opt.flood / 2, opt.flood);
	if (opt.root && (chroot(opt.root) < 0 || chdir("/") < 0))
		die("change root to", opt.root);
}

/* The namespace of a child that has ended by the time this returns. */
static void keep_by_descriptor(void)
{
	int hold[2], made[2];
	char path[64], byte;
	pid_t child;

	if (pipe2(hold, O_CLOEXEC) < 0 || pipe2(made, O_CLOEXEC) < 0)
		die("make", "pipe");
	child = fork();
	if (child < 0)
		die("fork", "child");
	if (child == 0) {
		close(hold[1]);
		build_namespace();
		if (write(made[1], "", 1) != 1 || read(hold[0], &byte, 1) != 0)
			_exit(1);
		_exit(0);
	}
	close(made[1]);
	if (read(made[0], &byte, 1) != 1)
		exit(1); /* the child has said why */
	snprintf(path, sizeof(path), "/proc/%d/ns/mnt", child);
	if (open(path, O_RDONLY | O_CLOEXEC) < 0) /* kept open to the end */
		die("open", path);
	close(hold[1]);
	if (waitpid(child, NULL, 0) < 0)
		die("wait for", "child");
}

static void become_what_was_asked(void)
{
	if (opt.drop) {
		gid_t gid = (gid_t)opt.uid;
		uid_t uid = (uid_t)opt.uid;

		if (setresgid(gid, gid, gid) < 0 || setresuid(uid, uid, uid) < 0)
			die("become", "user");
	}
	/* Changing credentials took both back. */
	prctl(PR_SET_DUMPABLE, opt.no_dump ? 0 : 1, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
}

static void __attribute__((noreturn)) say_ready_and_sleep(void)
{
	become_what_was_asked();
	printf("ready %d %d\n", getpid(), gettid());
	fflush(stdout);
	for (;;)
		pause();
}

static bool leader_is_zombie(void)
{
	char text[512], path[64];
	const char *state;
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", getpid(), getpid());
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("open", path);
	n = read(fd, text, sizeof(text) - 1);
	close(fd);
	text[n > 0 ? n : 0] = '\0';
	state = strrchr(text, ')');
	return state && state[1] == ' ' && state[2] == 'Z';
}

static void *hold_in_thread(void *unused)
{
	(void)unused;
	build_namespace();
	while (opt.leader_exit && !leader_is_zombie())
		sched_yield();
	say_ready_and_sleep();
}

static void parse(int argc, char **argv)
{
	static const struct option options[] = {
		{"userns", no_argument, NULL, 'U'},	  {"same-ns", no_argument, NULL, 's'},
		{"thread", no_argument, NULL, 't'},	  {"leader-exit", no_argument, NULL, 'l'},
		{"by-fd", no_argument, NULL, 'f'},	  {"flood", required_argument, NULL, 'F'},
		{"chroot", required_argument, NULL, 'c'}, {"drop", required_argument, NULL, 'd'},
		{"no-dump", no_argument, NULL, 'n'},	  {0},
	};
	char *colon;
	int key;

	while ((key = getopt_long(argc, argv, "+", options, NULL)) != -1)
		switch (key) {
		case 'U':
			opt.userns = true;
			break;
		case 's':
			opt.same_ns = true;
			break;
		case 't':
			opt.thread = true;
			break;
		case 'l':
			opt.leader_exit = true;
			break;
		case 'f':
			opt.by_fd = true;
			break;
		case 'F':
			colon = strchr(optarg, ':');
			if (!colon)
				usage();
			*colon = '\0';
			opt.flood_dir = colon + 1;
			if (sb_text_parse_u64(optarg, 100000, &opt.flood) < 0)
				usage();
			break;
		case 'c':
			opt.root = optarg;
			break;
		case 'd':
			opt.drop = true;
			if (sb_text_parse_u64(optarg, UINT32_MAX - 1, &opt.uid) < 0)
				usage();
			break;
		case 'n':
			opt.no_dump = true;
			break;
		default:
			usage();
		}
	opt.pairs = argv + optind;
	if ((argc - optind) % 2 || (opt.leader_exit && !opt.thread))
		usage();
}

int main(int argc, char **argv)
{
	pthread_t thread;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	parse(argc, argv);
	if (opt.userns)
		enter_user_namespace();
	if (opt.by_fd)
		keep_by_descriptor();
	else if (!opt.thread)
		build_namespace();
	if (!opt.thread)
		say_ready_and_sleep();
	errno = pthread_create(&thread, NULL, hold_in_thread, NULL);
	if (errno)
		die("start", "thread");
	if (opt.leader_exit)
		pthread_exit(NULL);
	for (;;)
		pause();
}
