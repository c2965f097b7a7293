#include "log.h"

#include "scope.h"
#include "text.h"

#include <errno.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

static const char *program_name = "sb-tools";
static int highest_level = SB_LOG_INFO;
static bool to_journal;
static void (*before_line)(void);

/* sd-daemon(3): JOURNAL_STREAM is "device:inode" of the stream that the journal reads. */
static bool stderr_is_journal(void)
{
	const char *stream = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;
	int length = 0;

	if (!stream || sscanf(stream, "%llu:%llu%n", &device, &inode, &length) != 2 ||
	    stream[length])
		return false;
	return fstat(STDERR_FILENO, &st) == 0 && st.st_dev == device && st.st_ino == inode;
}

void sb_log_init(const char *program, int verbosity)
{
	program_name = program;
	highest_level = verbosity < 0 ? SB_LOG_WARNING : verbosity > 0 ? SB_LOG_DEBUG : SB_LOG_INFO;
	to_journal = stderr_is_journal();
}

bool sb_log_wants(enum sb_log_level level)
{
	return (int)level <= highest_level;
}

void sb_log_set_before(void (*before)(void))
{
	before_line = before;
}

/* In place of a message for which there is no memory: that there was one is not lost. */
static void write_lost(enum sb_log_level level)
{
	char line[128];
	int length = 0;

	if (to_journal)
		length = snprintf(line, sizeof(line), "<%d>", (int)level);
	length += snprintf(line + length, sizeof(line) - (size_t)length,
			   "%.64s: out of memory, for which a message was lost\n", program_name);
	if (write(STDERR_FILENO, line, (size_t)length) < 0)
		return; /* nowhere left to complain to */
}

/* One write a line, so that lines of several processes do not run into each other. */
static void write_line(enum sb_log_level level, const char *text)
{
	sb_auto_free char *clean = malloc(SB_TEXT_ESCAPED_MAX(strlen(text)));
	sb_auto_free char *line = NULL;
	char *out = clean;
	int length;

	if (!clean) {
		write_lost(level);
		return;
	}
	for (size_t i = 0, end = strlen(text); i < end;) {
		/* A backslash stays: objects were escaped before they came here. */
		size_t n = sb_text_char_length(text + i, end - i);

		if (n == 0) {
			out += sb_text_escape_into(text + i, 1, out);
			i++;
			continue;
		}
		memcpy(out, text + i, n);
		out += n;
		i += n;
	}
	*out = '\0';
	if (to_journal)
		length = asprintf(&line, "<%d>%s: %s\n", (int)level, program_name, clean);
	else
		length = asprintf(&line, "%s: %s\n", program_name, clean);
	if (length < 0) {
		line = NULL;
		write_lost(level);
		return;
	}
	if (before_line)
		before_line();
	for (size_t done = 0; done < (size_t)length;) {
		ssize_t n = write(STDERR_FILENO, line + done, (size_t)length - done);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return; /* nowhere left to complain to */
		done += (size_t)n;
	}
}

static char *format_text(const char *format, va_list args)
{
	char *text = NULL;

	return vasprintf(&text, format, args) < 0 ? NULL : text;
}

void sb_log_say(enum sb_log_level level, const char *format, ...)
{
	sb_auto_free char *text = NULL;
	va_list args;

	if (!sb_log_wants(level))
		return;
	va_start(args, format);
	text = format_text(format, args);
	va_end(args);
	if (text)
		write_line(level, text);
	else
		write_lost(level);
}

void sb_log_cannot_because(enum sb_log_level level, const char *verb, const char *object,
			   const char *reason)
{
	sb_auto_free char *name = sb_text_escape(object, strlen(object));

	if (name)
		sb_log_say(level, "cannot %s '%s': %s", verb, name, reason);
	else if (sb_log_wants(level))
		write_lost(level);
}

void sb_log_cannot(enum sb_log_level level, const char *verb, const char *object, int error)
{
	sb_log_cannot_because(level, verb, object, strerror(error < 0 ? -error : error));
}

void sb_log_about(enum sb_log_level level, const char *object, const char *format, ...)
{
	sb_auto_free char *name = NULL;
	sb_auto_free char *text = NULL;
	va_list args;

	if (!sb_log_wants(level))
		return;
	name = sb_text_escape(object, strlen(object));
	va_start(args, format);
	text = format_text(format, args);
	va_end(args);
	if (name && text)
		sb_log_say(level, "'%s': %s", name, text);
	else
		write_lost(level);
}
