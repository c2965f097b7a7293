/* What a scan's verdict says to a person: one summary, and what to do about what is missing. */
#ifndef SB_COVERAGE_H
#define SB_COVERAGE_H

#include "evidence.h"
#include "log.h"

/* "complete (namespaces)", into buffer (64 bytes suffice). Returns buffer. */
char *sb_coverage_describe(const struct sb_coverage *coverage, char *buffer, size_t size);

/*
 * Says the first gaps, so many at most, a message each, at that level: who, and what would close
 * it. Then how many more there are.
 */
void sb_coverage_say_gaps(const struct sb_coverage *coverage, size_t most, enum sb_log_level level);

#endif
