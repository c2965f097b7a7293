/* Descriptors of processes (pidfd_open(2)): they go on naming one process, never its successor. */
#ifndef SB_PIDFD_H
#define SB_PIDFD_H

#include <stdbool.h>
#include <sys/types.h>

/* What this kernel has of them: all of it from 6.13 on, none of it before 5.3. */
struct sb_pidfd_support {
	bool open; /* pidfd_open(2) and pidfd_send_signal(2) */
	bool info; /* ioctl PIDFD_GET_INFO */
};

/* Tries them on ourselves. Denied by a filter counts as not there. */
struct sb_pidfd_support sb_pidfd_probe(void);

/*
 * A descriptor of the thread group led by pid. -ESRCH: no such group; -EINVAL for a pid below 1;
 * -EMFILE and the like as they come.
 */
int sb_pidfd_open(pid_t pid);

/* -ESRCH once it is gone, whoever has its number then; -EPERM. */
int sb_pidfd_signal(int fd, int signal);

/* Whether the whole group has ended: it is a zombie to the last thread, or gone. */
bool sb_pidfd_ended(int fd);

struct sb_pidfd_info {
	pid_t parent;
	uid_t real_uid, saved_uid;
};

/* -ESRCH: gone. Needs no procfs, so that it sees what hidepid hides. */
int sb_pidfd_info(int fd, struct sb_pidfd_info *ret);

#endif
