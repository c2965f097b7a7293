/* The mounts of a namespace: text that is parsed, and the kernel's own answer beside it. */
#include "nsmount.h"

#include "mntabi.h"
#include "proc.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include <cmocka.h>

#define ROOT "20 1 8:1 / / rw,relatime - ext4 /dev/sda1 rw\n"

static int parse(const char *text, struct sb_mount_table *table)
{
	*table = (struct sb_mount_table){0};
	return sb_nsmount_parse(text, strlen(text), table);
}

static void a_line_of_every_kind(void **state)
{
	const char *text = ROOT
		"21 20 0:30 /entry /mnt/x rw,nosuid shared:5 master:2 - tmpfs tmpfs rw,size=1k\n"
		"22 20 0:31 / /mnt/over rw - overlay none rw,lowerdir=/a\\134:b:/c,upperdir=/d\n"
		"23 20 0:4 mnt:[4026532999] /run/ns rw - nsfs nsfs rw\n"
		"24 20 0:32 / /mnt/ram rw - ramfs none rw\n";
	struct sb_mount_table table;
	const struct sb_mount *mount;

	(void)state;
	assert_int_equal(parse(text, &table), 0);
	assert_int_equal(table.count, 5);
	assert_true(sb_mount_table_has_root(&table));
	mount = sb_mount_table_find(&table, 20);
	assert_non_null(mount);
	assert_int_equal(mount->parent_id, 1);
	assert_true(mount->device == makedev(8, 1));
	assert_int_equal(mount->kind, SB_FS_OTHER);
	mount = sb_mount_table_find(&table, 21);
	assert_string_equal(mount->root, "/entry");
	assert_string_equal(mount->point, "/mnt/x");
	assert_int_equal(mount->kind, SB_FS_TMPFS);
	assert_null(mount->options);
	mount = sb_mount_table_find(&table, 22);
	assert_int_equal(mount->kind, SB_FS_OVERLAY);
	/* As the kernel escapes them: a comma in a name must not look like one between options. */
	assert_string_equal(mount->options, "rw,lowerdir=/a\\134:b:/c,upperdir=/d");
	mount = sb_mount_table_find(&table, 23);
	assert_int_equal(mount->kind, SB_FS_NSFS);
	assert_string_equal(mount->root, "mnt:[4026532999]");
	assert_int_equal(sb_mount_table_find(&table, 24)->kind, SB_FS_TMPFS);
	assert_null(sb_mount_table_find(&table, 25));
	sb_mount_table_free(&table);
	assert_int_equal(table.count, 0);
}

