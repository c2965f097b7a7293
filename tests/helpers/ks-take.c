/*
 * Takes the number of a process as soon as it is free, in a pid namespace where it may set
 * ns_last_pid.
 *
 *   ks-take PID UID FILE    waits until PID is gone, lets a child of UID have that number, and
 *                           makes FILE.taken; FILE.signalled appears if it gets a signal
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TRIES 100000

static char signalled_file[PATH_MAX];

static void note(int number)
{
	(void)number;
	close(open(signalled_file, O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
}

static void live(uid_t uid, const char *file)
{
	static const int numbers[] = {SIGTERM, SIGCONT, SIGHUP, SIGINT};
	char taken[PATH_MAX];

	for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
		signal(numbers[i], note);
	if (setresuid(uid, uid, uid) < 0)
		_exit(1);
	snprintf(taken, sizeof(taken), "%s.taken", file);
	close(open(taken, O_CREAT | O_WRONLY | O_CLOEXEC, 0666));
	for (;;)
		pause();
}

static void set_last_pid(pid_t pid)
{
	char digits[16];
	int fd = open("/proc/sys/kernel/ns_last_pid", O_WRONLY | O_CLOEXEC);
	int length = snprintf(digits, sizeof(digits), "%d", (int)pid);

	if (fd < 0 || write(fd, digits, (size_t)length) != length) {
		fprintf(stderr, "ks-take: cannot set ns_last_pid: %s\n", strerror(errno));
		exit(1);
	}
	close(fd);
}

int main(int argc, char **argv)
{
	pid_t wanted, child;
	uid_t uid;

	if (argc != 4) {
		fprintf(stderr, "usage: ks-take PID UID FILE\n");
		return 2;
	}
	wanted = (pid_t)strtol(argv[1], NULL, 10);
	uid = (uid_t)strtoul(argv[2], NULL, 10);
	snprintf(signalled_file, sizeof(signalled_file), "%s.signalled", argv[3]);
	while (kill(wanted, 0) == 0)
		usleep(500);
	for (int i = 0; i < TRIES; i++) {
		set_last_pid(wanted - 1);
		child = fork();
		if (child == 0 && getpid() == wanted)
			live(uid, argv[3]);
		if (child == 0)
			_exit(0);
		if (child == wanted)
			return waitpid(child, NULL, 0) < 0;
		waitpid(child, NULL, 0);
	}
	fprintf(stderr, "ks-take: never got %d\n", (int)wanted);
	return 1;
}
