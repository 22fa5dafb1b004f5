/*
 * The answer to the front end at a job's end, N_EXIT: exactly once per node and job. Where it finds no way, because a
 * link or this node's own NCU is dead, it is kept and sent again, after 1 ms and then twice as late each time, for
 * about a minute of virtual time in all. So a node that recovers tells of its end, and one that does not is not waited
 * for without end.
 */
#ifndef VERTEX_REPORT_H
#define VERTEX_REPORT_H

#include <stdbool.h>

#include "vertex/contract/system.h"
#include "vertex/message/queue.h"

/* fault: NULL unless it was one. */
void report_exit(const struct job_exit *exit, const struct exit_fault *fault, const char *text);
/* N_STARTED to the front end: a program of a life above 0 will run. */
void report_started(const struct job_exit *started);

/* The report has failed. */
void report_failed(struct message *m);
/* It is kept to be sent again. */
bool report_is_kept(void);
/* Its time has come (timer.h). */
void report_again(void);

#endif
