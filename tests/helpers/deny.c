/*
 * Runs a command for which chosen system calls fail, by seccomp: how an older kernel, a container's
 * filter or an exhausted host looks to it.
 *
 *   deny [--hits=FILE] RULE... -- COMMAND [ARG...]
 *
 * RULE is CALL[:ARGUMENT][@N[+[M]]]=ERRNO, for example
 *   listmount=ENOSYS            every listmount fails
 *   ioctl:NS_MNT_GET_NEXT=EPERM every ioctl with that request
 *   statx:0x1000=EINVAL         every statx whose mask has one of these bits
 *   openat@7=EMFILE             the seventh openat, of whatever thread or child
 *   openat@7+=EMFILE            the seventh and all later ones
 *   openat@7+2=EMFILE           the seventh and two more
 *
 * A rule with @N is decided in this process, which then stays as the parent of the command and ends
 * with its status (128 + signal when it was killed); --hits=FILE gets the number of calls that it
 * made fail. Without such a rule the command takes the place of this process. Usage errors: 125.
 *
 * With one, in a build that counts coverage (GCOV_PREFIX is set), every rule is decided here, and
 * whoever has come to write its counts is let through: half of them written are all of them lost.
 */
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_USAGE 125
#define MAX_RULES    64
#define ANY_CALL     0 /* a rule for every call, not for the Nth */

#if defined(__x86_64__)
#define NATIVE_ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define NATIVE_ARCH AUDIT_ARCH_AARCH64
#else
#error "unknown architecture"
#endif

/* Headers of the oldest distribution that builds us do not know these; alike on both. */
#ifndef SYS_statmount
#define SYS_statmount 457
#endif
#ifndef SYS_listmount
#define SYS_listmount 458
#endif

/* How the argument of a rule is compared, and with which argument of the call. */
enum compare { COMPARE_NONE, COMPARE_EQUAL, COMPARE_BITS };

static const struct call {
	const char *name;
	long number;
	enum compare compare;
	unsigned int argument;
} calls[] = {
	{"brk", SYS_brk},
	{"capset", SYS_capset},
	{"chdir", SYS_chdir},
	{"clone", SYS_clone},
	{"clone3", SYS_clone3},
	{"close", SYS_close},
	{"close_range", SYS_close_range},
	{"connect", SYS_connect},
	{"dup3", SYS_dup3},
	{"execve", SYS_execve},
	{"fchdir", SYS_fchdir},
	{"fchmod", SYS_fchmod},
	{"fcntl", SYS_fcntl, COMPARE_EQUAL, 1},
	{"fdatasync", SYS_fdatasync},
	{"flock", SYS_flock},
	{"fstat", SYS_fstat},
	{"fstatfs", SYS_fstatfs},
	{"fsync", SYS_fsync},
	{"getdents64", SYS_getdents64},
	{"getrandom", SYS_getrandom},
	{"ioctl", SYS_ioctl, COMPARE_EQUAL, 1},
	{"kill", SYS_kill},
	{"linkat", SYS_linkat},
	{"listmount", SYS_listmount},
	{"lseek", SYS_lseek},
	{"madvise", SYS_madvise},
	{"mkdirat", SYS_mkdirat},
	{"mmap", SYS_mmap},
	{"mremap", SYS_mremap},
	{"munmap", SYS_munmap},
	{"newfstatat", SYS_newfstatat},
	{"openat", SYS_openat},
	{"openat2", SYS_openat2},
	{"pidfd_open", SYS_pidfd_open},
	{"pidfd_send_signal", SYS_pidfd_send_signal},
	{"ppoll", SYS_ppoll},
	{"prctl", SYS_prctl, COMPARE_EQUAL, 0},
	{"pread64", SYS_pread64},
	{"prlimit64", SYS_prlimit64},
	{"read", SYS_read},
	{"readlinkat", SYS_readlinkat},
	{"renameat2", SYS_renameat2},
	{"setfsgid", SYS_setfsgid},
	{"setfsuid", SYS_setfsuid},
	{"setgroups", SYS_setgroups},
	{"setns", SYS_setns},
	{"setpriority", SYS_setpriority},
	{"setresgid", SYS_setresgid},
	{"setresuid", SYS_setresuid},
	{"socket", SYS_socket},
	{"statfs", SYS_statfs},
	{"statmount", SYS_statmount},
	{"statx", SYS_statx, COMPARE_BITS, 3},
	{"tgkill", SYS_tgkill},
	{"unlinkat", SYS_unlinkat, COMPARE_EQUAL, 2},
	{"unshare", SYS_unshare},
	{"waitid", SYS_waitid},
	{"write", SYS_write},
/* Calls that newer architectures left out. */
#ifdef SYS_access
	{"access", SYS_access},
#endif
#ifdef SYS_epoll_wait
	{"epoll_wait", SYS_epoll_wait},
#endif
#ifdef SYS_lstat
	{"lstat", SYS_lstat},
#endif
#ifdef SYS_mkdir
	{"mkdir", SYS_mkdir},
#endif
#ifdef SYS_open
	{"open", SYS_open},
#endif
#ifdef SYS_poll
	{"poll", SYS_poll},
#endif
#ifdef SYS_readlink
	{"readlink", SYS_readlink},
#endif
#ifdef SYS_rename
	{"rename", SYS_rename},
#endif
#ifdef SYS_renameat
	{"renameat", SYS_renameat},
#endif
#ifdef SYS_rmdir
	{"rmdir", SYS_rmdir},
#endif
#ifdef SYS_stat
	{"stat", SYS_stat},
#endif
#ifdef SYS_unlink
	{"unlink", SYS_unlink},
#endif
};

