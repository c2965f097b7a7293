/* A namespace's mounts by listmount(2) and statmount(2). */
#include "nsmount.h"

#include "mntabi.h"
#include "proc.h"
#include "scope.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>

#define IDS_FIRST    1024
#define IDS_LARGEST  1000000 /* what one listmount(2) call may return; fs.mount-max is below it */
#define STAT_FIRST   4096
#define STAT_LARGEST (1 << 20)
#define LISTINGS_MOST                                                               \
	64 /* a namespace in which every listing names a mount that is gone by then \
	    */

#define NSFS_MAGIC_NUMBER 0x6e736673 /* of <linux/magic.h>, where it is not everywhere */

int sb_nsmount_identify(int ns_fd, struct sb_ns_identity *ret)
{
	struct sb_mnt_ns_info info = {.size = sizeof(info)};
	struct stat st;

	if (fstat(ns_fd, &st) < 0)
		return -errno;
	if (ioctl(ns_fd, SB_NS_MNT_GET_INFO, &info) < 0)
		info = (struct sb_mnt_ns_info){0};
	*ret = (struct sb_ns_identity){
		.id = info.mnt_ns_id, .inode = st.st_ino, .mounts = info.nr_mounts};
	return 0;
}

int sb_nsmount_open_own(int procfs)
{
	sb_auto_close int pidfd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	int fd = -1;

	if (pidfd >= 0)
		fd = ioctl(pidfd, SB_PIDFD_GET_MNT_NAMESPACE, 0);
	if (fd < 0)
		fd = openat(procfs, "self/ns/mnt", O_RDONLY | O_CLOEXEC);
	return fd < 0 ? -errno : fd;
}

int sb_nsmount_step(int ns_fd, enum sb_ns_direction direction, struct sb_ns_identity *ret)
{
	struct sb_mnt_ns_info info = {.size = sizeof(info)};
	struct stat st;
	int fd = ioctl(ns_fd, direction == SB_NS_NEXT ? SB_NS_MNT_GET_NEXT : SB_NS_MNT_GET_PREV,
		       &info);

	if (fd < 0)
		return -errno;
	if (fstat(fd, &st) < 0) {
		int error = errno;

		close(fd);
		return -error;
	}
	*ret = (struct sb_ns_identity){
		.id = info.mnt_ns_id, .inode = st.st_ino, .mounts = info.nr_mounts};
	return fd;
}

/* The state of reading one namespace. */
struct reader {
	uint64_t ns_id;
	struct sb_mount_table table;
	struct sb_idmap seen; /* unique ids of the mounts read so far -> that of the parent */
	struct sb_statmount *stat;
	size_t stat_size;
	uint64_t *ids;
	size_t ids_size;
	bool pointless; /* a mount whose point the reader's root cannot reach */
};

/* All mounts below a mount, at one instant; how many, or -errno. */
static ssize_t list_mounts(struct reader *reader, uint64_t below)
{
	struct sb_mnt_id_req request = {
		.size = sizeof(request), .mnt_id = below, .mnt_ns_id = reader->ns_id};

	for (;;) {
		long n;

		if (reader->ids_size == 0 || !reader->ids) {
			reader->ids_size = IDS_FIRST;
			reader->ids = calloc(reader->ids_size, sizeof(*reader->ids));
			if (!reader->ids)
				return -ENOMEM;
		}
		n = syscall(SB_NR_LISTMOUNT, &request, reader->ids, reader->ids_size, 0);
		if (n < 0)
			return -errno;
		if ((size_t)n < reader->ids_size)
			return n;
		/* Full: list again from the start, for the answer to be of one instant. */
		if (reader->ids_size >= IDS_LARGEST)
			return -EFBIG;
		free(reader->ids);
		reader->ids = NULL;
		reader->ids_size =
			reader->ids_size * 4 < IDS_LARGEST ? reader->ids_size * 4 : IDS_LARGEST;
		reader->ids = calloc(reader->ids_size, sizeof(*reader->ids));
		if (!reader->ids)
			return -ENOMEM;
	}
}

