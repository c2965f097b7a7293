/* The tasks of a procfs and the mount namespaces they are in (evidence "namespaces", "mountinfo").
 */
#ifndef SB_TASKWALK_H
#define SB_TASKWALK_H

#include "pinset.h"
#include "proof.h"

/*
 * Walks the tasks below options->procfs into the set; the proof says how far that goes. 0, or
 * -ENOMEM. Whatever else goes wrong is a loss of proof.
 */
int sb_taskwalk_run(const struct sb_pinscan_options *options, struct sb_pinset *pins,
		    struct sb_proof *proof);

#endif
