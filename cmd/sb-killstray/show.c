#include "show.h"

#include "log.h"
#include "report.h"
#include "scope.h"
#include "text.h"

#include <errno.h>
#include <string.h>

#define REASON_MAX     128
#define NAME_MAX_SHOWN (SB_TEXT_ESCAPED_MAX(SB_PROC_COMM_MAX) + 24)

/* A count that may be taken for all there was. After an interruption or without the lock it is not.
 */
static bool has_count(const struct sb_strays *strays, sb_status_set statuses)
{
	const sb_status_set without =
		SB_STATUS_BIT(SB_STATUS_REFUSED) | SB_STATUS_BIT(SB_STATUS_LOCKED) |
		SB_STATUS_BIT(SB_STATUS_UNPROVEN) | SB_STATUS_BIT(SB_STATUS_MORE);

	return strays && !(statuses & without);
}

/* "123 (name)"; the name comes as it is, messages escape it. */
static const char *name_of(const struct sb_stray *stray, char buffer[NAME_MAX_SHOWN])
{
	snprintf(buffer, NAME_MAX_SHOWN, "%d (%s)", (int)stray->process.pid,
		 stray->process.stat.comm);
	return buffer;
}

static bool is_spared(const struct sb_stray *stray)
{
	return stray->judged && stray->spare != SB_SPARE_NOT;
}

static bool is_survivor(const struct sb_stray *stray)
{
	return sb_stray_lives(stray);
}

static json_t *process_object(const struct sb_stray *stray)
{
	json_t *object = json_object();

	json_object_set_new(object, "pid", json_integer(stray->process.pid));
	sb_report_set_name(object, "comm", stray->process.stat.comm);
	return object;
}