#define NSIO 0xb7

/* Requests by name; their numbers alone would say nothing in a test. */
static const struct request {
	const char *name;
	uint32_t value;
} requests[] = {
	{"NS_GET_USERNS", _IO(NSIO, 0x1)},
	{"NS_GET_PARENT", _IO(NSIO, 0x2)},
	{"NS_GET_NSTYPE", _IO(NSIO, 0x3)},
	{"NS_GET_OWNER_UID", _IO(NSIO, 0x4)},
	{"NS_GET_MNTNS_ID", _IOR(NSIO, 0x5, uint64_t)},
	{"NS_MNT_GET_INFO", _IOR(NSIO, 10, uint64_t[2])},
	{"NS_MNT_GET_NEXT", _IOR(NSIO, 11, uint64_t[2])},
	{"NS_MNT_GET_PREV", _IOR(NSIO, 12, uint64_t[2])},
};

struct rule {
	const struct call *call;
	bool has_argument;
	uint32_t argument;
	uint64_t nth;  /* ANY_CALL, or from 1 */
	uint64_t last; /* of those that fail, from the nth on */
	int error;
	uint64_t seen;
};

static struct rule rules[MAX_RULES];
static size_t rule_count;
static bool supervised, counting;

static void __attribute__((noreturn)) usage(const char *what, const char *text)
{
	fprintf(stderr, "deny: %s '%s'\n", what, text);
	exit(STATUS_USAGE);
}

static void __attribute__((noreturn)) broken(const char *what)
{
	fprintf(stderr, "deny: cannot %s: %s\n", what, strerror(errno));
	exit(STATUS_USAGE);
}

static const struct call *find_call(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0)
			return &calls[i];
	usage("no such system call:", name);
}

static int find_errno(const char *name)
{
	for (int i = 1; i < 4096; i++) {
		const char *known = strerrorname_np(i);

		if (known && strcmp(known, name) == 0)
			return i;
	}
	usage("no such errno:", name);
}

static uint32_t find_argument(const char *text)
{
	char *end;
	unsigned long value;

	for (size_t i = 0; i < sizeof(requests) / sizeof(requests[0]); i++)
		if (strcmp(requests[i].name, text) == 0)
			return requests[i].value;
	value = strtoul(text, &end, 0);
	if (end == text || *end || value > UINT32_MAX)
		usage("no such argument:", text);
	return (uint32_t)value;
}

