#include "pinset.h"

#include "scope.h"

#include <errno.h>
#include <search.h>
#include <string.h>

#define DELETED_SUFFIX "//deleted"

/* Where an entry's name was met, and in what state. */
struct sighting {
	enum sb_pin_use use;
	bool deleted;
	uint64_t namespace_inode;
};

static const struct {
	enum sb_pin_use use;
	const char *name;
} use_names[SB_PIN_USES] = {
	{SB_PIN_SOURCE, "source"},
	{SB_PIN_MOUNTPOINT, "mountpoint"},
	{SB_PIN_LAYER, "layer"},
};

/* The options of an overlay that name directories, and whether colons separate several. */
static const struct layer_option {
	const char *name;
	bool colons;
} layer_options[] = {
	{"lowerdir", true},  {"lowerdir+", false}, {"datadir+", false},
	{"upperdir", false}, {"workdir", false},
};

const char *sb_pin_use_name(enum sb_pin_use use)
{
	for (size_t i = 0; i < SB_PIN_USES; i++)
		if (use_names[i].use == use)
			return use_names[i].name;
	return "none";
}

static int compare_names(const void *a, const void *b)
{
	return strcmp(((const struct sb_pin *)a)->name, ((const struct sb_pin *)b)->name);
}

static void free_pin(void *pointer)
{
	struct sb_pin *pin = pointer;

	free(pin->name);
	free(pin->namespaces);
	free(pin->holders);
	free(pin);
}

static struct sb_pin *find_pin(const struct sb_pinset *set, const char *name)
{
	/* tfind(3) only reads; its type cannot say so. */
	struct sb_pin key = {.name = (char *)(uintptr_t)name};
	struct sb_pin **found = tfind(&key, &set->tree, compare_names);

	return found ? *found : NULL;
}

static struct sb_pin *find_or_add_pin(struct sb_pinset *set, const char *name, size_t length)
{
	sb_auto_free char *copy = strndup(name, length);
	struct sb_pin *pin;

	if (!copy)
		return NULL;
	pin = find_pin(set, copy);
	if (pin)
		return pin;
	pin = calloc(1, sizeof(*pin));
	if (!pin)
		return NULL;
	*pin = (struct sb_pin){.name = copy, .deleted = true, .only_mounted_here = true};
	if (!tsearch(pin, &set->tree, compare_names)) {
		free(pin);
		return NULL;
	}
	copy = NULL;
	set->count++;
	return pin;
}

/* Room for one more: doubled whenever the count has reached a power of two. */
static int make_room(void *array, size_t count, size_t item_size)
{
	void **pointer = array;
	void *grown;

	if (count & (count - 1))
		return 0;
	grown = reallocarray(*pointer, count ? count * 2 : 1, item_size);
	if (!grown)
		return -ENOMEM;
	*pointer = grown;
	return 0;
}

static int add_sighting(struct sb_pinset *set, const char *name, size_t length,
			const struct sighting *sighting)
{
	struct sb_pin *pin = find_or_add_pin(set, name, length);
	bool here = sighting->namespace_inode == set->own_namespace && set->own_namespace;
	int r;

	if (!pin)
		return -ENOMEM;
	pin->uses |= sighting->use;
	pin->deleted = pin->deleted && sighting->deleted;
	if (sighting->use != SB_PIN_MOUNTPOINT || !here)
		pin->only_mounted_here = false;
	/* A namespace is absorbed as a whole: its repetitions stand at the end. */
	if (pin->namespace_count &&
	    pin->namespaces[pin->namespace_count - 1] == sighting->namespace_inode)
		return 0;
	r = make_room(&pin->namespaces, pin->namespace_count, sizeof(*pin->namespaces));
	if (r < 0)
		return r;
	pin->namespaces[pin->namespace_count++] = sighting->namespace_inode;
	return sb_idmap_put(&set->pinning, sighting->namespace_inode, 1);
}

static bool is_one_of(const struct sb_prefixes *names, const char *name, size_t length)
{
	for (size_t i = 0; i < names->count; i++)
		if (strlen(names->item[i]) == length && memcmp(names->item[i], name, length) == 0)
			return true;
	return false;
}

static bool matches(const struct sb_pin_match *match, const char *name, size_t length)
{
	return sb_names_bears_prefix(&match->prefixes, name, length) ||
	       is_one_of(&match->names, name, length) ||
	       (match->legacy && sb_names_is_legacy(name, length));
}