static void escapes_are_undone_and_nothing_else(void **state)
{
	static const struct {
		const char *text;
		const char *bytes;
	} cases[] = {
		{"/a\\040b", "/a b"},
		{"/a\\011b", "/a\tb"},
		{"/a\\012b", "/a\nb"},
		{"/a\\134b", "/a\\b"},
		{"/a\\134040", "/a\\040"}, /* the name spells an escape out */
		{"/a\\0401", "/a 1"},
		{"/a\x0b\x0c\x0d", "/a\x0b\x0c\x0d"}, /* the kernel leaves these as they are */
		{"/a\xff\xfe", "/a\xff\xfe"},
		{"/a//deleted", "/a//deleted"},
		{"/a\\043", "/a#"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct sb_mount_table table;
		char line[256];

		snprintf(line, sizeof(line), "21 20 0:30 %s %s rw - tmpfs tmpfs rw\n",
			 cases[i].text, cases[i].text);
		assert_int_equal(parse(line, &table), 0);
		assert_int_equal(table.count, 1);
		assert_string_equal(table.item[0].root, cases[i].bytes);
		assert_string_equal(table.item[0].point, cases[i].bytes);
		sb_mount_table_free(&table);
	}
}

static void no_root_is_no_whole_table(void **state)
{
	struct sb_mount_table table;

	(void)state;
	assert_int_equal(parse("", &table), 0);
	assert_int_equal(table.count, 0);
	assert_false(sb_mount_table_has_root(&table));
	assert_int_equal(parse("21 20 0:30 / /mnt rw - tmpfs tmpfs rw\n", &table), 0);
	assert_false(sb_mount_table_has_root(&table));
	sb_mount_table_free(&table);
}

static void lines_that_cannot_be_parsed_are_no_silence(void **state)
{
	static const char *const texts[] = {
		"nonsense\n",
		"\n",
		"#21 20 0:30 /entry /mnt rw - tmpfs tmpfs rw\n",
		ROOT "nonsense\n" ROOT,
		ROOT "\n",
		ROOT "# a comment\n",
		ROOT "21 20 0:30 /entry /mnt\n",
		ROOT "21 20 0:30\n",
		ROOT "x 20 0:30 /entry /mnt rw - tmpfs tmpfs rw\n",
		ROOT "21 20 0:30 /entry /mnt rw tmpfs tmpfs rw\n", /* no separator */
		ROOT "21 20 0:30 /entry /mnt rw - tmpfs tmpfs rw", /* cut */
		"21 20 0:30 /entry /mnt rw - tm",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
		struct sb_mount_table table;
		int r = parse(texts[i], &table);

		if (r != -EBADMSG)
			print_error("%d for: %s\n", r, texts[i]);
		assert_int_equal(r, -EBADMSG);
		assert_int_equal(table.count, 0);
	}
}

static void a_text_that_is_cut_is_noticed(void **state)
{
	const char *text = ROOT "21 20 0:30 /entry /mnt/x rw - tmpfs tmpfs rw\n";

	(void)state;
	for (size_t length = 1; length <= strlen(text); length++) {
		struct sb_mount_table table = {0};
		int r = sb_nsmount_parse(text, length, &table);

		/* At the end of a line there is nothing to notice. */
		assert_int_equal(r, text[length - 1] == '\n' ? 0 : -EBADMSG);
		sb_mount_table_free(&table);
	}
}

static void a_nul_byte_is_no_end(void **state)
{
	static const char text[] = ROOT "\0" ROOT;
	struct sb_mount_table table = {0};

	(void)state;
	assert_int_equal(sb_nsmount_parse(text, sizeof(text) - 1, &table), -EBADMSG);
}

static void tables_grow(void **state)
{
	struct sb_mount_table table = {0};
	char root[70000];

	(void)state;
	memset(root, 'x', sizeof(root) - 1);
	root[0] = '/';
	root[sizeof(root) - 1] = '\0';
	for (uint32_t id = 1; id <= 5000; id++) {
		char point[32];
		struct sb_mount mount = {.id = id, .root = id % 1000 ? "/" : root, .point = point};

		snprintf(point, sizeof(point), "/%u", id);
		assert_int_equal(sb_mount_table_add(&table, &mount), 0);
	}
	assert_int_equal(table.count, 5000);
	assert_string_equal(sb_mount_table_find(&table, 4321)->point, "/4321");
	assert_string_equal(sb_mount_table_find(&table, 3000)->root, root);
	sb_mount_table_free(&table);
}

static void our_own_namespace_by_both_ways(void **state)
{
	struct sb_mount_table by_text = {0}, by_id = {0};
	struct sb_ns_identity identity;
	char *text = NULL;
	size_t length;
	struct stat st;
	int procfs = open(SB_PROC_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	int own = sb_nsmount_open_own(procfs);
	int r;

	(void)state;
	assert_true(own >= 0);
	assert_int_equal(sb_nsmount_identify(own, &identity), 0);
	assert_int_equal(stat("/proc/self/ns/mnt", &st), 0);
	assert_true(identity.inode == st.st_ino);
	assert_int_equal(sb_nsmount_read_text(procfs, "self/mountinfo", &text, &length), 0);
	assert_int_equal(sb_nsmount_parse(text, length, &by_text), 0);
	free(text);
	r = identity.id ? sb_nsmount_read(own, identity.id, &by_id) : -ENOSYS;
	if (r == 0) {
		/* By id there is also what a root cannot see; all that it can is there. */
		assert_true(by_id.count >= by_text.count);
		for (size_t i = 0; i < by_text.count; i++) {
			const struct sb_mount *mount =
				sb_mount_table_find(&by_id, by_text.item[i].id);

			assert_non_null(mount);
			assert_string_equal(mount->root, by_text.item[i].root);
			assert_string_equal(mount->point, by_text.item[i].point);
			assert_true(mount->device == by_text.item[i].device);
			assert_int_equal(mount->parent_id, by_text.item[i].parent_id);
			assert_int_equal(mount->kind, by_text.item[i].kind);
		}
	} else {
		print_message("this kernel does not read namespaces by id: %s\n", strerror(-r));
	}
	sb_mount_table_free(&by_text);
	sb_mount_table_free(&by_id);
	close(own);
	close(procfs);
}

#define STRINGS 32 /* bytes */

/* An answer of statmount(2), with its strings behind it. */
union answer {
	struct sb_statmount head;
	char bytes[sizeof(struct sb_statmount) + STRINGS];
};

static union answer good_answer(void)
{
	static const char strings[] = "/entry\0/mnt\0rw,size=1k";
	union answer answer = {.head = {.size = sizeof(answer),
					.mask = SB_STATMOUNT_SB_BASIC | SB_STATMOUNT_MNT_BASIC |
						SB_STATMOUNT_MNT_ROOT | SB_STATMOUNT_MNT_POINT |
						SB_STATMOUNT_MNT_OPTS,
					.mnt_id_old = 7,
					.mnt_root = 0,
					.mnt_point = 7,
					.mnt_opts = 12}};

	memcpy(answer.head.str, strings, sizeof(strings));
	return answer;
}

static int decode(const union answer *answer, struct sb_mount *ret)
{
	return sb_nsmount_decode(&answer->head, sizeof(*answer), ret);
}

static void an_answer_of_statmount(void **state)
{
	union answer answer = good_answer();
	struct sb_mount mount;

	(void)state;
	assert_int_equal(decode(&answer, &mount), 0);
	assert_int_equal(mount.id, 7);
	assert_string_equal(mount.root, "/entry");
	assert_string_equal(mount.point, "/mnt");
	assert_string_equal(mount.options, "rw,size=1k");
	answer.head.mask &= ~(uint64_t)(SB_STATMOUNT_MNT_POINT | SB_STATMOUNT_MNT_OPTS);
	assert_int_equal(decode(&answer, &mount), 0);
	assert_string_equal(mount.point, "");
	assert_null(mount.options);
}

static void answers_of_a_wrong_size(void **state)
{
	union answer answer = good_answer();
	struct sb_mount mount;

	(void)state;
	assert_int_equal(sb_nsmount_decode(&answer.head, sizeof(answer.head) - 1, &mount), -EIO);
	assert_int_equal(sb_nsmount_decode(&answer.head, sizeof(answer) - 1, &mount), -EIO);
	answer.head.size = sizeof(answer.head) - 1;
	assert_int_equal(decode(&answer, &mount), -EIO);
	answer = good_answer();
	answer.head.mask &= ~(uint64_t)SB_STATMOUNT_MNT_ROOT;
	assert_int_equal(decode(&answer, &mount), -ENOSYS);
}

static void answers_that_point_outside_of_themselves(void **state)
{
	union answer answer;
	struct sb_mount mount;
	uint32_t *const offsets[] = {&answer.head.mnt_root, &answer.head.mnt_point,
				     &answer.head.mnt_opts};

	(void)state;
	for (size_t i = 0; i < sizeof(offsets) / sizeof(offsets[0]); i++) {
		answer = good_answer();
		*offsets[i] = STRINGS;
		assert_int_equal(decode(&answer, &mount), -EIO);
		/* One that does not end in there. */
		answer = good_answer();
		memset(answer.bytes + sizeof(answer) - 8, 'x', 8);
		*offsets[i] = STRINGS - 8;
		assert_int_equal(decode(&answer, &mount), -EIO);
	}
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_line_of_every_kind),
		cmocka_unit_test(escapes_are_undone_and_nothing_else),
		cmocka_unit_test(no_root_is_no_whole_table),
		cmocka_unit_test(lines_that_cannot_be_parsed_are_no_silence),
		cmocka_unit_test(a_text_that_is_cut_is_noticed),
		cmocka_unit_test(a_nul_byte_is_no_end),
		cmocka_unit_test(tables_grow),
		cmocka_unit_test(our_own_namespace_by_both_ways),
		cmocka_unit_test(an_answer_of_statmount),
		cmocka_unit_test(answers_of_a_wrong_size),
		cmocka_unit_test(answers_that_point_outside_of_themselves),
	};

	return cmocka_run_group_tests_name("nsmount", tests, NULL, NULL);
}
