/*
 * One process: its identity, the facts that decide about it, and signals to it and to no other.
 *
 * Facts are read after its pidfd was opened, and count only if the pidfd says afterwards that the
 * process was still there: then the number was its own all the time. Where the kernel has no
 * pidfds, the time it started stands in for one and is compared right before each signal.
 */
#ifndef SB_PROCESS_H
#define SB_PROCESS_H

#include "pidfd.h"
#include "proc.h"

/* How to look at processes here. */
struct sb_process_view {
	int procfs; /* borrowed */
	struct sb_pidfd_support pidfd;
	uid_t uid; /* the target uid */
};

struct sb_process {
	pid_t pid;
	int fd; /* a pidfd, owned; -1: none, or let go of to spare descriptors */
	bool uid_known;
	uid_t real_uid, saved_uid;
	bool stat_known;
	struct sb_proc_stat stat;
};

/* Whether it is the target uid's. The effective uid alone does not make it so. */
bool sb_process_is_of(const struct sb_process *process, uid_t uid);

/*
 * Meets the process that has this number now. Of one that is not the target uid's nothing but the
 * uid is learnt. The result is to be let go of with sb_process_forget, whatever was returned.
 *
 * 0: all is known. -ESRCH: it departed while it was looked at (uid_known tells whether its uid was
 * learnt before). Anything else: it could not be read, and nothing is known for sure.
 */
int sb_process_meet(const struct sb_process_view *view, pid_t pid, struct sb_process *ret);
void sb_process_forget(struct sb_process *process);

/* A pidfd again for one that was let go of. -ESRCH: it has ended; -ENOSYS: there are no pidfds. */
int sb_process_reopen(const struct sb_process_view *view, struct sb_process *process);

/* Whether it has ended: gone, or a zombie to its last thread. */
bool sb_process_ended(const struct sb_process_view *view, const struct sb_process *process);

/*
 * Sends a signal to this very process. -ESRCH: it has ended, whoever has its number now. -EPERM.
 * Never to pid 1, 0 or a negative number: -EINVAL.
 */
int sb_process_signal(const struct sb_process_view *view, const struct sb_process *process,
		      int signal);

/* Whether a process that was met as a zombie leader has threads that live. */
bool sb_process_has_live_threads(const struct sb_process_view *view,
				 const struct sb_process *process);

#endif
