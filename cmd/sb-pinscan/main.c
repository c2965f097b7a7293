/* sb-pinscan: which staged entries does some live mount still use, and how far is that proven? */
#include "options.h"
#include "show.h"

#include "coverage.h"
#include "log.h"
#include "pinscan.h"
#include "roots.h"

#include <string.h>

/* Where entries may stand is not asked for here: by default, and on any tmpfs. */
static int find_roots(const struct options *options, struct sb_roots *roots)
{
	int r = sb_roots_add_default(roots, options->cli.uid);

	return r < 0 ? r : sb_roots_open(roots);
}

static int scan(const struct options *options, struct sb_pinscan **ret)
{
	struct sb_roots roots = {0};
	int r = find_roots(options, &roots);
	struct sb_pinscan_options asked = {
		.procfs = options->cli.procfs,
		.procfs_given = options->cli.procfs_given,
		.uids = &options->cli.uid,
		.uid_count = 1,
		.evidence = options->evidence.evidence,
		.require = options->evidence.require,
		.trust_pidns = options->evidence.trust_pidns,
		.want_holders = options->holders,
		.match = options->match,
		.devices = roots.devices,
		.device_count = roots.device_count,
		.other_roots = true,
	};

	if (r == 0)
		r = sb_pinscan_run(&asked, ret);
	sb_roots_free(&roots);
	return r;
}

static sb_status_set judge(const struct options *options, const struct sb_pinscan *result)
{
	sb_status_set statuses = 0;
	size_t pinned;

	sb_pinscan_pins(result, &pinned);
	if (options->match.names.count && pinned)
		statuses |= SB_STATUS_BIT(SB_STATUS_PINNED);
	if (sb_pinscan_coverage(result)->level < options->evidence.require)
		statuses |= SB_STATUS_BIT(SB_STATUS_UNPROVEN);
	return statuses;
}

int main(int argc, char **argv)
{
	struct options options;
	struct sb_pinscan *result = NULL;
	sb_status_set statuses;
	int r;

	options_parse(&options, argc, argv);
	r = scan(&options, &result);
	if (r < 0) {
		sb_log_cannot(SB_LOG_ERROR, "scan", options.cli.procfs, r);
		statuses = SB_STATUS_BIT(SB_STATUS_FAILED);
	} else {
		statuses = judge(&options, result);
	}
	r = show(&options, result, sb_status_worst(statuses));
	if (r < 0) {
		sb_log_cannot(SB_LOG_ERROR, "show", "the result", r);
		statuses |= SB_STATUS_BIT(SB_STATUS_FAILED);
	}
	sb_pinscan_free(result);
	options_free(&options);
	return (int)sb_cli_finish(statuses);
}
