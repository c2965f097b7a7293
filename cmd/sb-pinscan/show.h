/* What sb-pinscan prints. */
#ifndef SHOW_H
#define SHOW_H

#include "options.h"

/*
 * Prints a scan's result as asked: JSON, bare names, or the table and a summary on stderr. result
 * is NULL when there is none (JSON is printed all the same). -ENOMEM.
 */
int show(const struct options *options, const struct sb_pinscan *result, enum sb_status status);

#endif
