/*
 * A file system that does not answer: whoever looks at anything in it waits in the kernel, and no
 * signal ends that wait; one that was sent SIGKILL waits on in state D.
 *
 *   fuse-mute DIR [UID]   mounts it on DIR, prints "ready", and takes requests without ever
 *                         answering one; all who wait come loose when this program ends, however
 *                         it ends
 *
 * With UID it is that user's alone, and tells nobody else anything, not even root. SIGTERM and
 * SIGINT unmount DIR as well; after SIGKILL the mount stays and answers ENOTCONN.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/fuse.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <unistd.h>

#define WRITE_MOST   4096
#define REQUEST_MOST (WRITE_MOST + 65536) /* the kernel wants room for a write and its header */

static void die(const char *what, const char *object)
{
	fprintf(stderr, "fuse-mute: cannot %s '%s': %s\n", what, object, strerror(errno));
	exit(1);
}

static int device = -1;
static const char *place;

/* First the device: then nobody waits for an answer any more, and neither does this. */
static void stop(int number)
{
	(void)number;
	close(device);
	umount2(place, MNT_DETACH);
	_exit(0);
}

/* The one answer: until then the waits of others can still be broken off. */
static void answer_init(const struct fuse_in_header *in)
{
	const struct {
		struct fuse_out_header header;
		struct fuse_init_out init;
	} out = {
		.header = {.len = sizeof(out), .unique = in->unique},
		.init = {.major = FUSE_KERNEL_VERSION,
			 .minor = FUSE_KERNEL_MINOR_VERSION,
			 .max_write = WRITE_MOST},
	};

	if (write(device, &out, sizeof(out)) != (ssize_t)sizeof(out))
		die("answer", "INIT");
	puts("ready");
	fflush(stdout);
}

int main(int argc, char **argv)
{
	static char request[REQUEST_MOST];
	const struct fuse_in_header *in = (const struct fuse_in_header *)(const void *)request;
	char options[128];
	ssize_t n;

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: fuse-mute DIR [UID]\n");
		return 2;
	}
	place = argv[1];
	device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	if (device < 0)
		die("open", "/dev/fuse");
	snprintf(options, sizeof(options), "fd=%d,rootmode=40000,group_id=0,user_id=%s", device,
		 argc == 3 ? argv[2] : "0,allow_other");
	if (mount("fuse-mute", argv[1], "fuse", MS_NOSUID | MS_NODEV, options) < 0)
		die("mount", argv[1]);
	signal(SIGTERM, stop);
	signal(SIGINT, stop);
	while ((n = read(device, request, sizeof(request))) > 0 || (n < 0 && errno == ENOENT))
		if (n >= (ssize_t)sizeof(*in) && in->opcode == FUSE_INIT)
			answer_init(in);
	return 0; /* unmounted by somebody else */
}
