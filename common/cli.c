#include "cli.h"

#include "clock.h"
#include "log.h"
#include "metrics.h"
#include "pinscan.h"
#include "scope.h"
#include "text.h"
#include "user.h"
#include "version.h"

#include <errno.h>
#include <fcntl.h>
#include <libmount.h>
#include <limits.h>
#include <locale.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>

/* Keys of options without a short form; each child parser has its own range, argp shares one. */
enum {
	KEY_PROCFS = 0x1000,
	KEY_PROGRESS,
	KEY_METRICS,
	KEY_REQUIRE,
	KEY_EVIDENCE,
	KEY_TRUST_PIDNS,
};

/* Groups of --help; those of a command itself are 0 and 1. */
enum {
	GROUP_EVIDENCE = 5,
	GROUP_RUN = 6,
	GROUP_OUTPUT = 7,
};

static const char *const progress_names[SB_PROGRESS_COUNT] = {"auto", "always", "never"};

static const struct argp_option common_options[] = {
	{NULL, 0, NULL, 0, "Run:", GROUP_RUN},
	{"uid", 'u', "USER", 0, "act for USER, a name or a number (default: yourself)", GROUP_RUN},
	{"procfs", KEY_PROCFS, "DIR", 0, "read processes from DIR (default /proc)", GROUP_RUN},
	{NULL, 0, NULL, 0, "Output:", GROUP_OUTPUT},
	{"json", 'J', NULL, 0, "one JSON object on standard output", GROUP_OUTPUT},
	{"quiet", 'q', NULL, 0, "warnings and errors only", GROUP_OUTPUT},
	{"verbose", 'v', NULL, 0, "say more; may be repeated", GROUP_OUTPUT},
	{NULL, 'h', NULL, OPTION_HIDDEN, NULL, -1},
	{0},
};

static const struct argp_option dry_run_options[] = {
	{"dry-run", 'n', NULL, 0, "look and tell, but touch nothing", GROUP_RUN},
	{0},
};

static const struct argp_option progress_options[] = {
	{"metrics", KEY_METRICS, "FILE", 0,
	 "write counts to FILE for the textfile collector of Prometheus' node exporter",
	 GROUP_OUTPUT},
	{"progress", KEY_PROGRESS, "WHEN", 0,
	 "a progress line: auto (on a terminal), always or never", GROUP_OUTPUT},
	{0},
};

static const struct argp_option evidence_options[] = {
	{NULL, 0, NULL, 0, "Evidence:", GROUP_EVIDENCE},
	{"require", KEY_REQUIRE, "LEVEL", 0, "how much proof: covered (default) or complete",
	 GROUP_EVIDENCE},
	{"evidence", KEY_EVIDENCE, "KIND", 0, "auto (default), kernel, namespaces or mountinfo",
	 GROUP_EVIDENCE},
	{"trust-pidns", KEY_TRUST_PIDNS, NULL, 0,
	 "the roots are private to this pid namespace: nobody outside uses them", GROUP_EVIDENCE},
	{0},
};

