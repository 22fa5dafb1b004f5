/* What gdb's user asks the machine itself, by "monitor WORDS". */
#pragma once

#include "emu/debug/session.h"

/* Prints the answer in gdb. For "when", the hits must be known (travel.h). */
void monitor_execute(struct session *s, const char *words);
