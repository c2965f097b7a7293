#include "straytable.h"

#include "clock.h"
#include "interrupt.h"
#include "scope.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

#define FDS_RESERVED  64 /* for everything but the pidfds that are kept */
#define HOLD_MOST     65536
#define LOOK_EVERY_MS 5 /* where the kernel has no pidfds to wait on */

void sb_straytable_start(struct sb_straytable *table, const struct sb_process_view *view,
			 struct sb_spare_facts *facts)
{
	struct rlimit limit = {.rlim_cur = 2 * FDS_RESERVED};

	getrlimit(RLIMIT_NOFILE, &limit);
	*table = (struct sb_straytable){.view = view, .facts = facts};
	table->hold_max = limit.rlim_cur > 2 * FDS_RESERVED ? limit.rlim_cur - FDS_RESERVED
							    : limit.rlim_cur / 2;
	if (table->hold_max > HOLD_MOST)
		table->hold_max = HOLD_MOST;
}

static void let_go(struct sb_straytable *table, struct sb_stray *stray)
{
	if (stray->process.fd >= 0)
		table->held--;
	sb_process_forget(&stray->process);
}

static void note_end(struct sb_straytable *table, struct sb_stray *stray)
{
	stray->ended = true;
	let_go(table, stray);
}

void sb_straytable_free(struct sb_straytable *table)
{
	for (size_t i = 0; i < table->count; i++) {
		let_go(table, table->item[i]);
		free(table->item[i]);
	}
	free(table->item);
	sb_idmap_free(&table->by_pid);
	*table = (struct sb_straytable){0};
}

bool sb_stray_lives(const struct sb_stray *stray)
{
	return stray->judged && stray->spare == SB_SPARE_NOT && !stray->ended;
}

static struct sb_stray *find(const struct sb_straytable *table, pid_t pid)
{
	uint64_t place;

	return sb_idmap_get(&table->by_pid, (uint64_t)pid, &place) ? table->item[place] : NULL;
}

/* Makes a descriptor free by letting go of the pidfd of somebody; false when none is kept. */
static bool make_room(struct sb_straytable *table)
{
	for (size_t i = 0; i < table->count; i++)
		if (table->item[i]->process.fd >= 0) {
			let_go(table, table->item[i]);
			return true;
		}
	return false;
}

static void read_ends(struct sb_straytable *table, struct sb_stray *stray)
{
	do
		sb_pipes_read(table->view->procfs, stray->process.pid, &stray->ends);
	while ((stray->ends.error == -EMFILE || stray->ends.error == -ENFILE) && make_room(table));
}

int sb_straytable_learn_ends(struct sb_straytable *table, struct sb_stray *stray)
{
	if (stray->ends.error)
		read_ends(table, stray);
	return stray->ends.error;
}

static int add(struct sb_straytable *table, const struct sb_process *process, uint64_t inode,
	       struct sb_stray **ret)
{
	struct sb_stray *stray;

	if (table->count == table->capacity) {
		size_t capacity = table->capacity ? table->capacity * 2 : 64;
		struct sb_stray **grown =
			reallocarray(table->item, capacity, sizeof(struct sb_stray *));

		if (!grown)
			return -ENOMEM;
		table->item = grown;
		table->capacity = capacity;
	}
	stray = malloc(sizeof(*stray));
	if (!stray || sb_idmap_put(&table->by_pid, (uint64_t)process->pid, table->count) < 0) {
		free(stray);
		return -ENOMEM;
	}
	*stray = (struct sb_stray){.process = *process, .inode = inode};
	if (table->facts->pipes.count)
		read_ends(table, stray);
	table->item[table->count++] = stray;
	if (process->fd >= 0)
		table->held++;
	*ret = stray;
	return 0;
}

/*
 * Whether the number is still that of the one known: procfs makes a new inode for each process, and
 * now and then for one that it forgot, so another inode is a reason to look.
 */
static bool is_still(const struct sb_straytable *table, struct sb_stray *known,
		     const struct sb_proc_id *id)
{
	if (id->inode && known->inode == id->inode)
		return true;
	if (known->ended || sb_process_ended(table->view, &known->process))
		return false;
	known->inode = id->inode;
	return true;
}

static bool is_same(const struct sb_process *a, const struct sb_process *b)
{
	return a->pid == b->pid && a->stat.start == b->stat.start;
}