static json_t *survivors_array(const struct sb_strays *strays)
{
	json_t *array = json_array();

	for (size_t i = 0; strays && i < strays->table.count; i++) {
		const struct sb_stray *stray = strays->table.item[i];
		char reason[REASON_MAX], state[2] = {0};
		json_t *object;

		if (!is_survivor(stray))
			continue;
		object = process_object(stray);
		state[0] = sb_strays_reason(strays, stray, reason, sizeof(reason));
		json_object_set_new(object, "state", json_string(state));
		json_object_set_new(object, "reason", json_string(reason));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *spared_array(const struct sb_strays *strays)
{
	json_t *array = json_array();

	for (size_t i = 0; strays && i < strays->table.count; i++) {
		const struct sb_stray *stray = strays->table.item[i];
		json_t *object;

		if (!is_spared(stray))
			continue;
		object = process_object(stray);
		json_object_set_new(object, "why", json_string(sb_spare_name(stray->spare)));
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *count_or_null(bool counted, size_t count)
{
	return counted ? json_integer((json_int_t)count) : json_null();
}

static int show_json(const struct options *options, const struct sb_strays *strays,
		     sb_status_set statuses)
{
	json_t *report = sb_report_new(&options->cli, true, false);
	struct sb_strays_counts counts = {0};
	bool counted = has_count(strays, statuses);

	if (!report)
		return -ENOMEM;
	if (strays)
		counts = sb_strays_count(strays);
	json_object_set_new(report, "found", count_or_null(counted, counts.found));
	json_object_set_new(report, "killed", count_or_null(counted, counts.signalled));
	json_object_set_new(report, "ended_by_term",
			    json_integer((json_int_t)counts.ended_by_term));
	json_object_set_new(report, "ended_by_kill",
			    json_integer((json_int_t)counts.ended_by_kill));
	json_object_set_new(report, "survivors",
			    options->cli.dry_run ? json_array() : survivors_array(strays));
	json_object_set_new(report, "spared", spared_array(strays));
	json_object_set_new(report, "passes",
			    json_integer(strays ? (json_int_t)strays->passes : 0));
	json_object_set_new(report, "grace_s", sb_report_seconds(options->grace_ns));
	return sb_report_print(report, &options->cli, sb_status_worst(statuses));
}

static void show_text(const struct options *options, const struct sb_strays *strays, bool counted)
{
	const struct sb_strays_counts counts = sb_strays_count(strays);

	for (size_t i = 0; options->cli.dry_run && i < strays->table.count; i++) {
		const struct sb_stray *stray = strays->table.item[i];
		char comm[SB_TEXT_ESCAPED_MAX(SB_PROC_COMM_MAX)];

		if (!sb_stray_lives(stray))
			continue;
		sb_text_escape_into(stray->process.stat.comm, strlen(stray->process.stat.comm),
				    comm);
		printf("would end %d (%s)\n", (int)stray->process.pid, comm);
	}
	if (counted)
		printf("stray processes %s: %zu\n", options->cli.dry_run ? "found" : "killed",
		       options->cli.dry_run ? counts.found : counts.signalled);
}

static void say_survivors(const struct options *options, const struct sb_strays *strays)
{
	for (size_t i = 0; !options->cli.dry_run && i < strays->table.count; i++) {
		const struct sb_stray *stray = strays->table.item[i];
		char reason[REASON_MAX], name[NAME_MAX_SHOWN];

		if (!is_survivor(stray))
			continue;
		sb_strays_reason(strays, stray, reason, sizeof(reason));
		sb_log_cannot_because(SB_LOG_ERROR, "end", name_of(stray, name), reason);
	}
}

/* Whoever was named, but is spared, or nobody of the user's: its caller may think it ended. */
static void say_named(const struct options *options, const struct sb_strays *strays)
{
	for (size_t i = 0; i < options->only.count; i++) {
		const struct sb_stray *stray = NULL;
		char name[NAME_MAX_SHOWN];

		for (size_t k = 0; k < strays->table.count && !stray; k++)
			if (strays->table.item[k]->process.pid == options->only.item[i])
				stray = strays->table.item[k];
		if (!stray) {
			snprintf(name, sizeof(name), "%d", (int)options->only.item[i]);
			sb_log_about(SB_LOG_NOTICE, name, "no process of uid %u has this number",
				     options->cli.uid);
		} else if (is_spared(stray)) {
			sb_log_about(SB_LOG_WARNING, name_of(stray, name), "spared: %s",
				     sb_spare_describe(stray->spare));
		}
	}
}

/* Who was met, but could not be judged, has a name; who could not be met has a number only. */
static const char *name_of_gap(const struct sb_strays *strays, const struct sb_stray_gap *gap,
			       char buffer[NAME_MAX_SHOWN])
{
	for (size_t i = 0; i < strays->table.count; i++)
		if (strays->table.item[i]->process.pid == gap->pid &&
		    !strays->table.item[i]->judged)
			return name_of(strays->table.item[i], buffer);
	snprintf(buffer, NAME_MAX_SHOWN, "%d", (int)gap->pid);
	return buffer;
}

static void say_gap(const struct sb_strays *strays, const struct sb_stray_gap *gap)
{
	char name[NAME_MAX_SHOWN];

	name_of_gap(strays, gap, name);
	if (gap->error == -EBUSY)
		sb_log_cannot_because(SB_LOG_WARNING, "read process", name,
				      "its arguments cannot be had, and it is called like a "
				      "keep-alive; left alone");
	else
		sb_log_cannot(SB_LOG_WARNING, "read process", name, gap->error);
}

static void say_doubts(const struct options *options, const struct sb_strays *strays)
{
	if (strays->error)
		sb_log_cannot(SB_LOG_ERROR, "list the processes in",
			      options->cgroup ? options->cgroup : options->cli.procfs,
			      strays->error);
	if (strays->hidden)
		sb_log_about(SB_LOG_WARNING, options->cli.procfs,
			     "it is mounted with hidepid: there may be more processes than can be "
			     "seen; run as root");
	if (strays->hiding_error)
		sb_log_cannot(SB_LOG_WARNING, "tell whether processes are hidden in",
			      options->cli.procfs, strays->hiding_error);
	if (strays->unlisted < 0)
		sb_log_cannot(SB_LOG_WARNING, "tell whether anybody lives in", options->cgroup,
			      strays->unlisted);
	else if (strays->unlisted)
		sb_log_about(SB_LOG_WARNING, options->cgroup,
			     "somebody lives in it whom the kernel does not list");
	if (strays->outside)
		sb_log_about(
			SB_LOG_WARNING, options->cgroup,
			"it holds processes of other pid namespaces, which cannot be seen here");
	for (size_t i = 0; i < strays->gap_count && i < SB_STRAYS_GAPS_KEPT; i++)
		say_gap(strays, &strays->gaps[i]);
	if (strays->gap_count > SB_STRAYS_GAPS_KEPT)
		sb_log_say(SB_LOG_WARNING, "%zu further processes could not be read",
			   strays->gap_count - SB_STRAYS_GAPS_KEPT);
	if (!strays->settled && !strays->error && !strays->interrupted)
		sb_log_say(SB_LOG_WARNING,
			   "processes go on coming and going, so that none can be counted; run "
			   "again, or end their cgroup");
}

static void say_all(const struct sb_strays *strays)
{
	for (size_t i = 0; sb_log_wants(SB_LOG_DEBUG) && i < strays->table.count; i++) {
		const struct sb_stray *stray = strays->table.item[i];
		char name[NAME_MAX_SHOWN];

		if (!stray->judged)
			continue;
		if (stray->spare != SB_SPARE_NOT)
			sb_log_about(SB_LOG_DEBUG, name_of(stray, name), "spared: %s",
				     sb_spare_describe(stray->spare));
		else
			sb_log_about(SB_LOG_DEBUG, name_of(stray, name), "a stray%s%s%s",
				     stray->termed ? ", got SIGTERM" : "",
				     stray->killed ? ", got SIGKILL" : "",
				     stray->ended ? ", ended" : "");
	}
}

int show(const struct options *options, const struct sb_strays *strays, sb_status_set statuses)
{
	int r = 0;

	if (strays) {
		say_all(strays);
		say_named(options, strays);
		say_survivors(options, strays);
		say_doubts(options, strays);
	}
	if (options->cli.json)
		r = show_json(options, strays, statuses);
	else if (strays)
		show_text(options, strays, has_count(strays, statuses));
	return r;
}
