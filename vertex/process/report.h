/*
 * A node's N_EXIT to the front end: exactly one for each node and life. If a dead link or a dead NCU keeps it from
 * arriving, Vertex sends it again after 1 ms, then after twice the wait each time, for about a minute of virtual time
 * in all. So a node that recovers still reports its end, and the machine does not wait forever for one that does not.
 */
#pragma once

#include <stdbool.h>

#include "vertex/contract/system.h"
#include "vertex/message/queue.h"

/* Sends N_EXIT with this text; `fault` is NULL unless a fault ended the process, and its returns follow it.
 * Panics if there is no memory. */
void report_exit(const struct job_exit *exit, const struct exit_fault *fault, const char *text);
/* Sends N_STARTED: a program of a life above 0 will run. */
void report_started(const struct job_exit *started);

/* True while an N_EXIT waits to be sent again. */
bool report_is_kept(void);
/* Sends the kept N_EXIT again; trap/timer.c calls it at the time set. */
void report_again(void);
