/* The command line of sb-legacy-heal. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "cli.h"

#include <stdint.h>

struct options {
	struct sb_cli cli;
	struct sb_cli_evidence evidence;
	uint64_t max_age_ns;
	uint64_t budget_ns; /* 0: none */
	uint64_t threshold;
	const char *marker; /* NULL: the default place */
	bool ignore_marker;
	const char **roots; /* as given */
	size_t root_count;
};

/* Parses, or ends the program (--help, --version, wrong usage). */
void options_parse(struct options *options, int argc, char **argv);
void options_free(struct options *options);

#endif
