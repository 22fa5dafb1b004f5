/*
 * Reductions of long data, of which each member combines a part.
 */
#pragma once

struct collect_reduction;
struct group;

#define HALVES_LEAST_BYTES 512  /* less is not worth the messages */
#define HALVES_ALL         (-1) /* all members get the result */

/* As collect_reduce, with the root's place or HALVES_ALL. */
int halves_reduce(struct group *g, const struct collect_reduction *x, int root, int type);
