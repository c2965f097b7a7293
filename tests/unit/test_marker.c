/* The marker file: what counts as one, and how it is made. Runs in a directory of its own. */
#include "marker.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/test-marker.XXXXXX";

static int enter(void **state)
{
	(void)state;
	return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int leave(void **state)
{
	(void)state;
	unlink("a/b/marker");
	rmdir("a/b");
	rmdir("a");
	unlink("marker");
	return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static void stamps_once(void **state)
{
	const char *why = "";
	unsigned long long removed;
	long long stamp;
	struct stat st;
	FILE *f;

	(void)state;
	umask(0777);
	assert_int_equal(sb_marker_check("marker", geteuid(), &why), SB_MARKER_ABSENT);
	assert_null(why);
	assert_int_equal(sb_marker_stamp("marker", 12345), 0);
	umask(022);
	assert_int_equal(sb_marker_check("marker", geteuid(), &why), SB_MARKER_PRESENT);
	assert_null(why);
	assert_int_equal(lstat("marker", &st), 0);
	assert_int_equal(st.st_mode, S_IFREG | 0600);
	f = fopen("marker", "re");
	assert_non_null(f);
	assert_int_equal(fscanf(f, "%lld removed=%llu", &stamp, &removed), 2);
	assert_int_equal(fgetc(f), '\n');
	assert_int_equal(fgetc(f), EOF);
	fclose(f);
	assert_int_equal(removed, 12345);
	assert_true(stamp <= time(NULL) && stamp > time(NULL) - 600);
	assert_int_equal(sb_marker_stamp("marker", 1), -EEXIST);
	unlink("marker");
}

static void makes_its_parents(void **state)
{
	struct stat st;

	(void)state;
	assert_int_equal(sb_marker_stamp("a/b/marker", 0), 0);
	assert_int_equal(lstat("a", &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0700);
	assert_int_equal(lstat("a/b", &st), 0);
	assert_int_equal(st.st_mode, S_IFDIR | 0700);
	assert_int_equal(sb_marker_stamp("a/b/marker/c", 0), -ENOTDIR);
}

static void follows_and_overwrites_nothing(void **state)
{
	struct stat st;
	const char *why = NULL;

	(void)state;
	assert_int_equal(symlink("elsewhere", "marker"), 0);
	assert_int_equal(sb_marker_check("marker", geteuid(), &why), SB_MARKER_REFUSED);
	assert_non_null(why);
	assert_int_equal(sb_marker_stamp("marker", 1), -EEXIST);
	assert_int_equal(lstat("elsewhere", &st), -1);
	unlink("marker");
	assert_int_equal(mkfifo("marker", 0600), 0);
	assert_int_equal(sb_marker_check("marker", geteuid(), &why), SB_MARKER_REFUSED);
	assert_int_equal(sb_marker_stamp("marker", 1), -EEXIST);
	unlink("marker");
}

static void is_writable_by_its_owner_alone(void **state)
{
	const char *why = NULL;

	(void)state;
	close(open("marker", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
	for (mode_t mode = 0; mode <= 0777; mode++) {
		assert_int_equal(chmod("marker", mode), 0);
		assert_int_equal(sb_marker_check("marker", geteuid(), &why),
				 mode & 022 ? SB_MARKER_REFUSED : SB_MARKER_PRESENT);
	}
	chmod("marker", 0600);
	if (geteuid() == 0) {
		assert_int_equal(chown("marker", 61001, 0), 0);
		assert_int_equal(sb_marker_check("marker", 61000, &why), SB_MARKER_REFUSED);
		assert_int_equal(sb_marker_check("marker", 61001, &why), SB_MARKER_PRESENT);
		assert_int_equal(sb_marker_check("marker", 0, &why), SB_MARKER_REFUSED);
		assert_int_equal(chown("marker", 0, 0), 0);
		assert_int_equal(sb_marker_check("marker", 61000, &why), SB_MARKER_PRESENT);
	}
	unlink("marker");
}

static void stands_where_it_belongs(void **state)
{
	char *path;

	(void)state;
	setenv("XDG_STATE_HOME", "/state", 1);
	setenv("HOME", "/home/x", 1);
	path = sb_marker_default_path(geteuid());
	assert_string_equal(path, "/state/sb-tools/legacy-heal.done");
	free(path);
	setenv("XDG_STATE_HOME", "state", 1);
	path = sb_marker_default_path(geteuid());
	assert_string_equal(path, "/home/x/.local/state/sb-tools/legacy-heal.done");
	free(path);
	path = sb_marker_default_path(geteuid() + 7);
	assert_non_null(strstr(path, "/var/lib/sb-tools/legacy-heal."));
	free(path);
}

static void states_are_those_of_the_json(void **state)
{
	(void)state;
	assert_string_equal(sb_marker_state_name(SB_MARKER_PRESENT), "present");
	assert_string_equal(sb_marker_state_name(SB_MARKER_STAMPED), "stamped");
	assert_string_equal(sb_marker_state_name(SB_MARKER_WITHHELD), "withheld");
	assert_string_equal(sb_marker_state_name(SB_MARKER_REFUSED), "refused");
	assert_string_equal(sb_marker_state_name(SB_MARKER_DRY_RUN), "dry-run");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stamps_once),
		cmocka_unit_test(makes_its_parents),
		cmocka_unit_test(follows_and_overwrites_nothing),
		cmocka_unit_test(is_writable_by_its_owner_alone),
		cmocka_unit_test(stands_where_it_belongs),
		cmocka_unit_test(states_are_those_of_the_json),
	};

	return cmocka_run_group_tests(tests, enter, leave);
}
