/*
 * Every mount of one mount namespace, by whichever way there is: listmount(2) and statmount(2),
 * or the text of a task's mountinfo through libmount. Nothing else knows how.
 */
#ifndef SB_NSMOUNT_H
#define SB_NSMOUNT_H

#include "idmap.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* The kinds of filesystem whose mounts mean something of their own here. */
enum sb_fs_kind {
	SB_FS_OTHER,
	SB_FS_TMPFS, /* tmpfs or ramfs */
	SB_FS_OVERLAY,
	SB_FS_NSFS,
};

/* Strings are true bytes, owned by the table. */
struct sb_mount {
	uint32_t id; /* as in mountinfo: reused once the mount is gone */
	uint32_t parent_id;
	dev_t device;
	enum sb_fs_kind kind;
	const char *root;    /* within its filesystem; may end in "//deleted" */
	const char *point;   /* where it is mounted; "" when the reader's root cannot reach it */
	const char *options; /* of an overlay: its own options, as the kernel escapes them */
};

/* Zero-initialize; free with sb_mount_table_free. */
struct sb_mount_table {
	struct sb_mount *item;
	size_t count;
	size_t capacity;
	struct sb_idmap by_id;
	struct sb_mount_strings *strings;
};

/*
 * Appends a mount, copying its strings (options may be NULL). -ENOMEM. For those who fill tables.
 */
int sb_mount_table_add(struct sb_mount_table *table, const struct sb_mount *mount);

void sb_mount_table_free(struct sb_mount_table *table);

/* The mount of that id, or NULL. */
const struct sb_mount *sb_mount_table_find(const struct sb_mount_table *table, uint32_t id);

/* Whether a mount of the table stands on "/": without that line a text shows a part at best. */
bool sb_mount_table_has_root(const struct sb_mount_table *table);

/* What the kernel calls a mount namespace. */
struct sb_ns_identity {
	uint64_t id; /* 64 bits, never reused; 0 where the kernel has none to give (before 6.12) */
	uint64_t inode; /* the N of mnt:[N]: reused once the namespace is gone */
	uint32_t mounts;
};

/* Identifies an open namespace file. id is 0 where the ioctl is not known. -errno of fstat. */
int sb_nsmount_identify(int ns_fd, struct sb_ns_identity *ret);

/*
 * The namespace file of our own mount namespace: by pidfd, or else below procfs, a descriptor of
 * one. The caller closes it. -errno.
 */
int sb_nsmount_open_own(int procfs);

enum sb_ns_direction {
	SB_NS_NEXT,
	SB_NS_PREVIOUS,
};

/*
 * The neighbour of a mount namespace in the kernel's order of ids: a descriptor that the caller
 * closes, with its identity. -ENOENT at the end; -EPERM without CAP_SYS_ADMIN in the initial user
 * namespace and in the initial pid namespace; -ENOTTY or -EINVAL before 6.12.
 */
int sb_nsmount_step(int ns_fd, enum sb_ns_direction direction, struct sb_ns_identity *ret);

/*
 * Reads a whole namespace by its id; ns_fd keeps it alive meanwhile and tells how many mounts it
 * has. The table holds every mount that stood at one instant: it is listed again until nothing in
 * a listing vanished before it was read. 0, or:
 * -ENOSYS, -EPERM, -ENOENT: this kernel or these privileges cannot; -ENODATA: only a part can be
 * seen (our root is not the namespace's); -EBUSY: it would not hold still; -ENOMEM.
 */
int sb_nsmount_read(int ns_fd, uint64_t ns_id, struct sb_mount_table *ret);

struct sb_statmount;

/*
 * What a buffer of size bytes that statmount(2) filled says of a mount; its strings stay there.
 * An overlay's options are in it only if they were asked for. -EIO for an answer that points
 * outside of itself; -ENOSYS for one without the least that was asked for.
 */
int sb_nsmount_decode(const struct sb_statmount *answer, size_t size, struct sb_mount *ret);

/*
 * Parses the text of a mountinfo file (proc_pid_mountinfo(5)). 0, -EBADMSG when a line cannot be
 * parsed or the text is cut in a line, or -ENOMEM. Empty text is an empty table.
 */
int sb_nsmount_parse(const char *text, size_t length, struct sb_mount_table *ret);

/*
 * The text of a task's mountinfo, path relative to procfs ("123/mountinfo"), in fresh memory that
 * the caller frees. It is read again until the namespace held still; -EBUSY if it would not, with
 * the last text in *ret all the same. Other -errno from the open or the read.
 */
int sb_nsmount_read_text(int procfs, const char *path, char **ret, size_t *ret_length);

#endif
