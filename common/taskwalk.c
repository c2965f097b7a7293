#include "taskwalk.h"

#include "clock.h"
#include "glance.h"
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

/*
 * What departed may have left its namespace to a child forked after the listing, so the end of the
 * list is read again, and all of it when numbers began anew meanwhile. Three listings left a busy
 * host unproven 36 times in 50; hosts that fork without a pause are given up after these.
 */
#define PASSES_MOST 64
#define PASSES_SPAN (2 * SB_NS_PER_S) /* after the first one */

/* A group whose threads come and go faster than they are listed is left for the next pass. */
#define GROUP_LISTINGS_MOST 16

/* What came of reading a task. */
enum outcome {
	OUTCOME_READ,
	OUTCOME_DEPARTED, /* its directory is gone, or another's */
	OUTCOME_EXITED,	  /* its directory stands, but it has no namespaces any more: a zombie, or
			     a leader that left before its threads */
	OUTCOME_UNREAD,	  /* told as a gap */
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
	bool unsteady;	     /* a task could not be read, and is still there */
	bool numbers_hidden; /* whether numbers began anew could not be learnt */
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
	if (r == -EAGAIN) {
		walk->unsteady = true; /* from namespace to namespace: it is read once more */
		return OUTCOME_DEPARTED;
	}
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

/* What a listing of a group's threads came to. */
struct group_listing {
	size_t listed;
	pid_t last;
	bool new; /* a thread that was not known */
};

/* Reads the threads that are listed and not known. */
static int list_siblings(struct walk *walk, const struct sb_task *leader, bool leader_exited,
			 struct group_listing *ret)
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
		r = 0;
		ret->listed++;
		ret->last = id.number;
		if (id.number == leader->pid || is_known(walk, &id))
			continue;
		ret->new = true;
		r = read_sibling(walk, leader, leader_exited, &id);
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

/*
 * Whether the leader is elsewhere than at that glance, and if so reads it there: after an exec by
 * one of its threads it is that thread. It may have been elsewhere meanwhile, and come back as
 * another: then it is where nobody was read.
 */
static bool has_moved(struct walk *walk, const struct sb_task *leader, struct sb_glance *glance)
{
	struct sb_glance now = *glance;

	sb_glance_where(walk->procfs, &now);
	if (now.where_error == glance->where_error &&
	    now.namespace_inode == glance->namespace_inode &&
	    (now.where_error || sb_nsbook_met(walk->book, now.namespace_inode)))
		return false;
	*glance = now;
	if (read_task(walk, leader, glance->id.inode) != OUTCOME_READ)
		note_departed(walk, leader);
	return true;
}

/*
 * Whether a listing went to the end of the group. procfs stops where it stands when the thread that
 * it has just listed is gone, as if there were no more.
 */
static bool is_to_the_end(const struct walk *walk, const struct sb_task *leader,
			  const struct group_listing *listing, const struct sb_glance *glance)
{
	struct stat st;
	char path[40];

	snprintf(path, sizeof(path), "%d/task/%d", (int)leader->pid, (int)listing->last);
	return listing->listed >= glance->threads &&
	       (listing->listed == 0 || fstatat(walk->procfs, path, &st, AT_SYMLINK_NOFOLLOW) == 0);
}

/*
 * Reads the threads beside a leader that was read at that glance. What a thread holds can pass to a
 * new one behind the listing, or, by exec, to the leader, while it lives on without: so they are
 * listed until nothing is new, none is missing, and the leader is where it was. A leader that was
 * alone, and is, has none to be listed.
 */
static int read_group(struct walk *walk, const struct sb_task *leader, bool leader_exited,
		      bool was_alone, struct sb_glance *glance)
{
	for (int i = 0; i < GROUP_LISTINGS_MOST; i++) {
		struct group_listing listing = {0};
		bool moved, listed = leader_exited || !was_alone || !glance->alone;
		int r = listed ? list_siblings(walk, leader, leader_exited, &listing) : 0;

		if (r < 0)
			return r;
		moved = has_moved(walk, leader, glance);
		sb_glance_who(walk->procfs, glance);
		if (!listing.new && !moved &&
		    (listed ? is_to_the_end(walk, leader, &listing, glance) : glance->alone))
			return 0;
	}
	note_departed(walk, leader);
	return list_group_again(walk, leader);
}

/* Whether the task was gone before it could be asked whose it is. */
static bool was_gone(const struct sb_glance *glance)
{
	return is_gone(glance->who_error);
}

static int read_leader(struct walk *walk, struct sb_glance *glance, const struct sb_task *task)
{
	enum outcome outcome;
	bool was_alone = true;
	int r = 0;

	if (was_gone(glance)) {
		note_departed(walk, task);
		return 0;
	}
	/*
	 * Its threads are counted before it is read and after: one that is gone by then left it
	 * what it had, and one that is new may have got what it had.
	 */
	if (task->possible_holder) {
		sb_glance_who(walk->procfs, glance);
		sb_glance_where(walk->procfs, glance);
		was_alone = glance->alone;
	}
	outcome = read_task(walk, task, glance->id.inode);
	if (outcome == OUTCOME_DEPARTED) {
		note_departed(walk, task);
		return 0;
	}
	r = set_known(walk, &glance->id);
	if (r == 0 && (outcome == OUTCOME_EXITED || task->possible_holder))
		r = read_group(walk, task, outcome == OUTCOME_EXITED, was_alone, glance);
	if (outcome == OUTCOME_EXITED)
		note_departed(walk, task);
	return r;
}

/* What its directory told. A task whose uid cannot be learnt is a possible holder. */
static struct sb_task task_of(struct walk *walk, struct sb_glance *glance)
{
	struct sb_task task = {
		.pid = glance->id.number,
		.tid = glance->id.number,
		.uid_known = glance->who_error == 0,
		.uid = glance->uid,
		.possible_holder = true,
	};

