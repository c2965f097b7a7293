/*
 * A busy host, cheaply: pin-tasks TASKS NAMESPACES BINDS ROOT TARGET PREFIX [UID]
 *
 * Spreads TASKS sleeping processes over NAMESPACES private mount namespaces with BINDS binds each:
 * ROOT/PREFIX<namespace>_<bind>, which it makes, on directories of a tmpfs of its own on TARGET.
 * Namespaces and binds count from 1, so that the names are keyed. Says "ready" and sleeps until it
 * is killed, or its parent ends, and takes all of them with it. With UID they belong to that user.
 */
#include "text.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STACK  8192 /* bytes: a sleeping task needs next to none */
#define MADE   'y'
#define FAILED 'n'

static uint64_t tasks, namespaces, binds, uid;
static const char *root, *target, *prefix;
static bool has_uid;
static int ready_fd = -1; /* where a maker says how it went */

static void __attribute__((noreturn)) die(const char *what, const char *object)
{
	fprintf(stderr, "pin-tasks: cannot %s '%s': %s\n", what, object, strerror(errno));
	/* The other makers hold the pipe open, so that an end alone would not be seen. */
	if (ready_fd >= 0 && write(ready_fd, &(char){FAILED}, 1) != 1)
		perror("pin-tasks: cannot say so");
	exit(1);
}

static void build_namespace(uint64_t number)
{
	char from[4096], to[4096];

	if (unshare(CLONE_NEWNS) < 0)
		die("unshare", "mount namespace");
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0)
		die("make private", "/");
	if (mount("tasks", target, "tmpfs", 0, "mode=755") < 0)
		die("mount a tmpfs on", target);
	for (uint64_t i = 1; i <= binds; i++) {
		snprintf(from, sizeof(from), "%s/%s%llu_%llu", root, prefix,
			 (unsigned long long)number, (unsigned long long)i);
		snprintf(to, sizeof(to), "%s/%llu", target, (unsigned long long)i);
		if ((mkdir(from, 0700) < 0 && errno != EEXIST) || mkdir(to, 0700) < 0)
			die("make", from);
		if (mount(from, to, NULL, MS_BIND, NULL) < 0)
			die("bind", from);
	}
}

/* Shares the memory of the maker, so it keeps off everything but the kernel. */
static int __attribute__((noreturn)) sleep_for_ever(void *unused)
{
	(void)unused;
	syscall(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	for (;;)
		syscall(SYS_ppoll, NULL, 0, NULL, NULL, 0);
}

static void fill_namespace(uint64_t count)
{
	/* One more than needed: there may be none to make, and a mapping cannot be empty. */
	char *stacks = mmap(NULL, (count + 1) * STACK, PROT_READ | PROT_WRITE,
			    MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

	if (stacks == MAP_FAILED)
		die("map", "stacks");
	if (has_uid && (setresgid((gid_t)uid, (gid_t)uid, (gid_t)uid) < 0 ||
			setresuid((uid_t)uid, (uid_t)uid, (uid_t)uid) < 0))
		die("become", "user");
	prctl(PR_SET_DUMPABLE, 1, 0, 0, 0);
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (uint64_t i = 0; i < count; i++)
		if (clone(sleep_for_ever, stacks + (i + 1) * STACK, CLONE_VM | SIGCHLD, NULL) < 0)
			die("clone", "task");
}

/* The share of one namespace: its maker is one of its tasks. */
static void __attribute__((noreturn)) make_share(uint64_t number)
{
	uint64_t share = tasks / namespaces + (number <= tasks % namespaces ? 1 : 0);

	build_namespace(number);
	fill_namespace(share ? share - 1 : 0);
	if (write(ready_fd, &(char){MADE}, 1) != 1)
		exit(1);
	for (;;)
		pause();
}

static bool parse(int argc, char **argv)
{
	if (argc < 7 || argc > 8)
		return false;
	root = argv[4];
	target = argv[5];
	prefix = argv[6];
	has_uid = argc == 8;
	return sb_text_parse_u64(argv[1], 100000, &tasks) == 0 &&
	       sb_text_parse_u64(argv[2], 1000, &namespaces) == 0 && namespaces > 0 &&
	       sb_text_parse_u64(argv[3], 10000, &binds) == 0 &&
	       (!has_uid || sb_text_parse_u64(argv[7], UINT32_MAX - 1, &uid) == 0);
}

int main(int argc, char **argv)
{
	int ready[2];
	char byte;

	if (!parse(argc, argv)) {
		fputs("usage: pin-tasks TASKS NAMESPACES BINDS ROOT TARGET PREFIX [UID]\n", stderr);
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (pipe(ready) < 0)
		die("make", "pipe");
	for (uint64_t number = 1; number <= namespaces; number++) {
		pid_t child = fork();

		if (child < 0)
			die("fork", "maker");
		if (child == 0) {
			prctl(PR_SET_PDEATHSIG, SIGKILL);
			close(ready[0]);
			ready_fd = ready[1];
			make_share(number);
		}
	}
	close(ready[1]);
	for (uint64_t number = 1; number <= namespaces; number++)
		if (read(ready[0], &byte, 1) != 1 || byte != MADE)
			return 1; /* a maker has said why */
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
