/*
 * A model of the walk: real processes pass one bind on to each other by random moves while a scan
 * looks for it. At every instant somebody holds the bind, so a scan that ends with 0 ("free, and
 * proven") is wrong.
 *
 *   model [--moves=LETTERS] [--schedules=N] [--seed=N] SOURCE TARGET -- SCAN [ARG...]
 *
 * A schedule is a seed: it chooses the moves, the pauses between them and the noise around them.
 * SCAN is run once for each and must end with 7 (pinned) or 3 (unproven). The moves, all of them
 * unless chosen by --moves:
 *
 *   f  fork; the parent exits
 *   p  fork; the parent moves to a copy of the namespace, drops the bind there, and lives on
 *   t  a new thread takes over; the old one exits (a leader so becomes a zombie)
 *   l  a new thread takes over; the old one drops the bind in a copy, and lives on
 *   x  exec, by whatever thread has the bind
 *   c  move to a copy of the namespace and leave the old one
 *   r  change root to a plain directory, to a mount, or back
 *   n  a child that has dropped the bind long since enters the namespace; the parent exits
 *   d  the same, but for a while nothing but a descriptor keeps the namespace
 *
 * n and d are setns(2). A task that was read, and found to hold nothing, may enter the namespace of
 * one that is not read yet and ends: no walk of /proc can tell, by its nature, so these are played
 * against the evidence of the kernel alone.
 *
 * Ends with 0; with 1 when a scan was wrong or failed, which is told with its seed and the moves so
 * far; with 2 when the model itself failed.
 */
#include "clock.h"
#include "text.h"

#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define LIFETIME   (20 * SB_NS_PER_S) /* of a schedule: a model that is orphaned ends */
#define LOG_LENGTH 1000
#define PAUSE_MOST 1500 /* us between two moves */
#define IDLE_MOST  3000 /* us that one lives on */

#define STATUS_UNPROVEN 3
#define STATUS_PINNED	7

static const char *const walk_moves = "fptlxcr";

/* What all processes of a schedule share. */
struct shared {
	atomic_bool ready, stop, broken;
	atomic_uint moves;
	char log[LOG_LENGTH + 1];
	uint64_t deadline_ns;
	char target[4096];
	char plain[4096]; /* a directory that is no mount */
	char letters[16];
};

static struct shared *shared;
static int shared_fd, program_fd;

/* Who has the bind: goes from thread to thread and from process to process. */
struct token {
	uint64_t random;
	bool changed_root;
};

static void __attribute__((noreturn)) die(const char *what)
{
	fprintf(stderr, "model: cannot %s: %s\n", what, strerror(errno));
	if (shared)
		atomic_store(&shared->broken, true);
	_exit(70);
}

/* splitmix64 */
static uint64_t draw(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return z ^ z >> 31;
}

static bool is_over(void)
{
	return atomic_load(&shared->stop) || sb_clock_now() > shared->deadline_ns;
}

/* Half of the time no pause at all. */
static void pause_randomly(uint64_t *random, unsigned int most)
{
	uint64_t r = draw(random);

	if (r & 1)
		usleep((useconds_t)(r >> 1) % most);
}

static void note(char letter)
{
	unsigned int i = atomic_fetch_add(&shared->moves, 1);

	if (i < LOG_LENGTH)
		shared->log[i] = letter;
}

/*
 * A root that was changed would hide what has to be unmounted, or loaded. The working directory is
 * the true root, always; whether the root was changed only the one who has the bind knows.
 */
static void change_root_back(struct token *token)
{
	if (chroot(".") < 0)
		die("change root back");
	token->changed_root = false;
}

/* In a namespace of its own from here on, and without the bind. */
static void let_go(struct token *token)
{
	if (unshare(CLONE_FS | CLONE_NEWNS) < 0)
		die("copy the namespace");
	change_root_back(token);
	if (umount2(shared->target, MNT_DETACH) < 0)
		die("drop the bind");
}

static void live_on(struct token *token)
{
	uint64_t end = sb_clock_now() + draw(&token->random) % (IDLE_MOST * 1000);

	while (!is_over() && sb_clock_now() < end)
		usleep(100);
}

static void play(struct token *token);

/* fork: which of the two goes on is for the caller to say. EAGAIN is for later. */
static pid_t split(void)
{
	pid_t child = fork();

	if (child == 0)
		prctl(PR_SET_PDEATHSIG, 0);
	return child;
}

static void move_fork(struct token *token)
{
	(void)token;
	if (split() > 0)
		_exit(0);
}

static void move_fork_and_live_on(struct token *token)
{
	if (split() <= 0)
		return;
	let_go(token);
	live_on(token);
	_exit(0);
}

static void *take_over(void *argument)
{
	struct token token = *(struct token *)argument;

	free(argument);
	play(&token);
	return NULL;
}

