#include "process.h"

#include "scope.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

#define TASK_PATH 48 /* "PID/task/TID" */

bool sb_process_is_of(const struct sb_process *process, uid_t uid)
{
	return process->uid_known && (process->real_uid == uid || process->saved_uid == uid);
}

void sb_process_forget(struct sb_process *process)
{
	if (process->fd >= 0)
		close(process->fd);
	process->fd = -1;
}

static bool is_dead_state(char state)
{
	return state == 'Z' || state == 'X' || state == 'x';
}

/* Looks at each thread: those that ended under a tracer stay listed, so counting is not enough. */
bool sb_process_has_live_threads(const struct sb_process_view *view,
				 const struct sb_process *process)
{
	sb_auto_close int tasks = -1;
	struct sb_proc_lister lister = {0};
	struct sb_proc_id id;
	char path[TASK_PATH];
	bool live = false;
	int r = 0;

	snprintf(path, sizeof(path), "%d/task", (int)process->pid);
	tasks = openat(view->procfs, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (tasks < 0)
		return errno != ENOENT; /* cannot look: what is not known to be dead lives */
	if (sb_proc_list_start(&lister, tasks) < 0)
		return true;
	while (!live && (r = sb_proc_list_next(&lister, &id)) > 0) {
		struct sb_proc_stat stat;

		snprintf(path, sizeof(path), "%d", (int)id.number);
		r = sb_proc_read_stat(tasks, path, &stat);
		live = r == 0 ? !is_dead_state(stat.state) : r != -ENOENT && r != -ESRCH;
	}
	sb_proc_list_end(&lister);
	/* The directory of one that was released cannot be listed: ENOENT. */
	return live || (r < 0 && r != -ENOENT && r != -ESRCH);
}

static bool stat_says_ended(const struct sb_process_view *view, const struct sb_process *process)
{
	if (!is_dead_state(process->stat.state))
		return false;
	return process->stat.threads <= 1 || !sb_process_has_live_threads(view, process);
}

/* What has the number now; -ESRCH when that is not this process. */
static int read_again(const struct sb_process_view *view, const struct sb_process *process,
		      struct sb_process *ret)
{
	char task[TASK_PATH];
	int r;

	snprintf(task, sizeof(task), "%d", (int)process->pid);
	*ret = *process;
	r = sb_proc_read_stat(view->procfs, task, &ret->stat);
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	return ret->stat.start == process->stat.start ? 0 : -ESRCH;
}

bool sb_process_ended(const struct sb_process_view *view, const struct sb_process *process)
{
	struct sb_process now;
	int r;

	if (process->fd >= 0)
		return sb_pidfd_ended(process->fd);
	r = read_again(view, process, &now);
	return r == -ESRCH || (r == 0 && stat_says_ended(view, &now));
}

static int learn_uid(const struct sb_process_view *view, const char *task,
		     struct sb_process *process)
{
	struct sb_proc_status status;
	struct sb_pidfd_info info;
	int r;

	if (process->fd >= 0 && view->pidfd.info) {
		r = sb_pidfd_info(process->fd, &info);
		if (r < 0)
			return r;
		process->real_uid = info.real_uid;
		process->saved_uid = info.saved_uid;
	} else {
		r = sb_proc_read_status(view->procfs, task, &status);
		if (r < 0)
			return r == -ENOENT ? -ESRCH : r;
		process->real_uid = status.real_uid;
		process->saved_uid = status.saved_uid;
	}
	process->uid_known = true;
	return 0;
}

/* The facts of one that ended meanwhile may be those of the next to have its number. */
static int confirm(const struct sb_process_view *view, struct sb_process *process)
{
	struct sb_process now;
	int r;

	if (process->fd >= 0 && !sb_pidfd_ended(process->fd))
		return 0;
	r = read_again(view, process, &now);
	if (r < 0)
		return r;
	process->stat = now.stat;
	return process->fd >= 0 && !stat_says_ended(view, &now) ? -ESRCH : 0;
}

static int learn(const struct sb_process_view *view, struct sb_process *process)
{
	char task[TASK_PATH];
	int r;

	snprintf(task, sizeof(task), "%d", (int)process->pid);
	/* Without a pidfd the time it started frames what is read in between. */
	if (process->fd < 0) {
		r = sb_proc_read_stat(view->procfs, task, &process->stat);
		if (r < 0)
			return r == -ENOENT ? -ESRCH : r;
		process->stat_known = true;
	}
	r = learn_uid(view, task, process);
	if (r < 0)
		return r;
	if (!sb_process_is_of(process, view->uid))
		return 0;
	if (process->fd >= 0) {
		r = sb_proc_read_stat(view->procfs, task, &process->stat);
		if (r < 0)
			return r == -ENOENT ? -ESRCH : r;
		process->stat_known = true;
	}
	return confirm(view, process);
}

int sb_process_meet(const struct sb_process_view *view, pid_t pid, struct sb_process *ret)
{
	*ret = (struct sb_process){.pid = pid, .fd = -1};
	if (view->pidfd.open) {
		ret->fd = sb_pidfd_open(pid);
		if (ret->fd < 0) {
			int r = ret->fd;

			ret->fd = -1;
			return r;
		}
	}
	return learn(view, ret);
}

static int signal_by_number(const struct sb_process_view *view, const struct sb_process *process,
			    int signal)
{
	struct sb_process now;
	int r = read_again(view, process, &now);

	if (r < 0)
		return r;
	return kill(process->pid, signal) < 0 ? -errno : 0;
}

int sb_process_reopen(const struct sb_process_view *view, struct sb_process *process)
{
	sb_auto_close int fd = view->pidfd.open ? sb_pidfd_open(process->pid) : -ENOSYS;
	struct sb_process now;
	int r = fd < 0 ? fd : read_again(view, process, &now);

	if (r == 0)
		process->fd = sb_scope_take_fd(&fd);
	return r;
}

/* The descriptor was let go of: another of the same process, if that still has the number. */
static int signal_anew(const struct sb_process_view *view, const struct sb_process *process,
		       int signal)
{
	struct sb_process anew = *process;
	int r = sb_process_reopen(view, &anew);

	if (r == 0)
		r = sb_pidfd_signal(anew.fd, signal);
	sb_process_forget(&anew);
	return r;
}

int sb_process_signal(const struct sb_process_view *view, const struct sb_process *process,
		      int signal)
{
	if (process->pid <= 1)
		return -EINVAL;
	if (process->fd >= 0)
		return sb_pidfd_signal(process->fd, signal);
	if (!process->stat_known)
		return -EINVAL;
	return view->pidfd.open ? signal_anew(view, process, signal)
				: signal_by_number(view, process, signal);
}
