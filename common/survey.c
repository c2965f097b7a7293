#include "survey.h"

#include "clock.h"
#include "metrics.h"

#include <string.h>

void sb_survey_draw(const struct sb_sweep *sweep, const struct sb_root *root,
		    const struct sb_picture_style *style)
{
	const sb_verdict_set shown = sweep->rules.kept | SB_VERDICT_BIT(SB_VERDICT_REMOVE) |
				     SB_VERDICT_BIT(SB_VERDICT_FAILED);
	const sb_verdict_set open =
		SB_VERDICT_BIT(SB_VERDICT_UNPROVEN) | SB_VERDICT_BIT(SB_VERDICT_FAILED);
	struct sb_picture_row rows[SB_VERDICT_COUNT];
	struct sb_picture picture = {
		.row = rows,
		.inodes_total = root->inodes_total,
		.inodes_now = root->inodes_before,
		.inodes_after = root->inodes_after,
	};

	/* Where nothing of ours is, the line that names the root tells all there is to tell. */
	if (!sb_root_is_swept(root) || root->counts.seen == 0)
		return;
	for (int i = 0; i < SB_VERDICT_COUNT; i++) {
		struct sb_picture_row *row = &rows[picture.row_count];

		if (!(shown & SB_VERDICT_BIT(i)))
			continue;
		row->name =
			i == SB_VERDICT_REMOVE ? "would go" : sb_verdict_name((enum sb_verdict)i);
		row->end = i == SB_VERDICT_REMOVE	? SB_PICTURE_GOES
			   : (open & SB_VERDICT_BIT(i)) ? SB_PICTURE_OPEN
							: SB_PICTURE_STAYS;
		memcpy(row->by_age, root->counts.by_age[i], sizeof(row->by_age));
		picture.row_count++;
	}
	sb_picture_draw(stdout, &picture, style);
}

static double value_of_seen(const struct sb_root *root)
{
	return (double)root->counts.seen;
}

static double value_of_failed(const struct sb_root *root)
{
	return (double)root->counts.verdict[SB_VERDICT_FAILED];
}

static double value_of_finished(const struct sb_root *root)
{
	return root->finished;
}

static double value_of_error(const struct sb_root *root)
{
	return root->error != 0;
}

static double value_of_inodes(const struct sb_root *root)
{
	return (double)root->inodes_total;
}

static double value_of_inodes_used(const struct sb_root *root)
{
	return (double)root->inodes_after;
}

/* The counts of a root that have no further label, a family each. */
static const struct {
	const char *name;
	const char *help;
	double (*value)(const struct sb_root *root);
} root_families[] = {
	{"entries_seen", "Entries of the shape that were looked at.", value_of_seen},
	{"entries_failed", "Entries that could not be removed.", value_of_failed},
	{"finished", "Whether the walk of the root reached its end.", value_of_finished},
	{"root_error", "Whether the root itself could not be swept.", value_of_error},
	{"inodes", "Inodes of the file system of the root, 0 if it does not count them.",
	 value_of_inodes},
	{"inodes_used", "Inodes in use after the run.", value_of_inodes_used},
};

static void add_removed(struct sb_metrics *metrics, const struct sb_root *roots, size_t count)
{
	sb_metrics_family(metrics, "entries_removed", "Entries removed by the run.");
	for (size_t i = 0; i < count; i++) {
		if (!sb_root_is_swept(&roots[i]))
			continue;
		sb_metrics_sample(metrics, (double)roots[i].counts.removed_dirs, "root",
				  roots[i].path, "kind", "directory", NULL);
		sb_metrics_sample(metrics, (double)roots[i].counts.removed_files, "root",
				  roots[i].path, "kind", "file", NULL);
	}
}

static void add_kept(struct sb_metrics *metrics, sb_verdict_set kept, const struct sb_root *roots,
		     size_t count)
{
	sb_metrics_family(metrics, "entries_kept", "Entries kept, by the reason for it.");
	for (size_t i = 0; i < count; i++)
		for (int v = 0; v < SB_VERDICT_COUNT && sb_root_is_swept(&roots[i]); v++)
			if (kept & SB_VERDICT_BIT(v))
				sb_metrics_sample(metrics, (double)roots[i].counts.verdict[v],
						  "root", roots[i].path, "reason",
						  sb_verdict_name((enum sb_verdict)v), NULL);
}

static void add_coverage(struct sb_metrics *metrics, const struct sb_coverage *coverage)
{
	sb_metrics_family(metrics, "coverage",
			  "1 for the level that the look at the mounts reached; none was needed if "
			  "all are 0.");
	for (int level = 0; level < SB_LEVEL_COUNT; level++)
		sb_metrics_sample(metrics, coverage && (int)coverage->level == level, "level",
				  sb_level_name((enum sb_level)level), NULL);
}

static void add_run(struct sb_metrics *metrics, const struct sb_cli *cli, enum sb_status status)
{
	sb_metrics_family(metrics, "last_run_timestamp_seconds", "When the run ended.");
	sb_metrics_sample(metrics, (double)(sb_clock_wall() / (int64_t)SB_NS_PER_MS) / 1e3, NULL);
	sb_metrics_family(metrics, "duration_seconds", "How long it took.");
	sb_metrics_sample(metrics, sb_clock_seconds(sb_clock_now() - cli->started_ns), NULL);
	sb_metrics_family(metrics, "exit_status", "Its exit status, see sb-tools(7).");
	sb_metrics_sample(metrics, (double)status, NULL);
}

int sb_survey_write_metrics(const struct sb_cli *cli, const struct sb_sweep *sweep,
			    const struct sb_root *roots, size_t count, enum sb_status status)
{
	char prefix[64];
	struct sb_metrics metrics;
	int r;

	if (!cli->metrics || cli->dry_run)
		return 0;
	snprintf(prefix, sizeof(prefix), "%s", cli->program);
	for (char *c = prefix; *c; c++)
		if (*c == '-')
			*c = '_'; /* what a metric may be called */
	r = sb_metrics_start(&metrics, prefix);
	if (r < 0)
		return r;
	for (size_t f = 0; f < sizeof(root_families) / sizeof(root_families[0]); f++) {
		sb_metrics_family(&metrics, root_families[f].name, root_families[f].help);
		for (size_t i = 0; i < count; i++)
			if (sb_root_is_swept(&roots[i]))
				sb_metrics_sample(&metrics, root_families[f].value(&roots[i]),
						  "root", roots[i].path, NULL);
	}
	add_removed(&metrics, roots, count);
	add_kept(&metrics, sweep->rules.kept, roots, count);
	add_coverage(&metrics, sb_sweep_coverage(sweep));
	add_run(&metrics, cli, status);
	return sb_metrics_save(&metrics, cli->metrics);
}
