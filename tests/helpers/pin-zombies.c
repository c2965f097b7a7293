/*
 * A parent that never waits: pin-zombies COUNT [UID]. Leaves COUNT zombies (of UID), says "ready",
 * and sleeps until it is killed.
 */
#include "text.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	uint64_t count, uid = 0;

	if (argc < 2 || sb_text_parse_u64(argv[1], 30000, &count) < 0 ||
	    (argc > 2 && sb_text_parse_u64(argv[2], UINT32_MAX - 1, &uid) < 0)) {
		fputs("usage: pin-zombies COUNT [UID]\n", stderr);
		return 2;
	}
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (uint64_t i = 0; i < count; i++) {
		pid_t child = fork();
		siginfo_t info;

		if (child < 0) {
			perror("pin-zombies: fork");
			return 1;
		}
		if (child == 0)
			_exit(argc > 2 && setresuid((uid_t)uid, (uid_t)uid, (uid_t)uid) < 0);
		/* Waits for the end of the child, and leaves it where it is. */
		if (waitid(P_PID, (id_t)child, &info, WEXITED | WNOWAIT) < 0 || info.si_status) {
			perror("pin-zombies: child");
			return 1;
		}
	}
	puts("ready");
	fflush(stdout);
	for (;;)
		pause();
}