static int meet_anew(struct sb_straytable *table, pid_t pid, struct sb_process *ret)
{
	int r = sb_process_meet(table->view, pid, ret);

	while ((r == -EMFILE || r == -ENFILE) && make_room(table)) {
		sb_process_forget(ret);
		r = sb_process_meet(table->view, pid, ret);
	}
	return r;
}

int sb_straytable_meet(struct sb_straytable *table, const struct sb_proc_id *id,
		       struct sb_stray **ret, bool *ret_new)
{
	struct sb_stray *known = find(table, id->number);
	struct sb_process process;
	int r;

	*ret_new = false;
	*ret = known;
	if (known && is_still(table, known, id))
		return 0;
	r = meet_anew(table, id->number, &process);
	*ret = NULL;
	if (r == -ESRCH && process.uid_known && !sb_process_is_of(&process, table->view->uid))
		r = 0;
	else if (r == 0 && sb_process_is_of(&process, table->view->uid)) {
		if (known && known->ended && is_same(&known->process, &process)) {
			known->inode = id->inode; /* its zombie */
			*ret = known;
		} else {
			r = add(table, &process, id->inode, ret);
			*ret_new = r == 0;
		}
	}
	if (!*ret_new)
		sb_process_forget(&process);
	return r;
}

int sb_straytable_judge(struct sb_straytable *table, struct sb_stray *stray)
{
	int r;

	if (stray->judged)
		return 0;
	sb_straytable_learn_ends(table, stray);
	r = sb_spare_judge(table->facts, &stray->process, &stray->ends, &stray->spare);
	if (r < 0)
		return r;
	stray->judged = true;
	if (stray->spare == SB_SPARE_ZOMBIE)
		note_end(table, stray);
	else if (table->held > table->hold_max)
		let_go(table, stray);
	return 0;
}

void sb_straytable_disown(struct sb_straytable *table, struct sb_stray *stray)
{
	note_end(table, stray);
	stray->inode = 0;
	stray->process.stat.start = UINT64_MAX; /* nobody started then: it is not known again */
}

bool sb_straytable_signal(struct sb_straytable *table, struct sb_stray *stray, int signal)
{
	int r = sb_process_signal(table->view, &stray->process, signal);

	while ((r == -EMFILE || r == -ENFILE) && make_room(table))
		r = sb_process_signal(table->view, &stray->process, signal);
	if (r == -ESRCH)
		note_end(table, stray);
	stray->error = r == -ESRCH ? 0 : r;
	return r == 0;
}

/* Descriptors to poll, and whose they are. */
struct watch {
	struct pollfd *poller;
	struct sb_stray **owner;
	size_t count;
};

static void watch_end(struct watch *watch)
{
	free(watch->poller);
	free(watch->owner);
}

#define auto_watch __attribute__((cleanup(watch_end)))

static bool watch_start(struct watch *watch, const struct sb_straytable *table)
{
	*watch = (struct watch){
		.poller = calloc(table->held + table->hold_max + 1, sizeof(*watch->poller)),
		.owner = calloc(table->held + table->hold_max + 1, sizeof(struct sb_stray *)),
	};
	return watch->poller && watch->owner;
}

static void watch_add(struct watch *watch, struct sb_stray *stray)
{
	watch->poller[watch->count] = (struct pollfd){stray->process.fd, POLLIN, 0};
	watch->owner[watch->count++] = stray;
}

/* Notes the ends that the poll told of; whether there was one. */
static bool watch_note_ends(const struct watch *watch, struct sb_straytable *table)
{
	bool any = false;

	for (size_t i = 0; i < watch->count; i++)
		if (watch->poller[i].revents) {
			note_end(table, watch->owner[i]);
			any = true;
		}
	return any;
}

void sb_straytable_refresh(struct sb_straytable *table)
{
	auto_watch struct watch watch;
	bool watching = watch_start(&watch, table);

	for (size_t i = 0; i < table->count; i++) {
		struct sb_stray *stray = table->item[i];

		if (stray->ended)
			continue;
		if (watching && stray->process.fd >= 0)
			watch_add(&watch, stray);
		else if (sb_process_ended(table->view, &stray->process))
			note_end(table, stray);
	}
	if (watch.count && poll(watch.poller, watch.count, 0) > 0)
		watch_note_ends(&watch, table);
}

static bool is_awaited(const struct sb_stray *stray)
{
	return sb_stray_lives(stray) && (stray->termed || stray->killed) && !stray->error;
}

