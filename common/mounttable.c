#include "nsmount.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define CHUNK_SIZE 32768 /* bytes of strings allocated at a time */

/* Strings of a table live and die together. */
struct sb_mount_strings {
	struct sb_mount_strings *next;
	size_t used, size;
	char bytes[];
};

static const char *keep_string(struct sb_mount_table *table, const char *text)
{
	struct sb_mount_strings *chunk = table->strings;
	size_t length = strlen(text) + 1;
	char *copy;

	if (!chunk || chunk->size - chunk->used < length) {
		size_t size = length > CHUNK_SIZE ? length : CHUNK_SIZE;

		chunk = malloc(sizeof(*chunk) + size);
		if (!chunk)
			return NULL;
		*chunk = (struct sb_mount_strings){.next = table->strings, .size = size};
		table->strings = chunk;
	}
	copy = chunk->bytes + chunk->used;
	memcpy(copy, text, length);
	chunk->used += length;
	return copy;
}

int sb_mount_table_add(struct sb_mount_table *table, const struct sb_mount *mount)
{
	struct sb_mount added = *mount;

	if (table->count == table->capacity) {
		size_t capacity = table->capacity ? table->capacity * 2 : 64;
		struct sb_mount *grown = reallocarray(table->item, capacity, sizeof(*grown));

		if (!grown)
			return -ENOMEM;
		table->item = grown;
		table->capacity = capacity;
	}
	added.root = keep_string(table, mount->root);
	added.point = keep_string(table, mount->point);
	added.options = mount->options ? keep_string(table, mount->options) : NULL;
	if (!added.root || !added.point || (mount->options && !added.options) ||
	    sb_idmap_put(&table->by_id, added.id, table->count) < 0)
		return -ENOMEM;
	table->item[table->count++] = added;
	return 0;
}

void sb_mount_table_free(struct sb_mount_table *table)
{
	struct sb_mount_strings *next;

	for (struct sb_mount_strings *chunk = table->strings; chunk; chunk = next) {
		next = chunk->next;
		free(chunk);
	}
	free(table->item);
	sb_idmap_free(&table->by_id);
	*table = (struct sb_mount_table){0};
}

const struct sb_mount *sb_mount_table_find(const struct sb_mount_table *table, uint32_t id)
{
	uint64_t index;

	return sb_idmap_get(&table->by_id, id, &index) ? &table->item[index] : NULL;
}

bool sb_mount_table_has_root(const struct sb_mount_table *table)
{
	for (size_t i = 0; i < table->count; i++)
		if (strcmp(table->item[i].point, "/") == 0)
			return true;
	return false;
}
