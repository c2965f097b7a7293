#include "procfacts.h"

#include "hidepid.h"
#include "nsmount.h"
#include "proc.h"
#include "scope.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

/*
 * The number that ends a file of procfs, or 0. Only of procfs: a file of another kind stands there
 * in many a container (lxcfs), and tells what it likes.
 */
static pid_t read_last_number(int procfs, const char *path)
{
	sb_auto_close int fd = openat(procfs, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	char text[128], *newline;
	const char *last;
	uint64_t number;
	ssize_t n;

	if (fd < 0 || !sb_proc_is_procfs(fd))
		return 0;
	do
		n = read(fd, text, sizeof(text) - 1);
	while (n < 0 && errno == EINTR);
	text[n > 0 ? n : 0] = '\0';
	newline = strchr(text, '\n');
	if (!newline)
		return 0;
	*newline = '\0';
	last = strrchr(text, ' ');
	return sb_text_parse_u64(last ? last + 1 : text, INT32_MAX, &number) == 0 ? (pid_t)number
										  : 0;
}

pid_t sb_procfacts_last_pid(int procfs)
{
	/* The second is the same number, where the kernel can restore processes. */
	pid_t number = read_last_number(procfs, "loadavg");

	return number ? number : read_last_number(procfs, "sys/kernel/ns_last_pid");
}

static void check_pid_namespace(int procfs, bool given, struct sb_proof *proof)
{
	char link[40];
	uint64_t inode;
	ssize_t n;

	if (sb_proc_is_initial(procfs))
		return;
	n = sb_proc_readlink(procfs, given ? "1/ns/pid" : "self/ns/pid", link, sizeof(link));
	if (n < 0 || !sb_proc_parse_ns(link, "pid", &inode)) {
		sb_proof_lose(proof, SB_LOSES_BOTH, NULL,
			      "the pid namespace of this procfs cannot be learnt; run as root, or "
			      "give --trust-pidns");
		return;
	}
	if (inode != SB_PROC_INITIAL_PIDNS)
		sb_proof_lose(proof, SB_LOSES_BOTH, NULL,
			      "this is not the initial pid namespace: tasks outside are not seen; "
			      "run outside, or give --trust-pidns if the roots are private to it");
}

static bool knows_us(int procfs)
{
	char link[24];
	uint64_t number;

	return sb_proc_readlink(procfs, "self", link, sizeof(link)) >= 0 &&
	       sb_text_parse_u64(link, INT32_MAX, &number) == 0 && (pid_t)number == getpid();
}

static int read_own_table(int procfs, struct sb_mount_table *ret)
{
	sb_auto_free char *text = NULL;
	sb_auto_close int own = -1;
	struct sb_ns_identity identity;
	size_t length;
	int r = sb_nsmount_read_text(AT_FDCWD, SB_PROC_DIR "/self/mountinfo", &text, &length);

	if (r == 0)
		return sb_nsmount_parse(text, length, ret);
	own = sb_nsmount_open_own(procfs);
	if (own < 0)
		return own;
	r = sb_nsmount_identify(own, &identity);
	return r < 0 ? r : sb_nsmount_read(own, identity.id, ret);
}

/* Whether a path below procfs leads to a process. */
static bool leads_to_process(const char *path)
{
	path += strspn(path, "/");
	return (*path >= '1' && *path <= '9') || strncmp(path, "self", 4) == 0 ||
	       strncmp(path, "thread-self", 11) == 0;
}

/* What is mounted over /proc/PID, or below it, shows us something else than that process. */
static void check_mounts_over(int procfs, struct sb_proof *proof)
{
	struct sb_mount_table table = {0};
	const struct sb_mount *mount;
	struct statx stx;
	int r = read_own_table(procfs, &table);

	if (r < 0 || statx(procfs, "", AT_EMPTY_PATH, STATX_MNT_ID, &stx) < 0 ||
	    !(stx.stx_mask & STATX_MNT_ID) ||
	    !(mount = sb_mount_table_find(&table, (uint32_t)stx.stx_mnt_id))) {
		sb_proof_lose(proof, SB_LOSES_BOTH, NULL,
			      "it cannot be learnt whether something is mounted over a process in "
			      "procfs");
		sb_mount_table_free(&table);
		return;
	}
	for (size_t i = 0; i < table.count; i++) {
		const struct sb_mount *above = &table.item[i];
		size_t skip = strlen(mount->point);

		if (above->parent_id != mount->id || above == mount ||
		    strncmp(above->point, mount->point, skip) != 0 ||
		    !leads_to_process(above->point + skip))
			continue;
		sb_proof_lose(proof, SB_LOSES_BOTH, NULL,
			      "something is mounted over '%s', which hides a process; unmount it",
			      above->point);
	}
	sb_mount_table_free(&table);
}

static void learn_overflow_uid(int procfs, struct sb_proc_facts *facts, struct sb_proof *proof)
{
	char text[24];
	uint64_t uid;
	ssize_t n = sb_proc_read_into(procfs, "sys/kernel/overflowuid", text, sizeof(text));

	if (n > 0 && text[n - 1] == '\n')
		text[n - 1] = '\0';
	facts->overflow_known = n > 0 && sb_text_parse_u64(text, UINT32_MAX, &uid) == 0;
	if (facts->overflow_known)
		facts->overflow_uid = (uid_t)uid;
	else
		sb_proof_lose(proof, SB_LOSES_BOTH, NULL,
			      "sys/kernel/overflowuid cannot be read: this procfs is filtered "
			      "(subset=pid)");
}

/* Where pid 1 is our own user's it is listed all the same, and others are not. */
static void check_hidden(int procfs, struct sb_proof *proof)
{
	int r = sb_hidepid_hides_from_us(procfs);

	if (r > 0)
		sb_proof_lose(proof, SB_LOSES_BOTH, NULL,
			      "this procfs is mounted with hidepid and hides processes; run as "
			      "root");
	if (r < 0)
		sb_proof_lose(proof, SB_LOSES_BOTH, NULL,
			      "whether this procfs hides processes (hidepid) cannot be learnt: %s",
			      strerror(-r));
}

void sb_procfacts_learn(int procfs, bool given, bool trust_pidns, struct sb_proc_facts *ret,
			struct sb_proof *proof)
{
	struct stat st = {0};

	*ret = (struct sb_proc_facts){.is_procfs = sb_proc_is_procfs(procfs)};
	if (fstat(procfs, &st) == 0)
		ret->device = st.st_dev;
	learn_overflow_uid(procfs, ret, proof);
	if (!ret->is_procfs) {
		sb_proof_lose(proof, SB_LOSES_BOTH, NULL,
			      "this is no procfs: what it shows pins, and nothing is proven");
		return;
	}
	if (!trust_pidns)
		check_pid_namespace(procfs, given, proof);
	ret->is_ours = knows_us(procfs);
	if (!given && !ret->is_ours)
		sb_proof_lose(proof, SB_LOSES_BOTH, NULL,
			      "/proc/self is not this process: /proc belongs to another pid "
			      "namespace, or is no procfs");
	check_hidden(procfs, proof);
	check_mounts_over(procfs, proof);
}
