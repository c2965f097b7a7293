#include "clock.h"

uint64_t sb_clock_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * SB_NS_PER_S + (uint64_t)ts.tv_nsec;
}

int64_t sb_clock_from_stamp(int64_t seconds, uint32_t nanoseconds)
{
	const int64_t limit = INT64_MAX / (int64_t)SB_NS_PER_S - 1;

	if (seconds > limit)
		return INT64_MAX;
	if (seconds < -limit)
		return INT64_MIN;
	return seconds * (int64_t)SB_NS_PER_S + nanoseconds;
}

int64_t sb_clock_wall(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_REALTIME, &ts);
	return sb_clock_from_stamp(ts.tv_sec, (uint32_t)ts.tv_nsec);
}

struct sb_budget sb_budget_start(uint64_t span_ns)
{
	uint64_t now = sb_clock_now();

	if (span_ns == 0)
		return (struct sb_budget){0};
	if (span_ns > UINT64_MAX - now)
		span_ns = UINT64_MAX - now;
	return (struct sb_budget){.deadline_ns = now + span_ns};
}

uint64_t sb_budget_left(const struct sb_budget *budget)
{
	uint64_t now;

	if (budget->deadline_ns == 0)
		return UINT64_MAX;
	now = sb_clock_now();
	return now >= budget->deadline_ns ? 0 : budget->deadline_ns - now;
}

bool sb_budget_spent(const struct sb_budget *budget)
{
	return sb_budget_left(budget) == 0;
}

double sb_clock_seconds(uint64_t ns)
{
	return (double)ns / (double)SB_NS_PER_S;
}
