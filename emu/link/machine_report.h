/*
 * The report of a machine that is kept up, which answers LINK_ASK: JSON, written by boot.c and read by `ncube ps`.
 *
 *   { "name", "pid", "state": "boots", "up" or "goes down", "nodes", "free_nodes", "volumes", "virtual_time_s",
 *     "programs": [ { "command", "pid" of its xnc, "first_node", "nodes", "state", "run_time_s" } ],
 *     "waiting":  [ { "command", "pid", "nodes" } ] for a subcube, in the order of their turns,
 *     "left_out": how many of both did not fit into the message,
 *     "load": if it was asked for (machine_load.h) }
 */
#pragma once

#include <jansson.h>
#include <stddef.h>
#include <sys/types.h>

#include "emu/job/job.h"

struct report {
    json_t *json; /* NULL: there was no memory for some of it */
    size_t room;  /* left in the message */
    uint32_t free_nodes;
};

/* Begins a report of at most `room` bytes, which report_end ends. */
void report_begin(struct report *r, const char *name, const char *state, uint32_t nodes, uint32_t volumes,
                  double seconds, size_t room);
/* Adds a job that has its subcube, and how long it has had it, in virtual time. */
void report_add_program(struct report *r, const struct job *job, pid_t pid, double run_seconds);
/* Adds a job that waits for a subcube. */
void report_add_waiting(struct report *r, const struct job_options *o, pid_t pid);
/* Adds machine_load.h's object, which is dropped; NULL is allowed. */
void report_add_load(struct report *r, json_t *load);
/* Adds an entry to a list of an object if it fits into *room, and drops it otherwise; "left_out" counts those. */
void report_fit(json_t *object, const char *list, json_t *entry, size_t *room);
/* Returns the text, which the caller frees, or NULL if there was no memory. */
char *report_end(struct report *r);

/* Parses a report. Returns NULL if it is malformed; the caller drops it with json_decref. */
json_t *report_parse(const void *text, size_t bytes);
/* Prints a report as text. */
void report_print(const json_t *report);
