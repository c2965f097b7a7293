#include "sweep.h"

#include "idmap.h"
#include "interrupt.h"
#include "lookahead.h"
#include "pile.h"
#include "progress.h"
#include "reclaim.h"
#include "scope.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>

/* What is looked at ahead of being judged: the batch in hand and the next one. */
#define BATCHES_AHEAD 2

/* The clock is asked for the budget once in so many entries. */
#define BUDGET_STRIDE 32

/* One pass over one root. */
struct pass {
	struct sb_sweep *sweep;
	struct sb_root *root;
	struct sb_creds creds;
	struct sb_pile pile; /* candidates held back until there are enough of them */
	unsigned int asked;  /* since the clock was looked at */
	unsigned int stale;  /* batches, this one included, that were looked at before the scan */
	bool spent;	     /* the budget is, and something was removed */
	bool over;	     /* it ends here */
	uint64_t progress;   /* removed so far, below entries too */
};

/* An entry under judgement. */
struct entry {
	const char *name;
	enum sb_shape shape;
	pid_t pid;
	int error; /* -errno of looking at it; 0 */
	struct sb_facts facts;
};

/*
 * A slash at the end would have a link followed; without it the kernel says "not a directory" of a
 * link, so it is asked what it is.
 */
static int open_root(const char *path)
{
	sb_auto_free char *plain = strdup(path);
	struct stat st;
	int fd;

	if (!plain)
		return -ENOMEM;
	for (size_t length = strlen(plain); length > 1 && plain[length - 1] == '/'; length--)
		plain[length - 1] = '\0';
	fd = open(plain, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd >= 0)
		return fd;
	if (errno == ENOTDIR && lstat(plain, &st) == 0 && S_ISLNK(st.st_mode))
		return -ELOOP;
	return -errno;
}

void sb_root_open(struct sb_root *root)
{
	struct stat st;

	root->fd = open_root(root->path);
	if (root->fd < 0) {
		root->present = root->fd != -ENOENT;
		root->error = root->present || root->required ? -root->fd : 0;
		root->fd = -1;
		return;
	}
	root->present = true;
	if (fstat(root->fd, &st) < 0) {
		root->error = errno;
		return;
	}
	root->dev = st.st_dev;
	root->inode = st.st_ino;
}

void sb_root_close(struct sb_root *root)
{
	if (root->fd >= 0)
		close(root->fd);
	root->fd = -1;
	for (size_t i = 0; i < root->failures_kept; i++)
		free(root->failures[i].name);
	root->failures_kept = 0;
}

bool sb_root_is_swept(const struct sb_root *root)
{
	return root->present && !root->duplicate && root->fd >= 0;
}

static enum sb_age age_class(int64_t now_ns, const struct sb_facts *facts)
{
	bool future;

	return sb_age_of(sb_fence_age(now_ns, facts->mtime_ns, &future));
}

static void keep_failure(struct sb_root *root, const char *name, int error)
{
	struct sb_sweep_failure *failure;

	if (root->failures_kept == SB_SWEEP_FAILURES_KEPT)
		return;
	failure = &root->failures[root->failures_kept];
	failure->name = strdup(name);
	failure->error = -error;
	if (failure->name)
		root->failures_kept++;
}

static void count(struct pass *pass, const struct entry *entry, enum sb_verdict verdict)
{
	struct sb_root *root = pass->root;
	struct sb_sweep_counts *counts = &root->counts;

	counts->verdict[verdict]++;
	/* A malformed name is not looked at: it has no age. */
	if (entry->facts.mode)
		counts->by_age[verdict][age_class(pass->sweep->now_ns, &entry->facts)]++;
	if (verdict == SB_VERDICT_REMOVE) {
		if (S_ISDIR(entry->facts.mode))
			counts->removed_dirs++;
		else
			counts->removed_files++;
		pass->progress++;
		pass->sweep->removed++;
	}
	if (verdict == SB_VERDICT_FAILED)
		keep_failure(root, entry->name, entry->error);
	if (verdict == SB_VERDICT_FOREIGN && !root->foreign_known) {
		root->foreign_known = true;
		root->foreign_uid = entry->facts.uid;
	}
	if (pass->sweep->tell)
		pass->sweep->tell(root, entry->name, verdict, entry->error,
				  pass->sweep->tell_closure);
}

/*
 * The scan, once a run, with our own credentials: what the user may not read has to be read. Its
 * time is not taken from the budget, for a slow one would leave nothing to remove with.
 */
