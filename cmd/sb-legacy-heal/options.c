#include "options.h"

#include "fence.h"

#include <stdlib.h>

enum {
	KEY_MAX_AGE = 0x2000,
	KEY_BUDGET,
	KEY_THRESHOLD,
	KEY_MARKER,
	KEY_IGNORE_MARKER,
};

enum {
	GROUP_WHAT = 1,
};

static const struct argp_option own_options[] = {
	{NULL, 0, NULL, 0, "What to heal:", GROUP_WHAT},
	{"max-age", KEY_MAX_AGE, "SPAN", 0, "keep what is not older (default 24h)", GROUP_WHAT},
	{"threshold", KEY_THRESHOLD, "N", 0,
	 "touch nothing unless so many could go: the pile (default 64)", GROUP_WHAT},
	{"budget", KEY_BUDGET, "SPAN", 0, "stop after this time (default 10s; 0: no end)",
	 GROUP_WHAT},
	{"marker", KEY_MARKER, "FILE", 0,
	 "the file that says it was done (default in ~/.local/state/sb-tools)", GROUP_WHAT},
	{"ignore-marker", KEY_IGNORE_MARKER, NULL, 0, "heal again, whatever the marker says",
	 GROUP_WHAT},
	{0},
};

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->evidence;
		for (int i = 1; i <= 3; i++)
			state->child_inputs[i] = &options->cli;
		return 0;
	case KEY_MAX_AGE:
		options->max_age_ns = sb_cli_span(state, "--max-age", arg);
		return 0;
	case KEY_BUDGET:
		options->budget_ns = sb_cli_span(state, "--budget", arg);
		return 0;
	case KEY_THRESHOLD:
		options->threshold = sb_cli_number(state, "--threshold", arg, 1, INT64_MAX);
		return 0;
	case KEY_MARKER:
		if (!*arg)
			argp_error(state, "--marker: a FILE must not be empty");
		options->marker = arg;
		return 0;
	case KEY_IGNORE_MARKER:
		options->ignore_marker = true;
		return 0;
	case ARGP_KEY_ARG:
		sb_cli_add_root(state, &options->roots, &options->root_count, arg);
		return 0;
	case ARGP_KEY_END:
		sb_cli_check_acting(state, &options->cli);
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
		.doc = "Clear, once, an old pile of empty directories tmp???????? whose names "
		       "prove "
		       "nothing, behind nine fences and a marker file. Default root: "
		       "/run/user/UID.",
		.children = children,
	};
	const sb_status_set statuses =
		SB_STATUS_BIT(SB_STATUS_DONE) | SB_STATUS_BIT(SB_STATUS_FAILED) |
		SB_STATUS_BIT(SB_STATUS_REFUSED) | SB_STATUS_BIT(SB_STATUS_UNPROVEN) |
		SB_STATUS_BIT(SB_STATUS_MORE) | SB_STATUS_BIT(SB_STATUS_YOUNG);

	*options = (struct options){
		.evidence = SB_CLI_EVIDENCE_DEFAULTS,
		.max_age_ns = SB_FENCE_MAX_AGE,
		.budget_ns = SB_FENCE_BUDGET,
		.threshold = SB_FENCE_PILE,
	};
	sb_cli_start(&options->cli, "sb-legacy-heal", argv);
	sb_cli_parse(&options->cli, &argp, statuses, argc, argv, options);
}

void options_free(struct options *options)
{
	free(options->roots);
}
