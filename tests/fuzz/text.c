/* SPANs, numbers, names and escapes: any bytes; what is escaped comes back as it was. */
#include "text.h"
#include "names.h"
#include "pinset.h"

#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check_escapes(const char *bytes, size_t size)
{
	char *escaped = sb_text_escape(bytes, size);

	if (!escaped)
		return;
	for (const char *p = escaped; *p; p++)
		if ((unsigned char)*p < 0x20 || *p == 0x7f)
			__builtin_trap();
	if (sb_text_is_clean(bytes, size) != (strlen(escaped) == size))
		__builtin_trap();
	if (sb_text_unescape(escaped) != size || memcmp(escaped, bytes, size) != 0)
		__builtin_trap();
	free(escaped);
}

static void check_spans(const char *text)
{
	char again[64];
	uint64_t ns, once_more;

	if (sb_text_parse_span(text, &ns) < 0)
		return;
	sb_text_format_span(ns, again, sizeof(again));
	if (sb_text_parse_span(again, &once_more) < 0 || once_more != ns)
		__builtin_trap();
}

static void check_names(const char *name)
{
	static const char *items[] = {SB_NAMES_DEFAULT_PREFIX, "a"};
	const struct sb_prefixes prefixes = {items, 2};
	pid_t pid = -1;

	if (sb_names_shape(&prefixes, name, &pid) == SB_SHAPE_KEYED && pid < 0)
		__builtin_trap();
	(void)sb_names_is_legacy(name, strlen(name));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 1);
	uint64_t number;

	if (!text)
		return 0;
	memcpy(text, data, size);
	text[size] = '\0';
	check_escapes(text, size);
	check_spans(text);
	check_names(text);
	(void)sb_text_parse_u64(text, UINT64_MAX, &number);
	sb_pinset_unescape_octal(text);
	free(text);
	return 0;
}