static void scan_once(struct pass *pass)
{
	struct sb_sweep *sweep = pass->sweep;
	uint64_t started = sb_clock_now();
	int r;

	sweep->scanned = true;
	r = sb_creds_restore(&pass->creds);
	/* Who lived then has to be known too: a launcher may bind after the scan, and die. */
	if (r == 0)
		r = sb_liveness_note_scan(&sweep->liveness);
	if (r == 0)
		r = sb_pinscan_run(&sweep->scan_options, &sweep->scan);
	sweep->scan_error = r;
	r = sb_creds_assume(&pass->creds);
	if (r < 0) {
		/* Not the user any more: nothing may be touched. */
		pass->root->error = -r;
		pass->over = true;
	}
	pass->stale = BATCHES_AHEAD;
	if (sweep->budget.deadline_ns)
		sweep->budget.deadline_ns += sb_clock_now() - started;
}

static void ask_pins(const struct sb_sweep *sweep, const char *name, struct sb_pin_facts *ret)
{
	const struct sb_pin *pin;

	*ret = (struct sb_pin_facts){0};
	if (!sweep->scan)
		return;
	pin = sb_pinscan_find(sweep->scan, name);
	ret->pinned = pin != NULL;
	ret->only_mounted_here = pin && pin->only_mounted_here;
	ret->proven = sb_pinscan_coverage(sweep->scan)->level >= sweep->scan_options.require;
}

static void ask_process(struct sb_sweep *sweep, const struct entry *entry, struct sb_pid_facts *ret)
{
	bool future;
	bool old = sb_fence_age(sweep->now_ns, entry->facts.mtime_ns, &future) >
		   sweep->rules.max_age_ns;

	sb_liveness_ask(&sweep->liveness, entry->pid, old, ret);
}

/* The fences that need neither the scan nor the pile, in order. */
static enum sb_verdict judge_facts(struct pass *pass, const struct entry *entry)
{
	struct sb_sweep *sweep = pass->sweep;
	struct sb_pid_facts process;
	enum sb_verdict verdict = sb_fence_look(&sweep->rules, entry->shape, pass->root->uid,
						sweep->now_ns, &entry->facts);

	if (verdict != SB_VERDICT_REMOVE)
		return verdict;
	ask_process(sweep, entry, &process);
	return sb_fence_process(&sweep->rules, sweep->now_ns, &entry->facts, &process);
}

static void look_again(struct pass *pass, struct entry *entry)
{
	if (entry->shape == SB_SHAPE_KEYED)
		entry->error = sb_reclaim_look(pass->root->fd, entry->name, &entry->facts);
}

/* All fences but the pile; each is asked only when those before it did not object. */
static enum sb_verdict judge(struct pass *pass, struct entry *entry)
{
	struct sb_sweep *sweep = pass->sweep;
	struct sb_pin_facts pins;
	enum sb_verdict verdict;

	if (entry->error < 0)
		return SB_VERDICT_FAILED;
	verdict = judge_facts(pass, entry);
	if (verdict != SB_VERDICT_REMOVE)
		return verdict;
	if (S_ISDIR(entry->facts.mode) && !entry->facts.covered && !sweep->scanned) {
		scan_once(pass);
		/* Time has passed: the launcher may have died meanwhile, and bound it before. */
		look_again(pass, entry);
		return judge(pass, entry);
	}
	ask_pins(sweep, entry->name, &pins);
	return sb_fence_pins(&entry->facts, &pins);
}

static bool is_pile_needed(const struct sb_rules *rules)
{
	return rules->threshold > 0;
}

/*
 * The budget is spent; but a pass goes on until it has removed something, so that a slow scan, or
 * entries that are kept in front, do not starve the rest for ever. And where only a pile may go, it
 * goes on until it knows what it leaves: see hold_back.
 */
static bool is_over(struct pass *pass)
{
	if (sb_interrupt_pending()) {
		pass->sweep->interrupted = true;
		pass->over = true;
	}
	if (!pass->spent && pass->progress && ++pass->asked >= BUDGET_STRIDE) {
		pass->asked = 0;
		pass->spent = sb_budget_spent(&pass->sweep->budget);
	}
	return pass->over || (pass->spent && !is_pile_needed(&pass->sweep->rules));
}

/*
 * Within a tree: a signal lets the entry be finished, a spent budget does not wait for it. Asked
 * when something went, never on the way down: to give up there would be to give up for ever.
 */
static bool tree_ended(uint64_t below, void *closure)
{
	struct pass *pass = closure;

	if (++pass->asked < BUDGET_STRIDE)
		return false;
	pass->asked = 0;
	sb_progress_tell(pass->sweep->seen, pass->sweep->removed + below);
	return sb_budget_spent(&pass->sweep->budget);
}

