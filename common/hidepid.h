/*
 * Whether a procfs keeps processes from us (proc(5), hidepid). That pid 1 is not listed says so,
 * but where pid 1 is our own user's, as in many a container, it is listed all the same.
 */
#ifndef SB_HIDEPID_H
#define SB_HIDEPID_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

/* What the options of a mount of procfs say; sb_hidepid_parse writes both. */
struct sb_hidepid {
	bool hides; /* those that we may not trace are not listed */
	gid_t gid;  /* whose members see everybody: 0 unless the mount names another */
};

#define SB_HIDEPID_NO_GROUP ((gid_t)-1) /* nobody does, whatever the group */

/*
 * Looks the mount up in length bytes of mountinfo (proc_pid_mountinfo(5)) by its id. false: it is
 * not there.
 */
bool sb_hidepid_parse(const char *mountinfo, size_t length, unsigned long mount_id,
		      struct sb_hidepid *ret);

/*
 * Asks that of this procfs, and whether we are of those who see everybody: 1 or 0; 0 too where the
 * mount cannot be found. -errno when that could not be read.
 */
int sb_hidepid_hides_from_us(int procfs);

#endif
