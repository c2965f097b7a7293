/* sb-sweep: gives back the staged entries that nobody uses any more. */
#include "options.h"

#include "creds.h"
#include "interrupt.h"
#include "log.h"
#include "outcome.h"
#include "progress.h"
#include "roots.h"
#include "survey.h"

#include <stdlib.h>
#include <unistd.h>

static int find_roots(const struct options *options, struct sb_roots *roots)
{
	uid_t uid = options->cli.uid;
	int r = 0;

	if (options->all_users)
		return sb_roots_add_all_users(roots);
	for (size_t i = 0; r == 0 && i < options->root_count; i++)
		r = sb_roots_add(roots, options->roots[i], uid, true);
	return r < 0 || options->root_count ? r : sb_roots_add_default(roots, uid);
}

/* Gives up what acting for others does not take, and opens the roots. */
static int set_up(const struct options *options, struct sb_roots *roots)
{
	int r = 0;

	if (options->all_users || options->cli.uid != geteuid())
		r = sb_creds_confine();
	if (r < 0) {
		sb_log_cannot(SB_LOG_ERROR, "give up", "privileges", r);
		return r;
	}
	r = find_roots(options, roots);
	if (r == 0)
		r = sb_roots_open(roots);
	if (r < 0)
		sb_log_cannot(SB_LOG_ERROR, "find", "the roots", r);
	return r;
}

static void prepare(const struct options *options, const struct sb_roots *roots,
		    struct sb_sweep *sweep)
{
	*sweep = (struct sb_sweep){
		.rules = sb_rules_sweep(options->prefixes),
		.dry_run = options->cli.dry_run,
		.budget_ns = options->budget_ns,
		.tell = sb_outcome_tell,
		.tell_closure = sweep,
		.scan_options =
			{
				.procfs = options->cli.procfs,
				.procfs_given = options->cli.procfs_given,
				.uids = roots->uids,
				.uid_count = roots->uid_count,
				.evidence = options->evidence.evidence,
				.require = options->evidence.require,
				.trust_pidns = options->evidence.trust_pidns,
				.match.prefixes = options->prefixes,
				.devices = roots->devices,
				.device_count = roots->device_count,
			},
	};
	sweep->rules.min_age_ns = options->min_age_ns;
	sweep->rules.max_age_ns = options->max_age_ns;
	sb_sweep_start(sweep);
}

static sb_status_set sweep_all(struct sb_sweep *sweep, struct sb_roots *roots)
{
	sb_status_set statuses = 0;

	for (size_t i = 0; i < roots->count; i++) {
		struct sb_root *root = &roots->item[i];

		if (root->fd >= 0 && !root->duplicate && !root->error && !sb_interrupt_pending())
			sb_sweep_root(sweep, root);
		statuses |= sb_outcome_statuses(sweep, root);
	}
	return statuses;
}

static int show(const struct options *options, const struct sb_sweep *sweep,
		const struct sb_roots *roots, enum sb_status status)
{
	const struct sb_picture_style style = sb_picture_style_of(stdout);

	for (size_t i = 0; i < roots->count; i++) {
		if (!options->cli.json)
			sb_outcome_print_line(sweep, &roots->item[i]);
		if (!options->cli.json && options->cli.dry_run)
			sb_survey_draw(sweep, &roots->item[i], &style);
		sb_outcome_say(sweep, &roots->item[i]);
	}
	if (!options->cli.json)
		return 0;
	json_t *report = sb_report_new(&options->cli, true, options->all_users);

	sb_outcome_set_json(report, sweep, roots->item, roots->count);
	return sb_report_print(report, &options->cli, status);
}

int main(int argc, char **argv)
{
	struct options options;
	struct sb_roots roots = {0};
	static struct sb_sweep sweep; /* more than some stacks have room for */
	sb_status_set statuses = 0;
	int r;

	options_parse(&options, argc, argv);
	sb_interrupt_arm();
	r = set_up(&options, &roots);
	if (r < 0)
		statuses = SB_STATUS_BIT(SB_STATUS_FAILED);
	prepare(&options, &roots, &sweep);
	sb_progress_start(options.cli.progress, options.cli.program, &sweep.budget,
			  options.cli.dry_run);
	if (r == 0)
		statuses |= sweep_all(&sweep, &roots);
	sb_progress_end();
	r = sb_survey_write_metrics(&options.cli, &sweep, roots.item, roots.count,
				    sb_status_worst(statuses));
	if (r < 0) {
		sb_log_cannot(SB_LOG_ERROR, "write", options.cli.metrics, r);
		statuses |= SB_STATUS_BIT(SB_STATUS_FAILED);
	}
	r = show(&options, &sweep, &roots, sb_status_worst(statuses));
	if (r < 0) {
		sb_log_cannot(SB_LOG_ERROR, "show", "the result", r);
		statuses |= SB_STATUS_BIT(SB_STATUS_FAILED);
	}
	sb_sweep_free(&sweep);
	sb_roots_free(&roots);
	options_free(&options);
	return (int)sb_cli_finish(statuses);
}
