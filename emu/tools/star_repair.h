/*
 * Repairs what a writer has left that did not close a parallel file [P4 5.2.4: the VP's number in each entry of the
 * directory allows it]: from the entries' VPs, `next` and .first. Pure: works on the parts in memory.
 */
#pragma once

#include "libpio/star/meta.h"

struct star_repair {
    struct star_meta meta; /* "closed" when it is done */
    int64_t data_bytes;    /* of the data; then, how many of them count. More are to be cut, fewer filled with zeros */
    int64_t whole_bytes;   /* of the data, the first that are there: a volume may have less of the file than others */
    bool (*has)(const void *data, int64_t at, int64_t n); /* whether these are there; NULL: all of data_bytes are */
    const void *data;
    unsigned char *first; /* malloc'd; .first, first_bytes long, or NULL */
    int64_t first_bytes;
    unsigned char *directory; /* malloc'd; .dir, or NULL */
    int64_t directory_bytes;
    /* What was found: */
    int64_t entries, dropped; /* entries that belong to a VP; that make no sense */
    int64_t rounded;          /* VPs whose length is known to a block only */
};

/* Repairs it. nb_block: bytes of a VP in a row of NB, if the .meta does not say it (else 0): whole rows count.
 * Returns 0; -1: there is nothing to repair; or a negative errno: ENOMEM. */
int star_repair(struct star_repair *r, int64_t nb_block);
