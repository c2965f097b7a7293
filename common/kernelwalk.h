/* Every mount namespace of the host, as the kernel itself lists them (evidence "kernel"). */
#ifndef SB_KERNELWALK_H
#define SB_KERNELWALK_H

#include "pinset.h"
#include "proof.h"

/*
 * Reads them all into the set. 0: it was done, and the proof says how far; -EPERM, -ENOTTY or
 * another -errno: this kernel or these privileges cannot, and the proof says why.
 */
int sb_kernelwalk_run(struct sb_pinset *pins, struct sb_proof *proof, int procfs);

/* Whether this kernel and these privileges can. */
bool sb_kernelwalk_is_available(int procfs);

#endif