static void add_rule(char *text)
{
	struct rule *rule = &rules[rule_count];
	char *error = strchr(text, '=');
	char *nth, *argument;

	if (rule_count == MAX_RULES || !error)
		usage("no such rule:", text);
	*error++ = '\0';
	nth = strchr(text, '@');
	if (nth) {
		char *plus = strchr(nth, '+');
		uint64_t more = 0;

		*nth++ = '\0';
		if (plus)
			*plus++ = '\0';
		if (sb_text_parse_u64(nth, UINT32_MAX, &rule->nth) < 0 || rule->nth == ANY_CALL)
			usage("no such count:", nth);
		if (plus && *plus && sb_text_parse_u64(plus, UINT32_MAX, &more) < 0)
			usage("no such count:", plus);
		rule->last = plus && !*plus ? UINT64_MAX : rule->nth + more;
		supervised = true;
	}
	argument = strchr(text, ':');
	if (argument) {
		*argument++ = '\0';
		rule->has_argument = true;
		rule->argument = find_argument(argument);
	}
	rule->call = find_call(text);
	if (rule->has_argument && rule->call->compare == COMPARE_NONE)
		usage("no argument is compared for", text);
	rule->error = find_errno(error);
	rule_count++;
}

/* One after the other: number, argument, verdict; the first that fits decides. */
static size_t build_filter(struct sock_filter *code)
{
	size_t n = 0;

	code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
						 offsetof(struct seccomp_data, arch));
	code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, NATIVE_ARCH, 1, 0);
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (counting) {
		code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							 offsetof(struct seccomp_data, nr));
		code[n++] =
			(struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_fcntl, 0, 1);
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_USER_NOTIF);
	}
	for (size_t i = 0; i < rule_count; i++) {
		const struct rule *rule = &rules[i];
		const struct call *call = rule->call;
		uint32_t offset = (uint32_t)(offsetof(struct seccomp_data, args) +
					     call->argument * sizeof(uint64_t));
		uint32_t verdict = counting || rule->nth != ANY_CALL
					   ? SECCOMP_RET_USER_NOTIF
					   : SECCOMP_RET_ERRNO | (uint32_t)rule->error;
		unsigned short test = call->compare == COMPARE_BITS ? BPF_JSET : BPF_JEQ;

		code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS,
							 offsetof(struct seccomp_data, nr));
		code[n++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K,
							 (uint32_t)call->number, 0,
							 rule->has_argument ? 3 : 1);
		if (rule->has_argument) {
			code[n++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset);
			code[n++] = (struct sock_filter)BPF_JUMP(
				(unsigned short)(BPF_JMP | test | BPF_K), rule->argument, 0, 1);
		}
		code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, verdict);
	}
	code[n++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return n;
}

static int install_filter(unsigned int flags)
{
	struct sock_filter code[7 + MAX_RULES * 5];
	struct sock_fprog program = {.len = (unsigned short)build_filter(code), .filter = code};
	long fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);

	/* Whoever may not filter by privilege must give up gaining any. */
	if (fd < 0 && errno == EACCES) {
		if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
			broken("give up privileges");
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program);
	}
	if (fd < 0)
		broken("install the filter");
	return (int)fd;
}

static void run(char **command)
{
	execvpe(command[0], command,
		environ); /* of execvp the compiler makes one that counts first */
	fprintf(stderr, "deny: cannot run '%s': %s\n", command[0], strerror(errno));
	_exit(127);
}

union fd_message {
	struct cmsghdr header;
	char space[CMSG_SPACE(sizeof(int))];
};

static void send_fd(int socket, int fd)
{
	union fd_message control = {0};
	char byte = 0;
	struct iovec data = {&byte, 1};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control.space,
				 .msg_controllen = sizeof(control.space)};
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(fd));
	memcpy(CMSG_DATA(header), &fd, sizeof(fd));
	if (sendmsg(socket, &message, 0) != 1)
		broken("hand over the listener");
}

