#include "spare.h"

#include "argv.h"
#include "scope.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

#define COMM_SHOWN    15 /* bytes of a program's name that the kernel keeps: TASK_COMM_LEN - 1 */
#define PATH_MAX_HERE 48
#define STUCK_MAX     10 /* then argument lists are read of likely keep-alives only: 1 s was lost */

static const struct {
	const char *name;
	const char *words;
} table[SB_SPARE_COUNT] = {
	[SB_SPARE_NOT] = {"stray", "a stray"},
	[SB_SPARE_SELF] = {"self", "this command itself"},
	[SB_SPARE_ANCESTOR] = {"ancestor", "an ancestor of this command"},
	[SB_SPARE_ANOTHER_RUN] = {"another-run", "another run of this program"},
	[SB_SPARE_PIPE] = {"pipe", "at the other end of a pipe of this command or an ancestor"},
	[SB_SPARE_INIT] = {"init", "pid 1"},
	[SB_SPARE_KERNEL] = {"kernel-thread", "a kernel thread"},
	[SB_SPARE_ZOMBIE] = {"zombie", "a zombie that its parent has not waited for"},
	[SB_SPARE_MANAGER] = {"service-manager", "the user's service manager"},
	[SB_SPARE_KEEP_PID] = {"keep-pid", "named by --keep-pid"},
	[SB_SPARE_KEEP_ALIVE] = {"keep-alive", "a keep-alive, by its arguments"},
};

const char *sb_spare_name(enum sb_spare spare)
{
	return table[spare].name;
}

const char *sb_spare_describe(enum sb_spare spare)
{
	return table[spare].words;
}

/* 1; 0 when there is none that we may see; -errno. */
static int read_executable(int procfs, pid_t pid, struct sb_proc_object *ret)
{
	char path[PATH_MAX_HERE];
	int r;

	snprintf(path, sizeof(path), "%d/exe", (int)pid);
	r = sb_proc_identify(procfs, path, ret);
	if (r < 0)
		return sb_proc_is_answer(r) ? 0 : r;
	return 1;
}

static bool is_same_object(const struct sb_proc_object *a, const struct sb_proc_object *b)
{
	return a->device == b->device && a->inode == b->inode;
}

static int add_identity(struct sb_spare_identities *identities, pid_t pid,
			const struct sb_proc_stat *stat)
{
	struct sb_spare_identity *grown =
		reallocarray(identities->item, identities->count + 1, sizeof(*identities->item));

	if (!grown)
		return -ENOMEM;
	identities->item = grown;
	identities->item[identities->count++] = (struct sb_spare_identity){
		.pid = pid,
		.start = stat ? stat->start : 0,
		.start_known = stat != NULL,
	};
	return 0;
}

static bool has_identity(const struct sb_spare_identities *identities,
			 const struct sb_process *process)
{
	for (size_t i = 0; i < identities->count; i++) {
		const struct sb_spare_identity *one = &identities->item[i];

		if (one->pid == process->pid &&
		    (!one->start_known || one->start == process->stat.start))
			return true;
	}
	return false;
}

static int read_stat(const struct sb_process_view *view, pid_t pid, struct sb_proc_stat *ret)
{
	char task[16];

	snprintf(task, sizeof(task), "%d", (int)pid);
	return sb_proc_read_stat(view->procfs, task, ret);
}

/*
 * The parent of a process that procfs does not show, by the kernel itself; 0 when it is gone, or
 * the first of all. -ENODATA: this kernel does not tell.
 */
static int learn_hidden_parent(const struct sb_process_view *view, pid_t pid, pid_t *ret)
{
	sb_auto_close int fd = -1;
	struct sb_pidfd_info info;
	int r;

	*ret = 0;
	if (pid == 1 || (kill(pid, 0) < 0 && errno == ESRCH))
		return 0;
	if (!view->pidfd.info)
		return -ENODATA;
	fd = sb_pidfd_open(pid);
	r = fd < 0 ? fd : sb_pidfd_info(fd, &info);
	if (r == 0)
		*ret = info.parent;
	return r == -ESRCH ? 0 : r;
}

