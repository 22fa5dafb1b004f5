/* A small set of node addresses. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct nodeset { /* {0} is empty */
    uint32_t *node;
    uint32_t n;
    size_t room; /* of `node`; grows by doubling */
};

/* Adding a node that the set contains changes nothing, and neither does removing one that it does not contain. */
bool nodeset_has(const struct nodeset *s, uint32_t node);
void nodeset_add(struct nodeset *s, uint32_t node);
void nodeset_remove(struct nodeset *s, uint32_t node);

/* Frees what the set points to and leaves it empty. */
void nodeset_free(struct nodeset *s);
