/* Whether a process of the target uid is a stray, and if not, why it is spared. */
#ifndef SB_SPARE_H
#define SB_SPARE_H

#include "pipes.h"
#include "process.h"

#include <stdbool.h>
#include <stddef.h>

enum sb_spare {
	SB_SPARE_NOT, /* a stray */
	SB_SPARE_SELF,
	SB_SPARE_ANCESTOR,
	SB_SPARE_ANOTHER_RUN,
	SB_SPARE_PIPE,
	SB_SPARE_INIT,
	SB_SPARE_KERNEL,
	SB_SPARE_ZOMBIE,
	SB_SPARE_MANAGER,
	SB_SPARE_KEEP_PID,
	SB_SPARE_KEEP_ALIVE,
	SB_SPARE_COUNT,
};

/* The word for it in JSON, and in words. */
const char *sb_spare_name(enum sb_spare spare);
const char *sb_spare_describe(enum sb_spare spare);

#define SB_SPARE_KEEP_DEFAULT "sleep infinity"
#define SB_SPARE_KEEP_MAX     4096 /* bytes of a keep-alive's arguments, the closing NUL included */

/* What was asked for; borrowed. */
struct sb_spare_wishes {
	const char *const *keep; /* argument lists, joined by single blanks */
	size_t keep_count;
	bool keep_default; /* SB_SPARE_KEEP_DEFAULT too */
	const pid_t *keep_pid;
	size_t keep_pid_count;
	bool manager; /* spare the user's service manager */
};

/* What the verdicts rest on, learnt once. Zero-initialize; free with sb_spare_free. */
struct sb_spare_facts {
	const struct sb_process_view *view;
	const struct sb_spare_wishes *wishes;
	pid_t self;
	struct sb_spare_identities {
		struct sb_spare_identity {
			pid_t pid;
			uint64_t start;
			bool start_known; /* not of one that hidepid hides */
		} * item;
		size_t count;
	} ancestors, kept; /* kept: who had the numbers of keep_pid */
	struct sb_proc_object executable;
	struct sb_pipes pipes;
	unsigned int stuck; /* argument lists that could not be read in time */
};

/*
 * Learns who we are, our ancestors, the pipes of all these, and whom the numbers mean. -errno;
 * -ENODATA: an ancestor is hidden from us, and with it, on this kernel, who is above it.
 */
int sb_spare_learn(const struct sb_process_view *view, const struct sb_spare_wishes *wishes,
		   struct sb_spare_facts *ret);
void sb_spare_free(struct sb_spare_facts *facts);

/*
 * If a process with these ends is at the other end of a pipe that counts, its own pipes count from
 * here on. *ret_more: they do, and are new: who was looked at before may be at the end of one.
 * -ENOMEM.
 */
int sb_spare_follow_pipes(struct sb_spare_facts *facts, const struct sb_pipe_ends *ends,
			  bool *ret_more);

/*
 * A pipeline around us may still be in the making: the shell forks its members one by one, and each
 * takes up its pipes only then, so that who will read what we write is not there yet, or not known
 * for it. What speaks for that: an ancestor that is at work while a reader is missing; and a child
 * of an ancestor that was at work when it was met.
 */
enum sb_spare_pipeline {
	SB_SPARE_PIPELINE_COMPLETE,
	SB_SPARE_PIPELINE_LOOK_AGAIN, /* its pipes may have changed while they were looked at */
	SB_SPARE_PIPELINE_IN_THE_MAKING,
};

enum sb_spare_pipeline sb_spare_look_at_pipeline(struct sb_spare_facts *facts,
						 const struct sb_process *process,
						 const struct sb_pipe_ends *ends);
bool sb_spare_is_ancestor_at_work(const struct sb_spare_facts *facts);
bool sb_spare_misses_reader(const struct sb_spare_facts *facts);

/*
 * The verdict on a process of the target uid that was met with success, and holds these ends.
 * -EBUSY: its arguments, on which the verdict depends, cannot be read now. -ESRCH: it departed. Any
 * other error: something that the verdict depends on could not be read; another look may tell.
 */
int sb_spare_judge(struct sb_spare_facts *facts, const struct sb_process *process,
		   const struct sb_pipe_ends *ends, enum sb_spare *ret);

#endif
