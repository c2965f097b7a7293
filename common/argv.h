/*
 * The arguments of other processes. Reading them can take for ever: the memory of a process is
 * locked while one of its threads waits for a file system that died. So it is done by a helper
 * thread, which is left behind when it does not come back in time.
 */
#ifndef SB_ARGV_H
#define SB_ARGV_H

#include <stddef.h>
#include <sys/types.h>

#define SB_ARGV_PATIENCE_MS 100 /* for one process */

/*
 * The first bytes of the arguments of a process, joined by single blanks, the directory of the
 * first one removed: "sleep infinity". buffer holds size bytes, the closing NUL included; what does
 * not fit is cut. -ETIMEDOUT: they cannot be read now. -ENOENT, -ESRCH: it is gone.
 */
int sb_argv_read(int procfs, pid_t pid, char *buffer, size_t size);

/* The same from the bytes of cmdline, of which the arguments end with a NUL each. */
void sb_argv_join(const char *bytes, size_t length, char *buffer, size_t size);

#endif
