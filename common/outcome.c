#include "outcome.h"

#include "coverage.h"
#include "log.h"
#include "scope.h"
#include "text.h"

#include <errno.h>
#include <string.h>

/* Gaps told without -v: enough to see the kind, not so many as to fill a mail from cron. */
#define GAPS_SAID 3

static json_t *kept_object(const struct sb_rules *rules, const struct sb_sweep_counts *counts)
{
	json_t *kept = json_object();

	for (int i = 0; i < SB_VERDICT_COUNT; i++)
		if (rules->kept & SB_VERDICT_BIT(i))
			json_object_set_new(kept, sb_verdict_name((enum sb_verdict)i),
					    json_integer((json_int_t)counts->verdict[i]));
	return kept;
}

static void set_counts(json_t *object, const struct sb_rules *rules,
		       const struct sb_sweep_counts *counts)
{
	json_t *removed = json_object();

	json_object_set_new(object, "seen", json_integer((json_int_t)counts->seen));
	json_object_set_new(removed, "dirs", json_integer((json_int_t)counts->removed_dirs));
	json_object_set_new(removed, "files", json_integer((json_int_t)counts->removed_files));
	json_object_set_new(object, "removed", removed);
	json_object_set_new(object, "kept", kept_object(rules, counts));
	json_object_set_new(object, "failed",
			    json_integer((json_int_t)counts->verdict[SB_VERDICT_FAILED]));
}

static json_t *failures_array(const struct sb_root *root)
{
	json_t *failures = json_array();

	for (size_t i = 0; i < root->failures_kept; i++) {
		json_t *failure = json_object();

		sb_report_set_name(failure, "name", root->failures[i].name);
		json_object_set_new(failure, "error",
				    json_string(strerror(root->failures[i].error)));
		json_array_append_new(failures, failure);
	}
	return failures;
}

/* Why a root with an error could not be swept; a link is said to be one, which errno does not. */
static const char *why_not(const struct sb_root *root)
{
	if (root->why)
		return root->why;
	return root->error == ELOOP ? "it is a symbolic link; name what it points to"
				    : strerror(root->error);
}

static json_t *root_object(const struct sb_rules *rules, const struct sb_root *root)
{
	json_t *object = json_object();
	json_t *inodes = json_object();

	sb_report_set_name(object, "path", root->path);
	json_object_set_new(object, "uid", json_integer(root->uid));
	json_object_set_new(object, "present", json_boolean(root->present));
	json_object_set_new(object, "error",
			    root->error ? json_string(why_not(root)) : json_null());
	set_counts(object, rules, &root->counts);
	json_object_set_new(object, "failures", failures_array(root));
	json_object_set_new(object, "finished", json_boolean(root->finished));
	json_object_set_new(inodes, "total", json_integer((json_int_t)root->inodes_total));
	json_object_set_new(inodes, "used_before", json_integer((json_int_t)root->inodes_before));
	json_object_set_new(inodes, "used_after", json_integer((json_int_t)root->inodes_after));
	json_object_set_new(object, "inodes", inodes);
	return object;
}

void sb_outcome_set_json(json_t *report, const struct sb_sweep *sweep, const struct sb_root *roots,
			 size_t count)
{
	json_t *array = json_array(), *totals = json_object();
	struct sb_sweep_counts sum = {0};

	for (size_t i = 0; i < count; i++) {
		if (roots[i].duplicate)
			continue;
		sb_sweep_add(&sum, &roots[i].counts);
		json_array_append_new(array, root_object(&sweep->rules, &roots[i]));
	}
	set_counts(totals, &sweep->rules, &sum);
	json_object_set_new(report, "roots", array);
	json_object_set_new(report, "totals", totals);
	json_object_set_new(report, "coverage", sb_report_coverage(sb_sweep_coverage(sweep)));
	json_object_set_new(report, "budget_s", sb_report_seconds(sweep->budget_ns));
}

