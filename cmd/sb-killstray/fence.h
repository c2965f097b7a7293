/* Whether sb-killstray may go to work where it was started. */
#ifndef FENCE_H
#define FENCE_H

#include "options.h"

#include <stdbool.h>

enum fence {
	FENCE_OPEN,
	FENCE_NO_PROCFS, /* what it would read is no procfs, or that of another pid namespace */
	FENCE_NO_ROOM,	 /* nor can that be learnt: no descriptor or no memory is left */
	FENCE_HOST,	 /* the initial pid namespace, and nothing says that it is meant */
	FENCE_ROOT,	 /* there, and root is not named */
	FENCE_COUNT,
};

/* What stands in the way, and in words what would open it. */
enum fence fence_check(const struct options *options, int procfs);
const char *fence_describe(enum fence fence);

#endif
