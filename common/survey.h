/* What comes of a sweep, shown to the eye (a picture a root) and to a monitor (metrics). */
#ifndef SB_SURVEY_H
#define SB_SURVEY_H

#include "cli.h"
#include "picture.h"
#include "sweep.h"

/* Draws a root that was looked at on stdout: for a dry run, below the line that names the root. */
void sb_survey_draw(const struct sb_sweep *sweep, const struct sb_root *root,
		    const struct sb_picture_style *style);

/*
 * Writes the metrics of a run to cli->metrics, if there is such; a dry run writes none. -errno;
 * then the file is as it was.
 */
int sb_survey_write_metrics(const struct sb_cli *cli, const struct sb_sweep *sweep,
			    const struct sb_root *roots, size_t count, enum sb_status status);

#endif
