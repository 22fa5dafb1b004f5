/*
 * Which copies of the process wait (checkpoints.h): the list in the page that they share with the guard. At most
 * INSIDE_COPIES - 1 of them are checkpoints.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/qemu/inside.h"

struct inside_copy *copies_at(uint32_t i);
/* The process that has come furthest with the host. */
struct inside_copy *copies_present(void);
bool copy_waits(const struct inside_copy *c);
void copy_drop(struct inside_copy *c);

/* Returns where another one with so many bytes may be, or NULL: then one is given up, if that helps, and there is a
 * place when it has ended. now_ns: processor time from the start of the run; interval_ns: between two. */
struct inside_copy *copies_make_room(uint64_t bytes, uint64_t most_bytes, uint64_t now_ns, uint64_t interval_ns);

/* Another machine has been here, and left one. */
bool copies_are_known(uint64_t cycles, uint64_t from_ns, uint64_t to_ns);
