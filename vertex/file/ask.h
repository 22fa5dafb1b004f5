/*
 * Questions about a file, most of which name it and need no open one, several at a time: askstart sends one, askend
 * waits for its answer. So a program asks many servers at once.
 *
 * A question is remembered until askend or the end of the process. Answers are received in any order.
 *
 * Requests of families (requeststart, requestend, requesttest) are remembered with them: a program makes them of its
 * own bytes, and gets the reply's.
 */
#pragma once

#include <stdbool.h>

#include "vertex/message/queue.h"
#include "vertex/process/proc.h"

#define ASK_MAX 64u /* questions of a process that have not ended */

/* Returns true if the arrived message answers a question. */
bool ask_awaits(const struct proc *p, const struct message *m);
/* Forgets all questions. Their answers are then nobody's. */
void ask_drop_all(struct proc *p);
