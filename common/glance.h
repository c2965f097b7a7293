/*
 * A first look at many tasks: whose they are, and which mount namespace they are in. Nothing but
 * system calls that need no memory, so that several CPUs can share the work.
 */
#ifndef SB_GLANCE_H
#define SB_GLANCE_H

#include "proc.h"

#include <stdbool.h>

/* A thread group leader. */
struct sb_glance {
	struct sb_proc_id id;
	/* who */
	int who_error; /* 0, or the -errno of asking */
	uid_t uid;     /* effective: what the directory of a task belongs to, dumpable or not */
	dev_t device;
	bool alone;	/* it had no further threads then */
	size_t threads; /* how many it had, itself included; 0: not known */
	/* where */
	int where_error;
	uint64_t namespace_inode;
};

/* Whose it is, and whether it has further threads. */
void sb_glance_who(int procfs, struct sb_glance *glance);

/* The number of its mount namespace. */
void sb_glance_where(int procfs, struct sb_glance *glance);

/* Both, of each of an array. */
void sb_glance_all(int procfs, struct sb_glance *array, size_t count);

#endif
