/*
 * The drives of an I/O node, for its built-in program. disk_io is one command from start to end [P0 section 3];
 * disk_start and disk_end let several be under way:
 *
 *   free --disk_start--> under way --CAUSE_STARTED_DONE--> done --disk_end--> free
 *
 * Commands that are done wait in a queue. disk_or_read (message/calls_read.c) waits for a message or for that queue.
 */
#pragma once

#include <stdbool.h>

#include "vertex/contract/machine.h"

/* True if disk_end has a command to give. */
bool disk_has_done(void);
/* Commands that have ended, since boot. */
uint64_t disk_commands_ended(void);

/* For the end of the built-in program: waits until no command uses its memory. */
void disk_drop_all(void);
