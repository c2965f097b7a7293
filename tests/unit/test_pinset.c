/* What the mounts of a table pin: as sources, as mount points, as layers of overlays. */
#include "pinset.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define STAGED	7 /* devices */
#define ANOTHER 8
#define INODE	4026532000

static const char *const prefixes[] = {"sb_"};
static const struct sb_pin_match by_prefix = {
	.prefixes = {.item = (const char **)(uintptr_t)prefixes, .count = 1}};

static void add(struct sb_mount_table *table, struct sb_mount mount)
{
	if (!mount.root)
		mount.root = "/";
	if (!mount.point)
		mount.point = "";
	assert_int_equal(sb_mount_table_add(table, &mount), 0);
}

/* The names of the pins, with a letter for each use: "sb_a:s sb_b:ml". */
static const char *names_of(const struct sb_pinset *set)
{
	static char text[1024];
	const struct sb_pin **list;
	size_t count;

	*text = '\0';
	assert_int_equal(sb_pinset_list(set, &list, &count), 0);
	for (size_t i = 0; i < count; i++)
		snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s%s:%s%s%s",
			 i ? " " : "", list[i]->name, list[i]->uses & SB_PIN_SOURCE ? "s" : "",
			 list[i]->uses & SB_PIN_MOUNTPOINT ? "m" : "",
			 list[i]->uses & SB_PIN_LAYER ? "l" : "");
	free(list);
	return text;
}

/* Absorbs and frees the table; what it pins. */
static const char *absorb(struct sb_pinset *set, struct sb_mount_table *table)
{
	const char *names;

	assert_int_equal(sb_pinset_absorb(set, table, INODE), 0);
	names = names_of(set);
	sb_mount_table_free(table);
	return names;
}

