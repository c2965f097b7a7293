/* Opening a file that keeps a mount namespace, below the root of a task that is not trusted. */
#ifndef SB_NSFILE_H
#define SB_NSFILE_H

#include <stdint.h>

/*
 * Opens the namespace file of that inode number which stands at point, as the task (its path
 * relative to procfs) sees it. A descriptor that the caller closes, or -errno: -ESTALE when
 * something else stands there. Never opens anything but a namespace file, and does not wait for a
 * file system that no longer answers.
 */
int sb_nsfile_open(int procfs, const char *task_path, const char *point, uint64_t inode);

#endif
