#include "proof.h"

#include "clock.h"
#include "proc.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

void sb_proof_start(struct sb_proof *proof, int procfs)
{
	*proof = (struct sb_proof){
		.coverage = {.complete = true, .covered = true, .elapsed_ns = sb_clock_now()},
		.procfs = procfs,
	};
}

static void keep_gap(struct sb_proof *proof, const struct sb_task *task, char *reason)
{
	struct sb_coverage *coverage = &proof->coverage;
	struct sb_gap *gap = &coverage->gaps[coverage->gaps_kept++];

	*gap = (struct sb_gap){.reason = reason};
	if (!task)
		return;
	gap->pid = task->pid;
	gap->tid = task->tid;
	gap->uid_known = task->uid_known;
	gap->uid = task->uid;
	sb_proc_comm(proof->procfs, task->path, gap->comm);
}

void sb_proof_lose(struct sb_proof *proof, enum sb_proof_loss loss, const struct sb_task *task,
		   const char *format, ...)
{
	struct sb_coverage *coverage = &proof->coverage;
	char *reason = NULL;
	va_list args;

	coverage->complete = false;
	if (loss == SB_LOSES_BOTH)
		coverage->covered = false;
	coverage->gap_count++;
	if (coverage->gaps_kept == SB_GAPS_KEPT)
		return;
	va_start(args, format);
	if (vasprintf(&reason, format, args) < 0)
		reason = NULL;
	va_end(args);
	keep_gap(proof, task, reason);
}

enum sb_proof_loss sb_proof_loss_of(const struct sb_task *task)
{
	return task->possible_holder ? SB_LOSES_BOTH : SB_LOSES_COMPLETE;
}

void sb_proof_finish(struct sb_proof *proof)
{
	struct sb_coverage *coverage = &proof->coverage;

	coverage->elapsed_ns = sb_clock_now() - coverage->elapsed_ns;
	coverage->covered = coverage->covered || coverage->complete;
	coverage->level = coverage->complete  ? SB_LEVEL_COMPLETE
			  : coverage->covered ? SB_LEVEL_COVERED
					      : SB_LEVEL_UNPROVEN;
}

void sb_coverage_free(struct sb_coverage *coverage)
{
	for (size_t i = 0; i < coverage->gaps_kept; i++)
		free(coverage->gaps[i].reason);
	*coverage = (struct sb_coverage){0};
}
