/* Owners that let go of what they hold when they leave their scope. */
#ifndef SB_SCOPE_H
#define SB_SCOPE_H

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* An owned descriptor starts at -1, an owned pointer at NULL. */
#define sb_auto_close	 __attribute__((cleanup(sb_scope_close)))
#define sb_auto_free	 __attribute__((cleanup(sb_scope_free)))
#define sb_auto_fclose	 __attribute__((cleanup(sb_scope_fclose)))
#define sb_auto_closedir __attribute__((cleanup(sb_scope_closedir)))

static inline void sb_scope_close(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void sb_scope_free(void *pointer)
{
	free(*(void **)pointer);
}

static inline void sb_scope_fclose(FILE **file)
{
	if (*file)
		fclose(*file);
}

static inline void sb_scope_closedir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

/* Gives the descriptor away: the owner forgets it. */
static inline int sb_scope_take_fd(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

#endif
