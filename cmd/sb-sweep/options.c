#include "options.h"

#include "fence.h"

#include <stdlib.h>
#include <unistd.h>

enum {
	KEY_MAX_AGE = 0x2000,
	KEY_MIN_AGE,
	KEY_BUDGET,
	KEY_ALL_USERS,
};

enum {
	GROUP_WHAT = 1,
};

static const struct argp_option own_options[] = {
	{NULL, 0, NULL, 0, "What to sweep:", GROUP_WHAT},
	{"prefix", 'p', "PREFIX", 0,
	 "entries PREFIX<pid>_<rest> (default " SB_NAMES_DEFAULT_PREFIX "); may be repeated",
	 GROUP_WHAT},
	{"max-age", KEY_MAX_AGE, "SPAN", 0,
	 "from this age on, a live process younger than the entry does not keep it (default 24h)",
	 GROUP_WHAT},
	{"min-age", KEY_MIN_AGE, "SPAN", 0, "keep what is younger (default 60s)", GROUP_WHAT},
	{"budget", KEY_BUDGET, "SPAN", 0, "stop after this time (default 10s; 0: no end)",
	 GROUP_WHAT},
	{"all-users", KEY_ALL_USERS, NULL, 0, "every /run/user/*, each for its owner (root only)",
	 GROUP_WHAT},
	{0},
};

static void settle(struct argp_state *state, struct options *options)
{
	if (!options->prefixes.count)
		sb_cli_add_prefix(state, &options->prefixes, SB_NAMES_DEFAULT_PREFIX);
	sb_cli_check_acting(state, &options->cli);
	if (!options->all_users)
		return;
	if (options->root_count)
		argp_error(state, "--all-users goes without ROOT");
	if (options->cli.uid_given)
		argp_error(state, "--all-users goes without --uid");
	if (geteuid() != 0)
		argp_error(state, "--all-users is for root");
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->evidence;
		for (int i = 1; i <= 3; i++)
			state->child_inputs[i] = &options->cli;
		return 0;
	case 'p':
		sb_cli_add_prefix(state, &options->prefixes, arg);
		return 0;
	case KEY_MAX_AGE:
		options->max_age_ns = sb_cli_span(state, "--max-age", arg);
		return 0;
	case KEY_MIN_AGE:
		options->min_age_ns = sb_cli_span(state, "--min-age", arg);
		return 0;
	case KEY_BUDGET:
		options->budget_ns = sb_cli_span(state, "--budget", arg);
		return 0;
	case KEY_ALL_USERS:
		options->all_users = true;
		return 0;
	case ARGP_KEY_ARG:
		sb_cli_add_root(state, &options->roots, &options->root_count, arg);
		return 0;
	case ARGP_KEY_END:
		settle(state, options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void options_parse(struct options *options, int argc, char **argv)
{
	static const struct argp_child children[] = {{&sb_cli_evidence_argp, 0, NULL, 0},
						     {&sb_cli_common_argp, 0, NULL, 0},
						     {&sb_cli_dry_run_argp, 0, NULL, 0},
						     {&sb_cli_progress_argp, 0, NULL, 0},
						     {0}};
	static const struct argp argp = {
		.options = own_options,
		.parser = parse,
		.args_doc = "[ROOT...]",
		.doc = "Give back the staged entries whose launcher is gone and that no live mount "
		       "uses. Default roots: /run/user/UID, /dev/shm and ${TMPDIR:-/tmp}.",
		.children = children,
	};
	const sb_status_set statuses =
		SB_STATUS_BIT(SB_STATUS_DONE) | SB_STATUS_BIT(SB_STATUS_FAILED) |
		SB_STATUS_BIT(SB_STATUS_REFUSED) | SB_STATUS_BIT(SB_STATUS_UNPROVEN) |
		SB_STATUS_BIT(SB_STATUS_MORE);

	*options = (struct options){
		.evidence = SB_CLI_EVIDENCE_DEFAULTS,
		.max_age_ns = SB_FENCE_MAX_AGE,
		.min_age_ns = SB_FENCE_MIN_AGE,
		.budget_ns = SB_FENCE_BUDGET,
	};
	sb_cli_start(&options->cli, "sb-sweep", argv);
	sb_cli_parse(&options->cli, &argp, statuses, argc, argv, options);
}

void options_free(struct options *options)
{
	free(options->prefixes.item);
	free(options->roots);
}
