/* Numbers, spans of time and names from untrusted hands, as text. Pure: no system call. */
#ifndef SB_TEXT_H
#define SB_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* An escaped name is at most four times as long as its bytes, plus the closing NUL. */
#define SB_TEXT_ESCAPED_MAX(bytes) ((bytes)*4 + 1)

/*
 * Reads a whole ASCII decimal number: digits only, no sign, no blanks, nothing behind it.
 * -EINVAL: not such a number. -ERANGE: above max. *ret is written on success only.
 */
int sb_text_parse_u64(const char *text, uint64_t max, uint64_t *ret);

/*
 * Reads a SPAN into nanoseconds: "500ms", "90" (seconds), "10s", "5min" or "5m", "24h", "1d", and
 * compounds such as "1h30m" (units in falling order, each at most once; only a lone number may go
 * without a unit). -EINVAL: anything else. -ERANGE: does not fit in 63 bits of nanoseconds.
 */
int sb_text_parse_span(const char *text, uint64_t *ret_ns);

/*
 * Writes nanoseconds as the shortest SPAN that means the same to the millisecond ("24h", "1m30s",
 * "0s"). size of 64 always suffices. Returns buffer.
 */
char *sb_text_format_span(uint64_t ns, char *buffer, size_t size);

/*
 * Makes length bytes of a name harmless: control bytes, DEL, backslash and whatever is not valid
 * UTF-8 become \xNN, so that no name can forge a line, a terminal escape or a journal priority.
 * C1 controls (U+0080 to U+009F) and the line and paragraph separators go as their bytes.
 * buffer holds SB_TEXT_ESCAPED_MAX(length) bytes. Returns the length written, without the NUL.
 */
size_t sb_text_escape_into(const char *bytes, size_t length, char *buffer);

/* The same into fresh memory that the caller frees; NULL when there is none. */
char *sb_text_escape(const char *bytes, size_t length);

/* The bytes again, in place, from what sb_text_escape wrote; returns their number. */
size_t sb_text_unescape(char *text);

/* Whether sb_text_escape would change anything. */
bool sb_text_is_clean(const char *bytes, size_t length);

/* The length of the valid, printable UTF-8 character at bytes (1 to 4), or 0 if there is none. */
size_t sb_text_char_length(const char *bytes, size_t length);

/* Lower-case hexadecimal of the bytes, in fresh memory that the caller frees; NULL if none. */
char *sb_text_hex(const char *bytes, size_t length);

#endif
