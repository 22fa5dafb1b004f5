/*
 * What a machine that is kept up says of itself when it is asked (LINK_ASK): JSON, written by
 * boot.c and read by `ncube ps`.
 *
 *   { "name", "pid", "state": "boots", "up" or "goes down", "nodes", "free_nodes", "volumes",
 * "virtual_time_s", "programs": [ { "command", "pid": of its xnc, "first_node", "nodes", "state",
 * "run_time_s" } ], "waiting":  [ { "command", "pid", "nodes" } ],  those who wait for a subcube,
 * in the order of their turns "left_out": how many more there are of both, than a message holds }
 */
#ifndef NCUBE_REPORT_H
#define NCUBE_REPORT_H

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

#include "emu/front/job.h"

struct report {
    json_t *json; /* NULL: there was no memory for some of it */
    size_t room;  /* left in the message */
    uint32_t free_nodes;
};

/* Begins a report of at most `room` bytes. report_end is the caller's. */
void report_begin(struct report *r, const char *name, const char *state, uint32_t nodes, uint32_t volumes,
                  double seconds, size_t room);
/* A job that has its subcube, and the virtual time since then. */
void report_add_program(struct report *r, const struct job *job, pid_t pid, double run_seconds);
void report_add_waiting(struct report *r, const struct job_options *o, pid_t pid);
/* The text, to be freed, or NULL. */
char *report_end(struct report *r);

/* The same for whoever reads it. NULL: it is no report, or makes no sense. To be dropped by
 * json_decref. */
json_t *report_parse(const void *text, size_t bytes);
/* Prints it for people. */
void report_print(const json_t *report);

#endif
