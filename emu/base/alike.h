/*
 * Reports about many nodes, which put nodes that are alike into one line: a deadlock of 4096 nodes takes a few lines.
 *
 *   node 3 waits in nread for a message of type 5 from any node
 *       one node
 *   nodes 17-1023, 1025: each waits in nread for a message of type 5 from any node
 *       several nodes with the same text
 *   nodes 1-4095: each waits in nread for a message of type 5 from node 0..4094
 *       texts that differ in numbers only; used where equal texts alone would give too many lines
 *
 * With a program's name, its nodes are PEs of it: "PE 3 of psort waits ...", "PEs 0-2, 5 of gen: each waits ...".
 *
 * If there would still be more lines, the last one says how many nodes are left out.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>

#define ALIKE_LINES      16u
#define ALIKE_TEXT_BYTES 256u /* longer texts are cut */

struct alike_entry {
    uint32_t node;
    char *text;
};

struct alike { /* {0}: nothing */
    struct alike_entry *entry;
    uint32_t n;
    size_t room;         /* of `entry` */
    const char *program; /* NULL: they are nodes of the machine or of a job */
    uint32_t lines;      /* at most; 0: ALIKE_LINES */
};

/* Adds "node NODE TEXT"; the text begins with a verb in the third person and is copied. */
void alike_add(struct alike *a, uint32_t node, const char *text);

/* Passes the lines to `say`, ordered by the first node of each, and as they were added. `rest` tells the user where to
 * find those that are left out. */
void alike_say(const struct alike *a, const char *rest, void (*say)(void *ctx, const char *line), void *ctx);

void alike_free(struct alike *a);

/* Writes the first n bytes of the text to `shape`, with a '#' for each number and cut at `bytes` - 1. Digits that
 * follow a letter, as in df00, are no number. Texts of the same shape differ in numbers only. */
void alike_shape(const char *text, size_t n, char *shape, size_t bytes);
