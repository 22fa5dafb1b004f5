/*
 * gdb's connection, and its commands while the nodes stand.
 */
#pragma once

#include <stdbool.h>

struct stub;

/* Accepts gdb. Returns false if it is gone already. */
bool serving_begin(struct stub *s);
/* gdb is gone: its breakpoints are removed, and the nodes go on. */
void serving_end(struct stub *s);
/* Reads what has arrived; false: gdb is gone. */
bool serving_receive(struct stub *s);
/* Sends the answer in the making. */
void serving_send(void *stub);
/* Lets the nodes go on as gdb's last command says. */
void serving_let_go(struct stub *s);
/* Another machine is to take this one's place. */
void serving_leave(struct stub *s);
/* Serves gdb until the nodes go on, or it leaves, or a signal comes, or it is time to look after others. */
void serving_serve(struct stub *s);
/* Waits for gdb, which is to be told that the nodes stand at the entry, or at the end. */
void serving_await_gdb(struct stub *s);
