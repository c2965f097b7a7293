#include "options.h"

#include "lock.h"
#include "strays.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

enum {
	KEY_GRACE = 0x2000,
	KEY_KEEP,
	KEY_NO_KEEP,
	KEY_KEEP_PID,
	KEY_PID,
	KEY_CGROUP,
	KEY_HOST,
	KEY_LOCK,
	KEY_LOCK_WAIT,
};

enum {
	GROUP_WHO = 1,
	GROUP_SPARED,
	GROUP_HOW,
};

static const struct argp_option own_options[] = {
	{NULL, 0, NULL, 0, "Which processes:", GROUP_WHO},
	{"pid", KEY_PID, "PID[,PID...]", 0, "only these", GROUP_WHO},
	{"cgroup", KEY_CGROUP, "DIR", 0, "only those in that cgroup and below it (v2)", GROUP_WHO},
	{"host", KEY_HOST, NULL, 0, "also in the initial pid namespace", GROUP_WHO},
	{NULL, 0, NULL, 0, "Who is spared:", GROUP_SPARED},
	{"keep", KEY_KEEP, "ARGV", 0,
	 "spare processes of these arguments, as \"sleep infinity\"; may be repeated",
	 GROUP_SPARED},
	{"no-keep", KEY_NO_KEEP, NULL, 0, "do not spare \"" SB_SPARE_KEEP_DEFAULT "\"",
	 GROUP_SPARED},
	{"keep-pid", KEY_KEEP_PID, "PID", 0, "spare this process; may be repeated", GROUP_SPARED},
	{NULL, 0, NULL, 0, "How:", GROUP_HOW},
	{"grace", KEY_GRACE, "SPAN", 0, "time from SIGTERM to SIGKILL (default 2s)", GROUP_HOW},
	{"lock", KEY_LOCK, "FILE", 0, "hold a lock on FILE meanwhile, as flock(1) does", GROUP_HOW},
	{"lock-wait", KEY_LOCK_WAIT, "SPAN", 0, "wait no longer for the lock (default: for ever)",
	 GROUP_HOW},
	{0},
};

static void *grow(struct argp_state *state, void *array, size_t count, size_t size)
{
	void *grown = reallocarray(array, count + 1, size);

	if (!grown)
		argp_failure(state, SB_STATUS_FAILED, ENOMEM, "cannot read the command line");
	return grown;
}

static void add_pid(struct argp_state *state, struct pids *pids, const char *option,
		    const char *text)
{
	uint64_t number = sb_cli_number(state, option, text, 1, INT_MAX);

	pids->item = grow(state, pids->item, pids->count, sizeof(*pids->item));
	pids->item[pids->count++] = (pid_t)number;
}

static void add_pids(struct argp_state *state, struct pids *pids, char *list)
{
	char *text;

	while ((text = strsep(&list, ",")))
		add_pid(state, pids, "--pid", text);
}

/* The directory of the program is no part of what is compared. */
static const char *without_directory(const char *arguments)
{
	const char *slash = memrchr(arguments, '/', strcspn(arguments, " "));

	return slash ? slash + 1 : arguments;
}

static void add_keep(struct argp_state *state, struct options *options, const char *arguments)
{
	if (!*arguments)
		argp_error(state, "--keep: '' are no arguments");
	if (strlen(arguments) >= SB_SPARE_KEEP_MAX - 1)
		argp_error(state, "--keep: '%.32s...': too long", arguments);
	options->keep = grow(state, options->keep, options->keep_count, sizeof(*options->keep));
	options->keep[options->keep_count++] = without_directory(arguments);
}

/* Options that make sense only together with another. */
static void check(struct argp_state *state, const struct options *options)
{
	if (options->lock_wait_ns != SB_LOCK_FOR_EVER && !options->lock)
		argp_error(state, "--lock-wait: there is no --lock to wait for");
	if (options->cgroup && options->only.count)
		argp_error(state, "--pid and --cgroup cannot be given together");
}

static error_t parse_spared(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case KEY_KEEP:
		add_keep(state, options, arg);
		return 0;
	case KEY_NO_KEEP:
		options->no_keep = true;
		return 0;
	case KEY_KEEP_PID:
		add_pid(state, &options->keep_pid, "--keep-pid", arg);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse(int key, char *arg, struct argp_state *state)
{
	struct options *options = state->input;

	switch (key) {
	case ARGP_KEY_INIT:
		state->child_inputs[0] = &options->cli;
		state->child_inputs[1] = &options->cli;
		return 0;
	case KEY_GRACE:
		options->grace_ns = sb_cli_span(state, "--grace", arg);
		return 0;
	case KEY_PID:
		add_pids(state, &options->only, arg);
		return 0;
	case KEY_CGROUP:
		options->cgroup = arg;
		return 0;
	case KEY_HOST:
		options->host = true;
		return 0;
	case KEY_LOCK:
		options->lock = arg;
		return 0;
	case KEY_LOCK_WAIT:
		options->lock_wait_ns = sb_cli_span(state, "--lock-wait", arg);
		return 0;
	case ARGP_KEY_END:
		check(state, options);
		return 0;
	default:
		return parse_spared(key, arg, state);
	}
}

void options_parse(struct options *options, int argc, char **argv)
{
	static const struct argp_child children[] = {
		{&sb_cli_common_argp, 0, NULL, 0}, {&sb_cli_dry_run_argp, 0, NULL, 0}, {0}};
	static const struct argp argp = {
		.options = own_options,
		.parser = parse,
		.doc = "End every process of a user that outlived its sandbox: SIGTERM, a time of "
		       "grace, then SIGKILL until none is left.",
		.children = children,
	};
	const sb_status_set statuses =
		SB_STATUS_BIT(SB_STATUS_DONE) | SB_STATUS_BIT(SB_STATUS_FAILED) |
		SB_STATUS_BIT(SB_STATUS_REFUSED) | SB_STATUS_BIT(SB_STATUS_UNPROVEN) |
		SB_STATUS_BIT(SB_STATUS_MORE) | SB_STATUS_BIT(SB_STATUS_LOCKED);

	*options = (struct options){
		.grace_ns = SB_STRAYS_GRACE_NS,
		.lock_wait_ns = SB_LOCK_FOR_EVER,
	};
	sb_cli_start(&options->cli, "sb-killstray", argv);
	sb_cli_parse(&options->cli, &argp, statuses, argc, argv, options);
}

void options_free(struct options *options)
{
	free(options->keep);
	free(options->keep_pid.item);
	free(options->only.item);
}

struct sb_spare_wishes options_wishes(const struct options *options)
{
	return (struct sb_spare_wishes){
		.keep = options->keep,
		.keep_count = options->keep_count,
		.keep_default = !options->no_keep,
		.keep_pid = options->keep_pid.item,
		.keep_pid_count = options->keep_pid.count,
		.manager = options->host,
	};
}
