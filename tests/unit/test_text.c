/* Numbers, spans and escapes. */
#include "text.h"

#include <errno.h>
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define MS UINT64_C(1000000)
#define S  UINT64_C(1000000000)

static void numbers(void **state)
{
	static const struct {
		const char *text;
		uint64_t max;
		int result;
		uint64_t value;
	} cases[] = {
		{"0", 10, 0, 0},
		{"10", 10, 0, 10},
		{"11", 10, -ERANGE, 0},
		{"007", 10, 0, 7},
		{"18446744073709551615", UINT64_MAX, 0, UINT64_MAX},
		{"18446744073709551616", UINT64_MAX, -ERANGE, 0},
		{"99999999999999999999999999", UINT64_MAX, -ERANGE, 0},
		{"9", 5, -ERANGE, 0},
		{"0", 0, 0, 0},
		{"1", 0, -ERANGE, 0},
		{"", 10, -EINVAL, 0},
		{"-1", 10, -EINVAL, 0},
		{"+1", 10, -EINVAL, 0},
		{" 1", 10, -EINVAL, 0},
		{"1 ", 10, -EINVAL, 0},
		{"1\n", 10, -EINVAL, 0},
		{"0x1", 10, -EINVAL, 0},
		{"1e3", 10, -EINVAL, 0},
		{"99999999999999999999999999x", 10, -EINVAL, 0},
		{"\xd9\xa1", 10, -EINVAL, 0}, /* ARABIC-INDIC DIGIT ONE */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t value = 4711;

		assert_int_equal(sb_text_parse_u64(cases[i].text, cases[i].max, &value),
				 cases[i].result);
		assert_int_equal(value, cases[i].result ? 4711 : cases[i].value);
	}
}

static void spans(void **state)
{
	static const struct {
		const char *text;
		int result;
		uint64_t ns;
	} cases[] = {
		{"0", 0, 0},
		{"90", 0, 90 * S},
		{"0s", 0, 0},
		{"500ms", 0, 500 * MS},
		{"10s", 0, 10 * S},
		{"5min", 0, 300 * S},
		{"5m", 0, 300 * S},
		{"24h", 0, 86400 * S},
		{"1d", 0, 86400 * S},
		{"1h30m", 0, 5400 * S},
		{"1d2h3m4s5ms", 0, 93784 * S + 5 * MS},
		{"9223372036", 0, UINT64_C(9223372036) * S},
		{"9223372037", -ERANGE, 0},
		{"106751d", 0, UINT64_C(106751) * 86400 * S},
		{"106752d", -ERANGE, 0},
		{"106751d24h", -ERANGE, 0},
		{"99999999999999999999s", -ERANGE, 0},
		{"99999999999999999999", -ERANGE, 0},
		{"", -EINVAL, 0},
		{"s", -EINVAL, 0},
		{"ms", -EINVAL, 0},
		{"-1s", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"+1s", -EINVAL, 0},
		{"1.5h", -EINVAL, 0},
		{"1 h", -EINVAL, 0},
		{" 1h", -EINVAL, 0},
		{"1h ", -EINVAL, 0},
		{"1h30", -EINVAL, 0},
		{"30m1h", -EINVAL, 0},
		{"1h1h", -EINVAL, 0},
		{"1m1min", -EINVAL, 0},
		{"1S", -EINVAL, 0},
		{"1sec", -EINVAL, 0},
		{"1w", -EINVAL, 0},
		{"1us", -EINVAL, 0},
		{"infinity", -EINVAL, 0},
		{"1hx", -EINVAL, 0},
		{"\xc2\xb9s", -EINVAL, 0}, /* SUPERSCRIPT ONE */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		uint64_t ns = 4711;
		int r = sb_text_parse_span(cases[i].text, &ns);

		if (r != cases[i].result)
			print_error("span '%s': %d\n", cases[i].text, r);
		assert_int_equal(r, cases[i].result);
		assert_int_equal(ns, cases[i].result ? 4711 : cases[i].ns);
	}
}

static void spans_are_printed(void **state)
{
	static const struct {
		uint64_t ns;
		const char *text;
	} cases[] = {
		{0, "0s"},
		{1, "0s"}, /* below a millisecond nothing is left to say */
		{500 * MS, "500ms"},
		{10 * S, "10s"},
		{60 * S, "1m"},
		{90 * S, "1m30s"},
		{86400 * S, "24h"},
		{36 * 3600 * S, "36h"},
		{3 * 86400 * S, "3d"},
		{5400 * S, "1h30m"},
	};
	char buffer[64];

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		assert_string_equal(sb_text_format_span(cases[i].ns, buffer, sizeof(buffer)),
				    cases[i].text);
	/* The longest there is fits, and what is printed can be read again. */
	assert_true(strlen(sb_text_format_span(UINT64_MAX, buffer, sizeof(buffer))) < 63);
	for (uint64_t ns = 1; ns < UINT64_C(1) << 62; ns = ns * 3 + MS) {
		uint64_t again;

		sb_text_format_span(ns, buffer, sizeof(buffer));
		assert_int_equal(sb_text_parse_span(buffer, &again), 0);
		assert_int_equal(again, ns / MS * MS);
	}
}

