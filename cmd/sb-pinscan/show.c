#include "show.h"

#include "clock.h"
#include "coverage.h"
#include "log.h"
#include "report.h"
#include "scope.h"
#include "text.h"

#include <errno.h>
#include <libsmartcols.h>
#include <string.h>

/* The strongest use: an entry can serve as several things at once. */
static const char *use_of(const struct sb_pin *pin)
{
	static const enum sb_pin_use by_strength[] = {SB_PIN_SOURCE, SB_PIN_MOUNTPOINT,
						      SB_PIN_LAYER};

	for (size_t i = 0; i < SB_PIN_USES; i++)
		if (pin->uses & by_strength[i])
			return sb_pin_use_name(by_strength[i]);
	return sb_pin_use_name(SB_PIN_SOURCE);
}

static json_t *holders_array(const struct sb_pin *pin)
{
	json_t *array = json_array();

	for (size_t i = 0; i < pin->holder_count; i++) {
		const struct sb_holder *holder = &pin->holders[i];
		json_t *object = json_object();

		json_object_set_new(object, "pid", json_integer(holder->pid));
		json_object_set_new(object, "tid", json_integer(holder->tid));
		json_object_set_new(object, "uid", json_integer(holder->uid));
		sb_report_set_name(object, "comm", holder->comm);
		json_array_append_new(array, object);
	}
	return array;
}

static json_t *pin_object(const struct sb_pin *pin, bool with_holders)
{
	json_t *object = json_object();
	json_t *namespaces = json_array();

	sb_report_set_name(object, "name", pin->name);
	json_object_set_new(object, "deleted", json_boolean(pin->deleted));
	json_object_set_new(object, "as", json_string(use_of(pin)));
	for (size_t i = 0; i < pin->namespace_count; i++)
		json_array_append_new(namespaces, json_integer((json_int_t)pin->namespaces[i]));
	json_object_set_new(object, "namespaces", namespaces);
	if (with_holders)
		json_object_set_new(object, "holders", holders_array(pin));
	return object;
}

static int show_json(const struct options *options, const struct sb_pinscan *result,
		     enum sb_status status)
{
	json_t *report = sb_report_new(&options->cli, false, false);
	json_t *array = json_array();
	size_t count = 0;
	const struct sb_pin *const *pins = result ? sb_pinscan_pins(result, &count) : NULL;

	for (size_t i = 0; i < count; i++)
		json_array_append_new(array, pin_object(pins[i], options->holders));
	json_object_set_new(report, "pins", array);
	json_object_set_new(report, "coverage",
			    sb_report_coverage(result ? sb_pinscan_coverage(result) : NULL));
	return sb_report_print(report, &options->cli, status);
}

static int show_names(const struct sb_pinscan *result)
{
	size_t count;
	const struct sb_pin *const *pins = sb_pinscan_pins(result, &count);

	for (size_t i = 0; i < count; i++) {
		sb_auto_free char *name = sb_text_escape(pins[i]->name, strlen(pins[i]->name));

		if (!name)
			return -ENOMEM;
		puts(name);
	}
	return 0;
}

static void print_namespaces(FILE *f, const struct sb_pin *pin)
{
	for (size_t i = 0; i < pin->namespace_count; i++)
		fprintf(f, "%s%llu", i ? "," : "", (unsigned long long)pin->namespaces[i]);
	if (!pin->namespace_count)
		putc('?', f);
}

static void print_holders(FILE *f, const struct sb_pin *pin)
{
	for (size_t i = 0; i < pin->holder_count; i++) {
		const struct sb_holder *holder = &pin->holders[i];
		char comm[SB_TEXT_ESCAPED_MAX(SB_PROC_COMM_MAX)];

		sb_text_escape_into(holder->comm, strlen(holder->comm), comm);
		fprintf(f, "%s%d(%s)", i ? "," : "", (int)holder->tid, comm);
	}
	if (!pin->holder_count)
		putc('-', f);
}

