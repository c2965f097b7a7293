/* What must be true of a procfs before the tasks that it lists can prove anything. */
#ifndef SB_PROCFACTS_H
#define SB_PROCFACTS_H

#include "proof.h"

struct sb_proc_facts {
	bool is_procfs;
	bool is_ours; /* it is of our own pid namespace, as far as its "self" tells */
	dev_t device;
	bool overflow_known;
	uid_t overflow_uid;
};

/*
 * Learns them, and tells as losses: no procfs at all (a test tree), another pid namespace than the
 * initial one (unless it is trusted), a /proc/self that is not us, something mounted over a
 * process, processes and kernel settings that are hidden. given: the user named the directory, so
 * the question about the pid namespace is put to its pid 1 instead of to ourselves.
 */
void sb_procfacts_learn(int procfs, bool given, bool trust_pidns, struct sb_proc_facts *ret,
			struct sb_proof *proof);

/*
 * The last number given to a task of our own pid namespace (proc_loadavg(5)); 0 when it cannot be
 * learnt: unreadable, not a number, or not the kernel's own word.
 */
pid_t sb_procfacts_last_pid(int procfs);

#endif