static int stat_mount(struct reader *reader, uint64_t id, uint64_t what)
{
	struct sb_mnt_id_req request = {
		.size = sizeof(request), .mnt_id = id, .param = what, .mnt_ns_id = reader->ns_id};

	for (;;) {
		struct sb_statmount *grown;

		if (reader->stat &&
		    syscall(SB_NR_STATMOUNT, &request, reader->stat, reader->stat_size, 0) == 0)
			return (reader->stat->mask & what) == what ? 0 : -EOPNOTSUPP;
		if (reader->stat && errno != EOVERFLOW)
			return -errno;
		if (reader->stat_size >= STAT_LARGEST)
			return -EOVERFLOW;
		reader->stat_size = reader->stat_size ? reader->stat_size * 4 : STAT_FIRST;
		grown = realloc(reader->stat, reader->stat_size);
		if (!grown)
			return -ENOMEM;
		reader->stat = grown;
	}
}

static enum sb_fs_kind kind_of(uint64_t magic)
{
	switch (magic) {
	case TMPFS_MAGIC:
	case RAMFS_MAGIC:
		return SB_FS_TMPFS;
	case OVERLAYFS_SUPER_MAGIC:
		return SB_FS_OVERLAY;
	case NSFS_MAGIC_NUMBER:
		return SB_FS_NSFS;
	default:
		return SB_FS_OTHER;
	}
}

#define WHAT_IS_NEEDED (SB_STATMOUNT_SB_BASIC | SB_STATMOUNT_MNT_BASIC | SB_STATMOUNT_MNT_ROOT)

/* A string of an answer, or NULL when it does not end in there. */
static const char *string_at(const struct sb_statmount *answer, size_t size, uint32_t offset)
{
	const char *end = (const char *)answer + size;
	const char *string = answer->str + offset;

	if (offset >= size - sizeof(*answer) || !memchr(string, '\0', (size_t)(end - string)))
		return NULL;
	return string;
}

int sb_nsmount_decode(const struct sb_statmount *answer, size_t size, struct sb_mount *ret)
{
	if (size < sizeof(*answer) || answer->size > size || answer->size < sizeof(*answer))
		return -EIO;
	if ((answer->mask & WHAT_IS_NEEDED) != WHAT_IS_NEEDED)
		return -ENOSYS;
	size = answer->size;
	*ret = (struct sb_mount){
		.id = answer->mnt_id_old,
		.parent_id = answer->mnt_parent_id_old,
		.device = makedev(answer->sb_dev_major, answer->sb_dev_minor),
		.kind = kind_of(answer->sb_magic),
		.root = string_at(answer, size, answer->mnt_root),
		.point = "",
	};
	/* The kernel leaves out the point of a mount that our root cannot reach. */
	if (answer->mask & SB_STATMOUNT_MNT_POINT)
		ret->point = string_at(answer, size, answer->mnt_point);
	if (answer->mask & SB_STATMOUNT_MNT_OPTS) {
		ret->options = string_at(answer, size, answer->mnt_opts);
		if (!ret->options)
			return -EIO;
	}
	return ret->root && ret->point ? 0 : -EIO;
}

/* An overlay's options are asked for apart: the kernel has to make that text, for every mount. */
static int add_overlay(struct reader *reader, struct sb_mount *mount, uint64_t id)
{
	sb_auto_free char *root = strdup(mount->root);
	sb_auto_free char *point = strdup(mount->point);
	struct sb_mount answer;
	int r;

	if (!root || !point)
		return -ENOMEM;
	r = stat_mount(reader, id, WHAT_IS_NEEDED | SB_STATMOUNT_MNT_OPTS);
	if (r < 0)
		return r;
	r = sb_nsmount_decode(reader->stat, reader->stat_size, &answer);
	if (r < 0)
		return r;
	mount->root = root;
	mount->point = point;
	mount->options = answer.options;
	return sb_mount_table_add(&reader->table, mount);
}

/* Adds the mount of that unique id. */
static int read_mount(struct reader *reader, uint64_t id)
{
	struct sb_mount mount;
	uint64_t parent;
	int r = stat_mount(reader, id, WHAT_IS_NEEDED | SB_STATMOUNT_MNT_POINT);

	/* Without the point alone it will do. */
	if (r == 0 || r == -EOPNOTSUPP)
		r = sb_nsmount_decode(reader->stat, reader->stat_size, &mount);
	if (r < 0)
		return r;
	parent = reader->stat->mnt_parent_id;
	/* Its own parent is the namespace's first mount; that stands nowhere. */
	if (!*mount.point && parent != id)
		reader->pointless = true;
	r = sb_idmap_put(&reader->seen, id, parent);
	if (r < 0)
		return r;
	if (mount.kind == SB_FS_OVERLAY)
		return add_overlay(reader, &mount, id);
	return sb_mount_table_add(&reader->table, &mount);
}

