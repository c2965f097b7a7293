/* The names that mounts use: what a mount pins, and the set of the pins found. */
#ifndef SB_PINSET_H
#define SB_PINSET_H

#include "nsmount.h"
#include "pinscan.h"

struct sb_pinset {
	const struct sb_pin_match *match;
	const dev_t *devices; /* see struct sb_pinscan_options */
	size_t device_count;
	bool other_roots;
	uint64_t own_namespace; /* inode number; 0: not known */
	void *tree;		/* of struct sb_pin, by name; tsearch(3) */
	size_t count;
	struct sb_idmap pinning; /* namespaces that pin anything */
};

/*
 * In place of the inode number of a namespace whose number cannot be learnt: this bit and any
 * number that tells its table from others. Good for holders; tidying takes it away.
 */
#define SB_PINSET_UNNAMED (UINT64_C(1) << 63)

/* Adds what the mounts of one namespace pin. -ENOMEM. */
int sb_pinset_absorb(struct sb_pinset *set, const struct sb_mount_table *table,
		     uint64_t namespace_inode);

/* Whether the namespace of that number pins anything. */
bool sb_pinset_has_namespace(const struct sb_pinset *set, uint64_t namespace_inode);

/* Adds a holder to every pin that the namespace of that number has. -ENOMEM. */
int sb_pinset_add_holder(struct sb_pinset *set, uint64_t namespace_inode,
			 const struct sb_holder *holder);

const struct sb_pin *sb_pinset_find(const struct sb_pinset *set, const char *name);

/* All pins sorted by name, in fresh memory that the caller frees (the pins stay the set's). */
int sb_pinset_list(const struct sb_pinset *set, const struct sb_pin ***ret, size_t *ret_count);

/* At the end: puts every pin's namespaces and holders in order, without duplicates. */
void sb_pinset_tidy(struct sb_pinset *set);

void sb_pinset_free(struct sb_pinset *set);

/*
 * Undoes the kernel's octal escapes ("\040") in place: a backslash and exactly three octal digits
 * that make a byte. Anything else stays as it is.
 */
void sb_pinset_unescape_octal(char *text);

#endif
