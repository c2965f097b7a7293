/* Ages of entries, in the classes that a person tells apart. Pure. */
#ifndef SB_AGE_H
#define SB_AGE_H

#include <stdint.h>

enum sb_age {
	SB_AGE_MINUTE, /* under a minute, or made in the future */
	SB_AGE_HOUR,
	SB_AGE_DAY,
	SB_AGE_WEEK,
	SB_AGE_OLDER,
	SB_AGE_COUNT,
};

enum sb_age sb_age_of(uint64_t age_ns);

/* "under a minute", ... */
const char *sb_age_name(enum sb_age age);

#endif
