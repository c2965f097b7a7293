/* sb-killstray: end what outlived its sandbox, and nothing else. */
#include "fence.h"
#include "options.h"
#include "show.h"

#include "cgroup.h"
#include "interrupt.h"
#include "lock.h"
#include "log.h"
#include "scope.h"
#include "strays.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>

/* What a run needs open. */
struct means {
	int procfs;
	int cgroup; /* -1: none */
	int lock;   /* -1: none */
};

/* The terminal that goes away, and the reader, do not stop it halfway; the rest is asked for. */
static void set_up_signals(void)
{
	sigset_t none;

	signal(SIGHUP, SIG_IGN);
	sb_interrupt_arm();
	/* A mask is inherited, and nobody's is meant for us. */
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static int run(const struct options *options, const struct means *means, bool dry_run,
	       struct sb_strays **ret)
{
	/* Outlives this call: the result refers to it. */
	static struct sb_strays_options asked;

	asked = (struct sb_strays_options){
		.procfs = means->procfs,
		.uid = options->cli.uid,
		.grace_ns = options->grace_ns,
		.dry_run = dry_run,
		.wishes = options_wishes(options),
		.only = options->only.item,
		.only_count = options->only.count,
		.cgroup = means->cgroup,
	};
	return sb_strays_run(&asked, ret);
}

/* Refuses, and tells what it would have done otherwise. */
static sb_status_set refuse(const struct options *options, const struct means *means,
			    enum fence fence)
{
	struct sb_strays *strays = NULL;

	sb_log_cannot_because(SB_LOG_ERROR, "use", options->cli.procfs, fence_describe(fence));
	if (fence >= FENCE_HOST && run(options, means, true, &strays) == 0)
		sb_log_say(SB_LOG_ERROR, "refused: it would have ended %zu processes of uid %u",
			   sb_strays_count(strays).found, options->cli.uid);
	sb_strays_free(strays);
	return SB_STATUS_BIT(SB_STATUS_REFUSED);
}

static sb_status_set open_cgroup(const struct options *options, struct means *means)
{
	int fd = options->cgroup ? sb_cgroup_open(options->cgroup) : -1;

	if (!options->cgroup)
		return 0;
	means->cgroup = fd;
	if (fd >= 0)
		return 0;
	means->cgroup = -1;
	if (fd == -EMEDIUMTYPE)
		sb_log_cannot_because(SB_LOG_ERROR, "use", options->cgroup,
				      "it is no cgroup of version 2");
	else if (fd == -EOPNOTSUPP)
		sb_log_cannot_because(SB_LOG_ERROR, "use", options->cgroup,
				      "it is a threaded cgroup, which holds no whole processes");
	else
		sb_log_cannot(SB_LOG_ERROR, "open", options->cgroup, fd);
	return SB_STATUS_BIT(SB_STATUS_REFUSED);
}

static void say_waiting(const char *path)
{
	sb_log_about(SB_LOG_NOTICE, path, "waiting for the lock, which another process holds");
}

static sb_status_set take_lock(const struct options *options, struct means *means)
{
	int fd;

	/* Looking disturbs nobody, and shall leave no file behind. */
	if (!options->lock || options->cli.dry_run)
		return 0;
	fd = sb_lock_take(options->lock, options->lock_wait_ns, say_waiting);
	if (fd >= 0) {
		means->lock = fd;
		return 0;
	}
	if (fd == -EAGAIN || fd == -EINTR) {
		sb_log_cannot_because(SB_LOG_ERROR, "lock", options->lock,
				      fd == -EAGAIN ? "another process holds it; nothing was ended"
						    : "stopped by a signal; nothing was ended");
		return SB_STATUS_BIT(SB_STATUS_LOCKED);
	}
	sb_log_cannot(SB_LOG_ERROR, "lock", options->lock, fd);
	return SB_STATUS_BIT(SB_STATUS_FAILED);
}

static sb_status_set judge(const struct options *options, const struct sb_strays *strays)
{
	sb_status_set statuses = 0;

	if (strays->interrupted)
		statuses |= SB_STATUS_BIT(SB_STATUS_MORE);
	else if (!sb_strays_proven(strays))
		statuses |= SB_STATUS_BIT(SB_STATUS_UNPROVEN);
	/* Broken off, it has failed at nothing yet. */
	if (!options->cli.dry_run && !strays->interrupted && sb_strays_count(strays).survivors)
		statuses |= SB_STATUS_BIT(SB_STATUS_FAILED);
	return statuses;
}

static sb_status_set work(const struct options *options, struct means *means,
			  struct sb_strays **ret)
{
	enum fence fence = fence_check(options, means->procfs);
	sb_status_set statuses;
	int r;

	if (fence != FENCE_OPEN)
		return refuse(options, means, fence);
	statuses = open_cgroup(options, means);
	if (!statuses)
		statuses = take_lock(options, means);
	if (statuses)
		return statuses;
	if (!options->cli.dry_run)
		sb_strays_raise_ourselves();
	r = run(options, means, options->cli.dry_run, ret);
	if (r == -ENODATA) {
		sb_log_cannot_because(SB_LOG_WARNING, "learn our ancestors from",
				      options->cli.procfs,
				      "one is hidden (hidepid), and so is who is above it; nothing "
				      "was ended; run as root");
		return SB_STATUS_BIT(SB_STATUS_UNPROVEN);
	}
	if (r < 0) {
		sb_log_cannot(SB_LOG_ERROR, "look for strays in", options->cli.procfs, r);
		return SB_STATUS_BIT(SB_STATUS_FAILED);
	}
	return judge(options, *ret);
}

int main(int argc, char **argv)
{
	struct options options;
	sb_auto_close int procfs = -1;
	struct means means = {-1, -1, -1};
	struct sb_strays *strays = NULL;
	sb_status_set statuses;
	int r;

	options_parse(&options, argc, argv);
	set_up_signals();
	procfs = open(options.cli.procfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	means.procfs = procfs;
	if (procfs < 0) {
		sb_log_cannot(SB_LOG_ERROR, "open", options.cli.procfs, errno);
		statuses = SB_STATUS_BIT(SB_STATUS_FAILED);
	} else {
		statuses = work(&options, &means, &strays);
	}
	r = show(&options, strays, statuses);
	if (r < 0) {
		sb_log_cannot(SB_LOG_ERROR, "show", "the result", r);
		statuses |= SB_STATUS_BIT(SB_STATUS_FAILED);
	}
	sb_strays_free(strays);
	if (means.cgroup >= 0)
		close(means.cgroup);
	if (means.lock >= 0)
		close(means.lock);
	options_free(&options);
	return (int)sb_cli_finish(statuses);
}
