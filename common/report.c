#include "report.h"

#include "clock.h"
#include "scope.h"
#include "text.h"
#include "version.h"

#include <errno.h>
#include <string.h>
#include <sys/utsname.h>

json_t *sb_report_seconds(uint64_t ns)
{
	return json_real((double)(ns / 1000) / 1e6);
}

json_t *sb_report_new(const struct sb_cli *cli, bool has_dry_run, bool uid_null)
{
	struct utsname host;
	json_t *report = json_object();

	if (uname(&host) < 0)
		host.nodename[0] = '\0';
	json_object_set_new(report, "tool", json_string(cli->program));
	json_object_set_new(report, "version", json_string(SB_VERSION));
	json_object_set_new(report, "schema", json_integer(SB_REPORT_SCHEMA));
	sb_report_set_name(report, "host", host.nodename);
	json_object_set_new(report, "uid", uid_null ? json_null() : json_integer(cli->uid));
	if (has_dry_run)
		json_object_set_new(report, "dry_run", json_boolean(cli->dry_run));
	return report;
}

int sb_report_set_name(json_t *object, const char *key, const char *bytes)
{
	size_t length = strlen(bytes);
	sb_auto_free char *escaped = sb_text_escape(bytes, length);
	sb_auto_free char *hex = NULL;
	sb_auto_free char *hex_key = NULL;

	if (!escaped)
		return -ENOMEM;
	if (json_object_set_new(object, key, json_string(escaped)) < 0)
		return -ENOMEM;
	if (sb_text_is_clean(bytes, length))
		return 0;
	hex = sb_text_hex(bytes, length);
	if (!hex || asprintf(&hex_key, "%s_hex", key) < 0) {
		hex_key = NULL;
		return -ENOMEM;
	}
	return json_object_set_new(object, hex_key, json_string(hex)) < 0 ? -ENOMEM : 0;
}

static json_t *gap_object(const struct sb_gap *gap)
{
	json_t *object = json_object();

	json_object_set_new(object, "pid", gap->pid ? json_integer(gap->pid) : json_null());
	json_object_set_new(object, "tid", gap->tid ? json_integer(gap->tid) : json_null());
	json_object_set_new(object, "uid", gap->uid_known ? json_integer(gap->uid) : json_null());
	if (gap->pid)
		sb_report_set_name(object, "comm", gap->comm);
	else
		json_object_set_new(object, "comm", json_null());
	sb_report_set_name(object, "reason", gap->reason ? gap->reason : "out of memory");
	return object;
}

json_t *sb_report_coverage(const struct sb_coverage *coverage)
{
	json_t *object, *gaps;

	if (!coverage)
		return json_null();
	object = json_object();
	gaps = json_array();
	json_object_set_new(object, "level", json_string(sb_level_name(coverage->level)));
	json_object_set_new(object, "complete", json_boolean(coverage->complete));
	json_object_set_new(object, "covered", json_boolean(coverage->covered));
	json_object_set_new(object, "evidence", json_string(sb_evidence_name(coverage->evidence)));
	json_object_set_new(object, "namespaces", json_integer((json_int_t)coverage->namespaces));
	json_object_set_new(object, "tasks", json_integer((json_int_t)coverage->tasks));
	json_object_set_new(object, "passes", json_integer((json_int_t)coverage->passes));
	json_object_set_new(object, "gap_count", json_integer((json_int_t)coverage->gap_count));
	for (size_t i = 0; i < coverage->gaps_kept; i++)
		json_array_append_new(gaps, gap_object(&coverage->gaps[i]));
	json_object_set_new(object, "gaps", gaps);
	json_object_set_new(object, "elapsed_s", sb_report_seconds(coverage->elapsed_ns));
	return object;
}

int sb_report_print(json_t *report, const struct sb_cli *cli, enum sb_status status)
{
	char *text;

	json_object_set_new(report, "elapsed_s",
			    sb_report_seconds(sb_clock_now() - cli->started_ns));
	json_object_set_new(report, "exit_status", json_integer((json_int_t)status));
	text = json_dumps(report, JSON_COMPACT | JSON_REAL_PRECISION(12));
	json_decref(report);
	if (!text)
		return -ENOMEM;
	puts(text);
	free(text);
	return 0;
}
