#include "strays.h"

#include "cgroup.h"
#include "hidepid.h"
#include "interrupt.h"
#include "procfacts.h"
#include "scope.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#define STEADY_NEEDED  2 /* listings in a row that meet nobody new */
#define LATE_PASSES    3 /* listings that may be made after the deadline to become steady */
#define PIPELINE_NS    (100 * SB_NS_PER_MS) /* for a shell to start the rest of a pipeline */
#define EVENTS_LOOK_MS 100 /* cgroup.events is looked at again after that, whatever poll says */

/* One listing. */
struct pass {
	struct sb_proc_id *item;
	size_t count, capacity;
	bool first, kill;
	/* what it met */
	size_t living;	 /* strays that can be signalled */
	size_t fresh;	 /* processes of the uid that were not met before */
	size_t departed; /* gone, and not known to be another uid's */
	size_t others;	 /* what is no stray: spared, another uid's, unread */
	int unread;	 /* -errno of the last that could not be met for now; 0: there was none */
};

static int add_id(struct pass *pass, const struct sb_proc_id *id)
{
	if (pass->count == pass->capacity) {
		size_t capacity = pass->capacity ? pass->capacity * 2 : 1024;
		struct sb_proc_id *grown = reallocarray(pass->item, capacity, sizeof(*pass->item));

		if (!grown)
			return -ENOMEM;
		pass->item = grown;
		pass->capacity = capacity;
	}
	pass->item[pass->count++] = *id;
	return 0;
}

static int list_procfs(struct sb_strays *strays, struct pass *pass)
{
	struct sb_proc_lister lister;
	struct sb_proc_id id;
	bool init_seen = false;
	int r = sb_proc_list_start(&lister, strays->view.procfs);

	if (r < 0)
		return r;
	while ((r = sb_proc_list_next(&lister, &id)) > 0) {
		init_seen |= id.number == 1;
		r = add_id(pass, &id);
		if (r < 0)
			break;
	}
	sb_proc_list_end(&lister);
	strays->hidden |= r == 0 && !init_seen;
	return r;
}

static int list_cgroup(struct sb_strays *strays, struct pass *pass)
{
	sb_auto_free pid_t *members = NULL;
	struct stat st;
	size_t count;
	int r = sb_cgroup_list(strays->options->cgroup, &members, &count);

	strays->hidden |= fstatat(strays->view.procfs, "1", &st, 0) < 0;
	for (size_t i = 0; r == 0 && i < count; i++) {
		const struct sb_proc_id id = {.number = members[i]};

		if (id.number > 0)
			r = add_id(pass, &id);
		else
			strays->outside = true;
	}
	return r;
}

/* Newest first, by the number that was given out last: those above it came before a wrap. */
static int by_age(const void *left, const void *right, void *newest)
{
	const pid_t a = ((const struct sb_proc_id *)left)->number;
	const pid_t b = ((const struct sb_proc_id *)right)->number;
	const bool a_older = a > *(pid_t *)newest, b_older = b > *(pid_t *)newest;

	if (a_older != b_older)
		return a_older ? 1 : -1;
	return (a < b) - (a > b);
}

/* Of a chain of forks the end is cut off then, and not a link that has forked on already. */
static void order_newest_first(const struct sb_strays *strays, struct pass *pass)
{
	pid_t newest = sb_procfacts_last_pid(strays->view.procfs);

	if (pass->count > 0) /* with none there is no array either */
		qsort_r(pass->item, pass->count, sizeof(*pass->item), by_age, &newest);
}

static int list(struct sb_strays *strays, struct pass *pass)
{
	int r = strays->options->cgroup >= 0 ? list_cgroup(strays, pass)
					     : list_procfs(strays, pass);

	if (r < 0)
		return r;
	strays->passes++;
	order_newest_first(strays, pass);
	return 0;
}

/* What belongs to a third user may stay unread: it is nobody that we would signal. */
static bool may_be_passed_over(const struct sb_strays *strays, pid_t pid)
{
	char path[16];
	struct stat st;

	snprintf(path, sizeof(path), "%d", (int)pid);
	return fstatat(strays->view.procfs, path, &st, 0) == 0 && st.st_uid != 0 &&
	       st.st_uid != strays->view.uid;
}

