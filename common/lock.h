/* A lock on a file, shared with flock(1) in other scripts. */
#ifndef SB_LOCK_H
#define SB_LOCK_H

#include <stdint.h>

#define SB_LOCK_FOR_EVER UINT64_MAX

/*
 * Opens the file, making it if need be (empty, mode 0666 less the umask), and locks it exclusively,
 * waiting for at most patience_ns. waiting is called once, when 5 s have passed without it.
 * Returns a descriptor that holds the lock until it is closed. -EAGAIN: not obtained in time.
 * -EINTR: SIGINT or SIGTERM came (sb_interrupt_arm). Else the error of opening it.
 */
int sb_lock_take(const char *path, uint64_t patience_ns, void (*waiting)(const char *path));

#endif
