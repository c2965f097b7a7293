#include "metrics.h"

#include "scope.h"
#include "text.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>

int sb_metrics_start(struct sb_metrics *metrics, const char *prefix)
{
	*metrics = (struct sb_metrics){.prefix = prefix, .family = ""};
	metrics->stream = open_memstream(&metrics->text, &metrics->size);
	return metrics->stream ? 0 : -ENOMEM;
}

void sb_metrics_drop(struct sb_metrics *metrics)
{
	if (metrics->stream)
		fclose(metrics->stream);
	free(metrics->text);
	*metrics = (struct sb_metrics){0};
}

void sb_metrics_family(struct sb_metrics *metrics, const char *name, const char *help)
{
	metrics->family = name;
	fprintf(metrics->stream, "# HELP %s_%s %s\n# TYPE %s_%s gauge\n", metrics->prefix, name,
		help, metrics->prefix, name);
}

/* The exposition format wants backslashes, quotes and newlines of a value escaped. */
static void write_value(FILE *stream, const char *bytes)
{
	sb_auto_free char *clean = sb_text_escape(bytes, strlen(bytes));

	/* No memory: the sample goes without, and closing the stream will tell of the same need. */
	for (const char *c = clean ? clean : ""; *c; c++) {
		if (*c == '\\' || *c == '"')
			fputc('\\', stream);
		fputc(*c, stream);
	}
}

void sb_metrics_sample(struct sb_metrics *metrics, double value, ...)
{
	const char *between = "{";
	const char *label;
	va_list labels;

	fprintf(metrics->stream, "%s_%s", metrics->prefix, metrics->family);
	va_start(labels, value);
	while ((label = va_arg(labels, const char *))) {
		fprintf(metrics->stream, "%s%s=\"", between, label);
		write_value(metrics->stream, va_arg(labels, const char *));
		fputc('"', metrics->stream);
		between = ",";
	}
	va_end(labels);
	/* 17 digits carry every double, and every count below 2^53, exactly. */
	fprintf(metrics->stream, "%s %.17g\n", *between == ',' ? "}" : "", value);
}

static int write_all(int fd, const char *text, size_t length)
{
	while (length > 0) {
		ssize_t n = write(fd, text, length);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		text += n;
		length -= (size_t)n;
	}
	return 0;
}

/* What was renamed is there after a crash only once its directory is on the disk too. */
static int sync_directory(const char *file)
{
	sb_auto_free char *copy = strdup(file);
	sb_auto_close int fd = -1;

	if (!copy)
		return -ENOMEM;
	fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	/* A directory that may be written but not read cannot be synced; the file is in place. */
	if (fd < 0)
		return errno == EACCES ? 0 : -errno;
	return fsync(fd) < 0 && errno != EINVAL ? -errno : 0;
}

static int put(int fd, const struct sb_metrics *metrics, const char *beside, const char *file)
{
	int r = write_all(fd, metrics->text, metrics->size);

	if (r < 0)
		return r;
	if (fchmod(fd, 0644) < 0 || fsync(fd) < 0 || rename(beside, file) < 0)
		return -errno;
	return sync_directory(file);
}

int sb_metrics_check(const char *file)
{
	struct stat st;

	if (lstat(file, &st) < 0)
		return errno == ENOENT ? 0 : -errno;
	return S_ISREG(st.st_mode) ? 0 : -EEXIST;
}

static int save(const struct sb_metrics *metrics, const char *file)
{
	sb_auto_free char *beside = NULL;
	sb_auto_close int fd = -1;
	int r;

	r = sb_metrics_check(file);
	if (r < 0)
		return r;
	if (asprintf(&beside, "%s.%ld.new", file, (long)getpid()) < 0) {
		beside = NULL;
		return -ENOMEM;
	}
	fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0 && errno == EEXIST && unlink(beside) == 0) /* of a run that was killed */
		fd = open(beside, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	if (fd < 0)
		return -errno;
	r = put(fd, metrics, beside, file);
	if (r < 0)
		unlink(beside);
	return r;
}

int sb_metrics_save(struct sb_metrics *metrics, const char *file)
{
	int r = fclose(metrics->stream) == 0 ? 0 : -ENOMEM;

	metrics->stream = NULL;
	if (r == 0)
		r = save(metrics, file);
	sb_metrics_drop(metrics);
	return r;
}
