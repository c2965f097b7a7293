#include "picture.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define WIDTH_DEFAULT 80
#define WIDTH_LEAST   50  /* below that bars tell nothing; lines are cut by the terminal */
#define WIDTH_MOST    120 /* above that the eye loses the row */
#define NAME_COLUMNS  24
#define COUNT_COLUMNS 12
#define GAUGE_YELLOW  70 /* percent of the inodes */
#define GAUGE_RED     90

struct sb_picture_style sb_picture_style_of(FILE *stream)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	struct sb_picture_style style = {.width = WIDTH_DEFAULT};
	struct winsize window;

	style.bars = isatty(fileno(stream));
	style.utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
	style.colour = style.bars && !(no_color && *no_color) && term && strcmp(term, "dumb") != 0;
	if (ioctl(fileno(stream), TIOCGWINSZ, &window) == 0 && window.ws_col > 0)
		style.width = window.ws_col;
	return style;
}

/* SGR colours; red is for what needs a person. */
static const struct {
	const char *colour;
	const char *utf8;
	const char *ascii;
} fillings[] = {
	[SB_PICTURE_GOES] = {"32", "\u2588", "#"},
	[SB_PICTURE_STAYS] = {"33", "\u2593", "="},
	[SB_PICTURE_OPEN] = {"31", "\u2592", "!"},
};

static void set_colour(FILE *stream, const struct sb_picture_style *style, const char *colour)
{
	if (style->colour)
		fprintf(stream, "\033[%sm", colour);
}

/* Cells in eighths: a UTF-8 bar ends in a part of a cell, an ASCII one is rounded up. */
static const char *const eighths[] = {"",	"\u258f", "\u258e", "\u258d",
				      "\u258c", "\u258b", "\u258a", "\u2589"};

/* part of whole, in eighths of cells; what is there at all shows. */
static size_t scale(uint64_t part, uint64_t whole, size_t cells)
{
	size_t length;

	if (part == 0 || whole == 0)
		return 0;
	length = (size_t)((double)part / (double)whole * (double)cells * 8.0 + 0.5);
	if (length > cells * 8)
		length = cells * 8;
	return length > 0 ? length : 1;
}

/*
 * Draws it and returns the cells it took. Without UTF-8 the pieces differ by their signs, so that
 * they do without colours too; with it, by shades.
 */
static size_t draw_bar(FILE *stream, const struct sb_picture_style *style, size_t length,
		       enum sb_picture_end end, const char *colour)
{
	size_t full = length / 8;
	bool part = length % 8 > 0;

	if (length == 0)
		return 0;
	set_colour(stream, style, colour);
	for (size_t i = 0; i < full; i++)
		fputs(style->utf8 ? fillings[end].utf8 : fillings[end].ascii, stream);
	if (part)
		fputs(!style->utf8 ? fillings[end].ascii : eighths[length % 8], stream);
	set_colour(stream, style, "0");
	return full + part;
}

/* As df does: rounded up, so that only an empty one shows 0%. */
static unsigned int percent(uint64_t part, uint64_t whole)
{
	double exact = (double)part * 100.0 / (double)whole;
	unsigned int rounded = (unsigned int)exact;

	return rounded + (exact > (double)rounded);
}

static void draw_label(FILE *stream, const char *name, uint64_t count)
{
	fprintf(stream, "  %-*s %*llu ", NAME_COLUMNS, name, COUNT_COLUMNS,
		(unsigned long long)count);
}

static void draw_gauge(FILE *stream, const struct sb_picture_style *style, const char *when,
		       uint64_t used, uint64_t total, size_t cells)
{
	unsigned int share = percent(used, total);
	enum sb_picture_end end = share >= GAUGE_RED	  ? SB_PICTURE_OPEN
				  : share >= GAUGE_YELLOW ? SB_PICTURE_STAYS
							  : SB_PICTURE_GOES;
	char name[NAME_COLUMNS + 1];

	snprintf(name, sizeof(name), "inodes %s, %u%%", when, share);
	draw_label(stream, name, used);
	for (size_t i = draw_bar(stream, style, scale(used, total, cells), SB_PICTURE_GOES,
				 fillings[end].colour);
	     i < cells; i++)
		fputs(style->utf8 ? "\u2591" : ".", stream);
	fputc('\n', stream);
}

static uint64_t row_sum(const struct sb_picture_row *row)
{
	uint64_t sum = 0;

	for (int age = 0; age < SB_AGE_COUNT; age++)
		sum += row->by_age[age];
	return sum;
}

