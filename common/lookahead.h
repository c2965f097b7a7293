/*
 * The entries of a directory, each looked at already when it is asked for: a thread lists and looks
 * ahead while the caller removes what came before, for the two hardly meet in the kernel. What it
 * saw is some milliseconds old by then, so whoever acts on more than rmdir(2) looks again.
 */
#ifndef SB_LOOKAHEAD_H
#define SB_LOOKAHEAD_H

#include "fence.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>

/* An entry that concerns the rules. */
struct sb_sighting {
	const char *name;
	enum sb_shape shape; /* never SB_SHAPE_OTHER */
	pid_t pid;
	int error;	       /* -errno of looking at it; 0 */
	struct sb_facts facts; /* of a keyed name */
};

struct sb_batch {
	struct sb_sighting *item;
	size_t count;
	int end; /* 1: more may follow; 0: the end; -errno of listing */
	char *buffer;
};

struct sb_lookahead {
	int dir; /* borrowed */
	const struct sb_rules *rules;
	struct sb_batch batch[2];
	unsigned int next; /* the batch to be handed out */
	bool threaded;
	pthread_t thread;
	sem_t filled, empty;
	atomic_bool stop;
};

/* Starts at the beginning of the directory. The rules and dir must outlive it. -errno. */
int sb_lookahead_start(struct sb_lookahead *ahead, int dir, const struct sb_rules *rules);

/*
 * 1 and the next entries, valid until the next call; there may be none among them. 0 at the end;
 * -errno when the directory cannot be listed.
 */
int sb_lookahead_next(struct sb_lookahead *ahead, const struct sb_batch **ret);

void sb_lookahead_end(struct sb_lookahead *ahead);

#endif
