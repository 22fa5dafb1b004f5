/*
 * Numbers of pipes between programs (vertex/contract/system.h, N_PIPE). A number may be used again only long after: a
 * message of a pipe that has ended may still lie at a node, and must belong to no other pipe.
 */
#ifndef NCUBE_PIPES_H
#define NCUBE_PIPES_H

#include <stdint.h>

struct pipes {
    uint32_t given; /* numbers so far */
};

/* Returns the next number; those of pipelines, below PIPES_MAX, are not among them. */
uint32_t pipes_new_number(struct pipes *p);

#endif
