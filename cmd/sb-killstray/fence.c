#include "fence.h"

#include "proc.h"
#include "text.h"

#include <errno.h>
#include <limits.h>
#include <unistd.h>

static const char *const words[FENCE_COUNT] = {
	[FENCE_OPEN] = "nothing stands in the way",
	[FENCE_NO_PROCFS] = "its self is not this process: it is no procfs, or that of another pid "
			    "namespace; mount the procfs of this one there",
	[FENCE_NO_ROOM] = "its self cannot be read, for want of file descriptors or memory; raise "
			  "the limits (ulimit -n, ulimit -v)",
	[FENCE_HOST] = "this is the initial pid namespace, so these are all that the user runs on "
		       "this host; say --host, --pid or --cgroup for what is meant",
	[FENCE_ROOT] =
		"this is the initial pid namespace, where root's processes are the host's own; "
		"say --uid=0 if they are meant, or --uid for whose are",
};

const char *fence_describe(enum fence fence)
{
	return words[fence];
}

/*
 * In the procfs of an outer pid namespace we have another number, or by chance the same; there
 * status tells a number for each namespace.
 */
static enum fence check_ours(int procfs)
{
	struct sb_proc_status status;
	char link[24];
	uint64_t number;
	int r;

	if (!sb_proc_is_procfs(procfs) ||
	    sb_proc_readlink(procfs, "self", link, sizeof(link)) <= 0 ||
	    sb_text_parse_u64(link, INT_MAX, &number) < 0 || (pid_t)number != getpid())
		return FENCE_NO_PROCFS;
	r = sb_proc_read_status(procfs, "self", &status);
	if (r == -EMFILE || r == -ENFILE || r == -ENOMEM)
		return FENCE_NO_ROOM;
	return r == 0 && status.levels <= 1 ? FENCE_OPEN : FENCE_NO_PROCFS;
}

/* What cannot be learnt is taken for the one where more can be broken. */
static bool is_initial_namespace(int procfs)
{
	char link[40];
	uint64_t inode;

	return sb_proc_readlink(procfs, "self/ns/pid", link, sizeof(link)) < 0 ||
	       !sb_proc_parse_ns(link, "pid", &inode) || inode == SB_PROC_INITIAL_PIDNS;
}

enum fence fence_check(const struct options *options, int procfs)
{
	enum fence ours = check_ours(procfs);

	if (ours != FENCE_OPEN)
		return ours;
	if (!is_initial_namespace(procfs))
		return FENCE_OPEN;
	if (!options->host && !options->cgroup && !options->only.count)
		return FENCE_HOST;
	if (options->cli.uid == 0 && !options->cli.uid_given)
		return FENCE_ROOT;
	return FENCE_OPEN;
}
