/* Reading a procfs, relative to a descriptor of its root. Every parser takes a buffer. */
#ifndef SB_PROC_H
#define SB_PROC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define SB_PROC_DIR	 "/proc"
#define SB_PROC_COMM_MAX 64 /* TASK_COMM_LEN is 16; kernel threads show up to 64 */

/*
 * Walks the entries of a directory of procfs whose names are numbers: the thread group leaders of
 * its root, or the tasks of PID/task. The inode tells a task from a later one with its number:
 * procfs makes a new inode for each.
 */
#define SB_PROC_LIST_BACK 64 /* numbers: how far resuming goes back */

struct sb_proc_lister {
	int fd; /* borrowed */
	char *buffer;
	size_t size, filled, at;
	off_t next; /* where in the directory the entry after the last one stands */
	off_t stood[SB_PROC_LIST_BACK]; /* where the last numbers stood, as a ring */
	size_t numbers;			/* how many there were */
	pid_t mark;
	off_t resume; /* where the numbers behind the mark start, and some before; 0: not met */
};

struct sb_proc_id {
	pid_t number;
	uint64_t inode;
};

/* -ENOMEM, or the error of seeking to the start. fd must stay open while listing. */
int sb_proc_list_start(struct sb_proc_lister *lister, int fd);

/* 1 and the next number; 0 at the end; -errno from the kernel. */
int sb_proc_list_next(struct sb_proc_lister *lister, struct sb_proc_id *ret);

/*
 * Marks a number, before the listing: that given last to any task. Tasks that start later have
 * higher ones, until numbers begin anew. 0: not known, and resuming starts from the first.
 */
void sb_proc_list_mark(struct sb_proc_lister *lister, pid_t last);

/*
 * Goes back to the numbers behind the mark, to see what is new there; and to some before it, for a
 * task shows itself only when its fork(2) is nearly done: one with a lower number may come later
 * than one with a higher. -errno.
 */
int sb_proc_list_resume(struct sb_proc_lister *lister);

/* Whether the next number has to be asked of the kernel: all it gave so far was of one instant. */
bool sb_proc_list_is_drained(const struct sb_proc_lister *lister);
void sb_proc_list_end(struct sb_proc_lister *lister);

/*
 * The whole of a file into fresh memory (NUL-terminated, *ret_length without the NUL), which the
 * caller frees. -errno of the open or the read; -EFBIG above 256 MiB.
 */
int sb_proc_read(int procfs, const char *path, char **ret, size_t *ret_length);

/*
 * A short file or link into a buffer of the caller's, NUL-terminated, cut where it does not fit.
 * Returns the length or -errno.
 */
ssize_t sb_proc_read_into(int procfs, const char *path, char *buffer, size_t size);
ssize_t sb_proc_readlink(int procfs, const char *path, char *buffer, size_t size);

/* What a link of procfs leads to: PID/exe, PID/fd/N. */
struct sb_proc_object {
	mode_t mode; /* its type alone */
	uint64_t device, inode;
};

/*
 * Identifies it from what is cached: a filesystem that does not answer is not asked, unless there
 * is no statx(2). -errno.
 */
int sb_proc_identify(int procfs, const char *path, struct sb_proc_object *ret);

/*
 * Whether an error of reading something of a process says that there is nothing to be read for us:
 * it is gone, or not there, or not ours to see. Any other is a failure of the moment.
 */
bool sb_proc_is_answer(int error);

/* The name of a task (pid, or "PID/task/TID" given as path) without the newline; "?" if unknown. */
void sb_proc_comm(int procfs, const char *task, char buffer[SB_PROC_COMM_MAX]);

/* What stat tells of a process (proc_pid_stat(5)); any bytes in the name. */
struct sb_proc_stat {
	pid_t pid; /* whose this is: another's when that is mounted over its directory */
	char comm[SB_PROC_COMM_MAX];
	char state; /* R S D T t Z X I ... */
	pid_t parent;
	bool kernel_thread;
	unsigned int threads; /* of its group, the dead ones that were not released included */
	uint64_t start;	      /* clock ticks after the boot */
};

/* What status tells of a process (proc_pid_status(5)). */
struct sb_proc_status {
	uid_t real_uid, effective_uid, saved_uid;
	pid_t tracer; /* 0: nobody */
	/*
	 * The pid namespaces in which it has a number, from that of this procfs inwards; 0: not
	 * told (before 4.1).
	 */
	unsigned int levels;
};

/* Each parses length bytes of the file of its name; -EINVAL: not such a text. */
int sb_proc_parse_stat(const char *text, size_t length, struct sb_proc_stat *ret);
int sb_proc_parse_status(const char *text, size_t length, struct sb_proc_status *ret);

/* Each reads and parses that file of a task (a path below procfs); -errno. */
int sb_proc_read_stat(int procfs, const char *task, struct sb_proc_stat *ret);
int sb_proc_read_status(int procfs, const char *task, struct sb_proc_status *ret);

/* "mnt:[4026531841]" to its inode number; false when the text is no such link. */
bool sb_proc_parse_ns(const char *text, const char *kind, uint64_t *ret_inode);

/*
 * Whether a kernel made this directory: a procfs. A test tree on another filesystem is none.
 */
bool sb_proc_is_procfs(int procfs);

/* The initial pid namespace has this inode number on every host (PROC_PID_INIT_INO). */
#define SB_PROC_INITIAL_PIDNS UINT64_C(4026531836)

/*
 * Whether a procfs shows us in the initial pid namespace. It then is of that namespace: no procfs
 * of one below has a "self" for who is above. What is mounted over "self" can lie, as it can over
 * any process: that is for who relies on it to look at.
 */
bool sb_proc_is_initial(int procfs);

/* And the initial user namespace this one (PROC_USER_INIT_INO). */
#define SB_PROC_INITIAL_USERNS UINT64_C(4026531837)

#endif
