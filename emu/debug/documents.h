/*
 * What gdb reads as XML: the registers that a node has, and the list of its threads, which are the nodes.
 */
#pragma once

#include <stddef.h>

#include "emu/debug/target.h"

/* Return a text of *bytes, which the caller frees, or NULL if there is no memory. */
char *document_features(const struct target *t, size_t *bytes);
char *document_threads(const struct target *t, size_t *bytes);
