/* Names held back until there are enough of them to be called a pile. */
#ifndef SB_PILE_H
#define SB_PILE_H

#include "idmap.h"

#include <stddef.h>
#include <stdint.h>

/* Zero-initialize; free with sb_pile_free. */
struct sb_pile {
	char *names; /* one after the other, each with its NUL */
	size_t used, size;
	uint64_t count; /* different entries */
	struct sb_idmap inodes;
};

/*
 * Holds an entry back. One that a listing names twice, while names come and go, counts once: it is
 * known by its inode. -ENOMEM.
 */
int sb_pile_add(struct sb_pile *pile, const char *name, uint64_t inode);

/* Hands each name to a function, in the order in which they came, and holds none any more. */
void sb_pile_release(struct sb_pile *pile, void (*take)(const char *name, void *closure),
		     void *closure);

void sb_pile_free(struct sb_pile *pile);

#endif