/* Reads those of a listing that are new; *ret_vanished: one of them was gone by then. */
static int read_listed(struct reader *reader, size_t listed, bool *ret_vanished)
{
	*ret_vanished = false;
	for (size_t i = 0; i < listed; i++) {
		int r = 0;

		if (!sb_idmap_get(&reader->seen, reader->ids[i], NULL))
			r = read_mount(reader, reader->ids[i]);
		if (r == -ENOENT)
			*ret_vanished = true;
		else if (r < 0)
			return r;
	}
	return 0;
}

/*
 * Reads every mount below one, until a listing in which none was gone before it was read: all that
 * stood at the instant of that listing is in the table then. Returns the length of that listing.
 */
static ssize_t read_below(struct reader *reader, uint64_t below)
{
	for (int i = 0; i < LISTINGS_MOST; i++) {
		ssize_t listed = list_mounts(reader, below);
		bool vanished;
		int r;

		if (listed < 0)
			return listed;
		r = read_listed(reader, (size_t)listed, &vanished);
		if (r < 0)
			return r;
		if (!vanished)
			return listed;
	}
	return -EBUSY;
}

/* The parent of a listed mount that is itself in no listing; 0 when there is none. */
static uint64_t find_top(const struct reader *reader, size_t listed)
{
	for (size_t i = 0; i < listed; i++) {
		uint64_t parent;

		if (sb_idmap_get(&reader->seen, reader->ids[i], &parent) &&
		    !sb_idmap_get(&reader->seen, parent, NULL))
			return parent;
	}
	return 0;
}

/*
 * listmount(2) starts at our root, or, for another namespace, at the first mount on its own: what
 * stands beside that is left out. Climbs to the mount that is its own parent and lists from there.
 * -EPERM where that needs privileges that we lack.
 */
static ssize_t climb(struct reader *reader, uint64_t top)
{
	for (int i = 0; i < LISTINGS_MOST; i++) {
		int r = read_mount(reader, top);
		ssize_t listed = r < 0 ? r : read_below(reader, top);
		uint64_t parent = 0;

		if (listed < 0)
			return listed;
		sb_idmap_get(&reader->seen, top, &parent);
		if (sb_idmap_get(&reader->seen, parent, NULL))
			return listed; /* its own parent: the first of them all */
		top = parent;
	}
	return -EBUSY;
}

static int read_whole(struct reader *reader, int ns_fd)
{
	struct sb_ns_identity identity = {0};
	ssize_t listed = read_below(reader, SB_LSMT_ROOT), climbed = 0;
	uint64_t top;

	if (listed == -ENOENT && sb_nsmount_identify(ns_fd, &identity) == 0 &&
	    identity.id == reader->ns_id && identity.mounts <= 1)
		return 0; /* nothing is mounted in it any more but its own first mount */
	if (listed < 0)
		return (int)listed;
	top = find_top(reader, (size_t)listed);
	if (top)
		climbed = climb(reader, top);
	if (climbed == -EPERM || climbed == -ENOENT) {
		/* Not to be climbed by us: then the count must say that nothing is left out. */
		if (sb_nsmount_identify(ns_fd, &identity) < 0 || identity.id != reader->ns_id ||
		    (size_t)listed < identity.mounts)
			return -ENODATA;
	} else if (climbed < 0) {
		return (int)climbed;
	}
	/* Roots would pin, but what stands on an entry would not be seen. */
	return reader->pointless ? -ENODATA : 0;
}

int sb_nsmount_read(int ns_fd, uint64_t ns_id, struct sb_mount_table *ret)
{
	struct reader reader = {.ns_id = ns_id};
	int r = read_whole(&reader, ns_fd);

	sb_idmap_free(&reader.seen);
	free(reader.stat);
	free(reader.ids);
	if (r < 0)
		sb_mount_table_free(&reader.table);
	else
		*ret = reader.table;
	return r;
}