static bool is_asked_for(const struct sb_strays *strays, pid_t pid)
{
	for (size_t i = 0; i < strays->options->only_count; i++)
		if (strays->options->only[i] == pid)
			return true;
	return strays->options->only_count == 0;
}

static void note_unread(struct sb_strays *strays, struct pass *pass, pid_t pid, int error)
{
	if (error == -ESRCH) {
		pass->departed++;
		return;
	}
	pass->others++;
	if (may_be_passed_over(strays, pid))
		return;
	if (error != -EPERM) /* as hidepid=1 has it, for ever */
		pass->unread = error;
	if (!is_asked_for(strays, pid))
		return;
	if (strays->gap_count < SB_STRAYS_GAPS_KEPT)
		strays->gaps[strays->gap_count] = (struct sb_stray_gap){pid, error};
	strays->gap_count++;
}

/* Counts one that was met and judged; in a round of KILL it gets it, at once. */
static void deal_with(struct sb_strays *strays, struct pass *pass, struct sb_stray *stray)
{
	if (!sb_stray_lives(stray)) {
		pass->others += !stray->ended;
		return;
	}
	/* Whatever SIGTERM met with: what stood in its way may have passed. */
	if (pass->kill && !stray->killed)
		stray->killed = sb_straytable_signal(&strays->table, stray, SIGKILL);
	if (!stray->error)
		pass->living++;
}

static void judge_and_deal(struct sb_strays *strays, struct pass *pass, struct sb_stray *stray)
{
	bool more;
	int r = 0;

	if (stray->ended && !stray->judged)
		return;
	if (!stray->judged && !pass->first)
		r = sb_spare_follow_pipes(&strays->facts, &stray->ends, &more);
	if (r == 0)
		r = sb_straytable_judge(&strays->table, stray);
	if (r < 0)
		note_unread(strays, pass, stray->process.pid, r);
	else
		deal_with(strays, pass, stray);
}

static bool has_member(const pid_t *members, size_t count, pid_t pid)
{
	for (size_t i = 0; i < count; i++)
		if (members[i] == pid)
			return true;
	return false;
}

/*
 * A cgroup lists numbers, and one of them may have been taken over, by somebody outside of it,
 * before its pidfd was opened. Who is listed again, with the pidfd open, is in there; from: the
 * place in the table from which on they are to be asked about.
 */
static int confirm_members(struct sb_strays *strays, struct pass *pass, size_t from)
{
	sb_auto_free pid_t *members = NULL;
	size_t count = 0;
	int r;

	if (strays->options->cgroup < 0 || from == strays->table.count)
		return 0;
	r = sb_cgroup_list(strays->options->cgroup, &members, &count);
	for (size_t i = from; r == 0 && i < strays->table.count; i++) {
		struct sb_stray *stray = strays->table.item[i];

		if (has_member(members, count, stray->process.pid))
			continue;
		sb_straytable_disown(&strays->table, stray);
		pass->departed++;
	}
	return r;
}

static struct sb_stray *meet(struct sb_strays *strays, struct pass *pass,
			     const struct sb_proc_id *id)
{
	struct sb_stray *stray;
	bool is_new;
	int r = sb_straytable_meet(&strays->table, id, &stray, &is_new);

	if (r < 0 && r != -ESRCH) /* it may pass: once more */
		r = sb_straytable_meet(&strays->table, id, &stray, &is_new);
	if (r < 0)
		note_unread(strays, pass, id->number, r);
	else if (!stray)
		pass->others++;
	pass->fresh += is_new;
	return r < 0 ? NULL : stray;
}

/*
 * Meets everybody first: who is at the other end of a pipe is known when all of them are, and
 * nobody is judged before.
 */
static int follow_all_pipes(struct sb_strays *strays)
{
	bool again = true;
	int r = 0;

	for (size_t i = 0; i < strays->table.count && r == 0; i++)
		r = sb_straytable_learn_ends(&strays->table, strays->table.item[i]);
	while (again && r == 0) {
		again = false;
		for (size_t i = 0; i < strays->table.count && r == 0; i++) {
			bool more;

			r = sb_spare_follow_pipes(&strays->facts, &strays->table.item[i]->ends,
						  &more);
			again |= more;
		}
	}
	return r;
}

