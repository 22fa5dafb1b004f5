/*
 * Parents and children among the node's processes. A child is a process that another has forked; those that are loaded
 * with the program have no parent. An entry, by procid:
 *
 *   (none) --kin_add--> ALIVE --kin_end--> ENDED, its procid still taken --kin_take_ended--> (none)
 *                             \--kin_end: its parent has ended, or ignores SIGCHLD--> (none)
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

struct proc;

enum { KIN_NONE = -1 };

/* Returns the lowest procid for a child of p, above those of the program as it was loaded. -N_EAGAIN: none is free. */
int kin_find_procid(const struct proc *p);
void kin_add(uint32_t procid, struct proc *parent);
/* Called when p ends: keeps its status for its parent, and leaves its own children without one. Returns true if p is a
 * child, whose end concerns its parent alone. */
bool kin_end(const struct proc *p);
/* Called when the node's last process has ended. */
void kin_forget_all(void);

/* Returns true if p has a child with that procid; KIN_NONE: any. */
bool kin_has_child(const struct proc *p, int32_t procid);
/* Forgets an ended child, the one with the lowest procid. Returns its status of <sys/wait.h> from bit 16 up, and its
 * procid; 0: none has ended. */
int64_t kin_take_ended(const struct proc *p, int32_t procid);
int32_t kin_parent(const struct proc *p); /* KIN_NONE: none, or it has ended */
/* Returns true if the procid is that of a child that runs, or whose status is still kept. */
bool kin_is_known(uint32_t procid);
/* Returns true if a process of this node has forked since the node's program was loaded: then names of processes are
 * not limited to those that were loaded. */
bool kin_have_been(void);
