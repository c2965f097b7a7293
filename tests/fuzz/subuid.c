/* subuid(5) text: any bytes; no range that it lends ends before it starts, or is not ours. */
#include "user.h"

#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	static char path[64];
	struct sb_uid_set set = {0};

	if (fd < 0) {
		fd = memfd_create("subuid", MFD_CLOEXEC);
		snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	}
	if (ftruncate(fd, 0) < 0 || pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	if (sb_user_add_subordinates(0, path, &set) < 0)
		__builtin_trap();
	for (size_t i = 0; i < set.count; i++)
		if (set.range[i].last < set.range[i].first || set.range[i].last == (uid_t)-1)
			__builtin_trap();
	sb_uid_set_free(&set);
	return 0;
}
