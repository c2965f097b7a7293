#include "pile.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int sb_pile_add(struct sb_pile *pile, const char *name, uint64_t inode)
{
	size_t length = strlen(name) + 1;

	if (sb_idmap_get(&pile->inodes, inode, NULL))
		return 0;
	if (pile->size - pile->used < length) {
		size_t size = pile->size ? pile->size * 2 : 4096;
		char *grown = realloc(pile->names, size);

		if (!grown)
			return -ENOMEM;
		pile->names = grown;
		pile->size = size;
	}
	if (sb_idmap_put(&pile->inodes, inode, 1) < 0)
		return -ENOMEM;
	memcpy(pile->names + pile->used, name, length);
	pile->used += length;
	pile->count++;
	return 0;
}

void sb_pile_release(struct sb_pile *pile, void (*take)(const char *name, void *closure),
		     void *closure)
{
	for (size_t at = 0; at < pile->used; at += strlen(pile->names + at) + 1)
		take(pile->names + at, closure);
	sb_idmap_free(&pile->inodes);
	pile->used = 0;
	pile->count = 0;
}

void sb_pile_free(struct sb_pile *pile)
{
	free(pile->names);
	sb_idmap_free(&pile->inodes);
	*pile = (struct sb_pile){0};
}
