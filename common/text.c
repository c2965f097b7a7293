#include "text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NS_PER_MS UINT64_C(1000000)
#define NS_PER_S  UINT64_C(1000000000)

/* Units of a SPAN from the longest down; the first name of a unit is the one that is printed. */
static const struct unit {
	const char *name;
	uint64_t ns;
} units[] = {
	{"d", 86400 * NS_PER_S}, {"h", 3600 * NS_PER_S}, {"m", 60 * NS_PER_S},
	{"min", 60 * NS_PER_S},	 {"s", NS_PER_S},	 {"ms", NS_PER_MS},
};

#define N_UNITS (sizeof(units) / sizeof(units[0]))

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads the digits at *text and steps over them. */
static int take_digits(const char **text, uint64_t max, uint64_t *ret)
{
	const char *p = *text;
	uint64_t value = 0;

	if (!is_digit(*p))
		return -EINVAL;
	for (; is_digit(*p); p++) {
		uint64_t digit = (uint64_t)(*p - '0');

		if (value > (max - digit) / 10 || digit > max)
			return -ERANGE;
		value = value * 10 + digit;
	}
	*text = p;
	*ret = value;
	return 0;
}

int sb_text_parse_u64(const char *text, uint64_t max, uint64_t *ret)
{
	uint64_t value;
	int r = take_digits(&text, max, &value);

	/* "12x" is no number, however large the 12: say what is wrong with the text first. */
	if (r == -ERANGE && text[strspn(text, "0123456789")])
		return -EINVAL;
	if (r < 0)
		return r;
	if (*text)
		return -EINVAL;
	*ret = value;
	return 0;
}

static const struct unit *find_unit(const char *name, size_t length)
{
	for (size_t i = 0; i < N_UNITS; i++)
		if (strlen(units[i].name) == length && strncmp(units[i].name, name, length) == 0)
			return &units[i];
	return NULL;
}

int sb_text_parse_span(const char *text, uint64_t *ret_ns)
{
	uint64_t total = 0, last_unit = UINT64_MAX, value;

	if (*text && text[strspn(text, "0123456789")] == '\0') {
		int r = sb_text_parse_u64(text, INT64_MAX / NS_PER_S, &value);

		if (r == 0)
			*ret_ns = value * NS_PER_S;
		return r;
	}
	do {
		const struct unit *unit;
		size_t length;
		int r = take_digits(&text, INT64_MAX, &value);

		if (r < 0)
			return r;
		length = strcspn(text, "0123456789");
		unit = find_unit(text, length);
		if (!unit || unit->ns >= last_unit)
			return -EINVAL;
		if (value > (INT64_MAX - total) / unit->ns)
			return -ERANGE;
		total += value * unit->ns;
		last_unit = unit->ns;
		text += length;
	} while (*text);
	*ret_ns = total;
	return 0;
}

char *sb_text_format_span(uint64_t ns, char *buffer, size_t size)
{
	size_t used = 0;

	buffer[0] = '\0';
	for (size_t i = 0; i < N_UNITS; i++) {
		uint64_t count = ns / units[i].ns;
		int n;

		/* Whole hours read better than days below three of them: 24h, 36h, 3d. */
		if (count == 0 || (i == 0 && (count < 3 || ns % units[0].ns)))
			continue;
		n = snprintf(buffer + used, size - used, "%llu%s", (unsigned long long)count,
			     units[i].name);
		if (n < 0 || (size_t)n >= size - used)
			break;
		used += (size_t)n;
		ns -= count * units[i].ns;
	}
	if (used == 0)
		snprintf(buffer, size, "0s");
	return buffer;
}

/* What UTF-8 promises of a first byte: how many follow, and the smallest code point that may. */
static size_t sequence_length(unsigned char first, uint32_t *ret_min)
{
	if (first < 0x80) {
		*ret_min = 0;
		return 1;
	}
	if (first >= 0xc2 && first <= 0xdf) {
		*ret_min = 0x80;
		return 2;
	}
	if (first >= 0xe0 && first <= 0xef) {
		*ret_min = 0x800;
		return 3;
	}
	if (first >= 0xf0 && first <= 0xf4) {
		*ret_min = 0x10000;
		return 4;
	}
	return 0;
}

/* Code points that a terminal or a log reader may act on instead of showing them. */
static bool is_printable(uint32_t c)
{
	if (c < 0x20 || (c >= 0x7f && c <= 0x9f))
		return false;
	if (c == 0x2028 || c == 0x2029)
		return false;
	/* Marks that reverse or hide the text around them. */
	if ((c >= 0x200b && c <= 0x200f) || (c >= 0x202a && c <= 0x202e) ||
	    (c >= 0x2060 && c <= 0x2069) || c == 0xfeff)
		return false;
	return true;
}

size_t sb_text_char_length(const char *bytes, size_t length)
{
	const unsigned char *p = (const unsigned char *)bytes;
	uint32_t min, c;
	size_t n;

	if (length == 0)
		return 0;
	n = sequence_length(p[0], &min);
	if (n == 0 || n > length)
		return 0;
	c = n == 1 ? p[0] : p[0] & (0xffU >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	if (c < min || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff) || !is_printable(c))
		return 0;
	return n;
}

size_t sb_text_escape_into(const char *bytes, size_t length, char *buffer)
{
	static const char hex[] = "0123456789abcdef";
	char *out = buffer;

	for (size_t i = 0; i < length;) {
		unsigned char c = (unsigned char)bytes[i];
		size_t n = c == '\\' ? 0 : sb_text_char_length(bytes + i, length - i);

		if (n == 0) {
			*out++ = '\\';
			*out++ = 'x';
			*out++ = hex[c >> 4];
			*out++ = hex[c & 15];
			i++;
			continue;
		}
		memcpy(out, bytes + i, n);
		out += n;
		i += n;
	}
	*out = '\0';
	return (size_t)(out - buffer);
}

char *sb_text_escape(const char *bytes, size_t length)
{
	char *buffer = malloc(SB_TEXT_ESCAPED_MAX(length));

	if (buffer)
		sb_text_escape_into(bytes, length, buffer);
	return buffer;
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

size_t sb_text_unescape(char *text)
{
	char *out = text;

	for (const char *p = text; *p;) {
		if (p[0] == '\\' && p[1] == 'x' && hex_value(p[2]) >= 0 && hex_value(p[3]) >= 0) {
			*out++ = (char)(hex_value(p[2]) << 4 | hex_value(p[3]));
			p += 4;
			continue;
		}
		*out++ = *p++;
	}
	*out = '\0';
	return (size_t)(out - text);
}

bool sb_text_is_clean(const char *bytes, size_t length)
{
	for (size_t i = 0; i < length;) {
		size_t n = bytes[i] == '\\' ? 0 : sb_text_char_length(bytes + i, length - i);

		if (n == 0)
			return false;
		i += n;
	}
	return true;
}

char *sb_text_hex(const char *bytes, size_t length)
{
	static const char digits[] = "0123456789abcdef";
	char *buffer = malloc(length * 2 + 1);

	if (!buffer)
		return NULL;
	for (size_t i = 0; i < length; i++) {
		unsigned char c = (unsigned char)bytes[i];

		buffer[2 * i] = digits[c >> 4];
		buffer[2 * i + 1] = digits[c & 15];
	}
	buffer[length * 2] = '\0';
	return buffer;
}
