/*
 * The mount namespaces that a walk of tasks meets: who is who, which are read, and by what
 * evidence. A namespace is known by its inode number, and a descriptor held on it keeps that
 * number from being given to another meanwhile.
 */
#ifndef SB_NSBOOK_H
#define SB_NSBOOK_H

#include "pinset.h"
#include "proof.h"
#include "user.h"

struct sb_nsbook;

struct sb_nsbook_options {
	int procfs;	/* borrowed */
	bool is_procfs; /* false: a test tree, whose links name namespaces of no kernel */
	bool text_only; /* mountinfo was asked for by name */
	bool want_holders;
	const uid_t *uids; /* the target uids */
	size_t uid_count;
	const struct sb_uid_set *subordinates; /* of the target uids */
};

int sb_nsbook_new(const struct sb_nsbook_options *options, struct sb_pinset *pins,
		  struct sb_proof *proof, struct sb_nsbook **ret);
void sb_nsbook_free(struct sb_nsbook *book);

/*
 * Takes in the mount namespace of a task: learns which it is, and reads it unless it was read.
 * 0: whatever the task could show was taken. Errors are for the walk to judge: -ENOENT and -ESRCH
 * (the task is gone, or a zombie), -EINVAL (it is exiting, or a zombie), -EAGAIN (it would not
 * stay in one namespace; nothing is known of it), others: it cannot be read.
 */
int sb_nsbook_meet(struct sb_nsbook *book, const struct sb_task *task);

/* Whether a namespace of that number was met, read whole or not. */
bool sb_nsbook_met(const struct sb_nsbook *book, uint64_t inode);

/* Whether the namespace of that number is read whole, and held so that the number stays its own. */
bool sb_nsbook_has(const struct sb_nsbook *book, uint64_t inode);

/* Notes a task that is in such a namespace. -ENOMEM. */
int sb_nsbook_note(struct sb_nsbook *book, const struct sb_task *task, uint64_t inode);

/*
 * After the last task: follows files that name further namespaces, attributes tables without a
 * number, tells what was never shown whole, and fills in the counts and the kind of evidence.
 */
int sb_nsbook_settle(struct sb_nsbook *book);

#endif
