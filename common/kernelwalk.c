#include "kernelwalk.h"

#include "clock.h"
#include "idmap.h"
#include "nsmount.h"
#include "proc.h"
#include "scope.h"

#include <errno.h>
#include <linux/capability.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

/*
 * Ids of namespaces are handed out in batches per CPU (6.18), so one that is copied meanwhile may
 * have a lower id than its model and be missed by a walk that has passed it. A walk that meets
 * nothing new settles it; these bound how long one is waited for.
 */
#define WALKS_MOST 64
#define WALKS_SPAN (2 * SB_NS_PER_S)

struct walk {
	struct sb_pinset *pins;
	struct sb_proof *proof;
	struct sb_idmap read; /* namespace ids that were read, or are told as gaps */
	bool met_new;
};

static int read_namespace(struct walk *walk, int ns_fd, const struct sb_ns_identity *identity)
{
	struct sb_mount_table table = {0};
	int r;

	if (sb_idmap_get(&walk->read, identity->id, NULL))
		return 0;
	walk->met_new = true;
	r = sb_idmap_put(&walk->read, identity->id, 1);
	if (r < 0)
		return r;
	r = sb_nsmount_read(ns_fd, identity->id, &table);
	if (r < 0) {
		sb_proof_lose(walk->proof, SB_LOSES_BOTH, NULL,
			      "mount namespace %llu could not be read: %s",
			      (unsigned long long)identity->inode, strerror(-r));
		return 0;
	}
	walk->proof->coverage.namespaces++;
	r = sb_pinset_absorb(walk->pins, &table, identity->inode);
	sb_mount_table_free(&table);
	return r;
}

/* From one namespace to the end of the kernel's list. -ENOENT is that end, and success. */
static int walk_towards(struct walk *walk, int start, enum sb_ns_direction direction)
{
	sb_auto_close int current = -1;

	for (;;) {
		struct sb_ns_identity identity;
		int next = sb_nsmount_step(current >= 0 ? current : start, direction, &identity);
		int r;

		if (next < 0)
			return next == -ENOENT ? 0 : next;
		if (current >= 0)
			close(current);
		current = next;
		r = read_namespace(walk, current, &identity);
		if (r < 0)
			return r;
	}
}

static int walk_once(struct walk *walk, int own, const struct sb_ns_identity *identity)
{
	int r;

	walk->met_new = false;
	walk->proof->coverage.passes++;
	r = read_namespace(walk, own, identity);
	if (r == 0)
		r = walk_towards(walk, own, SB_NS_PREVIOUS);
	if (r == 0)
		r = walk_towards(walk, own, SB_NS_NEXT);
	return r;
}

static int walk_until_settled(struct walk *walk, int own, const struct sb_ns_identity *identity)
{
	struct sb_budget budget = sb_budget_start(WALKS_SPAN);

	for (int i = 0; i < WALKS_MOST; i++) {
		int r = walk_once(walk, own, identity);

		if (r < 0)
			return r;
		if (!walk->met_new)
			return 0;
		if (sb_budget_spent(&budget))
			break;
	}
	sb_proof_lose(
		walk->proof, SB_LOSES_BOTH, NULL,
		"mount namespaces kept appearing: none of %zu walks met only known ones; retry",
		walk->proof->coverage.passes);
	return 0;
}

/*
 * From 6.12 until e6b899f08066 (2026) the ioctls pass over, without a word, what the caller has no
 * CAP_SYS_ADMIN over: their end is the end of the list only for who has it over all.
 */
static int check_sees_all(int procfs)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];
	uint64_t inode;
	char link[40];

	if (syscall(SYS_capget, &header, data) < 0)
		return -errno;
	if (!(data[0].effective & 1U << CAP_SYS_ADMIN) ||
	    sb_proc_readlink(procfs, "self/ns/user", link, sizeof(link)) <= 0 ||
	    !sb_proc_parse_ns(link, "user", &inode) || inode != SB_PROC_INITIAL_USERNS)
		return -EPERM;
	return 0;
}

/* Our own namespace, to start from; -ENOTTY where the kernel gives no ids. */
static int open_start(int procfs, struct sb_ns_identity *ret)
{
	int own = sb_nsmount_open_own(procfs);
	int r;

	if (own < 0)
		return own;
	r = check_sees_all(procfs);
	if (r == 0)
		r = sb_nsmount_identify(own, ret);
	if (r == 0 && ret->id == 0)
		r = -ENOTTY;
	if (r < 0) {
		close(own);
		return r;
	}
	return own;
}

static const char *reason_of(int error)
{
	switch (error) {
	case -EPERM:
		return "it needs root in the initial user and pid namespaces";
	case -ENOTTY:
	case -EINVAL:
	case -ENOSYS:
		return "it needs Linux 6.12 or newer";
	default:
		return strerror(-error);
	}
}

int sb_kernelwalk_run(struct sb_pinset *pins, struct sb_proof *proof, int procfs)
{
	struct walk walk = {.pins = pins, .proof = proof};
	struct sb_ns_identity identity;
	sb_auto_close int own = open_start(procfs, &identity);
	int r = own;

	proof->coverage.evidence = SB_EVIDENCE_KERNEL;
	if (own >= 0)
		r = walk_until_settled(&walk, own, &identity);
	if (r < 0)
		sb_proof_lose(proof, SB_LOSES_BOTH, NULL,
			      "the kernel would not list its mount namespaces: %s", reason_of(r));
	sb_idmap_free(&walk.read);
	return r;
}

bool sb_kernelwalk_is_available(int procfs)
{
	static const enum sb_ns_direction ways[] = {SB_NS_NEXT, SB_NS_PREVIOUS};
	struct sb_ns_identity identity;
	sb_auto_close int own = open_start(procfs, &identity);

	if (own < 0)
		return false;
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		sb_auto_close int next = sb_nsmount_step(own, ways[i], &identity);

		if (next < 0 && next != -ENOENT)
			return false;
	}
	return true;
}
