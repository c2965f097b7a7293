/*
 * What fills a root, drawn below the line that names it: how many entries by verdict and by age, as
 * bars, and the inodes that are used now and that would be afterwards. On a terminal; as plain
 * lines elsewhere. Pure but for the look at the terminal.
 */
#ifndef SB_PICTURE_H
#define SB_PICTURE_H

#include "age.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* How a row ends, which is told by its colour and the filling of its bar. */
enum sb_picture_end {
	SB_PICTURE_GOES,
	SB_PICTURE_STAYS,
	SB_PICTURE_OPEN, /* stays for lack of proof, or because something failed */
};

struct sb_picture_row {
	const char *name; /* borrowed */
	enum sb_picture_end end;
	uint64_t by_age[SB_AGE_COUNT];
};

struct sb_picture {
	const struct sb_picture_row *row; /* borrowed; rows that count nothing are left out */
	size_t row_count;
	uint64_t inodes_total; /* 0: the file system does not count them */
	uint64_t inodes_now;   /* used */
	uint64_t inodes_after;
};

struct sb_picture_style {
	bool bars; /* else plain lines */
	bool utf8; /* else ASCII */
	bool colour;
	size_t width; /* columns */
};

/*
 * The style that fits what stream is: bars on a terminal, in the locale's character set, with
 * colours unless NO_COLOR is set and not empty or TERM is "dumb".
 */
struct sb_picture_style sb_picture_style_of(FILE *stream);

/* Write errors show in the stream's error flag. */
void sb_picture_draw(FILE *stream, const struct sb_picture *picture,
		     const struct sb_picture_style *style);

#endif