static void layers_by_each_option(void **state)
{
	static const struct {
		const char *options, *names;
	} cases[] = {
		{"rw,lowerdir=/r/sb_a:/r/sb_b,xino=off", "sb_a:l sb_b:l"},
		{"rw,upperdir=/r/sb_a/up,workdir=/r/sb_b/work", "sb_a:l sb_b:l"},
		{"rw,lowerdir+=/r/sb_a,lowerdir+=/r/sb_b", "sb_a:l sb_b:l"},
		{"rw,lowerdir=/x,datadir+=/r/sb_a", "sb_a:l"},
		/* A colon in a name, and no second directory. */
		{"rw,lowerdir=/r/sb_a\\134:b", "sb_a:b:l"},
		{"rw,lowerdir+=/r/sb_a:b", "sb_a:b:l"},
		{"rw,upperdir=/r/sb_a:b", "sb_a:b:l"},
		/* A backslash that may be meant or not: both readings. */
		{"rw,upperdir=/r/sb_a\\134b", "sb_a\\b:l sb_ab:l"},
		{"rw,lowerdir=/r/sb_a\\054\\040b", "sb_a, b:l"},
		{"rw,lowerdir=/r/sb_a\\", "sb_a\\:l"},
		/* No option that names a directory. */
		{"rw,context=/r/sb_a,sb_b,lowerdirs=/r/sb_c", ""},
		{"", ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sb_pinset set = {.match = &by_prefix};
		struct sb_mount_table table = {0};

		add(&table, (struct sb_mount){.id = 1,
					      .kind = SB_FS_OVERLAY,
					      .point = "/m",
					      .options = cases[i].options});
		assert_string_equal(absorb(&set, &table), cases[i].names);
		sb_pinset_free(&set);
	}
}

static void only_an_overlays_options_name_layers(void **state)
{
	struct sb_pinset set = {.match = &by_prefix};
	struct sb_mount_table table = {0};

	(void)state;
	add(&table, (struct sb_mount){.id = 1, .point = "/m", .options = "lowerdir=/r/sb_a"});
	add(&table, (struct sb_mount){.id = 2, .kind = SB_FS_OVERLAY, .point = "/m"});
	assert_string_equal(absorb(&set, &table), "");
	sb_pinset_free(&set);
}

/* The root of a swept tmpfs on /run/u, and what else is mounted. */
static const char *with_mounts(const dev_t *devices, size_t count, struct sb_mount mount)
{
	struct sb_pinset set = {.match = &by_prefix,
				.devices = devices,
				.device_count = count,
				.other_roots = !devices};
	struct sb_mount_table table = {0};
	const char *names;

	add(&table, (struct sb_mount){.id = 1, .parent_id = 1, .device = ANOTHER, .point = "/"});
	add(&table, (struct sb_mount){.id = 2,
				      .parent_id = 1,
				      .device = STAGED,
				      .kind = SB_FS_TMPFS,
				      .point = "/run/u"});
	add(&table, (struct sb_mount){.id = 3,
				      .parent_id = 1,
				      .device = STAGED,
				      .kind = SB_FS_TMPFS,
				      .root = "/in",
				      .point = "/bound"});
	add(&table, mount);
	names = absorb(&set, &table);
	sb_pinset_free(&set);
	return names;
}

static void mount_points(void **state)
{
	static const dev_t staged[] = {ANOTHER + 1, STAGED}, others[] = {ANOTHER + 1};
	struct sb_mount mount = {.id = 9, .parent_id = 2, .point = "/run/u/sb_a/below"};

	(void)state;
	assert_string_equal(with_mounts(NULL, 0, mount), "sb_a:m");
	assert_string_equal(with_mounts(staged, 2, mount), "sb_a:m");
	assert_string_equal(with_mounts(others, 1, mount), "");
	/* Deeper down an entry can stand only where the roots are known. */
	mount.point = "/run/u/in/sb_a";
	assert_string_equal(with_mounts(NULL, 0, mount), "");
	assert_string_equal(with_mounts(staged, 2, mount), "sb_a:m");
	/* Through a bind of a directory the path is that within the filesystem. */
	mount = (struct sb_mount){.id = 9, .parent_id = 3, .point = "/bound/sb_a"};
	assert_string_equal(with_mounts(staged, 2, mount), "sb_a:m");
	assert_string_equal(with_mounts(NULL, 0, mount), ""); /* it is /in/sb_a */
	/* Where the parent, or the point, is not known, nothing can be said. */
	mount = (struct sb_mount){.id = 9, .parent_id = 77, .point = "/run/u/sb_a"};
	assert_string_equal(with_mounts(staged, 2, mount), "");
	mount = (struct sb_mount){.id = 9, .parent_id = 2, .point = ""};
	assert_string_equal(with_mounts(staged, 2, mount), "");
	/* A point that does not stand below its parent: the parent was moved meanwhile. */
	mount = (struct sb_mount){.id = 9, .parent_id = 2, .point = "/elsewhere/sb_a"};
	assert_string_equal(with_mounts(staged, 2, mount), "");
	/* On the root filesystem, which is no tmpfs. */
	mount = (struct sb_mount){.id = 9, .parent_id = 1, .point = "/sb_a"};
	assert_string_equal(with_mounts(NULL, 0, mount), "");
}

static void sources(void **state)
{
	static const struct {
		const char *root, *names;
		bool deleted;
	} cases[] = {
		{"/sb_a", "sb_a:s", false},
		{"/x/sb_a/y/sb_b", "sb_a:s sb_b:s", false},
		{"//sb_a//x", "sb_a:s", false},
		{"/sb_a//deleted", "sb_a:s", true},
		{"/sb_a//deleted//deleted", "sb_a:s", true},
		{"/sb_a/deleted", "sb_a:s", false},
		{"//deleted", "", false},
		{"/", "", false},
		{"", "", false},
		{"/xsb_a", "", false},
		{"mnt:[sb_a]", "", false},
		{"sb_a", "", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sb_pinset set = {.match = &by_prefix};
		struct sb_mount_table table = {0};
		const struct sb_pin *pin;

		add(&table, (struct sb_mount){.id = 1, .root = cases[i].root, .point = "/m"});
		assert_string_equal(absorb(&set, &table), cases[i].names);
		pin = sb_pinset_find(&set, "sb_a");
		assert_int_equal(pin != NULL, *cases[i].names != '\0');
		assert_true(!pin || pin->deleted == cases[i].deleted);
		sb_pinset_free(&set);
	}
}

static void all_roots_but_the_top(void **state)
{
	const struct sb_pin_match match = {.all = true};
	struct sb_pinset set = {.match = &match};
	struct sb_mount_table table = {0};

	(void)state;
	add(&table, (struct sb_mount){.id = 1, .point = "/m"});
	add(&table, (struct sb_mount){.id = 2, .root = "/a/b//deleted", .point = "/m"});
	add(&table, (struct sb_mount){.id = 3, .root = "net:[1]", .point = "/m"});
	assert_string_equal(absorb(&set, &table), "/a/b:s");
	assert_true(sb_pinset_find(&set, "/a/b")->deleted);
	sb_pinset_free(&set);
}

static void names_are_literal_and_whole(void **state)
{
	static const char *const names[] = {"a*", "ab"};
	const struct sb_pin_match match = {
		.names = {.item = (const char **)(uintptr_t)names, .count = 2}};
	struct sb_pinset set = {.match = &match};
	struct sb_mount_table table = {0};

	(void)state;
	add(&table, (struct sb_mount){.id = 1, .root = "/a*", .point = "/m"});
	add(&table, (struct sb_mount){.id = 2, .root = "/abc", .point = "/m"});
	add(&table, (struct sb_mount){.id = 3, .root = "/a", .point = "/m"});
	assert_string_equal(absorb(&set, &table), "a*:s");
	sb_pinset_free(&set);
}

static void what_is_mounted_here_alone(void **state)
{
	struct sb_pinset set = {.match = &by_prefix, .own_namespace = INODE, .other_roots = true};
	struct sb_mount_table table = {0};

	(void)state;
	add(&table, (struct sb_mount){.id = 1, .kind = SB_FS_TMPFS, .point = "/r"});
	add(&table, (struct sb_mount){.id = 2, .parent_id = 1, .point = "/r/sb_a"});
	add(&table, (struct sb_mount){.id = 3, .parent_id = 1, .point = "/r/sb_b"});
	add(&table, (struct sb_mount){.id = 4, .root = "/sb_c", .point = "/m"});
	assert_int_equal(sb_pinset_absorb(&set, &table, INODE), 0);
	assert_true(sb_pinset_find(&set, "sb_a")->only_mounted_here);
	assert_true(sb_pinset_find(&set, "sb_b")->only_mounted_here);
	assert_false(sb_pinset_find(&set, "sb_c")->only_mounted_here);
	sb_mount_table_free(&table);
	/* The same mount point in another namespace is somebody's. */
	add(&table, (struct sb_mount){.id = 1, .kind = SB_FS_TMPFS, .point = "/r"});
	add(&table, (struct sb_mount){.id = 2, .parent_id = 1, .point = "/r/sb_a"});
	assert_int_equal(sb_pinset_absorb(&set, &table, INODE + 1), 0);
	assert_false(sb_pinset_find(&set, "sb_a")->only_mounted_here);
	assert_true(sb_pinset_find(&set, "sb_b")->only_mounted_here);
	sb_mount_table_free(&table);
	sb_pinset_free(&set);
	/* Where ours is not known, none is. */
	set = (struct sb_pinset){.match = &by_prefix, .other_roots = true};
	add(&table, (struct sb_mount){.id = 1, .kind = SB_FS_TMPFS, .point = "/r"});
	add(&table, (struct sb_mount){.id = 2, .parent_id = 1, .point = "/r/sb_a"});
	assert_int_equal(sb_pinset_absorb(&set, &table, 0), 0);
	assert_false(sb_pinset_find(&set, "sb_a")->only_mounted_here);
	sb_mount_table_free(&table);
	sb_pinset_free(&set);
}

static void namespaces_and_holders_in_order(void **state)
{
	static const uint64_t inodes[] = {30, 10, SB_PINSET_UNNAMED | 1, 20, 10};
	struct sb_pinset set = {.match = &by_prefix};
	const struct sb_pin *pin;

	(void)state;
	for (size_t i = 0; i < 5; i++) {
		struct sb_mount_table table = {0};

		add(&table, (struct sb_mount){.id = 1, .root = "/sb_a", .point = "/m"});
		add(&table, (struct sb_mount){.id = 2, .root = "/sb_a", .point = "/n"});
		assert_int_equal(sb_pinset_absorb(&set, &table, inodes[i]), 0);
		sb_mount_table_free(&table);
	}
	assert_true(sb_pinset_has_namespace(&set, 20));
	assert_false(sb_pinset_has_namespace(&set, 40));
	for (pid_t pid = 5; pid > 0; pid--)
		assert_int_equal(
			sb_pinset_add_holder(&set, pid % 2 ? 10 : SB_PINSET_UNNAMED | 1,
					     &(struct sb_holder){.pid = pid / 2, .tid = pid}),
			0);
	assert_int_equal(sb_pinset_add_holder(&set, 40, &(struct sb_holder){.pid = 9}), 0);
	sb_pinset_tidy(&set);
	pin = sb_pinset_find(&set, "sb_a");
	assert_int_equal(pin->namespace_count, 3);
	for (size_t i = 0; i < 3; i++)
		assert_int_equal(pin->namespaces[i], (i + 1) * 10);
	assert_int_equal(pin->holder_count, 5);
	for (size_t i = 0; i < 5; i++)
		assert_int_equal(pin->holders[i].tid, i + 1);
	sb_pinset_free(&set);
}

static void words(void **state)
{
	(void)state;
	assert_string_equal(sb_pin_use_name(SB_PIN_SOURCE), "source");
	assert_string_equal(sb_pin_use_name(SB_PIN_MOUNTPOINT), "mountpoint");
	assert_string_equal(sb_pin_use_name(SB_PIN_LAYER), "layer");
	assert_string_equal(sb_pin_use_name((enum sb_pin_use)0), "none");
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(layers_by_each_option),
		cmocka_unit_test(only_an_overlays_options_name_layers),
		cmocka_unit_test(mount_points),
		cmocka_unit_test(sources),
		cmocka_unit_test(all_roots_but_the_top),
		cmocka_unit_test(names_are_literal_and_whole),
		cmocka_unit_test(what_is_mounted_here_alone),
		cmocka_unit_test(namespaces_and_holders_in_order),
		cmocka_unit_test(words),
	};

	return cmocka_run_group_tests_name("pinset", tests, NULL, NULL);
}
