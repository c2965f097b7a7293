/*
 * Weather to scan in: pin-storm MODE [WORKERS [SECONDS [DIR]]]. WORKERS processes (2) do one thing
 * over and over until SECONDS (30) have passed, or their parent ends. Says "ready" when all run.
 *
 *   fork      fork, exit, wait
 *   spawn     fork, exec /bin/true, wait
 *   orphan    fork a child that forks and exits: the grandchildren are nobody's
 *   thread    start a thread, which exits
 *   unshare   a child moves into a mount namespace of its own and exits
 *   setns     to and fro between two mount namespaces that live
 *   mount     bind DIR/<worker> on itself and unmount it again, in the namespace it runs in
 *   all       each of these in turn (but mount, unless DIR is given)
 */
#include "clock.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *dir;
static char own_dir[4096];
static int here = -1, there = -1;

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "pin-storm: cannot %s: %s\n", what, strerror(errno));
	_exit(1);
}

/* Forks; the child comes back with 0, the parent once the child is gone. */
static pid_t fork_and_wait(void)
{
	pid_t child = fork();

	if (child > 0)
		waitpid(child, NULL, 0);
	return child;
}

static void do_fork(void)
{
	if (fork_and_wait() == 0)
		_exit(0);
}

static void do_spawn(void)
{
	if (fork_and_wait() == 0) {
		execl("/bin/true", "true", (char *)NULL);
		_exit(1);
	}
}

static void do_orphan(void)
{
	if (fork_and_wait() == 0) {
		fork();
		_exit(0);
	}
}

static void *end_at_once(void *unused)
{
	return unused;
}

static void do_thread(void)
{
	pthread_t thread;

	if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
		pthread_join(thread, NULL);
}

static void do_unshare(void)
{
	if (fork_and_wait() == 0)
		_exit(unshare(CLONE_NEWNS) < 0);
}

/* EINVAL: a thread that was joined has not let go of our root directory yet. */
static void enter(int namespace)
{
	while (setns(namespace, CLONE_NEWNS) < 0)
		if (errno != EINVAL)
			die("enter a namespace");
}

static void do_setns(void)
{
	enter(there);
	enter(here);
}

static void do_mount(void)
{
	if (mount(own_dir, own_dir, NULL, MS_BIND, NULL) < 0 || umount2(own_dir, MNT_DETACH) < 0)
		die("mount");
}

/* Two namespaces for do_setns: the one we stand in and a copy; we are left in the first. */
static void prepare_setns(void)
{
	here = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (here < 0 || unshare(CLONE_NEWNS) < 0)
		die("make a namespace");
	there = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	if (there < 0 || setns(here, CLONE_NEWNS) < 0)
		die("go back");
}

static void prepare_mount(void)
{
	snprintf(own_dir, sizeof(own_dir), "%s/%d", dir, getpid());
	if (mkdir(own_dir, 0700) < 0)
		die("make a directory");
}

static const struct mode {
	const char *name;
	void (*act)(void);
	void (*prepare)(void);
} modes[] = {
	{"fork", do_fork},
	{"spawn", do_spawn},
	{"orphan", do_orphan},
	{"thread", do_thread},
	{"unshare", do_unshare},
	{"setns", do_setns, prepare_setns},
	{"mount", do_mount, prepare_mount},
};

#define MODES (sizeof(modes) / sizeof(modes[0]))

static void __attribute__((noreturn)) work(const struct mode *only, uint64_t end_ns, int ready)
{
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	for (size_t i = 0; i < MODES; i++)
		if (modes[i].prepare &&
		    (only ? only == &modes[i] : modes[i].act != do_mount || dir))
			modes[i].prepare();
	if (write(ready, "", 1) != 1)
		_exit(1);
	for (size_t turn = 0; sb_clock_now() < end_ns; turn++) {
		const struct mode *mode = only ? only : &modes[turn % MODES];

		if (mode->act != do_mount || dir)
			mode->act();
		while (waitpid(-1, NULL, WNOHANG) > 0) /* orphans come to us */
			continue;
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	const struct mode *only = NULL;
	uint64_t workers = 2, seconds = 30;
	int ready[2];
	char byte;

	for (size_t i = 0; argc > 1 && i < MODES; i++)
		if (strcmp(argv[1], modes[i].name) == 0)
			only = &modes[i];
	dir = argc > 4 ? argv[4] : NULL;
	if (argc < 2 || argc > 5 || (!only && strcmp(argv[1], "all") != 0) ||
	    (argc > 2 && sb_text_parse_u64(argv[2], 1000, &workers) < 0) ||
	    (argc > 3 && sb_text_parse_u64(argv[3], 600, &seconds) < 0) ||
	    (only && only->act == do_mount && !dir)) {
		fputs("usage: pin-storm MODE [WORKERS [SECONDS [DIR]]]\n", stderr);
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pipe2(ready, O_CLOEXEC) < 0)
		die("make a pipe");
	for (uint64_t i = 0; i < workers; i++) {
		pid_t child = fork();

		if (child < 0)
			die("fork");
		if (child == 0)
			work(only, sb_clock_now() + seconds * SB_NS_PER_S, ready[1]);
	}
	close(ready[1]);
	for (uint64_t i = 0; i < workers; i++)
		if (read(ready[0], &byte, 1) != 1)
			return 1;
	puts("ready");
	fflush(stdout);
	while (wait(NULL) > 0 || errno == EINTR)
		continue;
	return 0;
}
