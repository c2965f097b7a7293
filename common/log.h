/*
 * Messages on stderr, a line each: "prog: cannot <verb> '<object>': <reason>" or
 * "prog: '<object>': <what>". Objects may hold any bytes; they are escaped here and nowhere else.
 * When JOURNAL_STREAM names stderr, every line starts with <N> (sd-daemon(3) levels).
 */
#ifndef SB_LOG_H
#define SB_LOG_H

#include <stdbool.h>

/* The levels of syslog(3), by their numbers. */
enum sb_log_level {
	SB_LOG_ERROR = 3,
	SB_LOG_WARNING = 4,
	SB_LOG_NOTICE = 5,
	SB_LOG_INFO = 6,
	SB_LOG_DEBUG = 7,
};

/* verbosity: -1 quiet (warnings and errors only), 0 as usual (info too), 1 and up: debug. */
void sb_log_init(const char *program, int verbosity);

/* Whether a message of that level would be written: spares the work of making it. */
bool sb_log_wants(enum sb_log_level level);

/*
 * "prog: <text>". For text of our own; an object inside it must come from sb_text_escape. Control
 * bytes that slip in all the same are escaped, so that one call is always one line.
 */
void sb_log_say(enum sb_log_level level, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

/* "prog: cannot <verb> '<object>': <reason of error>"; error is an errno, positive or negative. */
void sb_log_cannot(enum sb_log_level level, const char *verb, const char *object, int error);

/* The same with the reason in words. */
void sb_log_cannot_because(enum sb_log_level level, const char *verb, const char *object,
			   const char *reason);

/* "prog: '<object>': <what>" */
void sb_log_about(enum sb_log_level level, const char *object, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

/* Called before each line, so that a progress line on the terminal can make room. May be NULL. */
void sb_log_set_before(void (*before)(void));

#endif
