/*
 * A line on stderr that tells how far a long pass is, and is gone when the pass is over. Only on a
 * terminal, unless asked for; ten times a second at most. A message or a result that comes
 * meanwhile makes it step aside.
 */
#ifndef SB_PROGRESS_H
#define SB_PROGRESS_H

#include "cli.h"
#include "clock.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sb_progress_facts {
	uint64_t seen;	  /* entries */
	uint64_t removed; /* entries; in a dry run those that would be */
	bool dry_run;
	uint64_t elapsed_ns;
	uint64_t left_ns; /* UINT64_MAX: no end */
};

/*
 * The line without the program's name, cut to width columns, never with a newline. Pure. Returns
 * the number of columns, which is that of bytes: it is all ASCII.
 */
size_t sb_progress_format(const struct sb_progress_facts *facts, size_t width, char *buffer,
			  size_t size);

/*
 * Begins a pass. budget is what bounds it; it is borrowed until the end, and may be prolonged. The
 * program's name stands before the line.
 */
void sb_progress_start(enum sb_progress when, const char *program, const struct sb_budget *budget,
		       bool dry_run);

/* Tells the counts; costs nothing where there is no line, and a look at the clock where there is.
 */
void sb_progress_tell(uint64_t seen, uint64_t removed);

/* Takes the line away until there is news again: before anything is written to stdout. */
void sb_progress_hide(void);

/* The pass is over: the line is gone for good. */
void sb_progress_end(void);

#endif
