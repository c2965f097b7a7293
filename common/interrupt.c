#include "interrupt.h"

#include <signal.h>

static volatile sig_atomic_t pending;

static void note(int signal_number)
{
	pending = signal_number;
}

void sb_interrupt_arm(void)
{
	/* Without SA_RESTART: a wait must end when it is told to. */
	struct sigaction action = {.sa_handler = note};

	sigemptyset(&action.sa_mask);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
}

int sb_interrupt_pending(void)
{
	return (int)pending;
}