static error_t parse_common(int key, char *arg, struct argp_state *state)
{
	struct sb_cli *cli = state->input;
	int r;

	switch (key) {
	case 'u':
		r = sb_user_resolve(arg, &cli->uid);
		if (r == -ENOENT || r == -ERANGE)
			argp_error(state, "--uid: no user '%s'", arg);
		else if (r < 0)
			argp_error(state, "--uid: cannot look up '%s': %s", arg, strerror(-r));
		cli->uid_given = true;
		return 0;
	case KEY_PROCFS:
		if (!*arg)
			argp_error(state, "--procfs: DIR must not be empty");
		cli->procfs = arg;
		cli->procfs_given = true;
		return 0;
	case 'J':
		cli->json = true;
		return 0;
	case 'q':
		cli->verbosity = -1;
		return 0;
	case 'v':
		cli->verbosity = cli->verbosity < 0 ? 1 : cli->verbosity + 1;
		return 0;
	case 'h':
		argp_state_help(state, stdout, ARGP_HELP_STD_HELP);
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

static error_t parse_dry_run(int key, char *arg, struct argp_state *state)
{
	struct sb_cli *cli = state->input;

	(void)arg;
	if (key != 'n')
		return ARGP_ERR_UNKNOWN;
	cli->dry_run = true;
	return 0;
}

static error_t parse_progress(int key, char *arg, struct argp_state *state)
{
	struct sb_cli *cli = state->input;

	if (key == KEY_METRICS) {
		if (!*arg)
			argp_error(state, "--metrics: FILE must not be empty");
		if (sb_metrics_check(arg) == -EEXIST)
			argp_error(state, "--metrics: '%s' is there, and no regular file", arg);
		cli->metrics = arg;
		return 0;
	}
	if (key != KEY_PROGRESS)
		return ARGP_ERR_UNKNOWN;
	for (int i = 0; i < SB_PROGRESS_COUNT; i++)
		if (strcmp(arg, progress_names[i]) == 0) {
			cli->progress = (enum sb_progress)i;
			return 0;
		}
	argp_error(state, "--progress: '%s' is none of auto, always, never", arg);
	return 0;
}

static error_t parse_evidence(int key, char *arg, struct argp_state *state)
{
	struct sb_cli_evidence *evidence = state->input;

	switch (key) {
	case KEY_REQUIRE:
		if (!sb_level_parse_required(arg, &evidence->require))
			argp_error(state, "--require: '%s' is neither covered nor complete", arg);
		return 0;
	case KEY_EVIDENCE:
		if (!sb_evidence_parse(arg, &evidence->evidence))
			argp_error(
				state,
				"--evidence: '%s' is none of auto, kernel, namespaces, mountinfo",
				arg);
		return 0;
	case KEY_TRUST_PIDNS:
		evidence->trust_pidns = true;
		return 0;
	default:
		return ARGP_ERR_UNKNOWN;
	}
}

const struct argp sb_cli_common_argp = {common_options, parse_common};
const struct argp sb_cli_dry_run_argp = {dry_run_options, parse_dry_run};
const struct argp sb_cli_progress_argp = {progress_options, parse_progress};
const struct argp sb_cli_evidence_argp = {evidence_options, parse_evidence};

static void print_version(FILE *stream, struct argp_state *state)
{
	const char *libmount = NULL;

	mnt_get_library_version(&libmount);
	fprintf(stream, "%s (sb-tools) %s\n", state->name, SB_VERSION);
	fprintf(stream, "libmount %s\n", libmount ? libmount : "unknown");
	fprintf(stream, "evidence here: %s\n", sb_evidence_name(sb_pinscan_probe()));
}

/* Set once sb_cli_finish has looked: what it found shall not be said twice. */
static bool stdout_checked;

/* What argp prints and exits on is output like any other: lost output is a failure. */
static void check_stdout_at_exit(void)
{
	if (!stdout_checked && (fflush(stdout) != 0 || ferror(stdout))) {
		sb_log_cannot(SB_LOG_ERROR, "write", "standard output", errno ? errno : EIO);
		_exit(SB_STATUS_FAILED);
	}
}

/* A descriptor that is missing would be handed to the next file opened; and messages go there. */
static void open_standard_fds(void)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		if (fcntl(fd, F_GETFD) < 0 && errno == EBADF)
			(void)!open("/dev/null", fd == STDIN_FILENO ? O_WRONLY : O_RDONLY);
}

/*
 * Nothing of ours is inherited: what a caller left open could keep a mount busy through us, and
 * would count against the limit of descriptors.
 */
static void close_inherited_fds(void)
{
	(void)close_range(STDERR_FILENO + 1, UINT_MAX, 0);
}

static void raise_fd_limit(void)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}

void sb_cli_start(struct sb_cli *cli, const char *program, char **argv)
{
	static char name[64];

	*cli = (struct sb_cli){
		.program = program,
		.started_ns = sb_clock_now(),
		.procfs = SB_PROC_DIR,
		.uid = geteuid(),
	};
	setlocale(LC_CTYPE, ""); /* for the width of names in tables */
	open_standard_fds();
	close_inherited_fds();
	raise_fd_limit();
	/* What cannot be written is an error where it is written, and does not end us halfway. */
	signal(SIGPIPE, SIG_IGN);
	signal(SIGXFSZ, SIG_IGN);
	sb_log_init(program, 0);
	/* getopt's own messages start with argv[0], whole path and all. */
	snprintf(name, sizeof(name), "%s", program);
	if (argv[0])
		argv[0] = name;
	argp_err_exit_status = SB_STATUS_REFUSED;
	argp_program_version_hook = print_version;
	atexit(check_stdout_at_exit);
}

/*
 * What argp and getopt write of a wrong call holds its arguments as they are. It is caught here, to
 * be said as any other message: without control characters, and with a level for the journal.
 */
static struct {
	const char *program;
	FILE *stream;
	FILE *real;
	char *text;
	size_t size;
} usage;

