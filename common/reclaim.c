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
#define LIST_FIRST  1024  /* bytes: enough for a few names of any length */

/* A directory that is filled as fast as it is emptied is somebody's at work: leave it to them. */
#define REFILLS_MOST 16

#define OPEN_DIRECTORY (O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)

/* Enough to tell a directory from any other, even from a later one with its inode number. */
struct place {
	dev_t dev;
	uint64_t inode;
	uint64_t mount_id;
	int64_t born_ns; /* 0: the file system does not tell */
};

/* A directory on the way down to the open one, or that one. */
struct level {
	uint64_t inode;
	int64_t born_ns;
	off_t before, after; /* positions around the directory in it that was gone into */
	bool leftover;	     /* something in it could not be removed */
};

/* A walk down one tree, without recursion and with two descriptors however deep it is. */
struct descent {
	int top; /* borrowed: the directory that holds the entry */
	const char *name;
	const struct sb_reclaim_patience *patience;
	uint64_t below; /* what was removed so far */
	char *buffer;
	dev_t dev;	     /* of the entry, and so of all that is below it */
	uint64_t mount_id;   /* that of top: nothing below another mount is ours */
	struct level *level; /* from the entry down to the open directory */
	size_t depth, capacity;
	int fd;		    /* the open one */
	off_t at;	    /* where its listing stands */
	bool climbed;	    /* the last move was up, and nothing was removed since */
	int stalls;	    /* times that it went down again from there */
	uint64_t stepped;   /* inode of the directory that was stepped over last */
	int leftover_error; /* why the first thing that stays could not go */
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

/*
 * statx(2) with what is asked about here; flags of its own besides those that fstatat(2) knows too.
 * Where a filter of system calls hides it (with ENOSYS or EPERM; glibc's stand-in for it says
 * EINVAL to flags that it does not know), the older call tells all but the mount and the birth.
 */
static int look(int dir, const char *name, int flags, struct statx *ret)
{
	struct stat st;

	if (statx(dir, name, flags | AT_STATX_DONT_SYNC,
		  STATX_TYPE | STATX_MODE | STATX_UID | STATX_MTIME | STATX_INO | STATX_BTIME |
			  STATX_MNT_ID,
		  ret) == 0)
		return 0;
	if (errno != ENOSYS && errno != EPERM && errno != EINVAL)
		return -errno;
	if (fstatat(dir, name, &st, flags) < 0)
		return -errno;
	*ret = (struct statx){
		.stx_mode = (uint16_t)st.st_mode,
		.stx_uid = st.st_uid,
		.stx_ino = st.st_ino,
		.stx_dev_major = major(st.st_dev),
		.stx_dev_minor = minor(st.st_dev),
		.stx_mtime = {.tv_sec = st.st_mtim.tv_sec, .tv_nsec = (uint32_t)st.st_mtim.tv_nsec},
	};
	return 0;
}

/*
 * Whether something is mounted there, of which nothing can be learnt: a FUSE mount of a user's
 * denies root all attributes, and one whose server has died denies them to everybody.
 */
static bool is_mounted_on(int dir, const char *name)
{
	struct statx stx;

	return statx(dir, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT | AT_STATX_DONT_SYNC, 0,
		     &stx) == 0 &&
	       (stx.stx_attributes & STATX_ATTR_MOUNT_ROOT);
}

int sb_reclaim_look(int dir, const char *name, struct sb_facts *ret)
{
	struct statx stx;
	int r = look(dir, name, AT_SYMLINK_NOFOLLOW | AT_NO_AUTOMOUNT, &stx);

	*ret = (struct sb_facts){0};
	if (r < 0) {
		ret->gone = r == -ENOENT;
		ret->covered = !ret->gone && is_mounted_on(dir, name);
		return ret->gone || ret->covered ? 0 : r;
	}
	ret->covered = (stx.stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
	ret->mode = stx.stx_mode;
	ret->uid = stx.stx_uid;
	ret->mtime_ns = sb_clock_from_stamp(stx.stx_mtime.tv_sec, stx.stx_mtime.tv_nsec);
	ret->dev = makedev(stx.stx_dev_major, stx.stx_dev_minor);
	ret->inode = stx.stx_ino;
	return 0;
}

static int learn_place(int fd, struct place *ret)
{
	struct statx stx;
	int r = look(fd, "", AT_EMPTY_PATH, &stx);

	if (r < 0)
		return r;
	*ret = (struct place){
		.dev = makedev(stx.stx_dev_major, stx.stx_dev_minor),
		.inode = stx.stx_ino,
		.mount_id = stx.stx_mask & STATX_MNT_ID ? stx.stx_mnt_id : mount_id_of_fd(fd),
	};
	if (stx.stx_mask & STATX_BTIME)
		ret->born_ns = sb_clock_from_stamp(stx.stx_btime.tv_sec, stx.stx_btime.tv_nsec);
	/* Without it a bind of the same file system could not be told from a directory of it. */
	return ret->mount_id ? 0 : -EOPNOTSUPP;
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
		struct level *grown = reallocarray(descent->level, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		descent->level = grown;
		descent->capacity = capacity;
	}
	descent->level[descent->depth++] =
		(struct level){.inode = place->inode, .born_ns = place->born_ns};
	return 0;
}

static struct level *open_level(const struct descent *descent)
{
	return &descent->level[descent->depth - 1];
}

/* Makes *fd, taken from its owner, the open directory; its listing starts at a position. */
static int change_to(struct descent *descent, int *fd, off_t at)
{
	if (at && lseek(*fd, at, SEEK_SET) < 0)
		return -errno;
	if (descent->fd >= 0)
		close(descent->fd);
	descent->fd = sb_scope_take_fd(fd);
	descent->at = at;
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
	if (place.mount_id != descent->mount_id || place.dev != descent->dev)
		return -EXDEV;
	/* A listing that does not go on behind it would lead there for ever. */
	if (place.inode == descent->stepped)
		return -ENOTEMPTY;
	r = push(descent, &place);
	return r < 0 ? r : change_to(descent, &fd, 0);
}

/*
 * Back to the directory above. If ".." leads anywhere else, the open one was moved meanwhile: what
 * is there was not judged.
 *
 * The listing there goes on before the directory that was emptied, which then goes: no names have
 * to be kept for the way back. Where nothing stays, that is the start, for positions may shift as
 * things go. A directory in which something stays is stepped over.
 */
static int go_up(struct descent *descent)
{
	sb_auto_close int fd = openat(descent->fd, "..", OPEN_DIRECTORY);
	const bool leftover = open_level(descent)->leftover;
	struct level *above = &descent->level[descent->depth - 2];
	struct place place;
	int r = fd < 0 ? -errno : learn_place(fd, &place);
	off_t at = 0;

	if (r < 0)
		return r;
	if (place.inode != above->inode || place.born_ns != above->born_ns ||
	    place.dev != descent->dev || place.mount_id != descent->mount_id)
		return -EAGAIN;
	descent->depth--;
	descent->climbed = !leftover;
	if (leftover) {
		at = above->after;
		descent->stepped = descent->level[descent->depth].inode;
	} else if (above->leftover) {
		at = above->before;
	}
	above->leftover = above->leftover || leftover;
	return change_to(descent, &fd, at);
}

/* Coming up, the directory just emptied goes. If it does not, again and again, it is refilled. */
static bool is_stalled(struct descent *descent)
{
	bool stalled = descent->climbed;

	descent->climbed = false;
	return stalled && ++descent->stalls > REFILLS_MOST;
}

/*
 * Removes one thing of the open directory. 1: done; 0: it is gone already; -ENOTEMPTY: a directory
 * that has to be emptied first.
 */
static int remove_one(struct descent *descent, const struct dirent64 *entry)
{
	bool directory = entry->d_type == DT_DIR;

	/* What getdents64(2) said of the type may be old, or nothing: the other call is tried too.
	 */
	for (int i = 0; i < 2; i++) {
		if (remove_name(descent->fd, entry->d_name, directory) == 0) {
			descent->climbed = false;
			return 1;
		}
		if (errno != (directory ? ENOTDIR : EISDIR))
			break;
		directory = !directory;
	}
	if (errno == ENOENT)
		return 0;
	return directory && errno == EEXIST ? -ENOTEMPTY : -errno;
}

/* Whether an error concerns one thing alone, so that those beside it can go all the same. */
static bool is_local(int error)
{
	static const int ends_all[] = {EBUSY, EXDEV, ENOMEM, EMFILE, ENFILE, EOPNOTSUPP};

	for (size_t i = 0; i < sizeof(ends_all) / sizeof(ends_all[0]); i++)
		if (error == -ends_all[i])
			return false;
	return true;
}

/* Goes down into a directory that is not empty. 1: done; else as take_one. */
static int try_down(struct descent *descent, const struct dirent64 *entry)
{
	int r;

	if (is_stalled(descent))
		return -ENOTEMPTY;
	open_level(descent)->before = descent->at;
	open_level(descent)->after = entry->d_off;
	r = go_down(descent, entry->d_name);
	if (r == 0)
		return 1;
	/* Gone, or another thing by now: not what was listed. */
	return r == -ENOENT || r == -ESTALE ? 0 : r;
}

/*
 * Deals with one thing of the open directory. 0: go on with the next; 1: another directory is open
 * now, to be emptied first; -errno: it is over.
 */
static int take_one(struct descent *descent, const struct dirent64 *entry)
{
	int r = remove_one(descent, entry);

	if (r > 0)
		return descent->patience->ended(++descent->below, descent->patience->closure)
			       ? -EINTR
			       : 0;
	if (r == -ENOTEMPTY)
		r = try_down(descent, entry);
	if (r >= 0 || !is_local(r))
		return r;
	open_level(descent)->leftover = true;
	if (!descent->leftover_error)
		descent->leftover_error = r;
	return 0;
}

/* Empties the open directory as far as it goes. 0: it was listed to its end; else as take_one. */
static int empty_open(struct descent *descent)
{
	/* Coming up, the next thing to go is the first one listed: no need to list them all. */
	size_t size = descent->climbed ? LIST_FIRST : LIST_BUFFER;

	for (;; size = LIST_BUFFER) {
		ssize_t filled = getdents64(descent->fd, descent->buffer, size);
		const struct dirent64 *entry;

		if (filled <= 0)
			return filled < 0 ? -errno : 0;
		for (ssize_t at = 0; at < filled; at += entry->d_reclen) {
			int r;

			entry = (const struct dirent64 *)(descent->buffer + at);
			r = sb_names_is_dot(entry->d_name) ? 0 : take_one(descent, entry);
			if (r != 0)
				return r;
			descent->at = entry->d_off;
		}
	}
}

/* Empties all that is below the open directory, deepest first, but for what has to stay. */
static int empty_tree(struct descent *descent)
{
	for (;;) {
		int r = empty_open(descent);

		if (r == 0 && descent->depth == 1)
			return descent->leftover_error;
		if (r == 0)
			r = go_up(descent);
		if (r < 0)
			return r;
	}
}

/* Judged by its name, opened by its name: it has to be the same thing, and on top's mount. */
static int enter(struct descent *descent, const struct sb_facts *judged)
{
	struct place top;
	int r = learn_place(descent->top, &top);

	if (r < 0)
		return r;
	descent->mount_id = top.mount_id;
	descent->dev = judged->dev;
	r = go_down(descent, descent->name);
	if (r == 0 && open_level(descent)->inode != judged->inode)
		r = -ESTALE;
	return r;
}

static int remove_tree(struct descent *descent, const struct sb_facts *judged)
{
	int r = enter(descent, judged);

	if (r < 0)
		return r;
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
		descent->at = 0;
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
	struct descent descent = {.top = dir, .name = name, .patience = patience, .fd = -1};
	int r = -ENOMEM;

	descent.buffer = malloc(LIST_BUFFER);
	if (descent.buffer)
		r = remove_tree(&descent, judged);
	ret->below = descent.below;
	ret->unfinished = r == -EINTR;
	if (r < 0)
		restore_age(dir, name, judged);
	conclude(ret, r);
	if (descent.fd >= 0)
		close(descent.fd);
	free(descent.buffer);
	free(descent.level);
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

/* What is in a directory that may only go empty; -errno. */
static int count_names(int fd, char *buffer, bool *ret_any)
{
	const struct dirent64 *entry;
	ssize_t filled;

	*ret_any = false;
	while ((filled = getdents64(fd, buffer, LIST_BUFFER)) > 0)
		for (ssize_t at = 0; at < filled; at += entry->d_reclen) {
			entry = (const struct dirent64 *)(buffer + at);
			*ret_any = *ret_any || !sb_names_is_dot(entry->d_name);
		}
	return filled < 0 ? -errno : 0;
}

void sb_reclaim_probe(int dir, const char *name, const struct sb_facts *judged,
		      struct sb_reclaimed *ret)
{
	sb_auto_close int fd = openat(dir, name, OPEN_DIRECTORY);
	sb_auto_free char *buffer = malloc(LIST_BUFFER);
	struct place place = {0};
	bool any = false;
	int r;

	*ret = (struct sb_reclaimed){0};
	if (fd < 0)
		r = errno == ENOTDIR || errno == ELOOP ? -ESTALE : -errno;
	else
		r = buffer ? learn_place(fd, &place) : -ENOMEM;
	if (r == 0 && (place.inode != judged->inode || place.dev != judged->dev))
		r = -ESTALE;
	if (r == 0)
		r = count_names(fd, buffer, &any);
	conclude(ret, r);
	if (any)
		ret->verdict = SB_VERDICT_POPULATED;
}
