#include "lookahead.h"

#include "creds.h"
#include "reclaim.h"
#include "scope.h"

#include <errno.h>

#define LIST_BUFFER 65536 /* bytes a call to getdents64 */

/* No entry of getdents64(2) is shorter than this: a header of 19 bytes, a name, a NUL, aligned. */
#define ENTRY_SMALLEST 24

/* A directory with fewer entries than this is done before a thread would have started. */
#define THREAD_WORTH 512

/* Lists the next entries and looks at those that concern the rules. */
static void fill(const struct sb_lookahead *ahead, struct sb_batch *batch)
{
	ssize_t filled = getdents64(ahead->dir, batch->buffer, LIST_BUFFER);
	const struct dirent64 *entry;

	batch->count = 0;
	batch->end = filled < 0 ? -errno : filled > 0;
	for (ssize_t at = 0; at < filled; at += entry->d_reclen) {
		struct sb_sighting *seen = &batch->item[batch->count];

		entry = (const struct dirent64 *)(batch->buffer + at);
		*seen = (struct sb_sighting){.name = entry->d_name};
		seen->shape = sb_fence_shape(ahead->rules, entry->d_name, &seen->pid);
		if (seen->shape == SB_SHAPE_OTHER)
			continue;
		if (seen->shape == SB_SHAPE_KEYED)
			seen->error = sb_reclaim_look(ahead->dir, entry->d_name, &seen->facts);
		batch->count++;
	}
}

static void *look_ahead(void *pointer)
{
	struct sb_lookahead *ahead = pointer;

	/* Where that is denied it is no reason to stop: nothing here changes anything. */
	(void)sb_creds_confine_reader();
	/* The first batch was filled before this thread was started. */
	for (unsigned int i = 1;; i ^= 1) {
		while (sem_wait(&ahead->empty) < 0)
			;
		if (atomic_load(&ahead->stop))
			return NULL;
		fill(ahead, &ahead->batch[i]);
		sem_post(&ahead->filled);
		if (ahead->batch[i].end <= 0)
			return NULL;
	}
}

static void start_thread(struct sb_lookahead *ahead)
{
	/* One to be filled at once; the other is in the caller's hands. */
	if (sem_init(&ahead->filled, 0, 0) < 0)
		return;
	if (sem_init(&ahead->empty, 0, 1) < 0) {
		sem_destroy(&ahead->filled);
		return;
	}
	ahead->threaded = pthread_create(&ahead->thread, NULL, look_ahead, ahead) == 0;
	if (ahead->threaded)
		return;
	sem_destroy(&ahead->filled);
	sem_destroy(&ahead->empty);
}

int sb_lookahead_start(struct sb_lookahead *ahead, int dir, const struct sb_rules *rules)
{
	*ahead = (struct sb_lookahead){.dir = dir, .rules = rules};
	for (int i = 0; i < 2; i++) {
		struct sb_batch *batch = &ahead->batch[i];

		batch->buffer = malloc(LIST_BUFFER);
		batch->item = calloc(LIST_BUFFER / ENTRY_SMALLEST, sizeof(*batch->item));
		if (!batch->buffer || !batch->item) {
			sb_lookahead_end(ahead);
			return -ENOMEM;
		}
		batch->end = 1;
	}
	if (lseek(dir, 0, SEEK_SET) < 0) {
		int error = errno;

		sb_lookahead_end(ahead);
		return -error;
	}
	return 0;
}

int sb_lookahead_next(struct sb_lookahead *ahead, const struct sb_batch **ret)
{
	struct sb_batch *batch = &ahead->batch[ahead->next];

	if (ahead->threaded) {
		while (sem_wait(&ahead->filled) < 0)
			;
	} else {
		fill(ahead, batch);
	}
	*ret = batch;
	if (batch->end <= 0)
		return batch->end;
	if (ahead->threaded)
		sem_post(&ahead->empty); /* the one handed out before this one */
	else if (ahead->next == 0 && batch->count >= THREAD_WORTH)
		start_thread(ahead);
	ahead->next ^= 1;
	return 1;
}

void sb_lookahead_end(struct sb_lookahead *ahead)
{
	if (ahead->threaded) {
		atomic_store(&ahead->stop, true);
		sem_post(&ahead->empty);
		pthread_join(ahead->thread, NULL);
		sem_destroy(&ahead->filled);
		sem_destroy(&ahead->empty);
		ahead->threaded = false;
	}
	for (int i = 0; i < 2; i++) {
		free(ahead->batch[i].buffer);
		free(ahead->batch[i].item);
		ahead->batch[i] = (struct sb_batch){0};
	}
}