static void catch_usage(const char *program)
{
	usage.program = program;
	usage.stream = open_memstream(&usage.text, &usage.size);
	usage.real = stderr;
	if (usage.stream)
		stderr = usage.stream;
}

static void release_usage(void)
{
	if (!usage.stream)
		return;
	stderr = usage.real;
	fclose(usage.stream);
	usage.stream = NULL;
}

/* "PROGRAM: message", which may hold any bytes, and below it argp's advice. */
static void say_usage_at_exit(void)
{
	const size_t prefix = strlen(usage.program) + strlen(": ");
	char *text, *advice = NULL;

	release_usage();
	text = usage.text;
	if (!text || strlen(text) <= prefix)
		return;
	text[strlen(text) - 1] = '\0';
	for (char *p = text; (p = strstr(p, "\nTry `")); p++)
		advice = p;
	if (advice)
		*advice++ = '\0';
	sb_log_say(SB_LOG_ERROR, "%s", text + prefix);
	if (advice)
		sb_log_say(SB_LOG_ERROR, "%s", advice);
}

void sb_cli_parse(struct sb_cli *cli, const struct argp *argp, sb_status_set statuses, int argc,
		  char **argv, void *input)
{
	sb_auto_free char *help = sb_status_help(statuses);
	sb_auto_free char *doc = NULL;
	struct argp whole = *argp;

	if (!help || asprintf(&doc, "%s\v%s\nSee %s(8) and sb-tools(7).", argp->doc, help,
			      cli->program) < 0) {
		doc = NULL;
		sb_log_cannot(SB_LOG_ERROR, "start", cli->program, ENOMEM);
		exit(SB_STATUS_FAILED);
	}
	whole.doc = doc;
	catch_usage(cli->program);
	atexit(say_usage_at_exit);
	if (argp_parse(&whole, argc, argv, 0, NULL, input) != 0)
		exit(SB_STATUS_REFUSED);
	release_usage();
	free(usage.text);
	usage.text = NULL;
	sb_log_init(cli->program, cli->verbosity);
}

uint64_t sb_cli_span(struct argp_state *state, const char *option, const char *text)
{
	uint64_t ns = 0;
	int r = sb_text_parse_span(text, &ns);

	if (r == -ERANGE)
		argp_error(state, "%s: '%s' is too long a span of time", option, text);
	else if (r < 0)
		argp_error(state, "%s: '%s' is no span of time (90, 10s, 5min, 1h30m, 1d)", option,
			   text);
	return ns;
}

uint64_t sb_cli_number(struct argp_state *state, const char *option, const char *text, uint64_t min,
		       uint64_t max)
{
	uint64_t value = 0;

	if (sb_text_parse_u64(text, max, &value) < 0 || value < min)
		argp_error(state, "%s: '%s' is no number from %llu to %llu", option, text,
			   (unsigned long long)min, (unsigned long long)max);
	return value;
}

void sb_cli_add(struct argp_state *state, const char ***list, size_t *count, const char *text)
{
	/* No list can be longer than the command line, but for a default. */
	if (!*list)
		*list = calloc((size_t)state->argc + 1, sizeof(**list));
	if (!*list)
		argp_failure(state, SB_STATUS_FAILED, ENOMEM, "cannot read the command line");
	else
		(*list)[(*count)++] = text;
}

void sb_cli_add_prefix(struct argp_state *state, struct sb_prefixes *prefixes, const char *prefix)
{
	const char *fault = sb_names_check_prefix(prefix);

	if (fault)
		argp_error(state, "--prefix: '%s': %s", prefix, fault);
	sb_cli_add(state, &prefixes->item, &prefixes->count, prefix);
}

void sb_cli_add_root(struct argp_state *state, const char ***list, size_t *count, const char *path)
{
	if (!*path)
		argp_error(state, "a ROOT must not be empty");
	sb_cli_add(state, list, count, path);
}

void sb_cli_check_acting(struct argp_state *state, const struct sb_cli *cli)
{
	if (cli->uid != geteuid() && geteuid() != 0)
		argp_error(state, "--uid: only root acts for another user");
}

enum sb_status sb_cli_finish(sb_status_set statuses)
{
	errno = 0;
	if (fflush(stdout) != 0 || ferror(stdout)) {
		sb_log_cannot(SB_LOG_ERROR, "write", "standard output", errno ? errno : EIO);
		statuses |= SB_STATUS_BIT(SB_STATUS_FAILED);
	}
	stdout_checked = true;
	return sb_status_worst(statuses);
}
