/* The picture of a root: bars and plain lines, character by character. */
#include "picture.h"

#include "clock.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static const struct sb_picture_row rows[] = {
	{"directories to remove", SB_PICTURE_GOES, {[SB_AGE_WEEK] = 800, [SB_AGE_OLDER] = 200}},
	{"files to remove", SB_PICTURE_GOES, {0}},
	{"pinned", SB_PICTURE_STAYS, {[SB_AGE_WEEK] = 500}},
	{"unproven", SB_PICTURE_OPEN, {[SB_AGE_MINUTE] = 1}},
};

static const struct sb_picture picture = {
	.row = rows,
	.row_count = sizeof(rows) / sizeof(rows[0]),
	.inodes_total = 2000,
	.inodes_now = 2000,
	.inodes_after = 1000,
};

static char *draw(const struct sb_picture *what, struct sb_picture_style style)
{
	char *text = NULL;
	size_t size;
	FILE *f = open_memstream(&text, &size);

	assert_non_null(f);
	sb_picture_draw(f, what, &style);
	fclose(f);
	return text;
}

static void assert_drawn(struct sb_picture_style style, const char *expected)
{
	char *text = draw(&picture, style);

	assert_string_equal(text, expected);
	free(text);
}

static void plain_lines(void **state)
{
	(void)state;
	assert_drawn((struct sb_picture_style){.width = 80},
		     "  inodes: 2000 used now, 1000 afterwards, of 2000\n"
		     "  directories to remove: 1000 (800 under a week, 200 a week or more)\n"
		     "  pinned: 500 (500 under a week)\n"
		     "  unproven: 1 (1 under a minute)\n");
}

static void ascii_bars(void **state)
{
	(void)state;
	assert_drawn((struct sb_picture_style){.bars = true, .width = 62},
		     "  inodes now, 100%                 2000 #####################\n"
		     "  inodes after, 50%                1000 ###########..........\n"
		     "\n"
		     "  directories to remove            1000 #####################\n"
		     "  pinned                            500 ===========\n"
		     "  unproven                            1 !\n"
		     "\n"
		     "  under a minute                      1 !\n"
		     "  under a week                     1300 ############========\n"
		     "  a week or more                    200 ###\n"
		     "\n");
}

static void utf8_bars(void **state)
{
	char *text =
		draw(&picture, (struct sb_picture_style){.bars = true, .utf8 = true, .width = 62});

	(void)state;
	/* 500 of 1000 in 21 cells: ten and a half. */
	assert_non_null(strstr(text, "pinned                            500 ▓▓▓▓▓▓▓▓▓▓▌\n"));
	assert_non_null(
		strstr(text, "inodes after, 50%                1000 ██████████▌░░░░░░░░░░\n"));
	/* What is there at all shows. */
	assert_non_null(strstr(text, "unproven                            1 ▏\n"));
	assert_null(strchr(text, '\033'));
	free(text);
}

static void colours(void **state)
{
	char *text = draw(&picture,
			  (struct sb_picture_style){.bars = true, .colour = true, .width = 62});

	(void)state;
	assert_non_null(
		strstr(text, "pinned                            500 \033[33m===========\033[0m\n"));
	/* Full is red, half full green: the colours of what needs a person and what does not. */
	assert_non_null(strstr(text, "2000 \033[31m"));
	assert_non_null(strstr(text, "1000 \033[32m"));
	free(text);
}

/* No line is longer than the terminal, whatever the numbers. */
static void fits(void **state)
{
	static const struct sb_picture_row large[] = {
		{"directories to remove", SB_PICTURE_GOES, {UINT32_MAX, UINT32_MAX}},
		{"below_threshold", SB_PICTURE_STAYS, {1, 1, 1, 1, 1}},
		{"unproven", SB_PICTURE_OPEN, {1, 1, 1, 1, 1}},
	};
	static const struct sb_picture full = {large, 3, 4000000000, 4000000000, 1};

	(void)state;
	for (size_t width = 50; width <= 200; width++) {
		char *text = draw(&full, (struct sb_picture_style){.bars = true, .width = width});
		char *rest = text;

		for (char *l = strsep(&rest, "\n"); l; l = strsep(&rest, "\n"))
			assert_true(strlen(l) <= width);
		free(text);
	}
}

static void nothing_there(void **state)
{
	static const struct sb_picture empty = {rows + 1, 1, 0, 0, 0};
	char *text = draw(&empty, (struct sb_picture_style){.bars = true, .width = 80});

	(void)state;
	assert_string_equal(text, "");
	free(text);
}

static void style_of_a_file(void **state)
{
	FILE *f = tmpfile();
	struct sb_picture_style style = sb_picture_style_of(f);

	(void)state;
	assert_false(style.bars);
	assert_false(style.colour);
	fclose(f);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(plain_lines),
		cmocka_unit_test(ascii_bars),
		cmocka_unit_test(utf8_bars),
		cmocka_unit_test(colours),
		cmocka_unit_test(fits),
		cmocka_unit_test(nothing_there),
		cmocka_unit_test(style_of_a_file),
	};

	return cmocka_run_group_tests_name("picture", tests, NULL, NULL);
}