/* Per cent of inodes used; rounded up, as df(1) does, so that "0%" means none. */
static unsigned int percent(uint64_t used, uint64_t total)
{
	return (unsigned int)((double)used * 100 / (double)total + 0.999999);
}

static void print_kept(const struct sb_rules *rules, const struct sb_sweep_counts *counts)
{
	const char *separator = "; kept ";

	for (int i = 0; i < SB_VERDICT_COUNT; i++) {
		if (!(rules->kept & SB_VERDICT_BIT(i)) || counts->verdict[i] == 0)
			continue;
		printf("%s%llu %s", separator, (unsigned long long)counts->verdict[i],
		       sb_verdict_name((enum sb_verdict)i));
		separator = ", ";
	}
}

void sb_outcome_print_line(const struct sb_sweep *sweep, const struct sb_root *root)
{
	const struct sb_sweep_counts *counts = &root->counts;
	sb_auto_free char *path = sb_text_escape(root->path, strlen(root->path));

	if (!sb_root_is_swept(root) || !path)
		return;
	printf("%s: %s %llu director%s, %llu file%s", path,
	       sweep->dry_run ? "would remove" : "removed",
	       (unsigned long long)counts->removed_dirs, counts->removed_dirs == 1 ? "y" : "ies",
	       (unsigned long long)counts->removed_files, counts->removed_files == 1 ? "" : "s");
	print_kept(&sweep->rules, counts);
	if (counts->verdict[SB_VERDICT_FAILED])
		printf("; %llu failed", (unsigned long long)counts->verdict[SB_VERDICT_FAILED]);
	if (!root->finished)
		fputs("; not finished", stdout);
	if (root->inodes_total)
		printf("; inodes %u%% -> %u%%", percent(root->inodes_before, root->inodes_total),
		       percent(root->inodes_after, root->inodes_total));
	putchar('\n');
}

static void say_failures(const struct sb_root *root)
{
	uint64_t failed = root->counts.verdict[SB_VERDICT_FAILED];

	for (size_t i = 0; i < root->failures_kept; i++) {
		sb_auto_free char *path = NULL;

		if (asprintf(&path, "%s/%s", root->path, root->failures[i].name) < 0) {
			path = NULL;
			continue;
		}
		sb_log_cannot(SB_LOG_ERROR, "remove", path, root->failures[i].error);
	}
	if (failed > root->failures_kept)
		sb_log_about(SB_LOG_ERROR, root->path, "%llu more entries could not be removed",
			     (unsigned long long)failed - root->failures_kept);
}

/* Kept for lack of proof: how many, why, and what to do, so that nobody has to read the source. */
static void say_unproven(const struct sb_sweep *sweep, const struct sb_root *root)
{
	uint64_t kept = root->counts.verdict[SB_VERDICT_UNPROVEN];
	const struct sb_coverage *coverage = sb_sweep_coverage(sweep);
	char verdict[64];

	if (!kept)
		return;
	if (!coverage) {
		sb_log_about(SB_LOG_WARNING, root->path,
			     "kept %llu directories: live mounts could not be looked at: %s",
			     (unsigned long long)kept, strerror(-sweep->scan_error));
		return;
	}
	sb_log_about(SB_LOG_WARNING, root->path,
		     "kept %llu director%s for lack of proof that no live mount uses %s: %s was "
		     "required, the scan is %s; run again, or close what is told here",
		     (unsigned long long)kept, kept == 1 ? "y" : "ies", kept == 1 ? "it" : "them",
		     sb_level_name(sweep->scan_options.require),
		     sb_coverage_describe(coverage, verdict, sizeof(verdict)));
	sb_coverage_say_gaps(coverage, sb_log_wants(SB_LOG_DEBUG) ? SB_GAPS_KEPT : GAPS_SAID,
			     SB_LOG_WARNING);
}