/* A chain that broke off somewhere would make strays of all above. */
static int learn_ancestors(struct sb_spare_facts *facts)
{
	pid_t pid = getppid();

	/* Up to pid 1; 0 is a parent outside of the namespace. */
	while (pid > 0) {
		struct sb_proc_stat stat;
		int r = read_stat(facts->view, pid, &stat);
		bool seen = r == 0;

		if (!seen && !sb_proc_is_answer(r))
			return r;
		r = add_identity(&facts->ancestors, pid, seen ? &stat : NULL);
		if (r == 0 && !seen)
			r = learn_hidden_parent(facts->view, pid, &stat.parent);
		if (r < 0)
			return r;
		pid = stat.parent;
	}
	return 0;
}

/* Numbers mean those who have them now, whenever they are met. */
static int learn_kept(struct sb_spare_facts *facts)
{
	const struct sb_spare_wishes *wishes = facts->wishes;
	int r = 0;

	for (size_t i = 0; i < wishes->keep_pid_count && r == 0; i++) {
		struct sb_proc_stat stat;

		r = read_stat(facts->view, wishes->keep_pid[i], &stat);
		if (r == 0)
			r = add_identity(&facts->kept, wishes->keep_pid[i], &stat);
		else if (r == -EACCES || r == -EPERM)
			r = add_identity(&facts->kept, wishes->keep_pid[i], NULL);
		else if (r == -ENOENT || r == -ESRCH)
			r = 0; /* nobody's */
	}
	return r;
}

static int seek_pipes_of(struct sb_spare_facts *facts, pid_t pid)
{
	struct sb_pipe_ends ends;

	sb_pipes_read(facts->view->procfs, pid, &ends);
	return ends.error ? ends.error : sb_pipes_seek(&facts->pipes, &ends, false);
}

int sb_spare_learn(const struct sb_process_view *view, const struct sb_spare_wishes *wishes,
		   struct sb_spare_facts *ret)
{
	int r;

	*ret = (struct sb_spare_facts){.view = view, .wishes = wishes, .self = getpid()};
	/* Our own we may always see: without it other runs could not be told from strays. */
	r = sb_proc_identify(view->procfs, "self/exe", &ret->executable);
	if (r == 0)
		r = learn_ancestors(ret);
	if (r == 0)
		r = learn_kept(ret);
	if (r == 0)
		r = seek_pipes_of(ret, ret->self);
	for (size_t i = 0; r == 0 && i < ret->ancestors.count; i++)
		r = seek_pipes_of(ret, ret->ancestors.item[i].pid);
	return r;
}

void sb_spare_free(struct sb_spare_facts *facts)
{
	free(facts->ancestors.item);
	free(facts->kept.item);
	facts->ancestors = facts->kept = (struct sb_spare_identities){0};
	sb_pipes_free(&facts->pipes);
}

/*
 * Without the right to see its executable it may be another run of this program, or a stray that
 * calls itself so: then it is left alone, and no answer is given as if that were known.
 */
static bool is_called_like_us(const struct sb_process *process)
{
	return strncmp(process->stat.comm, program_invocation_short_name, COMM_SHOWN) == 0;
}

static int is_another_run(const struct sb_spare_facts *facts, const struct sb_process *process)
{
	struct sb_proc_object executable;
	int r = read_executable(facts->view->procfs, process->pid, &executable);

	if (r <= 0)
		return r < 0 || !is_called_like_us(process) ? r : -EACCES;
	return is_same_object(&executable, &facts->executable);
}

static bool is_zombie(const struct sb_spare_facts *facts, const struct sb_process *process)
{
	if (process->stat.state != 'Z' && process->stat.state != 'X')
		return false;
	return sb_process_ended(facts->view, process) ||
	       !sb_process_has_live_threads(facts->view, process);
}