/*
 * Lists and meets everybody, without judging anybody. Who could not be met may be the one in the
 * middle of our pipeline, beyond whom nobody is known for a part of it: then nothing is to be done.
 */
static int look_around(struct sb_strays *strays, struct pass *pass)
{
	int r;

	sb_straytable_free(&strays->table);
	sb_straytable_start(&strays->table, &strays->view, &strays->facts);
	strays->gap_count = 0;
	pass->count = 0;
	pass->unread = 0;
	r = list(strays, pass);
	for (size_t i = 0; r == 0 && i < pass->count; i++)
		meet(strays, pass, &pass->item[i]);
	if (r == 0)
		r = confirm_members(strays, pass, 0);
	if (r == 0)
		r = follow_all_pipes(strays);
	return r == 0 && sb_spare_misses_reader(&strays->facts) ? pass->unread : r;
}

/* What the look that was just taken says of the pipeline that we are a part of. */
static enum sb_spare_pipeline look_at_pipeline(struct sb_strays *strays, bool ancestor_at_work)
{
	enum sb_spare_pipeline worst = SB_SPARE_PIPELINE_COMPLETE;

	if (ancestor_at_work)
		worst = sb_spare_misses_reader(&strays->facts) ? SB_SPARE_PIPELINE_IN_THE_MAKING
							       : SB_SPARE_PIPELINE_LOOK_AGAIN;
	for (size_t i = 0; i < strays->table.count; i++) {
		const struct sb_stray *stray = strays->table.item[i];
		enum sb_spare_pipeline one =
			sb_spare_look_at_pipeline(&strays->facts, &stray->process, &stray->ends);

		if (one > worst)
			worst = one;
	}
	return worst;
}

/*
 * Gives it a moment to be completed. It is when nobody who may belong to it was at work, or two
 * looks in a row find it so and lead to the same pipes: within one look a member may take up one of
 * its pipes after that was looked for.
 */
static int look_until_complete(struct sb_strays *strays, struct pass *pass)
{
	const uint64_t patience_end = sb_clock_now() + PIPELINE_NS;
	const struct timespec pause = {.tv_nsec = SB_NS_PER_MS};
	unsigned int complete = 0;

	for (;;) {
		size_t before = strays->facts.pipes.count;
		bool at_work = before && sb_spare_is_ancestor_at_work(&strays->facts);
		enum sb_spare_pipeline state;
		int r = look_around(strays, pass);

		if (r < 0 || !before)
			return r;
		state = look_at_pipeline(strays, at_work);
		complete = state == SB_SPARE_PIPELINE_IN_THE_MAKING	     ? 0
			   : strays->facts.pipes.count != before && complete ? 1
									     : complete + 1;
		if (state == SB_SPARE_PIPELINE_COMPLETE || complete == 2 ||
		    sb_clock_now() >= patience_end || sb_interrupt_pending())
			return 0;
		nanosleep(&pause, NULL);
	}
}

static int first_pass(struct sb_strays *strays)
{
	struct pass pass = {.first = true};
	int r = look_until_complete(strays, &pass);

	for (size_t i = 0; r == 0 && i < strays->table.count; i++) {
		struct sb_stray *stray = strays->table.item[i];

		if (is_asked_for(strays, stray->process.pid))
			judge_and_deal(strays, &pass, stray);
	}
	free(pass.item);
	return r;
}

static int next_pass(struct sb_strays *strays, bool kill, struct pass *ret)
{
	struct pass pass = {.kill = kill};
	int r;

	sb_straytable_refresh(&strays->table);
	strays->gap_count = 0;
	r = list(strays, &pass);
	for (size_t i = 0; r == 0 && i < pass.count; i++) {
		const size_t known = strays->table.count;
		struct sb_stray *stray = meet(strays, &pass, &pass.item[i]);

		r = confirm_members(strays, &pass, known);
		if (r == 0 && stray)
			judge_and_deal(strays, &pass, stray);
	}
	free(pass.item);
	pass.item = NULL;
	*ret = pass;
	return r;
}

