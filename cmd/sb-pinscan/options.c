#include "options.h"

#include "log.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

enum {
	KEY_LEGACY = 0x2000,
	KEY_NAMES,
	KEY_NO_HEADINGS,
};

enum {
	GROUP_WHAT = 1,
	GROUP_OUTPUT = 7, /* after the shared output options */
};

const char *const column_names[COLUMN_COUNT] = {
	[COLUMN_NAME] = "NAME",
	[COLUMN_USE] = "USE",
	[COLUMN_NAMESPACES] = "NAMESPACES",
	[COLUMN_DELETED] = "DELETED",
	[COLUMN_HOLDERS] = "HOLDERS",
};

static const struct argp_option own_options[] = {
	{NULL, 0, NULL, 0, "What to look for:", GROUP_WHAT},
	{"prefix", 'p', "PREFIX", 0,
	 "names that start with PREFIX (default " SB_NAMES_DEFAULT_PREFIX "); may be repeated",
	 GROUP_WHAT},
	{"legacy", KEY_LEGACY, NULL, 0, "names of mkdtemp's shape instead: tmp????????",
	 GROUP_WHAT},
	{"all", 'a', NULL, 0, "every mount whose root is not /, by its whole root", GROUP_WHAT},
	{"holders", 'H', NULL, 0, "tell which tasks are in the namespaces that pin", GROUP_WHAT},
	{"names", KEY_NAMES, NULL, 0, "bare names, one a line", GROUP_OUTPUT},
	{"no-headings", KEY_NO_HEADINGS, NULL, 0, "a table without its first line", GROUP_OUTPUT},
	{"output", 'o', "LIST", 0, "columns: NAME,USE,NAMESPACES,DELETED,HOLDERS", GROUP_OUTPUT},
	{0},
};

static void add_entry(struct argp_state *state, struct options *options, const char *name)
{
	if (!*name)
		argp_error(state, "a NAME must not be empty");
	if (strchr(name, '/') || sb_names_is_dot(name))
		argp_error(state, "'%s': a NAME is an entry's name, not a path", name);
	sb_cli_add(state, &options->match.names.item, &options->match.names.count, name);
}

static void add_column(struct argp_state *state, struct options *options, const char *name)
{
	for (int i = 0; i < COLUMN_COUNT; i++)
		if (strcasecmp(name, column_names[i]) == 0) {
			if (options->column_count == COLUMN_COUNT)
				argp_error(state, "--output: too many columns");
			options->columns[options->column_count++] = (enum column)i;
			return;
		}
	argp_error(state, "--output: no column '%s'", name);
}

static void set_columns(struct argp_state *state, struct options *options, char *list)
{
	char *name;

	options->column_count = 0;
	while ((name = strsep(&list, ",")))
		add_column(state, options, name);
}

/* What follows from what was given, once all is known. */
static void settle(struct options *options)
{
	static const char *default_prefix = SB_NAMES_DEFAULT_PREFIX;
	struct sb_pin_match *match = &options->match;

	if (match->names.count) {
		/* A question about names is about these names alone. */
		match->prefixes.count = 0;
		match->legacy = match->all = false;
	} else if (!match->prefixes.count && !match->legacy) {
		match->prefixes.item = &default_prefix;
		match->prefixes.count = 1;
	}
	if (options->column_count)
		return;
	for (int i = 0; i < COLUMN_COUNT; i++)
		if (i != COLUMN_HOLDERS || options->holders)
			options->columns[options->column_count++] = (enum column)i;
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->evidence;
		state->child_inputs[1] = &options->cli;
		return 0;
	case 'p':
		sb_cli_add_prefix(state, &options->match.prefixes, arg);
		return 0;
	case KEY_LEGACY:
		options->match.legacy = true;
		return 0;
	case 'a':
		options->match.all = true;
		return 0;
	case 'H':
		options->holders = true;
		return 0;
	case KEY_NAMES:
		options->names_only = true;
		return 0;
	case KEY_NO_HEADINGS:
		options->no_headings = true;
		return 0;
	case 'o':
		set_columns(state, options, arg);
		return 0;
	case ARGP_KEY_ARG:
		add_entry(state, options, arg);
		return 0;
	case ARGP_KEY_END:
		settle(options);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

void options_parse(struct options *options, int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&sb_cli_evidence_argp, 0, NULL, 0}, {&sb_cli_common_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.options = own_options,
		.parser = parse,
		.args_doc = "[NAME...]",
		.doc = "List the entries that live mounts pin, in any mount namespace, and say how "
		       "far that is proven. With NAME, say whether one of these is pinned.",
		.children = children,
	};
	const sb_status_set statuses =
		SB_STATUS_BIT(SB_STATUS_DONE) | SB_STATUS_BIT(SB_STATUS_FAILED) |
		SB_STATUS_BIT(SB_STATUS_REFUSED) | SB_STATUS_BIT(SB_STATUS_UNPROVEN) |
		SB_STATUS_BIT(SB_STATUS_PINNED);

	*options = (struct options){.evidence = SB_CLI_EVIDENCE_DEFAULTS};
	sb_cli_start(&options->cli, "sb-pinscan", argv);
	sb_cli_parse(&options->cli, &argp, statuses, argc, argv, options);
}

void options_free(struct options *options)
{
	if (options->match.names.count == 0 && options->match.prefixes.count == 1 &&
	    strcmp(options->match.prefixes.item[0], SB_NAMES_DEFAULT_PREFIX) == 0)
		return; /* the default list is nobody's to free */
	free(options->match.prefixes.item);
	free(options->match.names.item);
}
