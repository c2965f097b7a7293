/* The command line of sb-sweep. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "cli.h"
#include "names.h"

#include <stdint.h>

struct options {
	struct sb_cli cli;
	struct sb_cli_evidence evidence;
	struct sb_prefixes prefixes;
	uint64_t max_age_ns;
	uint64_t min_age_ns;
	uint64_t budget_ns; /* 0: none */
	bool all_users;
	const char **roots; /* as given */
	size_t root_count;
};

/* Parses, or ends the program (--help, --version, wrong usage). */
void options_parse(struct options *options, int argc, char **argv);
void options_free(struct options *options);

#endif
