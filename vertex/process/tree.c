#include "vertex/process/tree.h"

uint32_t tree_children(uint32_t r, uint32_t nodes, uint32_t *child)
{
    uint32_t n = 0;

    for (uint32_t k = 0; r + (1u << k) < nodes; k++)
        if (1u << k > r)
            child[n++] = r + (1u << k);
    return n;
}
