#include "argv.h"

#include "clock.h"
#include "proc.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define BYTES_MAX 65536 /* of the arguments of one process: more than any keep-alive has */

/* One reading, owned by the helper and by who waits for it; the last one to leave frees it. */
struct errand {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int owners;
	bool done;
	int procfs;
	pid_t pid;
	ssize_t length; /* or -errno */
	char bytes[BYTES_MAX];
};

void sb_argv_join(const char *bytes, size_t length, char *buffer, size_t size)
{
	const char *slash;
	size_t first;

	while (length && bytes[length - 1] == '\0')
		length--;
	first = strnlen(bytes, length);
	slash = memrchr(bytes, '/', first);
	if (slash) {
		length -= (size_t)(slash + 1 - bytes);
		bytes = slash + 1;
	}
	if (length >= size)
		length = size - 1;
	for (size_t i = 0; i < length; i++)
		buffer[i] = bytes[i] ? bytes[i] : ' ';
	buffer[length] = '\0';
}

static void run_errand(struct errand *errand)
{
	char path[32];

	snprintf(path, sizeof(path), "%d/cmdline", (int)errand->pid);
	errand->length =
		sb_proc_read_into(errand->procfs, path, errand->bytes, sizeof(errand->bytes));
}

static void leave(struct errand *errand)
{
	bool last = --errand->owners == 0;

	pthread_mutex_unlock(&errand->lock);
	if (last) {
		pthread_cond_destroy(&errand->changed);
		pthread_mutex_destroy(&errand->lock);
		free(errand);
	}
}

static void *help(void *argument)
{
	struct errand *errand = argument;

	run_errand(errand);
	pthread_mutex_lock(&errand->lock);
	errand->done = true;
	pthread_cond_signal(&errand->changed);
	leave(errand);
	return NULL;
}

static struct errand *new_errand(int procfs, pid_t pid)
{
	struct errand *errand = malloc(sizeof(*errand));
	pthread_condattr_t attributes;

	if (!errand)
		return NULL;
	pthread_mutex_init(&errand->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&errand->changed, &attributes);
	pthread_condattr_destroy(&attributes);
	errand->owners = 1;
	errand->done = false;
	errand->procfs = procfs;
	errand->pid = pid;
	return errand;
}

static int start_helper(struct errand *errand)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	pthread_t thread;
	int r;

	/* Signals are for the thread that waits: they end its waits. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	pthread_attr_init(&attributes);
	pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
	errand->owners = 2;
	r = pthread_create(&thread, &attributes, help, errand);
	pthread_attr_destroy(&attributes);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (r)
		errand->owners = 1;
	return -r;
}

/* Called with the lock held: whether it came back in time. */
static bool await(struct errand *errand)
{
	uint64_t until = sb_clock_now() + SB_ARGV_PATIENCE_MS * SB_NS_PER_MS;
	const struct timespec deadline = {
		.tv_sec = (time_t)(until / SB_NS_PER_S),
		.tv_nsec = (long)(until % SB_NS_PER_S),
	};

	while (!errand->done)
		if (pthread_cond_timedwait(&errand->changed, &errand->lock, &deadline) != 0)
			break;
	return errand->done;
}

int sb_argv_read(int procfs, pid_t pid, char *buffer, size_t size)
{
	struct errand *errand = new_errand(procfs, pid);
	int r = -ETIMEDOUT;

	if (!errand)
		return -ENOMEM;
	/*
	 * No thread to be had: the user has as many tasks as it may, perhaps through the very
	 * strays that are to go. Then it is read here: that a memory is locked as well is one
	 * chance more.
	 */
	if (start_helper(errand) < 0) {
		run_errand(errand);
		errand->done = true;
	}
	pthread_mutex_lock(&errand->lock);
	if (await(errand)) {
		r = errand->length < 0 ? (int)errand->length : 0;
		if (r == 0)
			sb_argv_join(errand->bytes, (size_t)errand->length, buffer, size);
	}
	leave(errand);
	return r;
}
