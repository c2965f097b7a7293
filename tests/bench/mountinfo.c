/* What every peer does: reads the mountinfo of every task. Prints how many there were. */
#include "proc.h"
#include "scope.h"

#include <fcntl.h>
#include <stdio.h>

int main(void)
{
	static char buffer[1 << 16];
	struct sb_proc_lister lister;
	struct sb_proc_id id;
	size_t tasks = 0;
	int procfs = open(SB_PROC_DIR, O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	if (procfs < 0 || sb_proc_list_start(&lister, procfs) < 0)
		return 1;
	while (sb_proc_list_next(&lister, &id) > 0) {
		char path[32];
		int fd;

		snprintf(path, sizeof(path), "%d/mountinfo", (int)id.number);
		fd = openat(procfs, path, O_RDONLY | O_CLOEXEC);
		if (fd < 0)
			continue;
		while (read(fd, buffer, sizeof(buffer)) > 0)
			;
		close(fd);
		tasks++;
	}
	sb_proc_list_end(&lister);
	close(procfs);
	printf("%zu\n", tasks);
	return 0;
}
