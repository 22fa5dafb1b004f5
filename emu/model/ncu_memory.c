/*
 * The memory of nodes, as the other parts of the NCU model read and write it: in this process, or by ncu_ops.memory.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/model/ncu_state.h"

bool ncu_memory_has(const struct ncu *n, uint64_t addr, uint64_t bytes)
{
    return addr <= n->topo->ram_bytes && bytes <= n->topo->ram_bytes - addr;
}

void ncu_memory_read(const struct ncu_node *node, uint64_t addr, void *to, size_t bytes)
{
    const struct ncu *n = node->ncu;

    if (n->ops->memory)
        n->ops->memory->read(n->ctx, node->index, addr, to, bytes);
    else
        memcpy(to, node->ram + addr, bytes);
}

void ncu_memory_write(struct ncu_node *node, uint64_t addr, const void *from, size_t bytes)
{
    const struct ncu *n = node->ncu;

    if (n->ops->memory)
        n->ops->memory->write(n->ctx, node->index, addr, from, bytes);
    else
        memcpy(node->ram + addr, from, bytes);
}

void ncu_memory_move(struct ncu_node *to, uint64_t to_addr, const struct ncu_node *from, uint64_t from_addr,
                     size_t bytes)
{
    const struct ncu *n = to->ncu;

    if (n->ops->memory)
        n->ops->memory->move(n->ctx, to->index, to_addr, from->index, from_addr, bytes);
    else
        memcpy(to->ram + to_addr, from->ram + from_addr, bytes);
}

uint8_t *ncu_memory_lend(const struct ncu_node *node, uint64_t addr, size_t bytes, bool filled)
{
    if (!node->ncu->ops->memory)
        return node->ram + addr;
    uint8_t *lent = memory_new(bytes, 1);
    if (filled)
        ncu_memory_read(node, addr, lent, bytes);
    return lent;
}

void ncu_memory_take_back(struct ncu_node *node, uint64_t addr, size_t bytes, uint8_t *lent, bool changed)
{
    if (!node->ncu->ops->memory)
        return;
    if (changed)
        ncu_memory_write(node, addr, lent, bytes);
    free(lent);
}
