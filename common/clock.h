/* Time that only goes forward, in nanoseconds, and deadlines on it. */
#ifndef SB_CLOCK_H
#define SB_CLOCK_H

#include <stdbool.h>
#include <stdint.h>
#include <time.h>

#define SB_NS_PER_MS UINT64_C(1000000)
#define SB_NS_PER_S  UINT64_C(1000000000)

/* CLOCK_MONOTONIC: unmoved by a clock that jumps. */
uint64_t sb_clock_now(void);

/* CLOCK_REALTIME, to be compared with time stamps of files; -2^63 ns at the lowest. */
int64_t sb_clock_wall(void);

/* A stamp of a file as nanoseconds since the epoch; stamps beyond 292 years either way saturate. */
int64_t sb_clock_from_stamp(int64_t seconds, uint32_t nanoseconds);

/* A span that is being spent. A budget of 0 never ends. */
struct sb_budget {
	uint64_t deadline_ns; /* 0: none */
};

struct sb_budget sb_budget_start(uint64_t span_ns);
bool sb_budget_spent(const struct sb_budget *budget);

/* What is left in nanoseconds; UINT64_MAX when there is no end. */
uint64_t sb_budget_left(const struct sb_budget *budget);

double sb_clock_seconds(uint64_t ns);

#endif
