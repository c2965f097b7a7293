/* The command line of sb-pinscan. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "cli.h"
#include "names.h"
#include "pinscan.h"

/* The columns of the table, in the order of their names' table. */
enum column {
	COLUMN_NAME,
	COLUMN_USE,
	COLUMN_NAMESPACES,
	COLUMN_DELETED,
	COLUMN_HOLDERS,
	COLUMN_COUNT,
};

extern const char *const column_names[COLUMN_COUNT];

struct options {
	struct sb_cli cli;
	struct sb_cli_evidence evidence;
	struct sb_pin_match match;
	bool holders;
	bool names_only;
	bool no_headings;
	enum column columns[COLUMN_COUNT];
	size_t column_count;
};

/* Parses, or ends the program (--help, --version, wrong usage). */
void options_parse(struct options *options, int argc, char **argv);
void options_free(struct options *options);

#endif