static uint64_t age_sum(const struct sb_picture *picture, int age, enum sb_picture_end end)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < picture->row_count; i++)
		if (picture->row[i].end == end)
			sum += picture->row[i].by_age[age];
	return sum;
}

static bool is_empty(const struct sb_picture *picture)
{
	for (size_t i = 0; i < picture->row_count; i++)
		if (row_sum(&picture->row[i]) > 0)
			return false;
	return true;
}

static void draw_verdicts(FILE *stream, const struct sb_picture *picture,
			  const struct sb_picture_style *style, size_t cells)
{
	uint64_t most = 0;

	for (size_t i = 0; i < picture->row_count; i++)
		if (row_sum(&picture->row[i]) > most)
			most = row_sum(&picture->row[i]);
	for (size_t i = 0; i < picture->row_count; i++) {
		const struct sb_picture_row *row = &picture->row[i];
		uint64_t sum = row_sum(row);

		if (sum == 0)
			continue;
		draw_label(stream, row->name, sum);
		draw_bar(stream, style, scale(sum, most, cells), row->end,
			 fillings[row->end].colour);
		fputc('\n', stream);
	}
}

/*
 * One bar an age: what goes, then what stays, then what is open. In whole cells, for pieces stand
 * side by side; two cells are kept back for pieces that are rounded up.
 */
static void draw_ages(FILE *stream, const struct sb_picture *picture,
		      const struct sb_picture_style *style, size_t cells)
{
	uint64_t sums[SB_AGE_COUNT] = {0}, most = 0;

	for (int age = 0; age < SB_AGE_COUNT; age++) {
		for (int end = SB_PICTURE_GOES; end <= SB_PICTURE_OPEN; end++)
			sums[age] += age_sum(picture, age, (enum sb_picture_end)end);
		if (sums[age] > most)
			most = sums[age];
	}
	for (int age = 0; age < SB_AGE_COUNT; age++) {
		if (sums[age] == 0)
			continue;
		draw_label(stream, sb_age_name((enum sb_age)age), sums[age]);
		for (int end = SB_PICTURE_GOES; end <= SB_PICTURE_OPEN; end++) {
			uint64_t part = age_sum(picture, age, (enum sb_picture_end)end);

			draw_bar(stream, style, (scale(part, most, cells - 2) + 7) / 8 * 8,
				 (enum sb_picture_end)end, fillings[end].colour);
		}
		fputc('\n', stream);
	}
}

static void draw_bars(FILE *stream, const struct sb_picture *picture,
		      const struct sb_picture_style *style)
{
	size_t width = style->width < WIDTH_LEAST  ? WIDTH_LEAST
		       : style->width > WIDTH_MOST ? WIDTH_MOST
						   : style->width;
	size_t cells = width - NAME_COLUMNS - COUNT_COLUMNS - 5;

	if (picture->inodes_total > 0) {
		draw_gauge(stream, style, "now", picture->inodes_now, picture->inodes_total, cells);
		draw_gauge(stream, style, "after", picture->inodes_after, picture->inodes_total,
			   cells);
		fputc('\n', stream);
	}
	if (is_empty(picture))
		return;
	draw_verdicts(stream, picture, style, cells);
	fputc('\n', stream);
	draw_ages(stream, picture, style, cells);
	fputc('\n', stream);
}

static void draw_lines(FILE *stream, const struct sb_picture *picture)
{
	if (picture->inodes_total > 0)
		fprintf(stream, "  inodes: %llu used now, %llu afterwards, of %llu\n",
			(unsigned long long)picture->inodes_now,
			(unsigned long long)picture->inodes_after,
			(unsigned long long)picture->inodes_total);
	for (size_t i = 0; i < picture->row_count; i++) {
		const struct sb_picture_row *row = &picture->row[i];
		const char *between = " (";

		if (row_sum(row) == 0)
			continue;
		fprintf(stream, "  %s: %llu", row->name, (unsigned long long)row_sum(row));
		for (int age = 0; age < SB_AGE_COUNT; age++) {
			if (row->by_age[age] == 0)
				continue;
			fprintf(stream, "%s%llu %s", between, (unsigned long long)row->by_age[age],
				sb_age_name((enum sb_age)age));
			between = ", ";
		}
		fputs(")\n", stream);
	}
}

void sb_picture_draw(FILE *stream, const struct sb_picture *picture,
		     const struct sb_picture_style *style)
{
	if (style->bars)
		draw_bars(stream, picture, style);
	else
		draw_lines(stream, picture);
}
