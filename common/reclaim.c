#include "reclaim.h"

#include "clock.h"
#include "names.h"
#include "proc.h"
#include "scope.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>

#define LIST_BUFFER 32768 /* bytes a call to getdents64 */

/* A directory that is filled as fast as it is emptied is somebody's at work: leave it to them. */
#define REFILLS_MOST 16

#define OPEN_DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

/* Where a directory is: enough to tell it from any other, as long as it is held or listed. */
struct place {
	dev_t dev;
	uint64_t inode;
	uint64_t mount_id;
};

/* A walk down one tree, without recursion and with two descriptors however deep it is. */
struct descent {
	int top; /* borrowed: the directory that holds the entry */
	const char *name;
	const struct sb_reclaim_patience *patience;
	struct sb_reclaimed *result;
	char *buffer;
	struct place *above; /* the directories from the entry down to the one that is open */
	size_t depth, capacity;
	int fd;		   /* the open one */
	bool climbed;	   /* the last move was up, and nothing was removed since */
	int stalls;	   /* times that it went down again from there */
	uint64_t below_up; /* what was removed by the time of that move */
};

/* Before 5.8 statx(2) tells no mount id; fdinfo of a descriptor always does. */
static uint64_t mount_id_of_fd(int fd)
{
	char path[48], text[256];
	const char *line;

	snprintf(path, sizeof(path), SB_PROC_DIR "/self/fdinfo/%d", fd);
	if (sb_proc_read_into(AT_FDCWD, path, text, sizeof(text)) <= 0)
		return 0;
	line = strstr(text, "mnt_id:");
	return line ? strtoull(line + strlen("mnt_id:"), NULL, 10) : 0;
}

int sb_reclaim_look(int dir, const char *name, struct sb_facts *ret)
{
	struct statx stx;
	int flags = AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC;

	*ret = (struct sb_facts){0};
	if (statx(dir, name, flags,
		  STATX_TYPE | STATX_MODE | STATX_UID | STATX_MTIME | STATX_INO | STATX_MNT_ID,
		  &stx) < 0) {
		ret->gone = errno == ENOENT;
		return ret->gone ? 0 : -errno;
	}
	ret->covered = (stx.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
	ret->mode = stx.stx_mode;
	ret->uid = stx.stx_uid;
	ret->mtime_ns = sb_clock_from_stamp(stx.stx_mtime.tv_sec, stx.stx_mtime.tv_nsec);
	ret->dev = makedev(stx.stx_dev_major, stx.stx_dev_minor);
	ret->inode = stx.stx_ino;
	ret->mount_id = stx.stx_mask & STATX_MNT_ID ? stx.stx_mnt_id : 0;
	return 0;
}

static int learn_place(int fd, struct place *ret)
{
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC, STATX_INO | STATX_MNT_ID, &stx) < 0)
		return -errno;
	*ret = (struct place){
		.dev = makedev(stx.stx_dev_major, stx.stx_dev_minor),
		.inode = stx.stx_ino,
		.mount_id = stx.stx_mask & STATX_MNT_ID ? stx.stx_mnt_id : mount_id_of_fd(fd),
	};
	/* Without it a bind of the same file system could not be told from a directory of its own.
	 */
	return ret->mount_id ? 0 : -EOPNOTSUPP;
}

static bool same_place(const struct place *a, const struct place *b)
{
	return a->dev == b->dev && a->inode == b->inode && a->mount_id == b->mount_id;
}

/* A signal asks for an end between two entries; on FUSE and NFS it can interrupt one. */
static int remove_name(int dir, const char *name, bool directory)
{
	int r;

	do
		r = unlinkat(dir, name, directory ? AT_REMOVEDIR : 0);
	while (r < 0 && errno == EINTR);
	return r;
}

/* The outcome that an error of removing or opening stands for. */
static void conclude(struct sb_reclaimed *result, int error)
{
	switch (error) {
	case 0:
		result->verdict = SB_VERDICT_REMOVE;
		return;
	case -ENOENT:
	case -ESTALE: /* another thing stands under that name */
		result->verdict = SB_VERDICT_VANISHED;
		return;
	case -EBUSY: /* rmdir(2), unlink(2): something is mounted on it */
	case -EXDEV:
		result->verdict = SB_VERDICT_MOUNTED;
		return;
	default:
		result->verdict = SB_VERDICT_FAILED;
		result->error = error;
	}
}

