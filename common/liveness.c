#include "liveness.h"

#include "clock.h"
#include "proc.h"
#include "scope.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>

/* kill(2) asks our own pid namespace, whatever a procfs that was named has to tell. */
static bool are_we_initial(void)
{
	sb_auto_close int procfs = open(SB_PROC_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	return procfs >= 0 && sb_proc_is_initial(procfs);
}

void sb_liveness_start(struct sb_liveness *liveness, const char *procfs, bool procfs_given,
		       bool trust_pidns)
{
	*liveness = (struct sb_liveness){
		.procfs = open(procfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC),
		.named = procfs_given,
		.scanned_ns = INT64_MAX,
	};
	if (liveness->procfs < 0)
		liveness->procfs = -errno;
	liveness->numbers_prove =
		trust_pidns ||
		(liveness->procfs >= 0 && sb_proc_is_procfs(liveness->procfs) &&
		 sb_proc_is_initial(liveness->procfs) && (!procfs_given || are_we_initial()));
}

int sb_liveness_note_scan(struct sb_liveness *liveness)
{
	struct sb_proc_lister lister = {0};
	struct sb_proc_id id;
	int r = liveness->procfs < 0 ? liveness->procfs
				     : sb_proc_list_start(&lister, liveness->procfs);

	liveness->scanned_ns = sb_clock_wall();
	while (r == 0 && (r = sb_proc_list_next(&lister, &id)) > 0)
		r = sb_idmap_put(&liveness->alive_at_scan, (uint64_t)id.number, 1);
	sb_proc_list_end(&lister);
	/* What is asked from here on is answered by what is true from here on. */
	memset(liveness->answers, 0, sizeof(liveness->answers));
	return r;
}

/*
 * Only ESRCH means dead: EPERM is somebody else's process, and alive. Where another procfs is named
 * kill(2) asks in the wrong namespace: who is listed there lives too.
 */
static bool ask_kernel(const struct sb_liveness *liveness, pid_t pid)
{
	char task[16];

	if (kill(pid, 0) == 0 || errno != ESRCH)
		return true;
	if (!liveness->named)
		return false;
	snprintf(task, sizeof(task), "%d", (int)pid);
	return faccessat(liveness->procfs, task, F_OK, 0) == 0 || errno != ENOENT;
}

static struct sb_liveness_answer *answer_of(struct sb_liveness *liveness, pid_t pid)
{
	struct sb_liveness_answer *answer =
		&liveness->answers[(unsigned int)pid % SB_LIVENESS_ANSWERS];

	if (answer->pid != pid)
		*answer =
			(struct sb_liveness_answer){.pid = pid, .alive = ask_kernel(liveness, pid)};
	return answer;
}

/* The start of a process on the wall clock: ticks since boot, laid against both clocks now. */
static bool read_start(int procfs, pid_t pid, int64_t *ret_ns)
{
	struct sb_proc_stat stat;
	struct timespec boot;
	char task[16];
	uint64_t hertz = (uint64_t)sysconf(_SC_CLK_TCK);

	snprintf(task, sizeof(task), "%d", (int)pid);
	/* Another's stat, when that is mounted over this one's, tells nothing of this one. */
	if (sb_proc_read_stat(procfs, task, &stat) < 0 || stat.pid != pid)
		return false;
	clock_gettime(CLOCK_BOOTTIME, &boot);
	*ret_ns = sb_clock_wall() - sb_clock_from_stamp(boot.tv_sec, (uint32_t)boot.tv_nsec) +
		  (int64_t)(stat.start / hertz * SB_NS_PER_S +
			    stat.start % hertz * (SB_NS_PER_S / hertz));
	return true;
}

void sb_liveness_ask(struct sb_liveness *liveness, pid_t pid, bool want_start,
		     struct sb_pid_facts *ret)
{
	struct sb_liveness_answer *answer;

	*ret = (struct sb_pid_facts){.scanned_ns = liveness->scanned_ns};
	if (pid == SB_NAMES_NO_PID)
		return; /* no process can have that number */
	if (!liveness->numbers_prove) {
		ret->alive = true;
		return;
	}
	answer = answer_of(liveness, pid);
	ret->alive = answer->alive;
	if (liveness->scanned_ns != INT64_MAX)
		ret->alive_at_scan = sb_idmap_get(&liveness->alive_at_scan, (uint64_t)pid, NULL);
	if (!answer->alive || !want_start)
		return;
	if (!answer->start_asked)
		answer->started_known = read_start(liveness->procfs, pid, &answer->started_ns);
	answer->start_asked = true;
	ret->started_known = answer->started_known;
	ret->started_ns = answer->started_ns;
}

void sb_liveness_free(struct sb_liveness *liveness)
{
	if (liveness->procfs >= 0)
		close(liveness->procfs);
	sb_idmap_free(&liveness->alive_at_scan);
}
