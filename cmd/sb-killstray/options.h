/* The command line of sb-killstray. */
#ifndef OPTIONS_H
#define OPTIONS_H

#include "cli.h"
#include "spare.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Numbers of processes, in the order given. */
struct pids {
	pid_t *item;
	size_t count;
};

struct options {
	struct sb_cli cli;
	uint64_t grace_ns;
	const char **keep;
	size_t keep_count;
	bool no_keep;
	struct pids keep_pid;
	struct pids only;
	const char *cgroup; /* NULL: none */
	bool host;
	const char *lock; /* NULL: none */
	uint64_t lock_wait_ns;
};

/* Parses, or ends the program (--help, --version, wrong usage). */
void options_parse(struct options *options, int argc, char **argv);
void options_free(struct options *options);

/* What the options say of who is spared; borrows from them. */
struct sb_spare_wishes options_wishes(const struct options *options);

#endif
