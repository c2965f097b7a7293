#include "pidfd.h"

#include "scope.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

/* Headers of the oldest distribution that builds us do not know these (include/uapi/linux/pidfd.h,
 * 6.13): the first version of the structure, which later kernels go on taking. */
struct kernel_pidfd_info {
	uint64_t mask;
	uint64_t cgroupid;
	uint32_t pid, tgid, ppid;
	uint32_t ruid, rgid, euid, egid, suid, sgid, fsuid, fsgid;
	int32_t exit_code;
};

#define KERNEL_PIDFD_GET_INFO _IOWR(0xFF, 11, struct kernel_pidfd_info)
#define KERNEL_INFO_PID	      (UINT64_C(1) << 0)
#define KERNEL_INFO_CREDS     (UINT64_C(1) << 1)

int sb_pidfd_open(pid_t pid)
{
	int fd;

	if (pid < 1)
		return -EINVAL;
	fd = (int)syscall(SYS_pidfd_open, pid, 0);
	if (fd >= 0)
		return fd;
	/* A number that is a mere thread's: EINVAL, or ENOENT from 6.15 on. No group has it. */
	return errno == EINVAL || errno == ENOENT ? -ESRCH : -errno;
}

int sb_pidfd_signal(int fd, int signal)
{
	return syscall(SYS_pidfd_send_signal, fd, signal, NULL, 0) < 0 ? -errno : 0;
}

bool sb_pidfd_ended(int fd)
{
	struct pollfd poller = {.fd = fd, .events = POLLIN};

	return poll(&poller, 1, 0) > 0;
}

int sb_pidfd_info(int fd, struct sb_pidfd_info *ret)
{
	struct kernel_pidfd_info info = {.mask = KERNEL_INFO_PID | KERNEL_INFO_CREDS};

	if (ioctl(fd, KERNEL_PIDFD_GET_INFO, &info) < 0)
		return -errno;
	/* A process that was reaped meanwhile may tell how it ended, and nothing else. */
	if ((info.mask & KERNEL_INFO_PID) == 0 || (info.mask & KERNEL_INFO_CREDS) == 0)
		return -ESRCH;
	*ret = (struct sb_pidfd_info){(pid_t)info.ppid, info.ruid, info.suid};
	return 0;
}

/* Whether an error means that the call is there, but could not be made now. */
static bool is_passing(int error)
{
	return error == -EMFILE || error == -ENFILE || error == -ENOMEM;
}

struct sb_pidfd_support sb_pidfd_probe(void)
{
	sb_auto_close int fd = sb_pidfd_open(getpid());
	struct sb_pidfd_support support = {false, false};
	struct sb_pidfd_info info;

	if (fd < 0) {
		support.open = is_passing(fd);
		return support;
	}
	support.open = sb_pidfd_signal(fd, 0) == 0;
	support.info = support.open && sb_pidfd_info(fd, &info) == 0;
	return support;
}