/*
 * A directory that turns out to be populated: rmdir(2) has not minded for us whether it is still
 * what was judged, so it is judged once more. All of it takes time, during which what was looked at
 * ahead grows old.
 */
static enum sb_verdict remove_tree(struct pass *pass, struct entry *entry,
				   struct sb_reclaimed *reclaimed)
{
	const struct sb_reclaim_patience patience = {.ended = tree_ended, .closure = pass};
	enum sb_verdict verdict;

	look_again(pass, entry);
	verdict = judge(pass, entry);
	if (verdict != SB_VERDICT_REMOVE)
		return verdict;
	pass->stale = BATCHES_AHEAD;
	sb_reclaim_entry(pass->root->fd, entry->name, &entry->facts, &patience, reclaimed);
	pass->progress += reclaimed->below;
	pass->sweep->removed += reclaimed->below;
	return reclaimed->verdict;
}

static void remove_entry(struct pass *pass, struct entry *entry)
{
	struct sb_reclaimed reclaimed = {.verdict = SB_VERDICT_REMOVE};
	bool whole_trees = pass->sweep->rules.whole_trees;
	enum sb_verdict verdict;

	if (pass->sweep->dry_run && S_ISDIR(entry->facts.mode) && !whole_trees)
		sb_reclaim_probe(pass->root->fd, entry->name, &entry->facts, &reclaimed);
	if (!pass->sweep->dry_run)
		sb_reclaim_entry(pass->root->fd, entry->name, &entry->facts, NULL, &reclaimed);
	verdict = reclaimed.verdict;
	if (verdict == SB_VERDICT_POPULATED && whole_trees)
		verdict = remove_tree(pass, entry, &reclaimed);
	if (reclaimed.error < 0)
		entry->error = reclaimed.error;
	if (reclaimed.unfinished) {
		pass->over = true; /* still there, and counted by the pass that finishes it */
		pass->root->counts.seen--;
	} else {
		count(pass, entry, verdict);
	}
}

/* Left undecided, and so not among those seen. */
static void forget(const char *name, void *closure)
{
	struct pass *pass = closure;

	(void)name;
	pass->root->counts.seen--;
}

/*
 * Judges an entry once more, right before it goes: time has passed since it was held back. All that
 * was held back goes, whatever the budget says; only a signal leaves some of it undecided.
 */
static void release(const char *name, void *closure)
{
	struct pass *pass = closure;
	struct entry entry = {.name = name};
	enum sb_verdict verdict;

	is_over(pass);
	if (pass->over) {
		forget(name, closure);
		return;
	}
	entry.shape = sb_fence_shape(&pass->sweep->rules, name, &entry.pid);
	look_again(pass, &entry);
	verdict = judge(pass, &entry);
	if (verdict == SB_VERDICT_REMOVE && !pass->over)
		remove_entry(pass, &entry);
	else
		count(pass, &entry, verdict);
}

/* Below the threshold nothing goes: each that was held back is counted as that. */
static void count_below(const char *name, void *closure)
{
	struct pass *pass = closure;
	struct entry entry = {.name = name};

	if (sb_reclaim_look(pass->root->fd, name, &entry.facts) < 0)
		entry.facts.mode = 0;
	count(pass, &entry, SB_VERDICT_BELOW_THRESHOLD);
}

/*
 * Holds a candidate back until there are enough of them. When the budget was spent on a pile, they
 * are held back once more: a pass leaves a whole pile to the next one or nothing, for a rest below
 * the threshold would be no pile to it, and stay for ever.
 */
static int hold_back(struct pass *pass, const struct entry *entry)
{
	int r = sb_pile_add(&pass->pile, entry->name, entry->facts.inode);

	if (r < 0 || pass->pile.count < pass->sweep->rules.threshold)
		return r;
	if (pass->root->engaged) {
		pass->over = true;
		return 0;
	}
	pass->root->engaged = true;
	sb_pile_release(&pass->pile, release, pass);
	return 0;
}

/* What of a thing that was looked at ahead still stands under its name; FAILED, with its error. */
static enum sb_verdict check_still(struct pass *pass, struct entry *entry)
{
	struct sb_facts facts;
	int r = sb_reclaim_look(pass->root->fd, entry->name, &facts);

	if (r < 0) {
		entry->error = r;
		return SB_VERDICT_FAILED;
	}
	return !facts.gone && facts.inode == entry->facts.inode && facts.dev == entry->facts.dev &&
			       (facts.mode & S_IFMT) == (entry->facts.mode & S_IFMT)
		       ? SB_VERDICT_REMOVE
		       : SB_VERDICT_VANISHED;
}

