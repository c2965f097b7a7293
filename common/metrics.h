/*
 * Counts for the textfile collector of the Prometheus node exporter: its text format, built in
 * memory, and put in place of FILE as a whole or not at all. All are gauges: each run tells of
 * itself alone.
 */
#ifndef SB_METRICS_H
#define SB_METRICS_H

#include <stddef.h>
#include <stdio.h>

struct sb_metrics {
	const char *prefix; /* borrowed: "sb_sweep" */
	const char *family; /* borrowed: the one that samples go to */
	FILE *stream;
	char *text;
	size_t size;
};

/* -ENOMEM. Every metrics that was started is ended by sb_metrics_save or sb_metrics_drop. */
int sb_metrics_start(struct sb_metrics *metrics, const char *prefix);

/* Opens the family "<prefix>_<name>": samples that follow belong to it. help is one line. */
void sb_metrics_family(struct sb_metrics *metrics, const char *name, const char *help);

/*
 * A sample of the family. Labels are pairs of name and value, closed by NULL; values may hold any
 * bytes: they are escaped as messages are, and then as the format wants it.
 */
void sb_metrics_sample(struct sb_metrics *metrics, double value, ...) __attribute__((sentinel));

/*
 * Whether FILE may be written: -EEXIST where something else than a regular file stands, which is
 * then neither followed nor replaced (/dev/null is no less); or why that cannot be learnt.
 */
int sb_metrics_check(const char *file);

/*
 * Writes beside file, under a name that the collector does not read, makes it readable for all
 * (the exporter is another user), syncs it and renames it. Frees the metrics. -errno of the step
 * that failed; then file is as it was.
 */
int sb_metrics_save(struct sb_metrics *metrics, const char *file);
void sb_metrics_drop(struct sb_metrics *metrics);

#endif