static void signal_term(struct sb_strays *strays)
{
	for (size_t i = 0; i < strays->table.count; i++) {
		struct sb_stray *stray = strays->table.item[i];

		if (!sb_stray_lives(stray))
			continue;
		stray->termed = sb_straytable_signal(&strays->table, stray, SIGTERM);
		/* What is stopped acts on it only when it goes on. Without that KILL comes. */
		if (stray->termed && !sb_straytable_signal(&strays->table, stray, SIGCONT))
			stray->error = 0;
	}
}

/* KILL for those that are known; without a listing. */
static void kill_known(struct sb_strays *strays)
{
	sb_straytable_refresh(&strays->table);
	for (size_t i = 0; i < strays->table.count; i++) {
		struct sb_stray *stray = strays->table.item[i];

		if (sb_stray_lives(stray) && !stray->killed)
			stray->killed = sb_straytable_signal(&strays->table, stray, SIGKILL);
	}
}

/* Listings until two in a row meet nobody new and nobody leaves unread; with or without KILL. */
static int make_rounds(struct sb_strays *strays, bool kill, uint64_t deadline_ns)
{
	unsigned int steady = 0, late = 0;

	while (!sb_interrupt_pending()) {
		struct pass pass;
		int r = next_pass(strays, kill, &pass);
		bool over = sb_clock_now() >= deadline_ns;

		if (r < 0)
			return r;
		strays->others = pass.others;
		steady = pass.fresh || pass.departed ? 0 : steady + 1;
		strays->settled = steady >= STEADY_NEEDED;
		if (strays->settled && (!kill || !pass.living || over))
			return 0;
		if (over && ++late == LATE_PASSES)
			return 0;
		if (steady && kill && pass.living)
			sb_straytable_wait(&strays->table, deadline_ns, true);
	}
	return 0;
}

/* Waits for the kernel to say that nobody is left in the cgroup. */
static void await_unpopulated(struct sb_strays *strays, uint64_t deadline_ns)
{
	sb_auto_close int events = sb_cgroup_open_events(strays->options->cgroup);

	while (events >= 0 && !sb_interrupt_pending() && sb_clock_now() < deadline_ns) {
		struct pollfd poller = {.fd = events, .events = POLLPRI};

		if (sb_cgroup_populated(strays->options->cgroup) == 0)
			break;
		poll(&poller, 1, EVENTS_LOOK_MS);
	}
	sb_straytable_refresh(&strays->table);
}

/*
 * Where nothing but strays is in the cgroup the kernel ends them all at once, forks and all.
 * Whether it was done so.
 */
static bool kill_cgroup(struct sb_strays *strays, uint64_t deadline_ns)
{
	struct pass pass;

	if (strays->options->cgroup < 0 || next_pass(strays, false, &pass) < 0 || pass.others ||
	    strays->outside || strays->hidden || sb_cgroup_kill(strays->options->cgroup) < 0)
		return false;
	for (size_t i = 0; i < strays->table.count; i++)
		if (sb_stray_lives(strays->table.item[i]))
			strays->table.item[i]->killed = true;
	await_unpopulated(strays, deadline_ns);
	return true;
}

/*
 * Only the kernel can say that a cgroup is empty. When it says that it is not, and nobody in it is
 * known to live, there is somebody whom it does not list.
 */
static void believe_the_kernel(struct sb_strays *strays)
{
	int populated = sb_cgroup_populated(strays->options->cgroup);

	if (populated == 0)
		strays->settled = true;
	else if (!strays->others && !sb_strays_count(strays).survivors)
		strays->unlisted = populated;
}

static void end_the_rest(struct sb_strays *strays)
{
	const uint64_t deadline = sb_clock_now() + SB_STRAYS_ROUNDS_NS;

	if (strays->options->only_count) {
		/* Identities that are known: there is nothing to list. */
		kill_known(strays);
		sb_straytable_wait(&strays->table, deadline, false);
		strays->settled = true;
		return;
	}
	kill_cgroup(strays, deadline);
	strays->error = make_rounds(strays, true, deadline);
	if (strays->error < 0) {
		kill_known(strays);
		sb_straytable_wait(&strays->table, deadline, false);
	}
	if (strays->options->cgroup >= 0 && !strays->outside)
		believe_the_kernel(strays);
}

