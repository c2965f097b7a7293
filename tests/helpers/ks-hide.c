/*
 * A process that others of its uid may not look into, and that calls itself what it likes:
 * ks-hide NAME. It sleeps until it is killed.
 */
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	if (argc != 2) {
		fputs("usage: ks-hide NAME\n", stderr);
		return 2;
	}
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0 || prctl(PR_SET_NAME, argv[1], 0, 0, 0) < 0) {
		perror("ks-hide");
		return 1;
	}
	for (;;)
		pause();
}