/* systemd --user and its helper (sd-pam) live in a scope of their own, which no service shares. */
static int is_manager(const struct sb_spare_facts *facts, const struct sb_process *process)
{
	char path[PATH_MAX_HERE], scope[64];
	sb_auto_free char *text = NULL;
	size_t length;
	int r;

	if (!facts->wishes->manager || (strcmp(process->stat.comm, "systemd") != 0 &&
					strcmp(process->stat.comm, "(sd-pam)") != 0))
		return 0;
	snprintf(path, sizeof(path), "%d/cgroup", (int)process->pid);
	snprintf(scope, sizeof(scope), "/user@%u.service/init.scope\n", facts->view->uid);
	r = sb_proc_read(facts->view->procfs, path, &text, &length);
	if (r < 0)
		return r == -ENOENT ? -ESRCH : r;
	return strstr(text, scope) != NULL;
}

/* Whether a process of that name is likely to have been started by these arguments. */
static bool is_likely(const char *comm, const char *arguments)
{
	size_t first = strcspn(arguments, " ");

	if (first > COMM_SHOWN)
		first = COMM_SHOWN;
	return strncmp(comm, arguments, first) == 0 && comm[first] == '\0';
}

static bool is_kept(const struct sb_spare_wishes *wishes, const char *arguments)
{
	for (size_t i = 0; i < wishes->keep_count; i++)
		if (strcmp(wishes->keep[i], arguments) == 0)
			return true;
	return wishes->keep_default && strcmp(SB_SPARE_KEEP_DEFAULT, arguments) == 0;
}

/*
 * Arguments are read where they can matter: of every process when some were named, for what a
 * process calls itself need not be its program's name, else of what is called sleep. One whose
 * arguments cannot be read in time is left open only when its name speaks for a keep-alive; one
 * whose arguments could not be read for another reason, always: that passes.
 */
static int judge_arguments(struct sb_spare_facts *facts, const struct sb_process *process)
{
	const struct sb_spare_wishes *wishes = facts->wishes;
	const char *comm = process->stat.comm;
	char arguments[SB_SPARE_KEEP_MAX];
	bool likely = wishes->keep_default && is_likely(comm, SB_SPARE_KEEP_DEFAULT);
	int r;

	for (size_t i = 0; i < wishes->keep_count && !likely; i++)
		likely = is_likely(comm, wishes->keep[i]);
	if (!likely && (!wishes->keep_count || facts->stuck >= STUCK_MAX))
		return 0;
	r = sb_argv_read(facts->view->procfs, process->pid, arguments, sizeof(arguments));
	if (r == 0)
		return is_kept(wishes, arguments);
	if (r == -ENOENT || r == -ESRCH)
		return -ESRCH;
	if (r != -ETIMEDOUT)
		return r;
	facts->stuck++;
	return likely ? -EBUSY : 0;
}

/* What has to be looked up: 1 and why, 0, or -errno; what cannot be read now is left open. */
static int judge_by_looks(struct sb_spare_facts *facts, const struct sb_process *process,
			  const struct sb_pipe_ends *ends, enum sb_spare *ret)
{
	int r = is_another_run(facts, process);

	*ret = SB_SPARE_ANOTHER_RUN;
	if (r)
		return r;
	*ret = SB_SPARE_PIPE;
	if (sb_pipes_match(&facts->pipes, ends))
		return 1;
	if (facts->pipes.count && ends->error)
		return ends->error;
	*ret = SB_SPARE_MANAGER;
	r = is_manager(facts, process);
	if (r)
		return r;
	*ret = SB_SPARE_KEEP_ALIVE;
	return judge_arguments(facts, process);
}

