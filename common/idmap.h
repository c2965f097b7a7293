/* A map from 64-bit numbers to 64-bit numbers, for ids that the kernel hands out. */
#ifndef SB_IDMAP_H
#define SB_IDMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Zero-initialize; free with sb_idmap_free. Nothing is ever taken out of it. */
struct sb_idmap {
	struct sb_idmap_slot *slot;
	size_t capacity; /* a power of two, or 0 */
	size_t count;
};

/* Sets key to value, replacing what it had. -ENOMEM. */
int sb_idmap_put(struct sb_idmap *map, uint64_t key, uint64_t value);

/* Whether key is there; *ret gets its value then (ret may be NULL). */
bool sb_idmap_get(const struct sb_idmap *map, uint64_t key, uint64_t *ret);

void sb_idmap_free(struct sb_idmap *map);

#endif
