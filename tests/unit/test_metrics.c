/* Metrics: the text format, and how it comes to its file. */
#include "metrics.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static char directory[] = "/tmp/sb-metrics.XXXXXX";

static int make_directory(void **state)
{
	(void)state;
	return mkdtemp(directory) && chdir(directory) == 0 ? 0 : -1;
}

static int remove_directory(void **state)
{
	(void)state;
	unlink("x.prom");
	return chdir("/") == 0 && rmdir(directory) == 0 ? 0 : -1;
}

static int save_something(const char *file)
{
	struct sb_metrics metrics;

	assert_int_equal(sb_metrics_start(&metrics, "sb_x"), 0);
	sb_metrics_family(&metrics, "entries", "Entries.");
	sb_metrics_sample(&metrics, 3, NULL);
	sb_metrics_sample(&metrics, 0.5, "root", "/a\"b\\c\nd", "kind", "file", NULL);
	return sb_metrics_save(&metrics, file);
}

static void read_file(const char *file, char *buffer, size_t size)
{
	int fd = open(file, O_RDONLY);
	ssize_t n = read(fd, buffer, size - 1);

	assert_true(n >= 0);
	buffer[n] = '\0';
	close(fd);
}

static size_t files_in_directory(void)
{
	DIR *d = opendir(".");
	size_t count = 0;

	assert_non_null(d);
	while (readdir(d))
		count++;
	closedir(d);
	return count - 2;
}

static void format(void **state)
{
	char text[512];

	(void)state;
	assert_int_equal(save_something("x.prom"), 0);
	read_file("x.prom", text, sizeof(text));
	assert_string_equal(text,
			    "# HELP sb_x_entries Entries.\n"
			    "# TYPE sb_x_entries gauge\n"
			    "sb_x_entries 3\n"
			    "sb_x_entries{root=\"/a\\\"b\\\\x5cc\\\\x0ad\",kind=\"file\"} 0.5\n");
	assert_int_equal(files_in_directory(), 1);
}

static void large_counts_are_exact(void **state)
{
	struct sb_metrics metrics;
	char text[512];

	(void)state;
	assert_int_equal(sb_metrics_start(&metrics, "sb_x"), 0);
	sb_metrics_family(&metrics, "n", "N.");
	sb_metrics_sample(&metrics, 9007199254740992.0, NULL);
	assert_int_equal(sb_metrics_save(&metrics, "x.prom"), 0);
	read_file("x.prom", text, sizeof(text));
	assert_non_null(strstr(text, "sb_x_n 9007199254740992\n"));
}

static void others_can_read_it(void **state)
{
	mode_t mask = umask(077);
	struct stat st;

	(void)state;
	assert_int_equal(save_something("x.prom"), 0);
	umask(mask);
	assert_int_equal(stat("x.prom", &st), 0);
	assert_int_equal(st.st_mode & 07777, 0644);
}

static void only_a_regular_file_is_replaced(void **state)
{
	struct stat st;
	char text[64];
	int fd = open("target", O_CREAT | O_WRONLY, 0600);

	(void)state;
	assert_int_equal(write(fd, "kept", 4), 4);
	close(fd);
	unlink("x.prom");
	assert_int_equal(symlink("target", "x.prom"), 0);
	assert_int_equal(save_something("x.prom"), -EEXIST);
	assert_int_equal(lstat("x.prom", &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	read_file("target", text, sizeof(text));
	assert_string_equal(text, "kept");
	unlink("target");
	unlink("x.prom");
	/* As /dev/null is none. */
	assert_int_equal(mkfifo("x.prom", 0600), 0);
	assert_int_equal(save_something("x.prom"), -EEXIST);
	assert_int_equal(lstat("x.prom", &st), 0);
	assert_true(S_ISFIFO(st.st_mode));
	unlink("x.prom");
	assert_int_equal(save_something("x.prom"), 0);
}

static void what_fails_leaves_nothing(void **state)
{
	char text[512];

	(void)state;
	assert_int_equal(save_something("missing/x.prom"), -ENOENT);
	assert_int_equal(mkdir("d", 0700), 0);
	assert_int_equal(save_something("d"), -EEXIST);
	assert_int_equal(rmdir("d"), 0);
	/* The one that was there before is there still. */
	read_file("x.prom", text, sizeof(text));
	assert_non_null(strstr(text, "sb_x_entries 3\n"));
	assert_int_equal(files_in_directory(), 1);
}

static void the_rest_of_a_killed_run_is_no_obstacle(void **state)
{
	char name[64];

	(void)state;
	snprintf(name, sizeof(name), "x.prom.%ld.new", (long)getpid());
	assert_int_equal(symlink("/dev/null", name), 0);
	assert_int_equal(save_something("x.prom"), 0);
	assert_int_equal(files_in_directory(), 1);
}

static void dropped(void **state)
{
	struct sb_metrics metrics;

	(void)state;
	assert_int_equal(sb_metrics_start(&metrics, "sb_x"), 0);
	sb_metrics_family(&metrics, "n", "N.");
	sb_metrics_drop(&metrics);
	sb_metrics_drop(&metrics);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(format),
		cmocka_unit_test(large_counts_are_exact),
		cmocka_unit_test(others_can_read_it),
		cmocka_unit_test(only_a_regular_file_is_replaced),
		cmocka_unit_test(what_fails_leaves_nothing),
		cmocka_unit_test(the_rest_of_a_killed_run_is_no_obstacle),
		cmocka_unit_test(dropped),
	};

	return cmocka_run_group_tests_name("metrics", tests, make_directory, remove_directory);
}
