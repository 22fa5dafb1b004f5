/* A small set of node addresses. */
#ifndef NCUBE_NODESET_H
#define NCUBE_NODESET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nodeset { /* {0} is empty */
    uint32_t *node;
    uint32_t n;
    size_t room; /* of `node`; grows by doubling */
};

bool nodeset_has(const struct nodeset *s, uint32_t node);
void nodeset_add(struct nodeset *s, uint32_t node); /* ends the process when memory is gone */
void nodeset_remove(struct nodeset *s, uint32_t node);
void nodeset_free(struct nodeset *s); /* what it points to */

#endif
