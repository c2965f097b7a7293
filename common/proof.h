/* How far a scan's verdict is proven while it is being made: gaps, and what each takes away. */
#ifndef SB_PROOF_H
#define SB_PROOF_H

#include "evidence.h"

/* A task as the walk meets it. */
struct sb_task {
	pid_t pid; /* of the thread group */
	pid_t tid;
	bool uid_known;
	uid_t uid;
	bool possible_holder; /* could hold a source which the target uid staged */
	char path[40];	      /* relative to procfs: "123" or "123/task/124" */
};

enum sb_proof_loss {
	SB_LOSES_COMPLETE, /* host-wide absence cannot be claimed any more */
	SB_LOSES_BOTH,	   /* nor for what the target uid staged */
};

struct sb_proof {
	struct sb_coverage coverage;
	int procfs; /* borrowed: to name the tasks of gaps */
};

/* Starts with everything proven, until something is lost. */
void sb_proof_start(struct sb_proof *proof, int procfs);

/*
 * Notes something that could not be looked at. task may be NULL: no task in particular. The text
 * says what is missing and, where anything can, what would close it.
 */
void sb_proof_lose(struct sb_proof *proof, enum sb_proof_loss loss, const struct sb_task *task,
		   const char *format, ...) __attribute__((format(printf, 4, 5)));

/* The loss that an unread task is: of both if it is a possible holder. */
enum sb_proof_loss sb_proof_loss_of(const struct sb_task *task);

/* Settles the level; the coverage is the caller's then, and its gaps are to be freed. */
void sb_proof_finish(struct sb_proof *proof);

void sb_coverage_free(struct sb_coverage *coverage);

#endif