/* Adds every component of a path that is an entry's name; only the first one if told so. */
static int match_components(struct sb_pinset *set, const char *path, size_t length, bool first_only,
			    const struct sighting *sighting)
{
	const char *end = path + length;

	while (path < end) {
		const char *slash;

		while (path < end && *path == '/')
			path++;
		slash = memchr(path, '/', (size_t)(end - path));
		if (!slash)
			slash = end;
		if (slash > path && matches(set->match, path, (size_t)(slash - path))) {
			int r = add_sighting(set, path, (size_t)(slash - path), sighting);

			if (r < 0)
				return r;
		}
		if (first_only && slash > path)
			break;
		path = slash;
	}
	return 0;
}

static int match_source(struct sb_pinset *set, const struct sb_mount *mount, uint64_t inode)
{
	struct sighting sighting = {.use = SB_PIN_SOURCE, .namespace_inode = inode};
	const size_t suffix = sizeof(DELETED_SUFFIX) - 1;
	size_t length = strlen(mount->root);

	if (length >= suffix && strcmp(mount->root + length - suffix, DELETED_SUFFIX) == 0) {
		length -= suffix; /* one, and no more: a directory may be called "deleted" */
		sighting.deleted = true;
	}
	/* "mnt:[4026531841]" is no path. */
	if (length <= 1 || mount->root[0] != '/')
		return 0;
	if (set->match->all)
		return add_sighting(set, mount->root, length, &sighting);
	return match_components(set, mount->root, length, false, &sighting);
}

static bool is_staging_device(const struct sb_pinset *set, dev_t device)
{
	for (size_t i = 0; i < set->device_count; i++)
		if (set->devices[i] == device)
			return true;
	return false;
}

/*
 * Where the mount stands within the filesystem below it: the parent's root, and the mount point
 * without the parent's. An entry that merely has the name, on another filesystem, is not pinned.
 */
static int match_point(struct sb_pinset *set, const struct sb_mount_table *table,
		       const struct sb_mount *mount, uint64_t inode)
{
	const struct sighting sighting = {.use = SB_PIN_MOUNTPOINT, .namespace_inode = inode};
	const struct sb_mount *parent = sb_mount_table_find(table, mount->parent_id);
	bool staging;
	sb_auto_free char *path = NULL;
	size_t skip;
	int length;

	if (!parent || parent == mount || !*mount->point)
		return 0;
	staging = is_staging_device(set, parent->device);
	if (!staging && !(set->other_roots && parent->kind == SB_FS_TMPFS))
		return 0;
	skip = strcmp(parent->point, "/") == 0 ? 0 : strlen(parent->point);
	if (strncmp(mount->point, parent->point, skip) != 0)
		return 0;
	length = asprintf(&path, "%s%s", strcmp(parent->root, "/") == 0 ? "" : parent->root,
			  mount->point + skip);
	if (length < 0) {
		path = NULL;
		return -ENOMEM;
	}
	return match_components(set, path, (size_t)length, !staging, &sighting);
}

void sb_pinset_unescape_octal(char *text)
{
	char *out = text;

	for (const char *p = text; *p;) {
		if (p[0] == '\\' && p[1] >= '0' && p[1] <= '3' && p[2] >= '0' && p[2] <= '7' &&
		    p[3] >= '0' && p[3] <= '7') {
			*out++ = (char)((p[1] - '0') << 6 | (p[2] - '0') << 3 | (p[3] - '0'));
			p += 4;
			continue;
		}
		*out++ = *p++;
	}
	*out = '\0';
}

/*
 * The directories of one option: separated by colons, where the option takes several; a backslash
 * takes the next byte at its word.
 */
static int match_layers(struct sb_pinset *set, char *value, bool colons,
			const struct sighting *sighting)
{
	char *out = value, *start = value;
	int r = 0;

	sb_pinset_unescape_octal(value);
	/* What takes one directory may also mean its backslashes: both readings pin. */
	if (!colons)
		r = match_components(set, value, strlen(value), false, sighting);
	for (const char *p = value; r == 0; p++) {
		if (*p == '\0' || (*p == ':' && colons)) {
			r = match_components(set, start, (size_t)(out - start), false, sighting);
			start = out;
			if (*p == '\0')
				break;
			continue;
		}
		if (*p == '\\' && p[1])
			p++;
		*out++ = *p;
	}
	return r;
}

