/* Transfers that were started and not ended (starts.c). */
#pragma once

#include "libpio/file/file.h"

/* Finishes and drops all transfers that the file has started. Returns the first error of a write among them, or 0. */
int pio_starts_drop(struct pio_file *file);