static bool hand_to_thread(const struct token *token)
{
	struct token *copy = malloc(sizeof(*copy));
	pthread_t thread;

	if (!copy)
		return false;
	*copy = *token;
	if (pthread_create(&thread, NULL, take_over, copy) != 0) {
		free(copy);
		return false;
	}
	pthread_detach(thread);
	return true;
}

static void move_thread(struct token *token)
{
	if (hand_to_thread(token))
		pthread_exit(NULL);
}

static void move_thread_and_live_on(struct token *token)
{
	if (!hand_to_thread(token))
		return;
	let_go(token);
	live_on(token);
	pthread_exit(NULL);
}

static void move_exec(struct token *token)
{
	char fd[16], random[32];
	char *argv[] = {(char[]){"model"}, (char[]){"--resume"}, fd, random, NULL};

	change_root_back(token);
	snprintf(fd, sizeof(fd), "%d", shared_fd);
	snprintf(random, sizeof(random), "%llu", (unsigned long long)token->random);
	execveat(program_fd, "", argv, environ, AT_EMPTY_PATH);
	die("exec");
}

static void move_copy(struct token *token)
{
	(void)token;
	if (unshare(CLONE_NEWNS) < 0)
		die("copy the namespace");
}

static void move_root(struct token *token)
{
	bool to_mount = draw(&token->random) & 1;

	if (token->changed_root) {
		change_root_back(token);
		return;
	}
	if (chroot(to_mount ? shared->target : shared->plain) < 0)
		die("change root");
	token->changed_root = true;
}

/* The child drops the bind, and later comes back to the namespace that still has it. */
static void enter_from_outside(struct token *token, bool parent_ends_first)
{
	int ns = open("/proc/thread-self/ns/mnt", O_RDONLY | O_CLOEXEC);
	int done[2];
	char byte;

	if (ns < 0 || pipe2(done, O_CLOEXEC) < 0)
		die("open the namespace");
	switch (split()) {
	case -1:
		close(done[0]);
		close(done[1]);
		break;
	case 0:
		close(done[0]);
		let_go(token);
		if (parent_ends_first && write(done[1], "", 1) != 1)
			die("tell the parent");
		pause_randomly(&token->random, IDLE_MOST);
		if (setns(ns, CLONE_NEWNS) < 0)
			die("enter the namespace");
		close(done[1]); /* which tells the parent */
		break;
	default:
		close(done[1]);
		if (read(done[0], &byte, 1) < 0)
			die("wait for the child");
		_exit(0);
	}
	close(ns);
}

static void move_enter(struct token *token)
{
	change_root_back(token);
	enter_from_outside(token, false);
}

static void move_descriptor(struct token *token)
{
	change_root_back(token);
	enter_from_outside(token, true);
}

static const struct {
	char letter;
	void (*make)(struct token *token);
} moves[] = {
	{'f', move_fork},
	{'p', move_fork_and_live_on},
	{'t', move_thread},
	{'c', move_copy},
	{'l', move_thread_and_live_on},
	{'x', move_exec},
	{'r', move_root},
	{'n', move_enter},
	{'d', move_descriptor},
};

#define MOVES (sizeof(moves) / sizeof(moves[0]))

/* Has the bind, and goes on until the scan is done. */
static void play(struct token *token)
{
	while (!is_over()) {
		char letter = shared->letters[draw(&token->random) % strlen(shared->letters)];

		for (size_t i = 0; i < MOVES; i++)
			if (moves[i].letter == letter) {
				note(letter);
				moves[i].make(token);
			}
		pause_randomly(&token->random, PAUSE_MOST);
	}
	_exit(0);
}

static void *end_at_once(void *unused)
{
	return unused;
}

/* Others, who come and go and hold nothing. */
static void __attribute__((noreturn)) make_noise(uint64_t random)
{
	while (!is_over()) {
		pthread_t thread;
		pid_t child;

		switch (draw(&random) % 4) {
		case 0:
			if (pthread_create(&thread, NULL, end_at_once, NULL) == 0)
				pthread_join(thread, NULL);
			break;
		default:
			child = fork();
			if (child == 0) {
				if (draw(&random) & 1)
					_exit(unshare(CLONE_NEWNS) < 0);
				execl("/bin/true", "true", (char *)NULL);
				_exit(0);
			}
			if (child > 0)
				waitpid(child, NULL, 0);
		}
		pause_randomly(&random, PAUSE_MOST);
	}
	_exit(0);
}

static void __attribute__((noreturn)) start_to_play(const char *source, uint64_t seed)
{
	struct token token = {.random = seed};

	if (unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
	    mount(source, shared->target, NULL, MS_BIND, NULL) < 0)
		die("bind");
	atomic_store(&shared->ready, true);
	play(&token);
	_exit(0);
}