/* Takes up as many of those awaited as there are descriptors for; how many are left out. */
static size_t watch_awaited(struct watch *watch, struct sb_straytable *table)
{
	size_t left_out = 0;

	watch->count = 0;
	for (size_t i = 0; i < table->count; i++) {
		struct sb_stray *stray = table->item[i];

		if (!is_awaited(stray))
			continue;
		if (stray->process.fd < 0 && table->held < table->hold_max) {
			int r = sb_process_reopen(table->view, &stray->process);

			if (r == -ESRCH)
				note_end(table, stray);
			table->held += r == 0;
		}
		if (stray->process.fd >= 0)
			watch_add(watch, stray);
		else
			left_out += !stray->ended;
	}
	return left_out;
}

/* Those that cannot be watched (all: everybody) are looked at; whether one has ended. */
static bool look_at_awaited(struct sb_straytable *table, bool all)
{
	bool any = false;

	for (size_t i = 0; i < table->count; i++) {
		struct sb_stray *stray = table->item[i];

		if (is_awaited(stray) && (all || stray->process.fd < 0) &&
		    sb_process_ended(table->view, &stray->process)) {
			note_end(table, stray);
			any = true;
		}
	}
	return any;
}

static struct timespec as_timespec(uint64_t ns)
{
	return (struct timespec){(time_t)(ns / SB_NS_PER_S), (long)(ns % SB_NS_PER_S)};
}

/* When poll(2) fails for lack of memory: not at once again, and other ways may tell. */
static bool look_instead(struct sb_straytable *table)
{
	const struct timespec pause = {.tv_nsec = LOOK_EVERY_MS * SB_NS_PER_MS};

	nanosleep(&pause, NULL);
	return look_at_awaited(table, true);
}

/* Waits for one of them to end; whether one did. waiting_mask lets SIGINT and SIGTERM in. */
static bool wait_for_any(struct watch *watch, struct sb_straytable *table, uint64_t left_ns,
			 bool looking, const sigset_t *waiting_mask)
{
	struct timespec timeout;
	bool any = false;
	int r;

	if (looking && left_ns > LOOK_EVERY_MS * SB_NS_PER_MS)
		left_ns = LOOK_EVERY_MS * SB_NS_PER_MS;
	timeout = as_timespec(left_ns);
	r = ppoll(watch->poller, watch->count, &timeout, waiting_mask);
	if (r > 0)
		any = watch_note_ends(watch, table);
	else if (r < 0 && errno != EINTR)
		any = look_instead(table);
	if (looking && look_at_awaited(table, false))
		any = true;
	return any;
}

/*
 * All have to end, so one is waited for after the other: who has ended before its turn costs no
 * waking, and the processors are left to those that are about to end.
 */
static void wait_for_each(struct watch *watch, struct sb_straytable *table, uint64_t deadline_ns,
			  const sigset_t *waiting_mask)
{
	for (size_t i = watch->count; i-- > 0 && !sb_interrupt_pending();) {
		uint64_t now = sb_clock_now();
		struct timespec timeout = as_timespec(now < deadline_ns ? deadline_ns - now : 0);
		int r = ppoll(&watch->poller[i], 1, &timeout, waiting_mask);

		if (r > 0)
			note_end(table, watch->owner[i]);
		else if (r < 0 && errno != EINTR)
			look_instead(table);
	}
}

void sb_straytable_wait(struct sb_straytable *table, uint64_t deadline_ns, bool any)
{
	auto_watch struct watch watch;
	sigset_t stopping, before;

	if (!watch_start(&watch, table)) {
		table->hold_max = 0; /* no memory for a watch: look from time to time */
		while (make_room(table))
			;
	}
	sigemptyset(&stopping);
	sigaddset(&stopping, SIGINT);
	sigaddset(&stopping, SIGTERM);
	sigprocmask(SIG_BLOCK, &stopping, &before);
	while (!sb_interrupt_pending()) {
		size_t left_out = watch_awaited(&watch, table);
		uint64_t now = sb_clock_now();
		bool looking;

		if (now >= deadline_ns || watch.count + left_out == 0)
			break;
		/* Without a watch on anybody there is nothing that would wake us. */
		looking = watch.count == 0 || !table->view->pidfd.open;
		if (!any && !looking)
			wait_for_each(&watch, table, deadline_ns, &before);
		else if (wait_for_any(&watch, table, deadline_ns - now, looking, &before) && any)
			break;
	}
	sigprocmask(SIG_SETMASK, &before, NULL);
}
