/*
 * A process whose arguments cannot be read, because its memory is locked: another one reads a page
 * of it that lies on a file system that does not answer, and one of its threads waits to map more.
 *
 *   ks-stuck DIR UID NAME FILE    mounts a dead FUSE file system on DIR, starts the process as UID
 *                                 under NAME, and writes its number into FILE when it is stuck;
 *                                 all of it comes loose when this program ends
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#define FILE_NODE 2
#define PAGE	  4096

static int device;

static void die(const char *what)
{
	fprintf(stderr, "ks-stuck: cannot %s: %s\n", what, strerror(errno));
	exit(1);
}

static void answer(const struct fuse_in_header *in, const void *data, size_t size, int error)
{
	struct {
		struct fuse_out_header header;
		char data[512];
	} out = {.header = {.len = (uint32_t)(sizeof(out.header) + size),
			    .error = error,
			    .unique = in->unique}};

	if (size)
		memcpy(out.data, data, size);
	if (write(device, &out, out.header.len) < 0 && errno != ENOENT)
		die("answer");
}

static struct fuse_attr attributes_of(uint64_t node)
{
	return (struct fuse_attr){
		.ino = node,
		.size = PAGE,
		.mode = node == FILE_NODE ? S_IFREG | 0644 : S_IFDIR | 0755,
		.nlink = 1,
	};
}

static void serve_one(const struct fuse_in_header *in)
{
	switch (in->opcode) {
	case FUSE_INIT: {
		const struct fuse_init_out init = {
			.major = FUSE_KERNEL_VERSION,
			.minor = FUSE_KERNEL_MINOR_VERSION,
			.max_write = PAGE,
		};

		answer(in, &init, sizeof(init), 0);
		break;
	}
	case FUSE_LOOKUP: {
		const struct fuse_entry_out entry = {
			.nodeid = FILE_NODE,
			.entry_valid = 3600,
			.attr_valid = 3600,
			.attr = attributes_of(FILE_NODE),
		};

		answer(in, &entry, sizeof(entry), 0);
		break;
	}
	case FUSE_GETATTR: {
		const struct fuse_attr_out attr = {
			.attr_valid = 3600,
			.attr = attributes_of(in->nodeid),
		};

		answer(in, &attr, sizeof(attr), 0);
		break;
	}
	case FUSE_OPEN: {
		const struct fuse_open_out opened = {.fh = 1};

		answer(in, &opened, sizeof(opened), 0);
		break;
	}
	case FUSE_READ: /* never */
	case FUSE_FORGET:
	case FUSE_INTERRUPT:
		break;
	default:
		answer(in, NULL, 0, -ENOSYS);
	}
}

static void *serve(void *unused)
{
	static char request[65536 + PAGE];

	(void)unused;
	while (read(device, request, sizeof(request)) > 0)
		serve_one((const struct fuse_in_header *)(const void *)request);
	return NULL;
}

static void *map_more(void *unused)
{
	(void)unused;
	for (;;) {
		if (mmap(NULL, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED)
			return NULL;
		usleep(10000);
	}
	return NULL;
}

/* Tells where the page is, then waits to map more, for ever. */
static void be_stuck(const char *file, uid_t uid, const char *name, int tell)
{
	pthread_t thread;
	int fd = open(file, O_RDONLY | O_CLOEXEC);
	void *page = mmap(NULL, PAGE, PROT_READ, MAP_SHARED, fd, 0);

	if (fd < 0 || page == MAP_FAILED || prctl(PR_SET_NAME, name) < 0 ||
	    setresuid(uid, uid, uid) < 0)
		die("map the file");
	pthread_create(&thread, NULL, map_more, NULL);
	if (write(tell, &page, sizeof(page)) < 0)
		die("tell");
	for (;;)
		pause();
}

static void touch_page(pid_t pid, uintptr_t page)
{
	char path[32], byte;
	int fd;

	snprintf(path, sizeof(path), "/proc/%d/mem", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		die("open its memory");
	(void)!pread(fd, &byte, 1, (off_t)page); /* never comes back */
	_exit(0);
}

int main(int argc, char **argv)
{
	char options[128], file[4096];
	pthread_t server;
	uintptr_t page;
	int tell[2];
	pid_t stuck;
	FILE *f;

	if (argc != 5) {
		fprintf(stderr, "usage: ks-stuck DIR UID NAME FILE\n");
		return 2;
	}
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,user_id=0,group_id=0,allow_other",
		 device);
	if (device < 0 || mount("ks-stuck", argv[1], "fuse", 0, options) < 0 || pipe(tell) < 0)
		die("mount");
	pthread_create(&server, NULL, serve, NULL);
	snprintf(file, sizeof(file), "%s/file", argv[1]);
	stuck = fork();
	/* Only this program holds the device: with it the file system goes, and all come loose. */
	if (stuck == 0 && close(device) == 0)
		be_stuck(file, (uid_t)strtoul(argv[2], NULL, 10), argv[3], tell[1]);
	if (read(tell[0], &page, sizeof(page)) != sizeof(page))
		die("hear of the page");
	if (fork() == 0 && close(device) == 0)
		touch_page(stuck, page);
	usleep(200000);
	f = fopen(argv[4], "we");
	if (!f || fprintf(f, "%d\n", (int)stuck) < 0 || fclose(f) != 0)
		die("write");
	for (;;)
		pause();
}