/* The text of a cell, in fresh memory; NULL when there is none. */
static char *cell_text(const struct sb_pin *pin, enum column column)
{
	char *text = NULL;
	size_t size;
	FILE *f;

	if (column == COLUMN_NAME)
		return sb_text_escape(pin->name, strlen(pin->name));
	f = open_memstream(&text, &size);
	if (!f)
		return NULL;
	if (column == COLUMN_USE)
		fputs(use_of(pin), f);
	else if (column == COLUMN_NAMESPACES)
		print_namespaces(f, pin);
	else if (column == COLUMN_DELETED)
		fputs(pin->deleted ? "yes" : "no", f);
	else
		print_holders(f, pin);
	if (fclose(f) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static int add_row(struct libscols_table *table, const struct options *options,
		   const struct sb_pin *pin)
{
	struct libscols_line *line = scols_table_new_line(table, NULL);

	if (!line)
		return -ENOMEM;
	for (size_t i = 0; i < options->column_count; i++) {
		char *text = cell_text(pin, options->columns[i]);

		if (!text || scols_line_refer_data(line, i, text) < 0) {
			free(text);
			return -ENOMEM;
		}
	}
	return 0;
}

static int show_table(const struct options *options, const struct sb_pinscan *result)
{
	struct libscols_table *table = scols_new_table();
	size_t count;
	const struct sb_pin *const *pins = sb_pinscan_pins(result, &count);
	int r = table ? 0 : -ENOMEM;

	/* Names come escaped; encoding them once more would make them other names. */
	if (r == 0 && (scols_table_enable_noencoding(table, 1) < 0 ||
		       scols_table_enable_noheadings(table, options->no_headings) < 0))
		r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < options->column_count; i++)
		if (!scols_table_new_column(table, column_names[options->columns[i]], 0, 0))
			r = -ENOMEM;
	for (size_t i = 0; r == 0 && i < count; i++)
		r = add_row(table, options, pins[i]);
	if (r == 0 && count)
		r = scols_print_table(table) < 0 ? -EIO : 0;
	scols_unref_table(table);
	return r;
}

/* "94 names pinned in 18 mount namespaces; 12671 tasks in 0.10 s; coverage: complete (kernel)" */
static void say_summary(const struct sb_pinscan *result)
{
	const struct sb_coverage *coverage = sb_pinscan_coverage(result);
	char verdict[64];
	size_t count;

	sb_pinscan_pins(result, &count);
	sb_log_say(SB_LOG_INFO,
		   "%zu name%s pinned in %zu mount namespace%s; %zu tasks in %.2f s; coverage: %s",
		   count, count == 1 ? "" : "s", coverage->namespaces,
		   coverage->namespaces == 1 ? "" : "s", coverage->tasks,
		   sb_clock_seconds(coverage->elapsed_ns),
		   sb_coverage_describe(coverage, verdict, sizeof(verdict)));
}

static void say_what_is_missing(const struct options *options, const struct sb_pinscan *result)
{
	const struct sb_coverage *coverage = sb_pinscan_coverage(result);

	if (coverage->level >= options->evidence.require) {
		sb_coverage_say_gaps(coverage, SB_GAPS_KEPT, SB_LOG_DEBUG);
		return;
	}
	sb_log_say(SB_LOG_WARNING,
		   "what is not listed is not proven to be free: %s was required; retry, or close "
		   "what is told below",
		   sb_level_name(options->evidence.require));
	sb_coverage_say_gaps(coverage, SB_GAPS_KEPT, SB_LOG_WARNING);
}

int show(const struct options *options, const struct sb_pinscan *result, enum sb_status status)
{
	int r = 0;

	if (options->cli.json)
		r = show_json(options, result, status);
	else if (result && options->names_only)
		r = show_names(result);
	else if (result)
		r = show_table(options, result);
	if (result) {
		say_what_is_missing(options, result);
		say_summary(result);
	}
	return r;
}