	snprintf(task.path, sizeof(task.path), "%d", (int)task.pid);
	if (task.uid_known) {
		task.possible_holder = sb_uid_set_has(&walk->possible, task.uid);
		if (glance->device != walk->facts.device)
			sb_proof_lose(walk->proof, SB_LOSES_BOTH, &task,
				      "something is mounted over its directory in procfs; unmount "
				      "it");
	}
	return task;
}

static int list_leaders(struct sb_proc_lister *lister, struct sb_glance **ret, size_t *ret_count)
{
	sb_auto_free struct sb_glance *glances = NULL;
	size_t count = 0, capacity = 0;
	struct sb_proc_id id;
	int r;

	while ((r = sb_proc_list_next(lister, &id)) > 0) {
		if (count == capacity) {
			struct sb_glance *grown;

			capacity = capacity ? capacity * 2 : 256;
			grown = reallocarray(glances, capacity, sizeof(*glances));
			if (!grown)
				return -ENOMEM;
			glances = grown;
		}
		glances[count++] = (struct sb_glance){.id = id};
	}
	if (r < 0)
		return r;
	*ret = glances;
	*ret_count = count;
	glances = NULL;
	return 0;
}

/*
 * Reads one of so many leaders, so that most namespaces are known, held and read when the others
 * are looked at: then a glance at the link is all that they cost. A namespace that was not held
 * before that glance does not count, for its number may have been another's.
 */
#define SAMPLE_STRIDE 64

static int read_sample(struct walk *walk, struct sb_glance *glances, size_t count)
{
	int r = 0;

	for (size_t i = 0; r == 0 && i < count; i += SAMPLE_STRIDE) {
		struct sb_task task;

		sb_glance_who(walk->procfs, &glances[i]);
		task = task_of(walk, &glances[i]);
		r = read_leader(walk, &glances[i], &task);
	}
	return r;
}

/* Whether a glance was enough: a task of which all is known but that it is there. */
static bool is_settled_by(const struct walk *walk, const struct sb_glance *glance)
{
	if (glance->who_error || glance->where_error ||
	    !sb_nsbook_has(walk->book, glance->namespace_inode))
		return false;
	return glance->alone || !sb_uid_set_has(&walk->possible, glance->uid);
}

/* Those that a glance settles, and the rest in full. */
static int read_others(struct walk *walk, struct sb_glance *glances, size_t count, bool *settled)
{
	int r = 0;

	/* Before anything more is read: what is held from now on was not held at the glance. */
	for (size_t i = 0; i < count; i++)
		settled[i] = is_settled_by(walk, &glances[i]);
	for (size_t i = 0; r == 0 && i < count; i++) {
		struct sb_task task;

		if (i % SAMPLE_STRIDE == 0)
			continue;
		task = task_of(walk, &glances[i]);
		if (!settled[i]) {
			r = read_leader(walk, &glances[i], &task);
			continue;
		}
		walk->proof->coverage.tasks++;
		r = sb_nsbook_note(walk->book, &task, glances[i].namespace_inode);
		if (r == 0)
			r = set_known(walk, &glances[i].id);
	}
	return r;
}

/* Groups whose threads may have passed something on. */
static int read_groups_again(struct walk *walk)
{
	sb_auto_free struct sb_task *again = walk->again;
	size_t again_count = walk->again_count;
	int r = 0;

	walk->again = NULL;
	walk->again_count = 0;
	for (size_t i = 0; r == 0 && i < again_count; i++) {
		struct sb_glance glance = {.id = {.number = again[i].pid}};

		sb_idmap_get(&walk->known, (uint64_t)again[i].pid, &glance.id.inode);
		sb_glance_where(walk->procfs, &glance);
		r = read_group(walk, &again[i], false, false, &glance);
	}
	return r;
}

/* The number given last to any task; 0 where this procfs is not for us to tell. */
static pid_t last_number(struct walk *walk)
{
	pid_t number = walk->facts.is_ours ? sb_procfacts_last_pid(walk->procfs) : 0;

	if (walk->facts.is_ours && number == 0)
		walk->numbers_hidden = true;
	return number;
}

/* Reads those of a listing that are not known, each as soon as it is listed; whether any was. */
static int read_listed(struct walk *walk, struct sb_proc_lister *lister, bool only_recent,
		       bool *ret_new)
{
	struct sb_proc_id id;
	int r;

	while ((r = sb_proc_list_next(lister, &id)) > 0) {
		if (!is_known(walk, &id)) {
			struct sb_glance glance = {.id = id};
			struct sb_task task;

			*ret_new = true;
			sb_glance_who(walk->procfs, &glance);
			task = task_of(walk, &glance);
			r = read_leader(walk, &glance, &task);
			if (r < 0)
				return r;
		}
		/* From here on they are older than the listing, and were seen in it. */
		if (only_recent && sb_proc_list_is_drained(lister) && id.number > last_number(walk))
			return 0;
	}
	return r;
}

/*
 * Asks a listing for more, behind the number that was given last when it began, until there is
 * nothing new and nobody departed. Whoever holds a source at that instant was listed then, and held
 * it already when it was read: a task that departed, or that lives on without what it had, left it
 * to children with higher numbers. This costs next to nothing, so that it comes to rest on a host
 * where tasks come and go all the time.
 */
static int read_latecomers(struct walk *walk, struct sb_proc_lister *lister, bool numbers_known)
{
	struct sb_budget budget = sb_budget_start(PASSES_SPAN);
	bool new = walk->any_departed;
	int r = 0;

	do {
		if (sb_budget_spent(&budget)) {
			walk->holder_departed = walk->any_departed = true;
			return 0;
		}
		/* Asked once in any case; more often only for a reason, which makes it a pass. */
		walk->proof->coverage.passes += new;
		new = walk->holder_departed = walk->any_departed = false;
		r = read_groups_again(walk);
		if (r == 0)
			r = sb_proc_list_resume(lister);
		if (r == 0)
			r = read_listed(walk, lister, numbers_known, &new);
		new = new || walk->any_departed;
	} while (r == 0 && new);
	return r;
}

/* All glances in one tight loop, so that few depart before theirs. */
static int read_first_listing(struct walk *walk, struct sb_proc_lister *lister)
{
	sb_auto_free struct sb_glance *glances = NULL;
	sb_auto_free bool *settled = NULL;
	size_t count = 0;
	int r = list_leaders(lister, &glances, &count);

	if (r < 0)
		return r;
	settled = calloc(count + 1, sizeof(*settled));
	if (!settled)
		return -ENOMEM;
	for (size_t i = 0; i < count && !walk->init_seen; i++)
		walk->init_seen = glances[i].id.number == 1;
	r = read_sample(walk, glances, count);
	if (r == 0)
		sb_glance_all(walk->procfs, glances, count);
	return r == 0 ? read_others(walk, glances, count, settled) : r;
}

static int run_pass(struct walk *walk, bool first, pid_t last)
{
	struct sb_proc_lister lister = {0};
	bool new = false;
	int r = sb_proc_list_start(&lister, walk->procfs);

	sb_proc_list_mark(&lister, last);
	if (r == 0)
		r = first ? read_first_listing(walk, &lister)
			  : read_listed(walk, &lister, false, &new);
	if (r == 0)
		r = read_latecomers(walk, &lister, last > 0);
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
	size_t *passes = &walk->proof->coverage.passes;
	struct sb_budget budget = {0};
	bool first = true;
	int r;

	do {
		pid_t last = last_number(walk);

		walk->holder_departed = walk->any_departed = walk->unsteady = false;
		++*passes;
		r = run_pass(walk, first, last);
		if (r < 0)
			return r;
		/* Numbers began anew: a child may stand where the listing had already been. */
		if (walk->unsteady || last_number(walk) < last)
			walk->holder_departed = walk->any_departed = true;
		if (first)
			budget = sb_budget_start(PASSES_SPAN);
		first = false;
	} while (!is_settled(walk) && *passes < PASSES_MOST && !sb_budget_spent(&budget));
	if (walk->numbers_hidden)
		sb_proof_lose(
			walk->proof, SB_LOSES_BOTH, NULL,
			"the last number given to a task cannot be learnt, so that a task may "
			"have come behind the listing; make loadavg of this procfs readable");
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