static void sweep(struct sb_strays *strays)
{
	const uint64_t grace_end = sb_clock_now() + strays->options->grace_ns;

	strays->error = first_pass(strays);
	if (strays->error < 0)
		return;
	if (strays->options->dry_run) {
		strays->settled = strays->options->only_count > 0;
		if (!strays->settled)
			strays->error =
				make_rounds(strays, false, sb_clock_now() + SB_STRAYS_ROUNDS_NS);
	} else if (!sb_interrupt_pending()) {
		signal_term(strays);
		sb_straytable_wait(&strays->table, grace_end, false);
		if (!sb_interrupt_pending())
			end_the_rest(strays);
	}
	sb_straytable_refresh(&strays->table);
	strays->interrupted = sb_interrupt_pending() != 0;
}

int sb_strays_run(const struct sb_strays_options *options, struct sb_strays **ret)
{
	struct sb_strays *strays = calloc(1, sizeof(*strays));
	int r;

	if (!strays)
		return -ENOMEM;
	strays->options = options;
	strays->view = (struct sb_process_view){
		.procfs = options->procfs,
		.pidfd = sb_pidfd_probe(),
		.uid = options->uid,
	};
	r = sb_hidepid_hides_from_us(options->procfs);
	strays->hidden = r > 0;
	strays->hiding_error = r < 0 ? r : 0;
	r = sb_spare_learn(&strays->view, &options->wishes, &strays->facts);
	if (r < 0) {
		sb_spare_free(&strays->facts);
		free(strays);
		return r;
	}
	sb_straytable_start(&strays->table, &strays->view, &strays->facts);
	sweep(strays);
	*ret = strays;
	return 0;
}

void sb_strays_free(struct sb_strays *strays)
{
	if (!strays)
		return;
	sb_straytable_free(&strays->table);
	sb_spare_free(&strays->facts);
	free(strays);
}

struct sb_strays_counts sb_strays_count(const struct sb_strays *strays)
{
	struct sb_strays_counts counts = {0};

	for (size_t i = 0; i < strays->table.count; i++) {
		const struct sb_stray *stray = strays->table.item[i];

		if (!stray->judged || stray->spare != SB_SPARE_NOT)
			continue;
		counts.found++;
		counts.signalled += stray->termed || stray->killed;
		counts.ended_by_term += stray->ended && stray->termed && !stray->killed;
		counts.ended_by_kill += stray->ended && stray->killed;
		counts.survivors += !stray->ended;
	}
	return counts;
}

bool sb_strays_proven(const struct sb_strays *strays)
{
	return strays->settled && !strays->unlisted && !strays->hidden && !strays->hiding_error &&
	       !strays->outside && !strays->error && !strays->gap_count;
}

static void describe_tracer(const struct sb_strays *strays, const struct sb_stray *stray,
			    char *buffer, size_t size)
{
	struct sb_proc_status status = {0};
	char task[16];

	snprintf(task, sizeof(task), "%d", (int)stray->process.pid);
	if (sb_proc_read_status(strays->view.procfs, task, &status) == 0 && status.tracer > 0)
		snprintf(buffer, size, "it is held by pid %d, which traces it", (int)status.tracer);
	else
		snprintf(buffer, size, "it is held by who traces it");
}

char sb_strays_reason(const struct sb_strays *strays, const struct sb_stray *stray, char *buffer,
		      size_t size)
{
	struct sb_proc_stat stat = {.state = '?'};
	char task[16];

	snprintf(task, sizeof(task), "%d", (int)stray->process.pid);
	if (sb_proc_read_stat(strays->view.procfs, task, &stat) == 0 &&
	    stat.start != stray->process.stat.start)
		stat.state = '?';
	if (stray->error)
		snprintf(buffer, size, "it cannot be signalled: %s", strerror(-stray->error));
	else if (stat.state == 't')
		describe_tracer(strays, stray, buffer, size);
	else if (stat.state == 'D')
		snprintf(buffer, size, "it is in an uninterruptible sleep in the kernel");
	else if (!stray->killed)
		snprintf(buffer, size, "it got SIGTERM only: the sweep was broken off");
	else
		snprintf(buffer, size, "it did not end in time after SIGKILL");
	return stat.state;
}

void sb_strays_raise_ourselves(void)
{
	/* The leader of a group has to stay where it is; without the right to, so does our
	 * priority. */
	(void)setsid();
	(void)setpriority(PRIO_PROCESS, 0, -20);
}
