/*
 * Rank 0 and the racks work for microseconds, and the whole machine waits for them; harts compute for long, perhaps on
 * the same processor.
 */
#pragma once

#include <stdbool.h>

/* From now on the host lets this thread in when it wakes up, before harts of the same user that compute; or no longer.
 * A process that it starts has that, too: so the cabinets are started before. A refusal by the host is ignored. */
void priority_over_harts(bool on);
