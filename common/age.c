#include "age.h"

#include "clock.h"

static const struct {
	const char *name;
	uint64_t below_ns;
} ages[SB_AGE_COUNT] = {
	[SB_AGE_MINUTE] = {"under a minute", 60 * SB_NS_PER_S},
	[SB_AGE_HOUR] = {"under an hour", 3600 * SB_NS_PER_S},
	[SB_AGE_DAY] = {"under a day", 86400 * SB_NS_PER_S},
	[SB_AGE_WEEK] = {"under a week", 7 * 86400 * SB_NS_PER_S},
	[SB_AGE_OLDER] = {"a week or more", UINT64_MAX},
};

enum sb_age sb_age_of(uint64_t age_ns)
{
	enum sb_age age = SB_AGE_MINUTE;

	while (age < SB_AGE_OLDER && age_ns >= ages[age].below_ns)
		age++;
	return age;
}

const char *sb_age_name(enum sb_age age)
{
	return ages[age].name;
}
