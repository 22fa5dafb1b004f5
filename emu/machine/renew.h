/*
 * Keeps QEMU's buffers for translated code from filling up while a machine executes one program after the other.
 */
#pragma once

#include <stdbool.h>

#include "emu/state/machine_data.h"

/* Lets each cabinet of this host whose buffer is half full throw its code away, if no hart runs, and each of the
 * cabinet's is stopped where it waits in the kernel. That changes no result. Called often. Returns false if a signal
 * came or a process ended meanwhile. */
bool machine_renew_code(struct machine *m);
