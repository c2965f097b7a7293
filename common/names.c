#include "names.h"

#include <limits.h>
#include <string.h>

#define LEGACY_STEM   "tmp"
#define LEGACY_RANDOM 8 /* characters that tempfile.mkdtemp appends */

const char *sb_names_check_prefix(const char *prefix)
{
	if (!*prefix)
		return "a prefix must not be empty";
	if (strchr(prefix, '/'))
		return "a prefix must not contain '/'";
	return NULL;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Reads "<pid>_<rest>". */
static bool parse_key(const char *text, pid_t *ret_pid)
{
	long long value = 0;

	if (!is_digit(*text) || *text == '0')
		return false;
	for (; is_digit(*text); text++)
		if (value <= INT_MAX)
			value = value * 10 + (*text - '0');
	if (text[0] != '_' || text[1] == '\0')
		return false;
	*ret_pid = value <= INT_MAX ? (pid_t)value : SB_NAMES_NO_PID;
	return true;
}

bool sb_names_is_dot(const char *name)
{
	return name[0] == '.' && (!name[1] || (name[1] == '.' && !name[2]));
}

enum sb_shape sb_names_shape(const struct sb_prefixes *prefixes, const char *name, pid_t *ret_pid)
{
	enum sb_shape shape = SB_SHAPE_OTHER;
	pid_t pid;

	if (sb_names_is_dot(name))
		return shape;
	for (size_t i = 0; i < prefixes->count; i++) {
		size_t length = strlen(prefixes->item[i]);

		if (strncmp(name, prefixes->item[i], length) != 0)
			continue;
		if (!parse_key(name + length, &pid)) {
			shape = shape == SB_SHAPE_KEYED ? shape : SB_SHAPE_MALFORMED;
			continue;
		}
		/* "a_" and "a_1" read "a_12_x" as different numbers: nobody knows whose it is. */
		if (shape == SB_SHAPE_KEYED && pid != *ret_pid)
			return SB_SHAPE_MALFORMED;
		shape = SB_SHAPE_KEYED;
		*ret_pid = pid;
	}
	return shape;
}

bool sb_names_bears_prefix(const struct sb_prefixes *prefixes, const char *name, size_t length)
{
	for (size_t i = 0; i < prefixes->count; i++) {
		size_t n = strlen(prefixes->item[i]);

		if (n <= length && memcmp(name, prefixes->item[i], n) == 0)
			return true;
	}
	return false;
}

bool sb_names_is_legacy(const char *name, size_t length)
{
	const size_t stem = sizeof(LEGACY_STEM) - 1;

	if (length != stem + LEGACY_RANDOM || memcmp(name, LEGACY_STEM, stem) != 0)
		return false;
	for (size_t i = stem; i < length; i++) {
		char c = name[i];

		if (!(c >= 'a' && c <= 'z') && !is_digit(c) && c != '_')
			return false;
	}
	return true;
}
