/*
 * Which nodes of a job get which program: the shares of programs of one subcube (separated by ':'), and the stages of a
 * pipeline (separated by '|'), each of which has a subcube of its own in the job's.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "emu/job/job.h"

/* Sets nodes, subcube and pipes of every part of the job. Returns 0, or -1 with one line in error. */
int stages_place(struct job *j, char *error, size_t error_bytes);
/* Gives the driver of pipes to part i, which is read and in no pipeline, if it may open a pipe by its name. */
void stages_open_names(struct job *j, uint32_t i);
/* Tells the job's lives which node is node 0 of which program, and that nodes which no stage has have exited. */
void stages_begin_lives(struct job *j);
/* The part of a node of the job; of a node that no stage has, the first part. */
const struct load_part *stages_part(const struct job *j, uint32_t logical);
/* The number that a node of the job has in its own program. */
uint32_t stages_number(const struct job *j, uint32_t logical);
/* Whether a program has been loaded on a node of the job. */
bool stages_had_program(const struct job *j, uint32_t logical);
/* Whether the node belongs to the last stage, whose statuses count. */
bool stages_is_last(const struct job *j, uint32_t logical);