static int receive_fd(int socket)
{
	union fd_message control = {0};
	char byte;
	struct iovec data = {&byte, 1};
	struct msghdr message = {.msg_iov = &data,
				 .msg_iovlen = 1,
				 .msg_control = control.space,
				 .msg_controllen = sizeof(control.space)};
	const struct cmsghdr *header;
	int fd;

	if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
		return -1;
	header = CMSG_FIRSTHDR(&message);
	if (!header || header->cmsg_type != SCM_RIGHTS)
		return -1;
	memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

static bool rule_fits(const struct rule *rule, const struct seccomp_data *data)
{
	uint32_t value = (uint32_t)data->args[rule->call->argument];

	if (data->nr != (int)rule->call->number)
		return false;
	if (!rule->has_argument)
		return true;
	return rule->call->compare == COMPARE_BITS ? (value & rule->argument) != 0
						   : value == rule->argument;
}

/* Whether this task is writing counts of coverage, or about to: libgcov locks their file first. */
static bool is_counting(const struct seccomp_notif *call)
{
	static uint32_t writer;

	if (counting && call->data.nr == SYS_fcntl && (int)call->data.args[1] == F_SETLKW)
		writer = call->pid;
	return writer == call->pid;
}

/*
 * The errno that a call is answered with, or 0: let it through. Adds to hits what fails because its
 * turn has come.
 */
static int judge(const struct seccomp_notif *call, unsigned long *hits)
{
	if (is_counting(call))
		return 0;
	for (size_t i = 0; i < rule_count; i++) {
		struct rule *rule = &rules[i];

		if (!rule_fits(rule, &call->data))
			continue;
		if (rule->nth == ANY_CALL)
			return rule->error;
		rule->seen++;
		if (rule->seen < rule->nth || rule->seen > rule->last)
			return 0;
		++*hits;
		return rule->error;
	}
	return 0;
}

/* Answers until nobody is left under the filter; returns the number of calls that failed. */
static unsigned long supervise(int listener)
{
	struct pollfd wait = {.fd = listener, .events = POLLIN};
	unsigned long hits = 0;

	while (poll(&wait, 1, -1) > 0 || errno == EINTR) {
		struct seccomp_notif call = {0};
		struct seccomp_notif_resp answer = {0};
		int error;

		if (wait.revents & POLLHUP)
			break;
		if (ioctl(listener, SECCOMP_IOCTL_NOTIF_RECV, &call) < 0)
			continue; /* the caller was killed meanwhile */
		error = judge(&call, &hits);
		answer.id = call.id;
		answer.error = -error;
		answer.flags = error ? 0 : SECCOMP_USER_NOTIF_FLAG_CONTINUE;
		ioctl(listener, SECCOMP_IOCTL_NOTIF_SEND, &answer);
	}
	return hits;
}

static int run_supervised(char **command, const char *hits_file)
{
	int sockets[2], listener, status;
	unsigned long hits;
	pid_t child;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) < 0)
		broken("make a socket pair");
	child = fork();
	if (child < 0)
		broken("fork");
	if (child == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		listener = install_filter(SECCOMP_FILTER_FLAG_NEW_LISTENER);
		send_fd(sockets[1], listener);
		close(listener);
		run(command);
	}
	close(sockets[1]);
	listener = receive_fd(sockets[0]);
	if (listener < 0)
		broken("get the listener");
	hits = supervise(listener);
	if (waitpid(child, &status, 0) < 0)
		broken("wait for the command");
	if (hits_file) {
		FILE *f = fopen(hits_file, "we");

		if (!f || fprintf(f, "%lu\n", hits) < 0 || fclose(f) != 0)
			broken("write the number of hits");
	}
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

int main(int argc, char **argv)
{
	const char *hits_file = NULL;
	int at = 1;

	if (at < argc && strncmp(argv[at], "--hits=", 7) == 0)
		hits_file = argv[at++] + 7;
	for (; at < argc && strcmp(argv[at], "--") != 0; at++)
		add_rule(argv[at]);
	if (at + 1 >= argc)
		usage("no command after", "--");
	counting = supervised && getenv("GCOV_PREFIX");
	if (supervised)
		return run_supervised(argv + at + 1, hits_file);
	install_filter(0);
	run(argv + at + 1);
}
