#include "idmap.h"

#include <errno.h>
#include <stdlib.h>

#define FIRST_CAPACITY 64

struct sb_idmap_slot {
	uint64_t key;
	uint64_t value;
	bool used;
};

/* Ids come in runs; a multiplication spreads them (the golden ratio in 64 bits, after Knuth). */
static size_t spread(uint64_t key, size_t capacity)
{
	return (size_t)((key * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (capacity - 1);
}

static struct sb_idmap_slot *find_slot(const struct sb_idmap *map, uint64_t key)
{
	size_t i = spread(key, map->capacity);

	while (map->slot[i].used && map->slot[i].key != key)
		i = (i + 1) & (map->capacity - 1);
	return &map->slot[i];
}

static int grow(struct sb_idmap *map)
{
	struct sb_idmap bigger = {.capacity = map->capacity ? map->capacity * 2 : FIRST_CAPACITY,
				  .count = map->count};

	bigger.slot = calloc(bigger.capacity, sizeof(*bigger.slot));
	if (!bigger.slot)
		return -ENOMEM;
	for (size_t i = 0; i < map->capacity; i++)
		if (map->slot[i].used)
			*find_slot(&bigger, map->slot[i].key) = map->slot[i];
	free(map->slot);
	*map = bigger;
	return 0;
}

int sb_idmap_put(struct sb_idmap *map, uint64_t key, uint64_t value)
{
	struct sb_idmap_slot *slot;

	/* At most three quarters full, or the runs of used slots get long. */
	if (map->count * 4 >= map->capacity * 3) {
		int r = grow(map);

		if (r < 0)
			return r;
	}
	slot = find_slot(map, key);
	if (!slot->used)
		map->count++;
	*slot = (struct sb_idmap_slot){.key = key, .value = value, .used = true};
	return 0;
}

bool sb_idmap_get(const struct sb_idmap *map, uint64_t key, uint64_t *ret)
{
	const struct sb_idmap_slot *slot;

	if (map->capacity == 0)
		return false;
	slot = find_slot(map, key);
	if (slot->used && ret)
		*ret = slot->value;
	return slot->used;
}

void sb_idmap_free(struct sb_idmap *map)
{
	free(map->slot);
	*map = (struct sb_idmap){0};
}
