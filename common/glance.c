#include "glance.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/sysinfo.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define WORKERS_MOST   4
#define SHARE_SMALLEST 512 /* tasks below which a thread costs more than it saves */

/*
 * PID/task tells at once what would take two questions otherwise: procfs counts the threads as its
 * links, and it belongs to the same uid as PID. Where only PID itself may be looked at (hidepid=1),
 * the threads are unknown: listing them tells why.
 */
void sb_glance_who(int procfs, struct sb_glance *glance)
{
	struct statx stx;
	char path[32];
	int r;

	snprintf(path, sizeof(path), "%d/task", (int)glance->id.number);
	r = statx(procfs, path, AT_SYMLINK_NOFOLLOW, STATX_UID | STATX_NLINK, &stx);
	glance->threads = r == 0 && stx.stx_nlink > 2 ? stx.stx_nlink - 2 : 0;
	glance->alone = glance->threads == 1;
	if (r < 0) {
		snprintf(path, sizeof(path), "%d", (int)glance->id.number);
		r = statx(procfs, path, AT_SYMLINK_NOFOLLOW, STATX_UID, &stx);
	}
	glance->who_error = r < 0 ? -errno : 0;
	if (r < 0)
		return;
	glance->uid = stx.stx_uid;
	glance->device = makedev(stx.stx_dev_major, stx.stx_dev_minor);
}

void sb_glance_where(int procfs, struct sb_glance *glance)
{
	char path[32], link[40];
	ssize_t n;

	snprintf(path, sizeof(path), "%d/ns/mnt", (int)glance->id.number);
	n = sb_proc_readlink(procfs, path, link, sizeof(link));
	glance->where_error = n < 0 ? (int)n : 0;
	if (n >= 0 && !sb_proc_parse_ns(link, "mnt", &glance->namespace_inode))
		glance->where_error = -EINVAL;
}

struct share {
	pthread_t thread;
	int procfs;
	struct sb_glance *first;
	size_t count;
};

/*
 * Both at once, for the second finds its way by what the first has just looked up. In this order:
 * who was alone before it was somewhere had no thread elsewhere.
 */
static void look(int procfs, struct sb_glance *glance)
{
	sb_glance_who(procfs, glance);
	sb_glance_where(procfs, glance);
}

static void *do_share(void *pointer)
{
	const struct share *share = pointer;

	for (size_t i = 0; i < share->count; i++)
		look(share->procfs, &share->first[i]);
	return NULL;
}

static size_t count_workers(size_t count)
{
	size_t workers = (size_t)get_nprocs();

	if (workers > WORKERS_MOST)
		workers = WORKERS_MOST;
	if (workers > count / SHARE_SMALLEST)
		workers = count / SHARE_SMALLEST;
	return workers ? workers : 1;
}

void sb_glance_all(int procfs, struct sb_glance *array, size_t count)
{
	struct share shares[WORKERS_MOST] = {0};
	size_t workers = count_workers(count), started = 0, done = 0;

	for (size_t i = 0; i < workers; i++) {
		size_t end = count * (i + 1) / workers;

		shares[i] = (struct share){
			.procfs = procfs, .first = array + done, .count = end - done};
		done = end;
	}
	/* The first share is ours; so is any for which there is no thread to be had. */
	for (size_t i = 1; i < workers; i++) {
		if (pthread_create(&shares[i].thread, NULL, do_share, &shares[i]) != 0)
			break;
		started = i;
	}
	do_share(&shares[0]);
	for (size_t i = started + 1; i < workers; i++)
		do_share(&shares[i]);
	for (size_t i = 1; i <= started; i++)
		pthread_join(shares[i].thread, NULL);
}
