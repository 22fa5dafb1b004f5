/*
 * What the host does to a machine that is kept up, and when it does so is for the host to determine: jobs begin, are
 * killed, and get their input; host programs load and send. Each such act is a function here. All acts of a moment are
 * done at one virtual time, at which the machine has been settled (operate.h).
 *
 * If the machine is recorded, an act notes itself: life_moment begins each moment. relive.h does the acts of a
 * recording again, by the same functions. Answers to requests that wait for a standard stream are noted where the
 * machine learns of them (operate.c).
 */
#pragma once

#include "emu/job/job.h"
#include "emu/state/machine_data.h"

/* The machine has stopped somewhere. Brings a recorded one to where a replay can stop. Before clients are looked at. */
void life_moment(struct machine *m);

/* Begins a job, as front_begin_job; the error is in m->error. */
int life_launch(struct machine *m, const struct job_options *o, uint32_t *id);
/* Kills a job. */
void life_kill(struct machine *m, uint32_t id);
/* The same after lines that say why, and what its nodes are doing, if it has not ended by itself. */
void life_end(struct machine *m, struct job *j, const char *why);
/* The same for a job whose nodes wait for ever. */
void life_end_deadlock(struct machine *m, struct job *j);
/* Ends all jobs, then the machine. */
void life_go_down(struct machine *m);
/* Nothing more can happen: gives up what the front end waits for, as front_give_up. */
bool life_give_up(struct machine *m);
/* There was nothing to give up, and the machine cannot go down. Says so; the machine has failed. */
void life_hang(struct machine *m);
/* A signal has come, with whose status the machine ends; the second one ends it at once. */
void life_signal(struct machine *m, int signal);
void life_cut(struct machine *m, int signal);
/* The status of a job that has ended, as job_conclude; and frees it. */
int life_conclude(struct machine *m, struct job *j);

/* For host programs: as front_load_hosted, hosted_send, hosted_drop_first. */
int32_t life_load(struct machine *m, struct job *j, uint32_t first, const struct job_program *p, char *error,
                  size_t error_bytes);
void life_mail(struct machine *m, struct job *j, uint32_t node, uint32_t type, const void *bytes, size_t n);
void life_pass(struct machine *m, struct job *j);

#define LIFE_MAIL "mail of program %u" /* the bytes of a recording's messages to a job */
