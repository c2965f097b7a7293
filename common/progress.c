#include "progress.h"

#include "log.h"
#include "scope.h"

#include <errno.h>
#include <string.h>
#include <sys/ioctl.h>

#define INTERVAL_NS	 (SB_NS_PER_S / 10)
#define LINE_MAX_COLUMNS 240
#define DEFAULT_COLUMNS	 80

/* There is one terminal and one pass at a time; the hook of the log takes no argument. */
static struct {
	bool on;
	const char *program;
	const struct sb_budget *budget;
	bool dry_run;
	uint64_t started_ns;
	uint64_t next_ns;
	size_t shown; /* columns that the line on the terminal has now */
} line;

/* 398112 as "398,112": counts of seven digits are hard to take in at a glance. */
static char *group_digits(uint64_t value, char buffer[32])
{
	char digits[24];
	int length = snprintf(digits, sizeof(digits), "%llu", (unsigned long long)value);
	char *out = buffer;

	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			*out++ = ',';
		*out++ = digits[i];
	}
	*out = '\0';
	return buffer;
}

size_t sb_progress_format(const struct sb_progress_facts *facts, size_t width, char *buffer,
			  size_t size)
{
	char seen[32], removed[32], rate[32], left[48] = "";
	double seconds = sb_clock_seconds(facts->elapsed_ns);
	uint64_t per_second = seconds > 0 ? (uint64_t)((double)facts->seen / seconds) : 0;
	int length;

	if (facts->left_ns != UINT64_MAX)
		snprintf(left, sizeof(left), ", %llu s left",
			 (unsigned long long)(facts->left_ns / SB_NS_PER_S));
	length = snprintf(buffer, size, "%s seen, %s %s, %s/s%s", group_digits(facts->seen, seen),
			  group_digits(facts->removed, removed),
			  facts->dry_run ? "to remove" : "removed", group_digits(per_second, rate),
			  left);
	if (length < 0)
		return 0;
	if ((size_t)length >= size)
		length = (int)size - 1;
	if ((size_t)length > width)
		length = (int)width;
	buffer[length] = '\0';
	return (size_t)length;
}

static void write_stderr(const char *text, size_t length)
{
	while (length > 0) {
		ssize_t n = write(STDERR_FILENO, text, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0) {
			line.on = false; /* nobody looks any more */
			return;
		}
		text += n;
		length -= (size_t)n;
	}
}

static size_t terminal_columns(void)
{
	struct winsize window;

	if (ioctl(STDERR_FILENO, TIOCGWINSZ, &window) < 0 || window.ws_col == 0)
		return DEFAULT_COLUMNS;
	return window.ws_col;
}

/* One write: the line as it was is overwritten, and blanks take away what it was longer. */
static void show(const char *text, size_t length)
{
	char out[2 * LINE_MAX_COLUMNS + 4];
	size_t end = 0;

	out[end++] = '\r';
	memcpy(out + end, text, length);
	end += length;
	for (size_t i = length; i < line.shown; i++)
		out[end++] = ' ';
	if (line.shown > length)
		out[end++] = '\r';
	if (line.shown > length) {
		memcpy(out + end, text, length);
		end += length;
	}
	write_stderr(out, end);
	line.shown = length;
}

void sb_progress_hide(void)
{
	if (line.on && line.shown > 0)
		show("", 0);
}

void sb_progress_start(enum sb_progress when, const char *program, const struct sb_budget *budget,
		       bool dry_run)
{
	memset(&line, 0, sizeof(line));
	line.on = when == SB_PROGRESS_ALWAYS || (when == SB_PROGRESS_AUTO && isatty(STDERR_FILENO));
	line.program = program;
	line.budget = budget;
	line.dry_run = dry_run;
	line.started_ns = sb_clock_now();
	/* A pass that is over at once shows nothing at all. */
	line.next_ns = line.started_ns + INTERVAL_NS;
	if (line.on)
		sb_log_set_before(sb_progress_hide);
}

void sb_progress_tell(uint64_t seen, uint64_t removed)
{
	struct sb_progress_facts facts = {
		.seen = seen, .removed = removed, .dry_run = line.dry_run};
	char text[LINE_MAX_COLUMNS + 1];
	size_t columns, name;
	uint64_t now;

	if (!line.on)
		return;
	now = sb_clock_now();
	if (now < line.next_ns)
		return;
	line.next_ns = now + INTERVAL_NS;
	facts.elapsed_ns = now - line.started_ns;
	facts.left_ns = sb_budget_left(line.budget);
	columns = terminal_columns();
	if (columns > LINE_MAX_COLUMNS)
		columns = LINE_MAX_COLUMNS;
	/* The last column stays free: some terminals go to the next line once it is filled. */
	columns -= columns > 0;
	name = (size_t)snprintf(text, sizeof(text), "%s: ", line.program);
	if (name >= columns)
		return; /* too narrow to tell anything */
	name += sb_progress_format(&facts, columns - name, text + name, sizeof(text) - name);
	show(text, name);
}

void sb_progress_end(void)
{
	if (!line.on)
		return;
	sb_progress_hide();
	sb_log_set_before(NULL);
	line.on = false;
}
