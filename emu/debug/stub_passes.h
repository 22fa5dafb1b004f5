/*
 * Why the nodes stand, in a pass (travel.h) or at the places to which it leads, and the passes' stages.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct stub;
struct target_event;

/* The nodes stand for another reason than an event, of which gdb is told; `why`: a line for its user, or NULL. */
void passes_stop(struct stub *s, const char *why);
/* gdb, if it waits for that, is told that they stand: the answer is made. */
void passes_tell_stop(struct stub *s);

/* Nothing moves any more. Return true if something has changed. */
bool passes_stand_at_entry(struct stub *s);
bool passes_stand(struct stub *s);
/* A pass is over: another one follows, or the nodes are where gdb wanted them. Returns true. */
bool passes_arrive(struct stub *s, const struct target_event *e);

/* If breakpoints that nobody reaches keep user code from running ahead for long, chooses another machine, which runs
 * ahead to the next hit. Returns true if it has. */
bool passes_go_ahead(struct stub *s);
/* Returns true if that machine is there, or `ends`: no hit comes any more. */
bool passes_have_come(struct stub *s, bool ends);
/* Shortly before it: as after `continue`. */
void passes_go_on(struct stub *s);

/* A pass begins. Returns false if the program's entry is sought, or nothing. */
bool passes_begin(struct stub *s);
/* The last stage of a pass begins. */
void passes_seek(struct stub *s);
/* The nodes have run too far: once more, with a look at all. */
void passes_miss(struct stub *s);
