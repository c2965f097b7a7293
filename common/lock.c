#include "lock.h"

#include "clock.h"
#include "interrupt.h"
#include "scope.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <sys/file.h>
#include <sys/time.h>

#define SAY_AFTER_NS (5 * SB_NS_PER_S)
#define TICK_US	     100000 /* so often the wait is broken off to see whether it should end */

static void wake(int signal_number)
{
	(void)signal_number; /* its coming makes flock return */
}

/* What is there is opened as it is, be it another user's in a sticky directory or a directory. */
static int open_file(const char *path)
{
	const int flags = O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
	int fd = open(path, flags);

	if (fd < 0 && errno == ENOENT)
		fd = open(path, flags | O_CREAT | O_EXCL, 0666);
	if (fd < 0 && errno == EEXIST) /* made meanwhile */
		fd = open(path, flags);
	return fd < 0 ? -errno : fd;
}

/* Waits in the kernel's queue, but looks up at every tick: a signal may come before the wait. */
static int wait_for(int fd, const char *path, uint64_t patience_ns,
		    void (*waiting)(const char *path))
{
	const uint64_t start = sb_clock_now();
	bool said = false;

	while (flock(fd, LOCK_EX) < 0) {
		uint64_t waited = sb_clock_now() - start;

		if (errno != EINTR)
			return -errno;
		if (sb_interrupt_pending())
			return -EINTR;
		if (waited >= patience_ns)
			return -EAGAIN;
		if (!said && waited >= SAY_AFTER_NS) {
			said = true;
			waiting(path);
		}
	}
	return 0;
}

static int wait_with_ticks(int fd, const char *path, uint64_t patience_ns,
			   void (*waiting)(const char *path))
{
	const struct itimerval ticks = {{0, TICK_US}, {0, TICK_US}}, none = {0};
	struct sigaction action = {.sa_handler = wake}, before;
	int r;

	sigemptyset(&action.sa_mask);
	sigaction(SIGALRM, &action, &before);
	setitimer(ITIMER_REAL, &ticks, NULL);
	r = wait_for(fd, path, patience_ns, waiting);
	setitimer(ITIMER_REAL, &none, NULL);
	sigaction(SIGALRM, &before, NULL);
	return r;
}

int sb_lock_take(const char *path, uint64_t patience_ns, void (*waiting)(const char *path))
{
	sb_auto_close int fd = open_file(path);
	int r = 0;

	if (fd < 0)
		return fd;
	if (flock(fd, LOCK_EX | LOCK_NB) < 0) {
		if (errno != EWOULDBLOCK)
			return -errno;
		r = patience_ns ? wait_with_ticks(fd, path, patience_ns, waiting) : -EAGAIN;
	}
	return r < 0 ? r : sb_scope_take_fd(&fd);
}
