/* What sb-killstray prints. */
#ifndef SHOW_H
#define SHOW_H

#include "options.h"
#include "strays.h"

/*
 * Prints the result, NULL when there is none, and says what stood in the way of a better one. The
 * count is left out when the statuses forbid to trust one. -ENOMEM.
 */
int show(const struct options *options, const struct sb_strays *strays, sb_status_set statuses);

#endif