static int push(struct descent *descent, const struct place *place)
{
	if (descent->depth == descent->capacity) {
		size_t capacity = descent->capacity ? descent->capacity * 2 : 16;
		struct place *grown = reallocarray(descent->above, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		descent->above = grown;
		descent->capacity = capacity;
	}
	descent->above[descent->depth++] = *place;
	return 0;
}

/* Makes the directory called name in the open one, or at the top, the open one. */
static int go_down(struct descent *descent, const char *name)
{
	sb_auto_close int fd =
		openat(descent->depth ? descent->fd : descent->top, name, OPEN_DIRECTORY);
	struct place place;
	int r;

	if (fd < 0)
		return errno == ENOTDIR || errno == ELOOP ? -ESTALE : -errno;
	r = learn_place(fd, &place);
	if (r < 0)
		return r;
	if (descent->depth &&
	    (place.mount_id != descent->above[0].mount_id || place.dev != descent->above[0].dev))
		return -EXDEV;
	r = push(descent, &place);
	if (r < 0)
		return r;
	if (descent->fd >= 0)
		close(descent->fd);
	descent->fd = sb_scope_take_fd(&fd);
	return 0;
}

/*
 * Back to the directory above. If ".." leads anywhere else, the open one was moved meanwhile: what
 * is there was not judged.
 */
static int go_up(struct descent *descent)
{
	sb_auto_close int fd = openat(descent->fd, "..", OPEN_DIRECTORY);
	struct place place;
	int r = fd < 0 ? -errno : learn_place(fd, &place);

	if (r < 0)
		return r;
	if (!same_place(&place, &descent->above[descent->depth - 2]))
		return -EAGAIN;
	descent->depth--;
	descent->climbed = true;
	descent->below_up = descent->result->below;
	close(descent->fd);
	descent->fd = sb_scope_take_fd(&fd);
	return 0;
}

/* Coming up, the directory just emptied goes. When nothing does, again and again, it is refilled.
 */
static bool is_stalled(struct descent *descent)
{
	bool stalled = descent->climbed && descent->result->below == descent->below_up;

	descent->climbed = false;
	return stalled && ++descent->stalls > REFILLS_MOST;
}

/* Removes one thing of the open directory; -ENOTEMPTY: a directory that has to be emptied first. */
static int remove_one(struct descent *descent, const struct dirent64 *entry)
{
	bool directory = entry->d_type == DT_DIR;

	/* What getdents64(2) said of the type may be old, or nothing: the other call is tried too.
	 */
	for (int i = 0; i < 2; i++) {
		if (remove_name(descent->fd, entry->d_name, directory) == 0) {
			descent->result->below++;
			return 0;
		}
		if (errno != (directory ? ENOTDIR : EISDIR))
			break;
		directory = !directory;
	}
	if (errno == ENOENT)
		return 0;
	return directory && errno == EEXIST ? -ENOTEMPTY : -errno;
}

/*
 * Empties the open directory. 0: it is empty; 1: it went down into one that was not, which is to be
 * emptied first; -errno.
 */
static int empty_open(struct descent *descent)
{
	for (;;) {
		ssize_t filled = getdents64(descent->fd, descent->buffer, LIST_BUFFER);
		const struct dirent64 *entry;

		if (filled <= 0)
			return filled < 0 ? -errno : 0;
		for (ssize_t at = 0; at < filled; at += entry->d_reclen) {
			int r;

			entry = (const struct dirent64 *)(descent->buffer + at);
			if (sb_names_is_dot(entry->d_name))
				continue;
			if (descent->patience->ended(descent->result->below,
						     descent->patience->closure))
				return -EINTR;
			r = remove_one(descent, entry);
			if (r == -ENOTEMPTY && !is_stalled(descent)) {
				r = go_down(descent, entry->d_name);
				if (r == 0)
					return 1;
			}
			/* Gone, or another thing by now: the next listing shows it. */
			if (r < 0 && r != -ENOENT && r != -ESTALE)
				return r;
		}
	}
}

/*
 * Empties all that is below the open directory, deepest first. On the way up each directory is
 * listed again from its start, where the one that was just emptied then goes: no names have to be
 * kept for the way back.
 */
static int empty_tree(struct descent *descent)
{
	for (;;) {
		size_t depth = descent->depth;
		int r = empty_open(descent);

		if (r < 0)
			return r;
		if (r == 1)
			continue;
		if (depth == 1)
			return 0;
		r = go_up(descent);
		if (r < 0)
			return r;
	}
}

static int remove_tree(struct descent *descent, const struct sb_facts *judged)
{
	int r = go_down(descent, descent->name);

	if (r < 0)
		return r;
	/* Judged by its name, opened by its name: it has to be the same thing. */
	if (descent->above[0].inode != judged->inode || descent->above[0].dev != judged->dev)
		return -ESTALE;
	if (judged->mount_id && descent->above[0].mount_id != judged->mount_id)
		return -EXDEV;
	for (int i = 0; i < REFILLS_MOST; i++) {
		r = empty_tree(descent);
		if (r < 0)
			return r;
		if (remove_name(descent->top, descent->name, true) == 0)
			return 0;
		if (errno != ENOTEMPTY && errno != EEXIST)
			return -errno;
		if (lseek(descent->fd, 0, SEEK_SET) < 0)
			return -errno;
	}
	return -ENOTEMPTY;
}

/* What went from it has made it young: whoever goes on with it shall not have to wait. */
static void restore_age(int dir, const char *name, const struct sb_facts *judged)
{
	const struct timespec times[2] = {{.tv_nsec = UTIME_OMIT},
					  {.tv_sec = judged->mtime_ns / 1000000000,
					   .tv_nsec = judged->mtime_ns % 1000000000}};
	sb_auto_close int fd = openat(dir, name, OPEN_DIRECTORY);
	struct place place;

	if (fd >= 0 && learn_place(fd, &place) == 0 && place.inode == judged->inode &&
	    place.dev == judged->dev)
		futimens(fd, times);
}

static void reclaim_tree(int dir, const char *name, const struct sb_facts *judged,
			 const struct sb_reclaim_patience *patience, struct sb_reclaimed *ret)
{
	struct descent descent = {
		.top = dir, .name = name, .patience = patience, .result = ret, .fd = -1};
	int r = -ENOMEM;

	descent.buffer = malloc(LIST_BUFFER);
	if (descent.buffer)
		r = remove_tree(&descent, judged);
	ret->unfinished = r == -EINTR;
	if (r < 0)
		restore_age(dir, name, judged);
	conclude(ret, r);
	if (descent.fd >= 0)
		close(descent.fd);
	free(descent.buffer);
	free(descent.above);
}

void sb_reclaim_entry(int dir, const char *name, const struct sb_facts *judged,
		      const struct sb_reclaim_patience *patience, struct sb_reclaimed *ret)
{
	bool directory = S_ISDIR(judged->mode);

	*ret = (struct sb_reclaimed){0};
	if (remove_name(dir, name, directory) == 0) {
		conclude(ret, 0);
		return;
	}
	if (directory && (errno == ENOTEMPTY || errno == EEXIST)) {
		if (patience)
			reclaim_tree(dir, name, judged, patience, ret);
		else
			ret->verdict = SB_VERDICT_POPULATED;
		return;
	}
	/* The other kind of thing stands under that name now: not what was judged. */
	if (errno == (directory ? ENOTDIR : EISDIR))
		conclude(ret, -ESTALE);
	else
		conclude(ret, -errno);
}

enum sb_verdict sb_reclaim_probe(int dir, const char *name, const struct sb_facts *judged)
{
	sb_auto_close int fd = openat(dir, name, OPEN_DIRECTORY);
	sb_auto_free char *buffer = malloc(LIST_BUFFER);
	const struct dirent64 *entry;
	struct place place;
	ssize_t filled;

	if (fd < 0 || learn_place(fd, &place) < 0 || place.inode != judged->inode ||
	    place.dev != judged->dev)
		return SB_VERDICT_VANISHED;
	if (!buffer)
		return SB_VERDICT_FAILED;
	while ((filled = getdents64(fd, buffer, LIST_BUFFER)) > 0)
		for (ssize_t at = 0; at < filled; at += entry->d_reclen) {
			entry = (const struct dirent64 *)(buffer + at);
			if (!sb_names_is_dot(entry->d_name))
				return SB_VERDICT_POPULATED;
		}
	return SB_VERDICT_REMOVE;
}
