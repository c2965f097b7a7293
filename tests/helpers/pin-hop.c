/*
 * Keeps one entry bound at every moment, and nobody who holds it in place: says "ready" once it is
 * bound, and goes on until SIGTERM, its parent's end, or two minutes have passed.
 *
 *   pin-hop exit SOURCE TARGET [PAUSE_US]    fork; the parent exits; the child waits (500 us), and
 *                                            does the same
 *   pin-hop copy SOURCE TARGET [PAUSE_US]    move into a copy of the namespace and leave the old
 *                                            one (20 ms), on another CPU each time
 *   pin-hop thread SOURCE TARGET [PAUSE_US]  a new thread takes over and the old one exits, beside
 *                                            a leader that holds nothing
 *
 * Run by an ordinary user it makes a user namespace first.
 */
#include "clock.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIFETIME_S 120

static const char *source, *target;
static uint64_t pause_us, deadline_ns;
static int control[2]; /* its writing end is held by the control process alone */

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "pin-hop: cannot %s: %s\n", what, strerror(errno));
	exit(1);
}

static void write_text(const char *path, const char *text)
{
	int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0 || write(fd, text, strlen(text)) != (ssize_t)strlen(text))
		die(path);
	close(fd);
}

static void become_able(void)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	char map[64];

	if (uid == 0)
		return;
	if (unshare(CLONE_NEWUSER) < 0)
		die("unshare the user namespace");
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	write_text("/proc/self/setgroups", "deny");
	snprintf(map, sizeof(map), "0 %u 1", uid);
	write_text("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "0 %u 1", gid);
	write_text("/proc/self/gid_map", map);
}

static void bind_it(void)
{
	if (unshare(CLONE_FS | CLONE_NEWNS) < 0)
		die("unshare the mount namespace");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		die("make / private");
	if (mount(source, target, NULL, MS_BIND, NULL) < 0)
		die("bind");
}

static void say_ready(void)
{
	puts("ready");
	fflush(stdout);
}

/* Whether to go on, asked between two hops: the control process lives, and there is time left. */
static bool going_on(void)
{
	struct pollfd gone = {.fd = control[0], .events = POLLIN};

	usleep((useconds_t)pause_us);
	return poll(&gone, 1, 0) == 0 && sb_clock_now() < deadline_ns;
}

static void __attribute__((noreturn)) hop_by_exit(void)
{
	bind_it();
	say_ready();
	while (going_on()) {
		pid_t child = fork();

		if (child > 0)
			_exit(0);
		/* A fork that fails leaves the pin where it is: try again. */
	}
	_exit(0);
}

static void __attribute__((noreturn)) hop_by_copy(void)
{
	int cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);

	bind_it();
	say_ready();
	for (int hop = 0; going_on(); hop++) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET((size_t)(hop % cpus), &set);
		sched_setaffinity(0, sizeof(set), &set);
		if (unshare(CLONE_NEWNS) < 0)
			die("copy the namespace");
	}
	_exit(0);
}

static void *take_over(void *first)
{
	pthread_t next;

	/* Threads share their starter's file system context, so its namespace too. */
	if (first) {
		bind_it();
		say_ready();
	}
	do
		if (!going_on())
			_exit(0);
	while (pthread_create(&next, NULL, take_over, NULL) != 0);
	pthread_detach(next);
	return NULL;
}

static void __attribute__((noreturn)) hop_by_thread(void)
{
	static int first;
	pthread_t thread;

	errno = pthread_create(&thread, NULL, take_over, &first);
	if (errno)
		die("start a thread");
	pthread_detach(thread);
	for (;;)
		pause();
}

static const struct {
	const char *name;
	void (*hop)(void);
	uint64_t pause_us;
} modes[] = {
	{"exit", hop_by_exit, 500},
	{"copy", hop_by_copy, 20000},
	{"thread", hop_by_thread, 500},
};

static volatile sig_atomic_t told_to_stop;

static void stop(int signal_number)
{
	told_to_stop = signal_number;
}

/* Buries what the hoppers leave behind, until the last of them is gone. */
static void control_them(void)
{
	struct sigaction action = {.sa_handler = stop};

	sigaction(SIGTERM, &action, NULL);
	while (!told_to_stop && (wait(NULL) > 0 || errno == EINTR))
		continue;
	close(control[1]);
	while (wait(NULL) > 0 || errno == EINTR)
		continue;
}

int main(int argc, char **argv)
{
	size_t mode = 0;

	while (mode < 3 && (argc < 4 || strcmp(argv[1], modes[mode].name) != 0))
		mode++;
	if (mode == 3) {
		fputs("usage: pin-hop exit|copy|thread SOURCE TARGET [PAUSE_US]\n", stderr);
		return 2;
	}
	source = argv[2];
	target = argv[3];
	pause_us = modes[mode].pause_us;
	if (argc > 4 && sb_text_parse_u64(argv[4], 1000000, &pause_us) < 0)
		return 2;
	deadline_ns = sb_clock_now() + LIFETIME_S * SB_NS_PER_S;
	if (pipe2(control, O_CLOEXEC) < 0)
		die("make a pipe");
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	become_able();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	switch (fork()) {
	case -1:
		die("fork");
	case 0:
		close(control[1]);
		modes[mode].hop();
		break;
	default:
		control_them();
	}
	return 0;
}
