/*
 * Lines about many nodes, with what is alike put together: a deadlock of 4096 nodes is a few lines.
 *
 *   node 3 waits in nread for a message of type 5 from node any
 *       one node
 *   nodes 17-1023, 1025: each waits in nread for a message of type 5 from node any
 *       the same text for several
 *   nodes 1-4095: each waits in nread for a message of type 5 from node 0..4094
 *       alike but for numbers, where there would be more than ALIKE_LINES lines
 *
 * Where that, too, would be more, the last line says how many are left out.
 */
#ifndef NCUBE_ALIKE_H
#define NCUBE_ALIKE_H

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
    size_t room; /* of `entry` */
};

/* "node NODE TEXT": the text begins with a verb in the third person. The process ends when memory
 * is gone. */
void alike_add(struct alike *a, uint32_t node, const char *text);

/* Says the lines, in the order of the first node of each. `rest` says where all of them are to be
 * found. */
void alike_say(const struct alike *a, const char *rest, void (*say)(void *ctx, const char *line), void *ctx);

void alike_free(struct alike *a);

/* The text with a '#' for each number (but digits behind a letter, as in df00), cut at `bytes` - 1.
 * Texts with the same shape are alike but for numbers. */
void alike_shape(const char *text, size_t n, char *shape, size_t bytes);

#endif