static void escapes(void **state)
{
	static const struct {
		const char *bytes;
		const char *escaped;
	} cases[] = {
		{"plain_name-1.2", "plain_name-1.2"},
		{"a b", "a b"},
		{"a\tb\nc", "a\\x09b\\x0ac"},
		{"\\", "\\x5c"},
		{"\\x41", "\\x5cx41"},
		{"\\040", "\\x5c040"},
		{"\x1b[31m", "\\x1b[31m"},
		{"\x7f", "\\x7f"},
		{"\x0b\x0c\x0d", "\\x0b\\x0c\\x0d"},
		{"\xc3\xa4", "\xc3\xa4"},
		{"\xe2\x82\xac", "\xe2\x82\xac"},
		{"\xf0\x9f\x98\x80", "\xf0\x9f\x98\x80"},
		{"\xff\xfe", "\\xff\\xfe"},
		{"\xc3", "\\xc3"},			      /* cut */
		{"\xc0\xaf", "\\xc0\\xaf"},		      /* overlong '/' */
		{"\xe0\x80\xaf", "\\xe0\\x80\\xaf"},	      /* overlong again */
		{"\xed\xa0\x80", "\\xed\\xa0\\x80"},	      /* surrogate */
		{"\xf4\x90\x80\x80", "\\xf4\\x90\\x80\\x80"}, /* above U+10FFFF */
		{"\xc2\x85", "\\xc2\\x85"},		      /* C1: next line */
		{"\xc2\x9b", "\\xc2\\x9b"},		      /* C1: control sequence introducer */
		{"\xe2\x80\xa8", "\\xe2\\x80\\xa8"},	      /* line separator */
		{"\xe2\x80\xae", "\\xe2\\x80\\xae"},	      /* right-to-left override */
		{"\xef\xbb\xbf", "\\xef\\xbb\\xbf"},	      /* byte order mark */
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		size_t length = strlen(cases[i].bytes);
		char *escaped = sb_text_escape(cases[i].bytes, length);

		assert_non_null(escaped);
		assert_string_equal(escaped, cases[i].escaped);
		assert_int_equal(sb_text_is_clean(cases[i].bytes, length),
				 strcmp(cases[i].bytes, cases[i].escaped) == 0);
		assert_int_equal(sb_text_unescape(escaped), length);
		assert_string_equal(escaped, cases[i].bytes);
		free(escaped);
	}
}

static void every_byte_is_escaped_and_back(void **state)
{
	char bytes[256], escaped[SB_TEXT_ESCAPED_MAX(256)];
	size_t n = 0, length;

	(void)state;
	for (int c = 1; c < 256; c++)
		bytes[n++] = (char)c;
	length = sb_text_escape_into(bytes, n, escaped);
	assert_int_equal(length, strlen(escaped));
	for (const char *p = escaped; *p; p++)
		assert_true(*p >= 0x20 && *p < 0x7f);
	assert_int_equal(sb_text_unescape(escaped), n);
	assert_memory_equal(escaped, bytes, n);
	/* A NUL within is a control byte like any other. */
	assert_int_equal(sb_text_escape_into("\0", 1, escaped), 4);
	assert_string_equal(escaped, "\\x00");
}

static void only_our_own_escapes_are_undone(void **state)
{
	static const char *const same[] = {"\\", "\\x", "\\x4", "\\xg1", "\\x4G", "\\xAB", "\\041"};
	char text[16];

	(void)state;
	for (size_t i = 0; i < sizeof(same) / sizeof(same[0]); i++) {
		snprintf(text, sizeof(text), "%s", same[i]);
		assert_int_equal(sb_text_unescape(text), strlen(same[i]));
		assert_string_equal(text, same[i]);
	}
}

static void characters_have_a_length(void **state)
{
	(void)state;
	assert_int_equal(sb_text_char_length("a", 1), 1);
	assert_int_equal(sb_text_char_length("", 0), 0);
	assert_int_equal(sb_text_char_length("\xc3\xa4", 2), 2);
	assert_int_equal(sb_text_char_length("\xc3\xa4", 1), 0);
	assert_int_equal(sb_text_char_length("\xe2\x82\xac", 3), 3);
	assert_int_equal(sb_text_char_length("\xf0\x9f\x98\x80", 4), 4);
	assert_int_equal(sb_text_char_length("\xf0\x9f\x98\x80", 3), 0);
	assert_int_equal(sb_text_char_length("\x80", 1), 0);
	assert_int_equal(sb_text_char_length("\n", 1), 0);
	assert_int_equal(sb_text_char_length("\\", 1), 1);
}

static void bytes_in_hexadecimal(void **state)
{
	char *hex = sb_text_hex("\x00\x7f\xff"
				"A",
				4);

	(void)state;
	assert_string_equal(hex, "007fff41");
	free(hex);
	hex = sb_text_hex("", 0);
	assert_string_equal(hex, "");
	free(hex);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(numbers),
		cmocka_unit_test(spans),
		cmocka_unit_test(spans_are_printed),
		cmocka_unit_test(escapes),
		cmocka_unit_test(every_byte_is_escaped_and_back),
		cmocka_unit_test(only_our_own_escapes_are_undone),
		cmocka_unit_test(characters_have_a_length),
		cmocka_unit_test(bytes_in_hexadecimal),
	};

	return cmocka_run_group_tests_name("text", tests, NULL, NULL);
}