static int match_overlay(struct sb_pinset *set, const struct sb_mount *mount, uint64_t inode)
{
	const struct sighting sighting = {.use = SB_PIN_LAYER, .namespace_inode = inode};
	sb_auto_free char *options = strdup(mount->options);
	char *save = NULL;

	if (!options)
		return -ENOMEM;
	/* A comma within a value comes as "\054". */
	for (char *option = strtok_r(options, ",", &save); option;
	     option = strtok_r(NULL, ",", &save)) {
		char *value = strchr(option, '=');

		if (!value)
			continue;
		*value++ = '\0';
		for (size_t i = 0; i < sizeof(layer_options) / sizeof(layer_options[0]); i++) {
			const struct layer_option *layer = &layer_options[i];
			int r = 0;

			if (strcmp(option, layer->name) == 0)
				r = match_layers(set, value, layer->colons, &sighting);
			if (r < 0)
				return r;
		}
	}
	return 0;
}

int sb_pinset_absorb(struct sb_pinset *set, const struct sb_mount_table *table,
		     uint64_t namespace_inode)
{
	for (size_t i = 0; i < table->count; i++) {
		const struct sb_mount *mount = &table->item[i];
		int r = match_source(set, mount, namespace_inode);

		if (r == 0 && !set->match->all)
			r = match_point(set, table, mount, namespace_inode);
		if (r == 0 && !set->match->all && mount->kind == SB_FS_OVERLAY && mount->options)
			r = match_overlay(set, mount, namespace_inode);
		if (r < 0)
			return r;
	}
	return 0;
}

bool sb_pinset_has_namespace(const struct sb_pinset *set, uint64_t namespace_inode)
{
	return sb_idmap_get(&set->pinning, namespace_inode, NULL);
}

/* What add_holder hands to each pin of the tree. */
struct holder_visit {
	uint64_t namespace_inode;
	const struct sb_holder *holder;
	int result;
};

static void visit_holder(const void *node, VISIT which, void *closure)
{
	struct sb_pin *pin = *(struct sb_pin *const *)node;
	struct holder_visit *visit = closure;

	if ((which != postorder && which != leaf) || visit->result < 0)
		return;
	for (size_t i = 0; i < pin->namespace_count; i++) {
		if (pin->namespaces[i] != visit->namespace_inode)
			continue;
		visit->result = make_room(&pin->holders, pin->holder_count, sizeof(*pin->holders));
		if (visit->result == 0)
			pin->holders[pin->holder_count++] = *visit->holder;
		return;
	}
}

int sb_pinset_add_holder(struct sb_pinset *set, uint64_t namespace_inode,
			 const struct sb_holder *holder)
{
	struct holder_visit visit = {.namespace_inode = namespace_inode, .holder = holder};

	twalk_r(set->tree, visit_holder, &visit);
	return visit.result;
}

const struct sb_pin *sb_pinset_find(const struct sb_pinset *set, const char *name)
{
	return find_pin(set, name);
}

struct list_visit {
	const struct sb_pin **list;
	size_t count;
};

static void visit_list(const void *node, VISIT which, void *closure)
{
	struct list_visit *visit = closure;

	if (which == postorder || which == leaf)
		visit->list[visit->count++] = *(const struct sb_pin *const *)node;
}

int sb_pinset_list(const struct sb_pinset *set, const struct sb_pin ***ret, size_t *ret_count)
{
	struct list_visit visit = {.list = calloc(set->count + 1, sizeof(struct sb_pin *))};

	if (!visit.list)
		return -ENOMEM;
	twalk_r(set->tree, visit_list, &visit);
	*ret = visit.list;
	*ret_count = visit.count;
	return 0;
}

static int compare_inodes(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static int compare_holders(const void *a, const void *b)
{
	const struct sb_holder *x = a, *y = b;

	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

static void visit_tidy(const void *node, VISIT which, void *closure)
{
	struct sb_pin *pin = *(struct sb_pin *const *)node;
	size_t kept = 0;

	(void)closure;
	if (which != postorder && which != leaf)
		return;
	if (pin->namespace_count)
		qsort(pin->namespaces, pin->namespace_count, sizeof(*pin->namespaces),
		      compare_inodes);
	for (size_t i = 0; i < pin->namespace_count; i++)
		if (!(pin->namespaces[i] & SB_PINSET_UNNAMED) &&
		    (kept == 0 || pin->namespaces[kept - 1] != pin->namespaces[i]))
			pin->namespaces[kept++] = pin->namespaces[i];
	pin->namespace_count = kept;
	if (pin->holder_count)
		qsort(pin->holders, pin->holder_count, sizeof(*pin->holders), compare_holders);
}

void sb_pinset_tidy(struct sb_pinset *set)
{
	twalk_r(set->tree, visit_tidy, NULL);
}

void sb_pinset_free(struct sb_pinset *set)
{
	tdestroy(set->tree, free_pin);
	sb_idmap_free(&set->pinning);
	set->tree = NULL;
	set->count = 0;
}
