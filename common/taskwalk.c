#include "taskwalk.h"

#include "clock.h"
#include "idmap.h"
#include "nsbook.h"
#include "proc.h"
#include "procfacts.h"
#include "scope.h"
#include "user.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/*
 * What departed may have left its namespace to a child forked after the listing, so the tasks are
 * listed again. Three listings left a busy host unproven 36 times in 50; hosts that fork without
 * a pause are given up after these.
 */
#define PASSES_MOST 64
#define PASSES_SPAN (2 * SB_NS_PER_S) /* after the first one */

/* What came of reading a task. */
enum outcome {
	OUTCOME_READ,
	OUTCOME_DEPARTED, /* its directory is gone, or another's */
	OUTCOME_EXITED,	  /* its directory stands, but it has no namespaces any more: a zombie, or
			     a leader that left before its threads */
	OUTCOME_UNREAD,	  /* told as a gap */
};

struct leader {
	struct sb_proc_id id;
	struct sb_task task;
	bool gone; /* before its uid could be learnt */
};

struct walk {
	const struct sb_pinscan_options *options;
	struct sb_proof *proof;
	struct sb_nsbook *book;
	int procfs;
	struct sb_proc_facts facts;
	struct sb_uid_set possible; /* uids of possible holders */
	struct sb_idmap known;	    /* task ids that need no more reading -> inode */
	struct sb_task *again;	    /* groups whose threads are to be listed anew */
	size_t again_count;
	bool holder_departed; /* on this pass */
	bool any_departed;
	bool init_seen;
};

static void note_departed(struct walk *walk, const struct sb_task *task)
{
	walk->any_departed = true;
	if (task->possible_holder)
		walk->holder_departed = true;
}

static bool is_gone(int error)
{
	return error == -ENOENT || error == -ESRCH;
}