static void say_foreign(const struct sb_root *root)
{
	const struct sb_sweep_counts *counts = &root->counts;
	uint64_t foreign = counts->verdict[SB_VERDICT_FOREIGN];

	/* Whose the malformed ones are was not asked, nor whose those were that are gone. */
	if (!root->foreign_known || foreign + counts->verdict[SB_VERDICT_MALFORMED] +
						    counts->verdict[SB_VERDICT_VANISHED] !=
					    counts->seen)
		return;
	sb_log_about(SB_LOG_WARNING, root->path,
		     "all %llu entries belong to others than uid %u; to act for their owner give "
		     "--uid=%u",
		     (unsigned long long)foreign, root->uid, root->foreign_uid);
}

/* Where numbers of processes prove nothing, everything counts as alive: that has to be heard. */
static void say_alive(const struct sb_sweep *sweep, const struct sb_root *root)
{
	uint64_t alive = root->counts.verdict[SB_VERDICT_ALIVE];

	if (alive && sweep->liveness.procfs < 0)
		sb_log_about(SB_LOG_WARNING, root->path,
			     "kept %llu as alive, for %s cannot be opened: %s",
			     (unsigned long long)alive, sweep->scan_options.procfs,
			     strerror(-sweep->liveness.procfs));
	else if (alive && !sweep->liveness.numbers_prove)
		sb_log_about(SB_LOG_WARNING, root->path,
			     "kept %llu as alive, for a pid proves nothing here: this is not the "
			     "initial pid namespace, or that cannot be learnt; run outside, or "
			     "give --trust-pidns if the root is private to it",
			     (unsigned long long)alive);
}

void sb_outcome_say(const struct sb_sweep *sweep, const struct sb_root *root)
{
	uint64_t pinned = root->counts.verdict[SB_VERDICT_PINNED];

	if (root->error)
		sb_log_cannot_because(SB_LOG_ERROR, "sweep", root->path, why_not(root));
	if (!sb_root_is_swept(root))
		return;
	say_failures(root);
	say_unproven(sweep, root);
	say_alive(sweep, root);
	say_foreign(root);
	if (pinned)
		sb_log_about(SB_LOG_INFO, root->path,
			     "kept %llu pinned: live mounts use them; sb-pinscan --holders tells "
			     "whose",
			     (unsigned long long)pinned);
	if (!root->finished && !root->error)
		sb_log_about(SB_LOG_INFO, root->path, "not finished (%s); run again",
			     sweep->interrupted ? "stopped by a signal" : "the budget is spent");
}

sb_status_set sb_outcome_statuses(const struct sb_sweep *sweep, const struct sb_root *root)
{
	sb_status_set statuses = 0;

	if (root->error || root->counts.verdict[SB_VERDICT_FAILED])
		statuses |= SB_STATUS_BIT(SB_STATUS_FAILED);
	if (root->counts.verdict[SB_VERDICT_UNPROVEN])
		statuses |= SB_STATUS_BIT(SB_STATUS_UNPROVEN);
	if (sweep->liveness.procfs < 0 && root->counts.verdict[SB_VERDICT_ALIVE])
		statuses |= SB_STATUS_BIT(SB_STATUS_UNPROVEN);
	if (sb_root_is_swept(root) && !root->finished && !root->error)
		statuses |= SB_STATUS_BIT(SB_STATUS_MORE);
	return statuses;
}

void sb_outcome_tell(const struct sb_root *root, const char *name, enum sb_verdict verdict,
		     int error, void *closure)
{
	const struct sb_sweep *sweep = closure;
	sb_auto_free char *path = NULL;

	if (!sb_log_wants(SB_LOG_DEBUG))
		return;
	if (asprintf(&path, "%s/%s", root->path, name) < 0) {
		path = NULL;
		return;
	}
	if (verdict == SB_VERDICT_FAILED)
		sb_log_about(SB_LOG_DEBUG, path, "%s: %s", sb_verdict_name(verdict),
			     strerror(-error));
	else if (verdict == SB_VERDICT_REMOVE)
		sb_log_about(SB_LOG_DEBUG, path, "%s",
			     sweep->dry_run ? "would be removed" : sb_verdict_name(verdict));
	else
		sb_log_about(SB_LOG_DEBUG, path, "kept: %s", sb_verdict_name(verdict));
}
