/*
 * Which names do live mounts use, in any mount namespace, and how far is it proven that they use
 * no other? The contract's section 3. A pin that was seen always counts; its absence counts only
 * as far as the coverage says.
 */
#ifndef SB_PINSCAN_H
#define SB_PINSCAN_H

#include "evidence.h"
#include "names.h"

/* What a mount can use an entry as; bits. */
enum sb_pin_use {
	SB_PIN_SOURCE = 1,     /* its root is the entry or lies below it */
	SB_PIN_MOUNTPOINT = 2, /* it is mounted on the entry or below it */
	SB_PIN_LAYER = 4,      /* an overlay's lowerdir, upperdir or workdir lies in it */
};

#define SB_PIN_USES 3

/* The name of a single bit: "source", "mountpoint", "layer". */
const char *sb_pin_use_name(enum sb_pin_use use);

struct sb_holder {
	pid_t pid;
	pid_t tid;
	uid_t uid;
	char comm[SB_PROC_COMM_MAX];
};

struct sb_pin {
	char *name; /* the entry's true bytes; with match.all, the mount's whole root */
	unsigned int uses;
	bool deleted; /* the source is gone from its directory: every mount of it says //deleted */
	/*
	 * All that uses it is mounts of our own namespace standing on or below it: nobody else's
	 * business, and what rmdir(2) answers with EBUSY.
	 */
	bool only_mounted_here;
	uint64_t *namespaces; /* inode numbers, ascending, distinct; as far as they are known */
	size_t namespace_count;
	struct sb_holder *holders; /* ascending pid, tid */
	size_t holder_count;
};

/* Which path components name an entry. */
struct sb_pin_match {
	struct sb_prefixes prefixes; /* components that bear one of these */
	struct sb_prefixes names;    /* components that are one of these */
	bool legacy;		     /* components of mkdtemp's shape */
	bool all;		     /* every mount whose root is not "/", under its whole root */
};

struct sb_pinscan_options {
	const char *procfs;
	bool procfs_given; /* the user named it: our own kernel cannot answer for it */
	const uid_t *uids; /* the target uids */
	size_t uid_count;
	enum sb_evidence evidence;
	enum sb_level require; /* the walk goes on until this is reached or its bounds are */
	bool trust_pidns;
	bool want_holders;
	struct sb_pin_match match;
	/* Devices of the roots: mount points count on these. */
	const dev_t *devices;
	size_t device_count;
	/* There may be others: mount points directly below the top of any tmpfs count too. */
	bool other_roots;
};

struct sb_pinscan; /* a scan's result */

/*
 * Scans. 0: *ret is written, whatever the coverage; what could not be read is told there as gaps.
 * -ENOMEM: no result at all; callers treat it as unproven, never as "no pins".
 */
int sb_pinscan_run(const struct sb_pinscan_options *options, struct sb_pinscan **ret);
void sb_pinscan_free(struct sb_pinscan *scan);

const struct sb_coverage *sb_pinscan_coverage(const struct sb_pinscan *scan);

/* The pin of a name, or NULL: none was seen. */
const struct sb_pin *sb_pinscan_find(const struct sb_pinscan *scan, const char *name);

/* All of them, sorted by name. */
const struct sb_pin *const *sb_pinscan_pins(const struct sb_pinscan *scan, size_t *ret_count);

/* The evidence that this kernel and these privileges can give: the strongest kind. */
enum sb_evidence sb_pinscan_probe(void);

#endif
