/*
 * A program's bytes, which the kernel copies or gives to the NCU, and the message buffers in its space (vm.h).
 */
#include "vertex/memory/vm.h"

#include <stdbool.h>

#include "vertex/base/addr.h"
#include "vertex/base/attr.h"
#include "vertex/contract/errors.h"
#include "vertex/memory/copy.h"
#include "vertex/memory/vm_tables.h"

/* ---- Message buffers ---- */

uint64_t vm_buffer_address(const void *pages)
{
    return USER_BUFFER_VA + addr_to_node(pages);
}

void vm_unmap_buffer(struct vm *vm, void *pages, uint64_t bytes)
{
    uint64_t va = vm_buffer_address(pages);

    for (uint64_t at = 0; at < bytes; at += PAGE_BYTES) {
        pte_t *entry = vm_walk(vm, va + at, false);

        if (entry)
            *entry = 0;
    }
    vm_fence();
}

uint64_t vm_map_buffer(struct vm *vm, void *pages, uint64_t bytes)
{
    uint64_t va = vm_buffer_address(pages);

    for (uint64_t at = 0; at < bytes; at += PAGE_BYTES) {
        pte_t *entry = vm_walk(vm, va + at, true);

        if (!entry) {
            vm_unmap_buffer(vm, pages, bytes);
            return 0;
        }
        vm_entry_set_page(entry, (char *)pages + at, PTE_R | PTE_W | PTE_SHARED);
    }
    return va;
}

/* ---- A program's bytes ---- */

static uint64_t left_in_page(uint64_t va, uint64_t bytes)
{
    uint64_t left = PAGE_BYTES - va % PAGE_BYTES;

    return left < bytes ? left : bytes;
}

RARE int vm_copy_by_pages(struct vm *vm, void *kernel, uint64_t va, uint64_t bytes, pte_t right)
{
    char *k = kernel;

    while (bytes > 0) {
        uint64_t n = left_in_page(va, bytes);
        void *user = vm_resolve(vm, va, right);

        if (!user)
            return -N_EFAULT;
        if (right == PTE_W)
            copy_bytes(user, k, n);
        else
            copy_bytes(k, user, n);
        k += n, va += n, bytes -= n;
    }
    return 0;
}

int64_t vm_copy_string(struct vm *vm, char *to, uint64_t from, uint64_t size)
{
    for (uint64_t done = 0; done < size;) {
        uint64_t n = left_in_page(from + done, size - done);
        const char *source = vm_resolve(vm, from + done, PTE_R);

        if (!source)
            return -N_EFAULT;
        for (uint64_t i = 0; i < n; i++, done++)
            if ((to[done] = source[i]) == '\0')
                return done;
    }
    return -N_ENAMETOOLONG;
}

int vm_check(struct vm *vm, uint64_t va, uint64_t bytes, pte_t right)
{
    while (bytes > 0) {
        uint64_t n = left_in_page(va, bytes);

        if (!vm_resolve(vm, va, right))
            return -N_EFAULT;
        va += n, bytes -= n;
    }
    return 0;
}

static bool dma_allowed(const struct vm *vm, uint64_t va)
{
    pte_t entry = *vm_walk(vm, va, false);

    return !(entry & (PTE_X | PTE_SHARED));
}

void *vm_contiguous(struct vm *vm, uint64_t va, uint64_t bytes, pte_t right)
{
    char *first = vm_resolve(vm, va, right);

    if (!first || va % 8)
        return NULL;
    for (uint64_t done = 0; done < bytes; done += left_in_page(va + done, bytes - done))
        if (vm_resolve(vm, va + done, right) != first + done || !dma_allowed(vm, va + done))
            return NULL;
    return first;
}
