/* What gdb's user asks the machine itself, by "monitor WORDS". */
#ifndef NCUBE_MONITOR_H
#define NCUBE_MONITOR_H

#include "emu/debug/session.h"

/* Prints the answer in gdb. For "when", the hits must be known (travel.h). */
void monitor_execute(struct session *s, const char *words);

#endif
