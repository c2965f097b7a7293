/* sb-legacy-heal: clears, once, an old pile whose names prove nothing. */
#include "options.h"

#include "creds.h"
#include "interrupt.h"
#include "log.h"
#include "marker.h"
#include "outcome.h"
#include "progress.h"
#include "roots.h"
#include "survey.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

struct heal {
	struct options options;
	struct sb_roots roots;
	struct sb_sweep sweep;
	char *marker_path; /* owned */
	enum sb_marker_state marker;
	const char *marker_why;
};

static int find_roots(struct heal *heal)
{
	uid_t uid = heal->options.cli.uid;
	int r = 0;

	for (size_t i = 0; r == 0 && i < heal->options.root_count; i++)
		r = sb_roots_add(&heal->roots, heal->options.roots[i], uid, false);
	if (r == 0 && !heal->options.root_count)
		r = sb_roots_add_runtime(&heal->roots, uid);
	return r < 0 ? r : sb_roots_open(&heal->roots);
}

/*
 * The first fence: a directory of the target uid that nobody else may enter. Never /dev/shm or
 * /tmp, where others put things under any name they like. Returns what is wrong, in words.
 */
static const char *fault_of_root(const struct sb_root *root)
{
	struct stat st;

	if (root->fd < 0) {
		if (root->error == ENOTDIR || root->error == ELOOP)
			return "it is no directory";
		return NULL; /* not there, or not to be opened: no question of refusing */
	}
	if (fstat(root->fd, &st) < 0)
		return "it cannot be looked at";
	if (st.st_uid != root->uid)
		return "it does not belong to the user acted for";
	if ((st.st_mode & 07777) != SB_FENCE_MODE)
		return "its mode is not 0700";
	return NULL;
}

static sb_status_set refuse_roots(struct heal *heal)
{
	sb_status_set statuses = 0;

	for (size_t i = 0; i < heal->roots.count; i++) {
		struct sb_root *root = &heal->roots.item[i];
		const char *fault = fault_of_root(root);

		if (!fault)
			continue;
		sb_log_cannot_because(SB_LOG_ERROR, "heal", root->path, fault);
		if (!root->error)
			root->error = EPERM;
		root->why = fault;
		statuses |= SB_STATUS_BIT(SB_STATUS_REFUSED);
	}
	return statuses;
}

static void prepare(struct heal *heal)
{
	const struct options *options = &heal->options;

	heal->sweep = (struct sb_sweep){
		.rules = sb_rules_legacy(),
		.dry_run = options->cli.dry_run,
		.budget_ns = options->budget_ns,
		.tell = sb_outcome_tell,
		.tell_closure = &heal->sweep,
		.scan_options =
			{
				.procfs = options->cli.procfs,
				.procfs_given = options->cli.procfs_given,
				.uids = heal->roots.uids,
				.uid_count = heal->roots.uid_count,
				.evidence = options->evidence.evidence,
				.require = options->evidence.require,
				.trust_pidns = options->evidence.trust_pidns,
				.match.legacy = true,
				.devices = heal->roots.devices,
				.device_count = heal->roots.device_count,
			},
	};
	heal->sweep.rules.max_age_ns = options->max_age_ns;
	heal->sweep.rules.threshold = options->threshold;
	sb_sweep_start(&heal->sweep);
}

static sb_status_set sweep_all(struct heal *heal)
{
	sb_status_set statuses = 0;

	sb_progress_start(heal->options.cli.progress, heal->options.cli.program,
			  &heal->sweep.budget, heal->options.cli.dry_run);
	for (size_t i = 0; i < heal->roots.count; i++) {
		struct sb_root *root = &heal->roots.item[i];

		if (root->fd >= 0 && !root->duplicate && !root->error && !sb_interrupt_pending())
			sb_sweep_root(&heal->sweep, root);
		if (!root->present)
			sb_log_about(SB_LOG_INFO, root->path, "not there, skipping");
		statuses |= sb_outcome_statuses(&heal->sweep, root);
		if (root->counts.verdict[SB_VERDICT_YOUNG])
			statuses |= SB_STATUS_BIT(SB_STATUS_YOUNG);
	}
	sb_progress_end();
	return statuses;
}

/* A root that is not there now may be there later, with its pile. */
static bool all_present(const struct sb_roots *roots)
{
	for (size_t i = 0; i < roots->count; i++)
		if (!roots->item[i].present)
			return false;
	return roots->count > 0;
}

static uint64_t count_removed(const struct sb_roots *roots)
{
	uint64_t removed = 0;

	for (size_t i = 0; i < roots->count; i++)
		removed += roots->item[i].counts.removed_dirs;
	return removed;
}

/* What the marker comes to: stamped only when nothing is left that a later run could do. */
static sb_status_set settle_marker(struct heal *heal, sb_status_set statuses)
{
	int r;

	if (heal->marker == SB_MARKER_REFUSED) {
		sb_log_cannot_because(SB_LOG_ERROR, "trust the marker", heal->marker_path,
				      heal->marker_why);
		return SB_STATUS_BIT(SB_STATUS_FAILED);
	}
	if (heal->options.cli.dry_run) {
		heal->marker = SB_MARKER_DRY_RUN;
		return 0;
	}
	if (statuses || !all_present(&heal->roots)) {
		heal->marker = SB_MARKER_WITHHELD;
		return 0;
	}
	r = sb_marker_stamp(heal->marker_path, count_removed(&heal->roots));
	/* It was ignored, or another run was faster: then it is done all the same. */
	if (r == -EEXIST && sb_marker_check(heal->marker_path, heal->options.cli.uid,
					    &heal->marker_why) == SB_MARKER_PRESENT) {
		heal->marker = SB_MARKER_PRESENT;
		return 0;
	}
	heal->marker = r < 0 ? SB_MARKER_REFUSED : SB_MARKER_STAMPED;
	if (r == 0)
		return 0;
	sb_log_cannot(SB_LOG_ERROR, "create the marker", heal->marker_path, r);
	return SB_STATUS_BIT(SB_STATUS_FAILED);
}

