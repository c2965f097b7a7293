/* A subtree of cgroup v2 (cgroups(7)): who is in it, and the kernel's own way of ending it. */
#ifndef SB_CGROUP_H
#define SB_CGROUP_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/*
 * A descriptor of the directory. -EMEDIUMTYPE: it is none of cgroup v2. -EOPNOTSUPP: it is a
 * threaded cgroup, to which no whole processes belong. Else the error of opening it.
 */
int sb_cgroup_open(const char *path);

/*
 * The processes of the subtree, in fresh memory that the caller frees. A number of 0 is a process
 * outside of our pid namespace. Cgroups that are removed meanwhile are passed over.
 */
int sb_cgroup_list(int cgroup, pid_t **ret, size_t *ret_count);

/* Ends everything in the subtree at once. -ENOENT: the kernel (before 5.14) has no such thing. */
int sb_cgroup_kill(int cgroup);

/* 1: some process lives in the subtree; 0: none; -errno. */
int sb_cgroup_populated(int cgroup);

/* A descriptor that polls as POLLPRI when that changes; -errno. */
int sb_cgroup_open_events(int cgroup);

#endif
