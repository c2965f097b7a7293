/*
 * Who is at the other end of a pipe. Only standard input, output and error count: that is where a
 * pipeline runs. What holds a pipe elsewhere inherited it, or is no part of one.
 */
#ifndef SB_PIPES_H
#define SB_PIPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* One end of a pipe or fifo. Opened for both it is neither end. */
struct sb_pipe_end {
	uint64_t device, inode;
	bool writes;
};

#define SB_PIPES_STANDARD 3 /* descriptors 0 to 2 */

/* The ends that a process holds on these. */
struct sb_pipe_ends {
	struct sb_pipe_end item[SB_PIPES_STANDARD];
	size_t count;
	int error; /* -errno: there may be more; 0: these are all that can be seen */
};

/* Never asks the filesystem of a file, which may not answer. What was read is told in ret. */
void sb_pipes_read(int procfs, pid_t pid, struct sb_pipe_ends *ret);

/* The ends that are sought. Zero-initialize; free with sb_pipes_free. */
struct sb_pipes {
	struct sb_pipe_end *sought;
	bool *found; /* whether somebody was seen to hold it, for each */
	size_t count;
};

/*
 * Seeks the opposites of these ends. With onward those of pipes that are sought already are left
 * out: a reader that was found by its pipe leads on to what it writes to, and not back to everybody
 * who inherited the writing end. -ENOMEM.
 */
int sb_pipes_seek(struct sb_pipes *pipes, const struct sb_pipe_ends *ends, bool onward);

/* Whether one of these ends is sought; it is found then. */
bool sb_pipes_match(struct sb_pipes *pipes, const struct sb_pipe_ends *ends);

void sb_pipes_free(struct sb_pipes *pipes);

#endif