static int run_scan(char **scan)
{
	pid_t child = fork();
	int status;

	if (child < 0)
		die("fork");
	if (child == 0) {
		int null = open("/dev/null", O_WRONLY);

		dup2(null, STDOUT_FILENO);
		dup2(null, STDERR_FILENO);
		execvp(scan[0], scan);
		_exit(127);
	}
	if (waitpid(child, &status, 0) < 0)
		die("wait for the scan");
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/* One schedule; the status of its scan. */
static int run_schedule(const char *source, uint64_t seed, char **scan)
{
	uint64_t random = seed;
	unsigned int noises = draw(&random) % 3;
	int status;

	atomic_store(&shared->ready, false);
	atomic_store(&shared->stop, false);
	atomic_store(&shared->moves, 0);
	memset(shared->log, 0, sizeof(shared->log));
	shared->deadline_ns = sb_clock_now() + LIFETIME;
	if (fork() == 0)
		start_to_play(source, draw(&random));
	for (unsigned int i = 0; i < noises; i++)
		if (fork() == 0)
			make_noise(draw(&random));
	while (!atomic_load(&shared->ready))
		if (sb_clock_now() > shared->deadline_ns)
			die("start");
	pause_randomly(&random, PAUSE_MOST);
	status = run_scan(scan);
	atomic_store(&shared->stop, true);
	while (wait(NULL) > 0 || errno == EINTR)
		continue;
	return status;
}

static void prepare(int fd)
{
	/* Found now, for it cannot be from within a root that was changed. */
	if (!dlopen("libgcc_s.so.1", RTLD_NOW))
		die("load what pthread_exit(3) needs");
	program_fd = open("/proc/self/exe", O_PATH | O_CLOEXEC);
	if (program_fd < 0 || chdir("/") < 0)
		die("open our own program");
	shared_fd = fd;
	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (shared == MAP_FAILED)
		die("map memory");
}

static void __attribute__((noreturn)) resume(char **argv)
{
	struct token token = {0};
	uint64_t fd = 0;

	if (sb_text_parse_u64(argv[2], INT32_MAX, &fd) < 0 ||
	    sb_text_parse_u64(argv[3], UINT64_MAX, &token.random) < 0)
		_exit(70);
	prepare((int)fd);
	play(&token);
	_exit(0);
}

static int run_schedules(const char *source, uint64_t schedules, uint64_t seed, char **scan)
{
	uint64_t wrong = 0, pinned = 0, unproven = 0;

	for (uint64_t i = 0; i < schedules; i++) {
		int status = run_schedule(source, seed + i, scan);

		if (atomic_load(&shared->broken))
			return 2;
		if (status == STATUS_PINNED)
			pinned++;
		else if (status == STATUS_UNPROVEN)
			unproven++;
		else {
			wrong++;
			printf("seed %llu: status %d after %u moves: %.60s\n",
			       (unsigned long long)(seed + i), status, atomic_load(&shared->moves),
			       shared->log);
		}
	}
	printf("seeds %llu to %llu: %llu pinned, %llu unproven, %llu wrong\n",
	       (unsigned long long)seed, (unsigned long long)(seed + schedules - 1),
	       (unsigned long long)pinned, (unsigned long long)unproven, (unsigned long long)wrong);
	return wrong != 0;
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"moves", required_argument, NULL, 'm'},
						{"schedules", required_argument, NULL, 'n'},
						{"seed", required_argument, NULL, 's'},
						{0}};
	uint64_t schedules = 1, seed = 1;
	const char *letters = walk_moves;
	bool good = true;
	int key;

	if (argc == 4 && strcmp(argv[1], "--resume") == 0)
		resume(argv);
	while ((key = getopt_long(argc, argv, "+", options, NULL)) != -1) {
		if (key == 'm')
			letters = optarg;
		else if (key == 'n')
			good = good && sb_text_parse_u64(optarg, UINT32_MAX, &schedules) == 0;
		else if (key == 's')
			good = good && sb_text_parse_u64(optarg, UINT64_MAX, &seed) == 0;
		else
			good = false;
	}
	if (!good || argc - optind < 4 || strcmp(argv[optind + 2], "--") != 0 || !*letters ||
	    strlen(letters) >= sizeof(shared->letters)) {
		fputs("usage: model [OPTION...] SOURCE TARGET -- SCAN [ARG...]\n", stderr);
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0);
	prepare(memfd_create("model", 0));
	if (ftruncate(shared_fd, sizeof(*shared)) < 0)
		die("make memory");
	snprintf(shared->letters, sizeof(shared->letters), "%s", letters);
	snprintf(shared->target, sizeof(shared->target), "%s", argv[optind + 1]);
	snprintf(shared->plain, sizeof(shared->plain), "%s/..", argv[optind + 1]);
	return run_schedules(argv[optind], schedules, seed, argv + optind + 3);
}
