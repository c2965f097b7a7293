/*
 * What the four commands have in common on their command line: shared argp children, the start
 * and the end of a run.
 */
#ifndef SB_CLI_H
#define SB_CLI_H

#include "evidence.h"
#include "names.h"
#include "status.h"

#include <argp.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum sb_progress {
	SB_PROGRESS_AUTO,
	SB_PROGRESS_ALWAYS,
	SB_PROGRESS_NEVER,
	SB_PROGRESS_COUNT,
};

/* The input of sb_cli_common_argp, sb_cli_dry_run_argp and sb_cli_progress_argp. */
struct sb_cli {
	const char *program;
	uint64_t started_ns;
	const char *procfs; /* SB_PROC_DIR unless told otherwise */
	bool procfs_given;
	uid_t uid; /* the target uid: the effective uid unless told otherwise */
	bool uid_given;
	bool dry_run;
	bool json;
	int verbosity; /* -1 quiet, 0, 1 and up */
	enum sb_progress progress;
	const char *metrics; /* NULL: none */
};

/* The input of sb_cli_evidence_argp. */
struct sb_cli_evidence {
	enum sb_level require;
	enum sb_evidence evidence;
	bool trust_pidns;
};

#define SB_CLI_EVIDENCE_DEFAULTS \
	((struct sb_cli_evidence){.require = SB_LEVEL_COVERED, .evidence = SB_EVIDENCE_AUTO})

extern const struct argp sb_cli_common_argp;   /* --uid --procfs --json --quiet --verbose ... */
extern const struct argp sb_cli_dry_run_argp;  /* --dry-run */
extern const struct argp sb_cli_progress_argp; /* --progress --metrics */
extern const struct argp sb_cli_evidence_argp; /* --require --evidence --trust-pidns */

/*
 * Before anything else in main: fills cli with its defaults, makes sure that descriptors 0 to 2 are
 * open (a closed one is replaced by /dev/null opened the wrong way round, so that using it fails as
 * it should), shortens argv[0], raises the soft limit of descriptors to the hard one, ignores
 * SIGPIPE, and sees to it that what argp itself prints (--help, --version) is checked for write
 * errors too.
 */
void sb_cli_start(struct sb_cli *cli, const char *program, char **argv);

/*
 * argp_parse with the statuses of the command told in --help, below the text of argp->doc. Ends the
 * program itself on --help, --version (0) and on wrong usage (2). Messages are set up afterwards.
 */
void sb_cli_parse(struct sb_cli *cli, const struct argp *argp, sb_status_set statuses, int argc,
		  char **argv, void *input);

/* Reads a SPAN argument or ends with a usage error that names option and text. Nanoseconds. */
uint64_t sb_cli_span(struct argp_state *state, const char *option, const char *text);

/* Reads a number from min to max or ends with a usage error that names option and text. */
uint64_t sb_cli_number(struct argp_state *state, const char *option, const char *text, uint64_t min,
		       uint64_t max);

/*
 * Appends an argument, not copied, to a list that is NULL at first and that the caller frees. Ends
 * the program (1) without memory.
 */
void sb_cli_add(struct argp_state *state, const char ***list, size_t *count, const char *text);

/* The same for a --prefix; one that cannot be is a usage error. */
void sb_cli_add_prefix(struct argp_state *state, struct sb_prefixes *prefixes, const char *prefix);

/* The same for a ROOT; an empty one is a usage error. */
void sb_cli_add_root(struct argp_state *state, const char ***list, size_t *count, const char *path);

/* For commands that remove: a usage error unless the target uid is ours, or we are root. */
void sb_cli_check_acting(struct argp_state *state, const struct sb_cli *cli);

/*
 * The end: flushes and closes stdout; what it did not take is said and makes the status 1 (unless
 * a weightier one is in the set). Returns the status to exit with.
 */
enum sb_status sb_cli_finish(sb_status_set statuses);

#endif
