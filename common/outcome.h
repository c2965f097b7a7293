/* What comes of a sweep, told: JSON, a line a root, messages, exit statuses. */
#ifndef SB_OUTCOME_H
#define SB_OUTCOME_H

#include "report.h"
#include "sweep.h"

/* Sets roots, totals, coverage and budget_s of a report. */
void sb_outcome_set_json(json_t *report, const struct sb_sweep *sweep, const struct sb_root *roots,
			 size_t count);

/* The line of a root on stdout; nothing for one that is not there or was not swept. */
void sb_outcome_print_line(const struct sb_sweep *sweep, const struct sb_root *root);

/* What an operator has to know of a root: failures, what was held back and why, what to do. */
void sb_outcome_say(const struct sb_sweep *sweep, const struct sb_root *root);

/* The statuses that a root stands for, but for young ones: only sb-legacy-heal minds these. */
sb_status_set sb_outcome_statuses(const struct sb_sweep *sweep, const struct sb_root *root);

/* Ready for sb_sweep.tell: names each entry and its verdict at the level of -v. */
void sb_outcome_tell(const struct sb_root *root, const char *name, enum sb_verdict verdict,
		     int error, void *closure);

#endif