static sb_status_set heal_all(struct heal *heal)
{
	sb_status_set statuses = refuse_roots(heal);

	if (statuses) {
		heal->marker = SB_MARKER_WITHHELD;
		return statuses;
	}
	statuses = sweep_all(heal);
	return statuses | settle_marker(heal, statuses);
}

static int show_json(const struct heal *heal, enum sb_status status)
{
	json_t *report = sb_report_new(&heal->options.cli, true, false);
	json_t *marker = json_object();
	bool engaged = false;

	for (size_t i = 0; i < heal->roots.count; i++)
		engaged = engaged || heal->roots.item[i].engaged;
	sb_outcome_set_json(report, &heal->sweep, heal->roots.item, heal->roots.count);
	json_object_set_new(report, "threshold", json_integer((json_int_t)heal->options.threshold));
	json_object_set_new(report, "engaged", json_boolean(engaged));
	sb_report_set_name(marker, "path", heal->marker_path);
	json_object_set_new(marker, "state", json_string(sb_marker_state_name(heal->marker)));
	json_object_set_new(report, "marker", marker);
	return sb_report_print(report, &heal->options.cli, status);
}

static int show(const struct heal *heal, sb_status_set statuses)
{
	const struct sb_picture_style style = sb_picture_style_of(stdout);

	for (size_t i = 0; i < heal->roots.count; i++) {
		const struct sb_root *root = &heal->roots.item[i];

		if (statuses & SB_STATUS_BIT(SB_STATUS_REFUSED))
			break;
		if (!heal->options.cli.json)
			sb_outcome_print_line(&heal->sweep, root);
		if (!heal->options.cli.json && heal->options.cli.dry_run)
			sb_survey_draw(&heal->sweep, root, &style);
		sb_outcome_say(&heal->sweep, root);
	}
	if (heal->marker == SB_MARKER_STAMPED)
		sb_log_about(SB_LOG_INFO, heal->marker_path, "stamped: done, once and for all");
	return heal->options.cli.json ? show_json(heal, sb_status_worst(statuses)) : 0;
}

/* Whether it was done before: then that is all there is to it. */
static bool is_done(struct heal *heal)
{
	heal->marker = sb_marker_check(heal->marker_path, heal->options.cli.uid, &heal->marker_why);
	if (heal->marker != SB_MARKER_PRESENT || heal->options.ignore_marker)
		return false;
	sb_log_about(SB_LOG_INFO, heal->marker_path,
		     "present: this was healed before; --ignore-marker heals again");
	return true;
}

static sb_status_set run(struct heal *heal)
{
	int r;

	heal->marker_path = heal->options.marker ? strdup(heal->options.marker)
						 : sb_marker_default_path(heal->options.cli.uid);
	if (!heal->marker_path) {
		sb_log_cannot_because(SB_LOG_ERROR, "find a place for", "the marker",
				      "there is no home directory; give --marker=FILE");
		return SB_STATUS_BIT(SB_STATUS_REFUSED);
	}
	if (is_done(heal))
		return 0;
	/* What acting for another user does not take is given up first. */
	r = heal->options.cli.uid != geteuid() ? sb_creds_confine() : 0;
	if (r < 0) {
		sb_log_cannot(SB_LOG_ERROR, "give up", "privileges", r);
		return SB_STATUS_BIT(SB_STATUS_FAILED);
	}
	r = find_roots(heal);
	if (r < 0) {
		sb_log_cannot(SB_LOG_ERROR, "find", "the roots", r);
		return SB_STATUS_BIT(SB_STATUS_FAILED);
	}
	prepare(heal);
	return heal_all(heal);
}

int main(int argc, char **argv)
{
	static struct heal heal; /* more than some stacks have room for */
	sb_status_set statuses;
	int r;

	heal.sweep.liveness.procfs = -1;
	options_parse(&heal.options, argc, argv);
	heal.sweep.rules = sb_rules_legacy();
	heal.sweep.budget_ns = heal.options.budget_ns;
	sb_interrupt_arm();
	statuses = run(&heal);
	r = sb_survey_write_metrics(&heal.options.cli, &heal.sweep, heal.roots.item,
				    heal.roots.count, sb_status_worst(statuses));
	if (r < 0) {
		sb_log_cannot(SB_LOG_ERROR, "write", heal.options.cli.metrics, r);
		statuses |= SB_STATUS_BIT(SB_STATUS_FAILED);
	}
	r = heal.marker_path ? show(&heal, statuses) : 0;
	if (r < 0) {
		sb_log_cannot(SB_LOG_ERROR, "show", "the result", r);
		statuses |= SB_STATUS_BIT(SB_STATUS_FAILED);
	}
	sb_sweep_free(&heal.sweep);
	sb_roots_free(&heal.roots);
	free(heal.marker_path);
	options_free(&heal.options);
	return (int)sb_cli_finish(statuses);
}
