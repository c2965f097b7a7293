/* SIGINT and SIGTERM as a question that loops ask between two entries. */
#ifndef SB_INTERRUPT_H
#define SB_INTERRUPT_H

#include <stdbool.h>

/* From here on the first SIGINT or SIGTERM only sets a flag; blocking calls return EINTR. */
void sb_interrupt_arm(void);

/* Whether one has come; the number of the signal, or 0. */
int sb_interrupt_pending(void);

#endif