static int visit(struct pass *pass, const struct sb_sighting *seen)
{
	struct entry entry = {.name = seen->name,
			      .shape = seen->shape,
			      .pid = seen->pid,
			      .error = seen->error,
			      .facts = seen->facts};
	enum sb_verdict verdict;

	pass->root->counts.seen++;
	pass->sweep->seen++;
	sb_progress_tell(pass->sweep->seen, pass->sweep->removed);
	if (pass->stale)
		look_again(pass, &entry);
	verdict = judge(pass, &entry);
	if (pass->over)
		return 0; /* the scan could not be left as it was entered: nothing is decided */
	if (verdict == SB_VERDICT_REMOVE && is_pile_needed(&pass->sweep->rules) &&
	    (!pass->root->engaged || pass->spent))
		return hold_back(pass, &entry);
	/* rmdir(2) minds what is in it; whatever else goes is looked at once more. */
	if (verdict == SB_VERDICT_REMOVE && !S_ISDIR(entry.facts.mode))
		verdict = check_still(pass, &entry);
	if (verdict == SB_VERDICT_REMOVE)
		remove_entry(pass, &entry);
	else
		count(pass, &entry, verdict);
	return 0;
}

static int walk(struct pass *pass, struct sb_lookahead *ahead)
{
	const struct sb_batch *batch;
	int r;

	while ((r = sb_lookahead_next(ahead, &batch)) > 0) {
		for (size_t i = 0; i < batch->count; i++) {
			r = visit(pass, &batch->item[i]);
			if (r < 0)
				return r;
			if (is_over(pass))
				return 0;
		}
		if (pass->stale)
			pass->stale--;
	}
	if (r == 0)
		pass->root->finished = true;
	return r;
}

static void count_inodes(struct sb_root *root, uint64_t *ret_used)
{
	struct statvfs fs;

	if (fstatvfs(root->fd, &fs) < 0)
		return;
	root->inodes_total = fs.f_files;
	*ret_used = fs.f_files - fs.f_ffree;
}

static uint64_t least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static int run_pass(struct pass *pass)
{
	struct sb_lookahead ahead;
	int r = sb_lookahead_start(&ahead, pass->root->fd, &pass->sweep->rules);

	if (r < 0)
		return r;
	r = walk(pass, &ahead);
	sb_lookahead_end(&ahead);
	if (r < 0 || !pass->root->finished)
		sb_pile_release(&pass->pile, forget, pass);
	else
		sb_pile_release(&pass->pile, pass->root->engaged ? release : count_below, pass);
	/* A signal may have come while the last ones went. */
	pass->root->finished = pass->root->finished && !pass->over;
	return r;
}

void sb_sweep_root(struct sb_sweep *sweep, struct sb_root *root)
{
	struct pass pass = {.sweep = sweep, .root = root};
	int r = sb_creds_prepare(root->uid, &pass.creds);

	count_inodes(root, &root->inodes_before);
	if (r == 0)
		r = sb_creds_assume(&pass.creds);
	if (r == 0) {
		int restored;

		r = run_pass(&pass);
		restored = sb_creds_restore(&pass.creds);
		r = r < 0 ? r : restored;
	}
	if (r < 0) {
		root->error = -r;
		root->finished = false;
	}
	count_inodes(root, &root->inodes_after);
	if (sweep->dry_run)
		root->inodes_after -= least(root->inodes_after,
					    root->counts.removed_dirs + root->counts.removed_files);
	sb_pile_free(&pass.pile);
	sb_creds_free(&pass.creds);
}

void sb_sweep_start(struct sb_sweep *sweep)
{
	sb_liveness_start(&sweep->liveness, sweep->scan_options.procfs,
			  sweep->scan_options.procfs_given, sweep->scan_options.trust_pidns);
	sweep->budget = sb_budget_start(sweep->budget_ns);
	sweep->now_ns = sb_clock_wall();
}

void sb_sweep_add(struct sb_sweep_counts *sum, const struct sb_sweep_counts *counts)
{
	sum->seen += counts->seen;
	sum->removed_dirs += counts->removed_dirs;
	sum->removed_files += counts->removed_files;
	for (int i = 0; i < SB_VERDICT_COUNT; i++)
		sum->verdict[i] += counts->verdict[i];
}

const struct sb_coverage *sb_sweep_coverage(const struct sb_sweep *sweep)
{
	return sweep->scan ? sb_pinscan_coverage(sweep->scan) : NULL;
}

void sb_sweep_free(struct sb_sweep *sweep)
{
	sb_pinscan_free(sweep->scan);
	sb_liveness_free(&sweep->liveness);
	sweep->scan = NULL;
}
