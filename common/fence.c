#include "fence.h"

#include <string.h>
#include <sys/stat.h>

/*
 * By how much a process must be younger than an entry to be called another one. Start times are
 * told in ticks of 10 ms, stamps of files lag by a timer tick, and a leap second or a small step of
 * the clock moves one against the other. In doubt the process is the launcher.
 */
#define START_MARGIN_NS (INT64_C(2) * 1000000000)

static const char *const verdict_names[SB_VERDICT_COUNT] = {
	[SB_VERDICT_REMOVE] = "removed",
	[SB_VERDICT_FAILED] = "failed",
	[SB_VERDICT_PINNED] = "pinned",
	[SB_VERDICT_UNPROVEN] = "unproven",
	[SB_VERDICT_ALIVE] = "alive",
	[SB_VERDICT_YOUNG] = "young",
	[SB_VERDICT_FOREIGN] = "foreign",
	[SB_VERDICT_WRONG_MODE] = "wrong_mode",
	[SB_VERDICT_NOT_DIRECTORY] = "not_directory",
	[SB_VERDICT_MALFORMED] = "malformed",
	[SB_VERDICT_POPULATED] = "populated",
	[SB_VERDICT_BELOW_THRESHOLD] = "below_threshold",
	[SB_VERDICT_MOUNTED] = "mounted",
	[SB_VERDICT_VANISHED] = "vanished",
};

const char *sb_verdict_name(enum sb_verdict verdict)
{
	return verdict_names[verdict];
}

struct sb_rules sb_rules_sweep(struct sb_prefixes prefixes)
{
	return (struct sb_rules){
		.kept = SB_VERDICT_BIT(SB_VERDICT_PINNED) | SB_VERDICT_BIT(SB_VERDICT_UNPROVEN) |
			SB_VERDICT_BIT(SB_VERDICT_ALIVE) | SB_VERDICT_BIT(SB_VERDICT_YOUNG) |
			SB_VERDICT_BIT(SB_VERDICT_FOREIGN) | SB_VERDICT_BIT(SB_VERDICT_MALFORMED) |
			SB_VERDICT_BIT(SB_VERDICT_MOUNTED) | SB_VERDICT_BIT(SB_VERDICT_VANISHED),
		.whole_trees = true,
		.prefixes = prefixes,
		.min_age_ns = SB_FENCE_MIN_AGE,
		.max_age_ns = SB_FENCE_MAX_AGE,
	};
}

struct sb_rules sb_rules_legacy(void)
{
	return (struct sb_rules){
		.kept = SB_VERDICT_BIT(SB_VERDICT_PINNED) | SB_VERDICT_BIT(SB_VERDICT_UNPROVEN) |
			SB_VERDICT_BIT(SB_VERDICT_YOUNG) | SB_VERDICT_BIT(SB_VERDICT_FOREIGN) |
			SB_VERDICT_BIT(SB_VERDICT_WRONG_MODE) |
			SB_VERDICT_BIT(SB_VERDICT_NOT_DIRECTORY) |
			SB_VERDICT_BIT(SB_VERDICT_POPULATED) |
			SB_VERDICT_BIT(SB_VERDICT_BELOW_THRESHOLD) |
			SB_VERDICT_BIT(SB_VERDICT_MOUNTED) | SB_VERDICT_BIT(SB_VERDICT_VANISHED),
		.legacy = true,
		.directories_only = true,
		.exact_mode = true,
		.max_age_ns = SB_FENCE_MAX_AGE,
		.threshold = SB_FENCE_PILE,
	};
}

enum sb_shape sb_fence_shape(const struct sb_rules *rules, const char *name, pid_t *ret_pid)
{
	if (!rules->legacy)
		return sb_names_shape(&rules->prefixes, name, ret_pid);
	*ret_pid = SB_NAMES_NO_PID;
	return sb_names_is_legacy(name, strlen(name)) ? SB_SHAPE_KEYED : SB_SHAPE_OTHER;
}

uint64_t sb_fence_age(int64_t now_ns, int64_t mtime_ns, bool *ret_future)
{
	*ret_future = mtime_ns > now_ns;
	/* The difference of two int64_t always fits a uint64_t, and unsigned arithmetic wraps. */
	return *ret_future ? 0 : (uint64_t)now_ns - (uint64_t)mtime_ns;
}

static bool is_young(const struct sb_rules *rules, int64_t now_ns, const struct sb_facts *facts)
{
	bool future;
	uint64_t age = sb_fence_age(now_ns, facts->mtime_ns, &future);

	if (future)
		return true;
	/* "Older than" without a pid to ask; "not younger than" with one. */
	return rules->legacy ? age <= rules->max_age_ns : age < rules->min_age_ns;
}

enum sb_verdict sb_fence_look(const struct sb_rules *rules, enum sb_shape shape, uid_t target,
			      int64_t now_ns, const struct sb_facts *facts)
{
	if (shape != SB_SHAPE_KEYED)
		return SB_VERDICT_MALFORMED;
	if (facts->gone)
		return SB_VERDICT_VANISHED;
	/* Owner, mode and age of what is mounted there are not the entry's. */
	if (facts->covered)
		return SB_VERDICT_REMOVE;
	if (rules->directories_only && !S_ISDIR(facts->mode))
		return SB_VERDICT_NOT_DIRECTORY;
	if (facts->uid != target)
		return SB_VERDICT_FOREIGN;
	if (rules->exact_mode && (facts->mode & 07777) != SB_FENCE_MODE)
		return SB_VERDICT_WRONG_MODE;
	if (is_young(rules, now_ns, facts))
		return SB_VERDICT_YOUNG;
	return SB_VERDICT_REMOVE;
}

/* Whether the number has passed to another process since the entry was made. */
static bool is_recycled(const struct sb_rules *rules, int64_t now_ns, const struct sb_facts *facts,
			const struct sb_pid_facts *process)
{
	bool future;

	if (facts->covered || !process->started_known)
		return false;
	if (sb_fence_age(now_ns, facts->mtime_ns, &future) <= rules->max_age_ns || future)
		return false;
	if (facts->mtime_ns > INT64_MAX - START_MARGIN_NS ||
	    process->started_ns <= facts->mtime_ns + START_MARGIN_NS)
		return false;
	/* One that came after the scan may have followed a launcher that bound the entry since. */
	return process->started_ns < process->scanned_ns;
}

enum sb_verdict sb_fence_process(const struct sb_rules *rules, int64_t now_ns,
				 const struct sb_facts *facts, const struct sb_pid_facts *process)
{
	bool counts = process->alive || process->alive_at_scan;

	if (rules->legacy || !counts)
		return SB_VERDICT_REMOVE;
	if (process->alive && is_recycled(rules, now_ns, facts, process))
		return SB_VERDICT_REMOVE;
	return SB_VERDICT_ALIVE;
}

enum sb_verdict sb_fence_pins(const struct sb_facts *facts, const struct sb_pin_facts *pins)
{
	/* rmdir(2) would say EBUSY; nobody needs to scan for that. */
	if (facts->covered)
		return SB_VERDICT_MOUNTED;
	/* A file that is bound behaves like an open descriptor: unlink(2) does it no harm. */
	if (!S_ISDIR(facts->mode))
		return SB_VERDICT_REMOVE;
	if (pins->pinned)
		return pins->only_mounted_here ? SB_VERDICT_MOUNTED : SB_VERDICT_PINNED;
	return pins->proven ? SB_VERDICT_REMOVE : SB_VERDICT_UNPROVEN;
}