/* Whether the directory of a task still stands and is the same one. */
static bool still_stands(const struct walk *walk, const struct sb_task *task, uint64_t inode)
{
	struct stat st;

	return fstatat(walk->procfs, task->path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	       st.st_ino == inode;
}

static enum outcome read_task(struct walk *walk, const struct sb_task *task, uint64_t inode)
{
	int r = sb_nsbook_meet(walk->book, task);

	walk->proof->coverage.tasks++;
	if (r == 0)
		return OUTCOME_READ;
	if (r == -EAGAIN)
		return OUTCOME_DEPARTED; /* from namespace to namespace: it is read once more */
	if (!still_stands(walk, task, inode))
		return OUTCOME_DEPARTED;
	if (is_gone(r) || r == -EINVAL)
		return OUTCOME_EXITED;
	sb_proof_lose(walk->proof, sb_proof_loss_of(task), task,
		      "its mounts could not be read: %s%s", strerror(-r),
		      r == -EACCES || r == -EPERM ? "; run as root" : "");
	return OUTCOME_UNREAD;
}

static bool is_known(const struct walk *walk, const struct sb_proc_id *id)
{
	uint64_t inode;

	return sb_idmap_get(&walk->known, (uint64_t)id->number, &inode) && inode == id->inode;
}

static int set_known(struct walk *walk, const struct sb_proc_id *id)
{
	return sb_idmap_put(&walk->known, (uint64_t)id->number, id->inode);
}

static int list_group_again(struct walk *walk, const struct sb_task *leader)
{
	struct sb_task *grown;

	if (walk->again_count && walk->again[walk->again_count - 1].pid == leader->pid)
		return 0;
	grown = reallocarray(walk->again, walk->again_count + 1, sizeof(*grown));
	if (!grown)
		return -ENOMEM;
	walk->again = grown;
	grown[walk->again_count++] = *leader;
	return 0;
}

/*
 * One thread beside its leader. Behind a leader that has exited, a thread that does not read is a
 * gap for whatever reason: nothing else would tell that it was there.
 */
static int read_sibling(struct walk *walk, const struct sb_task *leader, bool leader_exited,
			const struct sb_proc_id *id)
{
	struct sb_task task = *leader;
	enum outcome outcome;
	int r;

	task.tid = id->number;
	snprintf(task.path, sizeof(task.path), "%d/task/%d", (int)task.pid, (int)task.tid);
	outcome = read_task(walk, &task, id->inode);
	if (outcome == OUTCOME_READ || outcome == OUTCOME_UNREAD)
		return set_known(walk, id);
	if (leader_exited)
		sb_proof_lose(walk->proof, sb_proof_loss_of(&task), &task,
			      "a thread of a leader that has exited could not be read; retry");
	/* It may have left its namespace to a thread that is not listed yet. */
	note_departed(walk, &task);
	r = list_group_again(walk, leader);
	if (r == 0 && outcome == OUTCOME_EXITED)
		r = set_known(walk, id);
	return r;
}

static int read_siblings(struct walk *walk, const struct sb_task *leader, bool leader_exited)
{
	struct sb_proc_lister lister = {0};
	sb_auto_close int dir = -1;
	struct sb_proc_id id;
	char path[32];
	int r;

	snprintf(path, sizeof(path), "%d/task", (int)leader->pid);
	dir = openat(walk->procfs, path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	r = dir < 0 ? -errno : sb_proc_list_start(&lister, dir);
	while (r == 0) {
		r = sb_proc_list_next(&lister, &id);
		if (r <= 0)
			break;
		r = id.number == leader->pid || is_known(walk, &id)
			    ? 0
			    : read_sibling(walk, leader, leader_exited, &id);
	}
	sb_proc_list_end(&lister);
	if (is_gone(r)) {
		/* A test tree need not have a list of threads. */
		if (walk->facts.is_procfs)
			note_departed(walk, leader);
		return 0;
	}
	if (r < 0 && r != -ENOMEM) {
		sb_proof_lose(walk->proof, sb_proof_loss_of(leader), leader,
			      "its threads could not be listed: %s", strerror(-r));
		return 0;
	}
	return r;
}

/* Whether a group has more threads than its leader: procfs counts them as links of PID/task. */
static bool has_siblings(const struct walk *walk, const struct sb_task *leader)
{
	struct stat st;
	char path[32];

	snprintf(path, sizeof(path), "%d/task", (int)leader->pid);
	/* When it cannot be told, listing them tells why. */
	return fstatat(walk->procfs, path, &st, AT_SYMLINK_NOFOLLOW) < 0 || st.st_nlink != 3;
}

static int read_leader(struct walk *walk, const struct leader *leader)
{
	const struct sb_task *task = &leader->task;
	enum outcome outcome;
	bool siblings;
	int r = 0;

	if (leader->gone) {
		note_departed(walk, task);
		return 0;
	}
	/* Asked before the leader is read: a thread that is gone by then left what it had to it. */
	siblings = task->possible_holder && has_siblings(walk, task);
	outcome = read_task(walk, task, leader->id.inode);
	if (outcome == OUTCOME_DEPARTED) {
		note_departed(walk, task);
		return 0;
	}
	r = set_known(walk, &leader->id);
	if (r == 0 && (siblings || outcome == OUTCOME_EXITED))
		r = read_siblings(walk, task, outcome == OUTCOME_EXITED);
	if (outcome == OUTCOME_EXITED)
		note_departed(walk, task);
	return r;
}

/* Whose is it? A task whose uid cannot be learnt is a possible holder. */
static void learn_uid(struct walk *walk, struct leader *leader)
{
	struct sb_task *task = &leader->task;
	struct statx stx;

	*task = (struct sb_task){.pid = leader->id.number, .tid = leader->id.number};
	snprintf(task->path, sizeof(task->path), "%d", (int)task->pid);
	task->possible_holder = true;
	if (statx(walk->procfs, task->path, AT_SYMLINK_NOFOLLOW, STATX_UID | STATX_INO, &stx) < 0) {
		leader->gone = is_gone(-errno);
		return;
	}
	/* The directory of a task belongs to its effective uid, dumpable or not. */
	task->uid_known = true;
	task->uid = stx.stx_uid;
	task->possible_holder = sb_uid_set_has(&walk->possible, task->uid);
	if (makedev(stx.stx_dev_major, stx.stx_dev_minor) != walk->facts.device)
		sb_proof_lose(walk->proof, SB_LOSES_BOTH, task,
			      "something is mounted over its directory in procfs; unmount it");
	leader->id.inode = stx.stx_ino;
}

/* The first pass: all uids in one tight loop, so that few depart before theirs is known. */
static int list_leaders(struct walk *walk, struct leader **ret, size_t *ret_count)
{
	struct sb_proc_lister lister = {0};
	sb_auto_free struct leader *leaders = NULL;
	size_t count = 0, capacity = 0;
	struct sb_proc_id id;
	int r = sb_proc_list_start(&lister, walk->procfs);

	while (r == 0 && (r = sb_proc_list_next(&lister, &id)) > 0) {
		r = 0;
		if (count == capacity) {
			struct leader *grown;

			capacity = capacity ? capacity * 2 : 256;
			grown = reallocarray(leaders, capacity, sizeof(*leaders));
			if (!grown) {
				r = -ENOMEM;
				break;
			}
			leaders = grown;
		}
		leaders[count++] = (struct leader){.id = id};
	}
	sb_proc_list_end(&lister);
	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++)
		learn_uid(walk, &leaders[i]);
	*ret = leaders;
	*ret_count = count;
	leaders = NULL;
	return 0;
}

static int first_pass(struct walk *walk)
{
	sb_auto_free struct leader *leaders = NULL;
	size_t count = 0;
	int r = list_leaders(walk, &leaders, &count);

	for (size_t i = 0; r == 0 && i < count; i++) {
		if (leaders[i].id.number == 1)
			walk->init_seen = true;
		r = read_leader(walk, &leaders[i]);
	}
	return r;
}

/* Later passes: few are new, and each is read as soon as it is listed. */
static int next_pass(struct walk *walk)
{
	sb_auto_free struct sb_task *again = walk->again;
	size_t again_count = walk->again_count;
	struct sb_proc_lister lister = {0};
	struct sb_proc_id id;
	int r = 0;

	walk->again = NULL;
	walk->again_count = 0;
	for (size_t i = 0; r == 0 && i < again_count; i++)
		r = read_siblings(walk, &again[i], false);
	if (r == 0)
		r = sb_proc_list_start(&lister, walk->procfs);
	while (r == 0 && (r = sb_proc_list_next(&lister, &id)) > 0) {
		struct leader leader = {.id = id};

		r = 0;
		if (is_known(walk, &id))
			continue;
		learn_uid(walk, &leader);
		r = read_leader(walk, &leader);
	}
	sb_proc_list_end(&lister);
	return r;
}

/* Whether the walk has what it was sent for. */
static bool is_settled(const struct walk *walk)
{
	if (walk->options->require == SB_LEVEL_COMPLETE)
		return !walk->any_departed;
	return !walk->holder_departed;
}

static int run_passes(struct walk *walk)
{
	struct sb_budget budget = {0};
	size_t *passes = &walk->proof->coverage.passes;
	int r;

	do {
		pid_t last = sb_procfacts_last_pid(walk->procfs);

		walk->holder_departed = walk->any_departed = false;
		r = *passes == 0 ? first_pass(walk) : next_pass(walk);
		if (r < 0)
			return r;
		/* Numbers began anew: a child may stand where the listing had already been. */
		if (sb_procfacts_last_pid(walk->procfs) < last)
			walk->holder_departed = walk->any_departed = true;
		if ((*passes)++ == 0)
			budget = sb_budget_start(PASSES_SPAN);
	} while (!is_settled(walk) && *passes < PASSES_MOST && !sb_budget_spent(&budget));
	if (walk->holder_departed)
		sb_proof_lose(walk->proof, SB_LOSES_BOTH, NULL,
			      "tasks that could hold a source came and went during each of %zu "
			      "listings; retry",
			      *passes);
	else if (walk->any_departed)
		sb_proof_lose(walk->proof, SB_LOSES_COMPLETE, NULL,
			      "tasks of other users came and went during the last of %zu listings; "
			      "retry",
			      *passes);
	return 0;
}

static int find_possible_holders(struct walk *walk, struct sb_uid_set *subordinates)
{
	const struct sb_pinscan_options *options = walk->options;
	int r = sb_uid_set_add(&walk->possible, 0, 0);

	for (size_t i = 0; r == 0 && i < options->uid_count; i++) {
		r = sb_uid_set_add(&walk->possible, options->uids[i], options->uids[i]);
		if (r == 0)
			r = sb_user_add_subordinates(options->uids[i], SB_USER_SUBUID_FILE,
						     subordinates);
		if (r < 0 && r != -ENOMEM) {
			sb_proof_lose(walk->proof, SB_LOSES_BOTH, NULL,
				      SB_USER_SUBUID_FILE " cannot be read: %s", strerror(-r));
			r = 0;
		}
	}
	for (size_t i = 0; r == 0 && i < subordinates->count; i++)
		r = sb_uid_set_add(&walk->possible, subordinates->range[i].first,
				   subordinates->range[i].last);
	if (r == 0 && walk->facts.overflow_known)
		r = sb_uid_set_add(&walk->possible, walk->facts.overflow_uid,
				   walk->facts.overflow_uid);
	return r;
}

static int walk_tasks(struct walk *walk, struct sb_pinset *pins, struct sb_uid_set *subordinates)
{
	const struct sb_pinscan_options *options = walk->options;
	int r = find_possible_holders(walk, subordinates);

	if (r < 0)
		return r;
	r = sb_nsbook_new(
		&(struct sb_nsbook_options){
			.procfs = walk->procfs,
			.is_procfs = walk->facts.is_procfs,
			.text_only = options->evidence == SB_EVIDENCE_MOUNTINFO,
			.want_holders = options->want_holders,
			.uids = options->uids,
			.uid_count = options->uid_count,
			.subordinates = subordinates,
		},
		pins, walk->proof, &walk->book);
	if (r == 0)
		r = run_passes(walk);
	if (r == 0 && !walk->init_seen)
		sb_proof_lose(walk->proof, SB_LOSES_BOTH, NULL,
			      "pid 1 is not listed: this procfs hides processes (hidepid); run as "
			      "root");
	if (r == 0)
		r = sb_nsbook_settle(walk->book);
	return r;
}

int sb_taskwalk_run(const struct sb_pinscan_options *options, struct sb_pinset *pins,
		    struct sb_proof *proof)
{
	sb_auto_close int procfs = open(options->procfs, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	struct walk walk = {.options = options, .proof = proof, .procfs = procfs};
	struct sb_uid_set subordinates = {0};
	int r;

	proof->procfs = procfs;
	if (procfs < 0) {
		sb_proof_lose(proof, SB_LOSES_BOTH, NULL, "%s cannot be opened: %s",
			      options->procfs, strerror(errno));
		return 0;
	}
	sb_procfacts_learn(procfs, options->procfs_given, options->trust_pidns, &walk.facts, proof);
	r = walk_tasks(&walk, pins, &subordinates);
	if (r < 0 && r != -ENOMEM) {
		sb_proof_lose(proof, SB_LOSES_BOTH, NULL, "the tasks of %s cannot be listed: %s",
			      options->procfs, strerror(-r));
		r = 0;
	}
	sb_nsbook_free(walk.book);
	sb_uid_set_free(&walk.possible);
	sb_uid_set_free(&subordinates);
	sb_idmap_free(&walk.known);
	free(walk.again);
	proof->procfs = -1;
	return r;
}