/* What needs no look at anything but the facts at hand; the cheapest first. */
static enum sb_spare judge_by_facts(const struct sb_spare_facts *facts,
				    const struct sb_process *process)
{
	if (process->pid == facts->self)
		return SB_SPARE_SELF;
	if (has_identity(&facts->ancestors, process))
		return SB_SPARE_ANCESTOR;
	if (process->pid == 1)
		return SB_SPARE_INIT;
	if (process->stat.kernel_thread)
		return SB_SPARE_KERNEL;
	if (is_zombie(facts, process))
		return SB_SPARE_ZOMBIE;
	if (has_identity(&facts->kept, process))
		return SB_SPARE_KEEP_PID;
	return SB_SPARE_NOT;
}

int sb_spare_judge(struct sb_spare_facts *facts, const struct sb_process *process,
		   const struct sb_pipe_ends *ends, enum sb_spare *ret)
{
	enum sb_spare spare = judge_by_facts(facts, process);
	int r;

	if (spare == SB_SPARE_NOT) {
		r = judge_by_looks(facts, process, ends, &spare);
		if (r < 0)
			return r;
		if (r == 0)
			spare = SB_SPARE_NOT;
	}
	*ret = spare;
	return 0;
}

int sb_spare_follow_pipes(struct sb_spare_facts *facts, const struct sb_pipe_ends *ends,
			  bool *ret_more)
{
	size_t before = facts->pipes.count;
	int r = 0;

	if (sb_pipes_match(&facts->pipes, ends))
		r = sb_pipes_seek(&facts->pipes, ends, true);
	*ret_more = facts->pipes.count > before;
	return r;
}

/* A shell holds the ends of a pipe itself while it forks: that is no reader yet. */
static bool is_everything_found(const struct sb_pipes *pipes)
{
	for (size_t i = 0; i < pipes->count; i++)
		if (!pipes->found[i])
			return false;
	return true;
}

/* At work, as a shell is between two forks; one whose pipeline is complete sleeps. */
static bool is_at_work(char state)
{
	return state == 'R' || state == 'D';
}

bool sb_spare_is_ancestor_at_work(const struct sb_spare_facts *facts)
{
	for (size_t i = 0; i < facts->ancestors.count; i++) {
		struct sb_proc_stat stat;
		char task[16];

		snprintf(task, sizeof(task), "%d", (int)facts->ancestors.item[i].pid);
		if (sb_proc_read_stat(facts->view->procfs, task, &stat) == 0 &&
		    is_at_work(stat.state))
			return true;
	}
	return false;
}

/* The child of an ancestor that was at work when it was met, if it was one; else 0. */
static pid_t parent_of_busy(const struct sb_spare_facts *facts, const struct sb_process *process)
{
	if (process->pid == facts->self || !is_at_work(process->stat.state))
		return 0;
	for (size_t i = 0; i < facts->ancestors.count; i++)
		if (facts->ancestors.item[i].pid == process->stat.parent)
			return process->stat.parent;
	return 0;
}

/* A copy of an ancestor that has not become another program, perhaps only not yet. */
static bool is_copy(const struct sb_spare_facts *facts, pid_t pid, pid_t parent)
{
	struct sb_proc_object executable, of_parent;

	return read_executable(facts->view->procfs, pid, &executable) > 0 &&
	       read_executable(facts->view->procfs, parent, &of_parent) > 0 &&
	       is_same_object(&executable, &of_parent);
}

enum sb_spare_pipeline sb_spare_look_at_pipeline(struct sb_spare_facts *facts,
						 const struct sb_process *process,
						 const struct sb_pipe_ends *ends)
{
	pid_t parent = parent_of_busy(facts, process);

	if (!parent)
		return SB_SPARE_PIPELINE_COMPLETE;
	if (is_copy(facts, process->pid, parent) &&
	    (!is_everything_found(&facts->pipes) || sb_pipes_match(&facts->pipes, ends)))
		return SB_SPARE_PIPELINE_IN_THE_MAKING;
	return SB_SPARE_PIPELINE_LOOK_AGAIN;
}

bool sb_spare_misses_reader(const struct sb_spare_facts *facts)
{
	return !is_everything_found(&facts->pipes);
}
