/*
 * Harts that take turns: each is a fiber, and a few threads of the host, the carriers, execute those of the cabinet
 * that are granted. A stop costs two changes of fibers, and nothing of the host's kernel unless no other hart of the
 * carrier is granted.
 */
#pragma once

#include <stdint.h>

#include "emu/qemu/slots.h"

/* To be called when QEMU loads the plugin; `harts` with slots from `first` on is all that the cabinet has. `stopped`
 * tells ncube that a hart has stopped, which may be granted at once. With ncube inside (inside.h), its thread is the
 * first carrier. `obey` executes an order to the cabinet (SLOT_COPY, SLOT_FLUSH). Returns 0, or -1 with errno. */
int turns_init(struct control *c, uint64_t first, uint32_t harts, void (*stopped)(unsigned hart),
               void (*obey)(uint32_t order));

/* To be called by the first carrier in a copy of the process, of which it is the only thread: from now on the harts
 * have slots from `first` on. Starts the other carriers. Returns 0, or -1 with errno. */
int turns_move(uint64_t first);

/* Tells ncube that this hart, in which the caller runs, has stopped, and returns when it is granted. */
void turns_stop(unsigned hart);

/* Calls `part` in a stopped hart, which then is stopped again; ncube is not told. To be called by `obey`. */
void turns_visit(unsigned hart, void (*part)(unsigned hart));

/* Lets other harts go first if they wait for the carrier of this one, in which the caller runs. */
void turns_yield(unsigned hart);

/* Lets those go first that have been granted and have not begun. */
void turns_let_fresh(unsigned hart);

/* Leaves the carrier to others until ncube puts this hart, in which the caller runs, on its carrier's list again. Does
 * not tell ncube: the hart goes on running, as far as virtual time is concerned. Not before its first stop. */
void turns_stand(unsigned hart);
