/*
 * A node's page table (Sv39), read in the node's memory as the hart reads it, without any effect on the node.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PAGE_TABLE_LEVELS 3
#define PTE_VALID         0x001u
#define PTE_READ          0x002u
#define PTE_WRITE         0x004u
#define PTE_EXECUTE       0x008u
#define PTE_USER          0x010u
#define PTE_PROMISED      0x200u /* Vertex: with PTE_VALID clear, a page of zeros at the first access */

/* Memory by its QEMU-physical address. */
struct page_memory {
    /* Returns where it lies, and stores how many bytes are there; NULL: none. */
    uint8_t *(*at)(const void *ctx, uint64_t pa, size_t *bytes);
    const void *ctx;
};

/* Finds the entry for a virtual address. `root`: QEMU-physical. Returns its level, 0 to 2, and stores it, or -1. */
int page_table_find(const struct page_memory *m, uint64_t root, uint64_t va, uint64_t *entry);

/* Returns the QEMU-physical address of va, whose valid entry of that level it is, and stores how many bytes from there
 * on the entry maps. */
uint64_t page_table_address(uint64_t entry, int level, uint64_t va, uint64_t *bytes);

/* Where a virtual address lies, and how many bytes from there on lie together. */
struct page_place {
    uint8_t *at; /* NULL: zeros, of a promised page */
    size_t bytes;
    bool writable, executable;
};
/* Finds it in the address space of that satp. False: nothing is there. */
bool page_table_place(const struct page_memory *m, uint64_t satp, uint64_t va, struct page_place *p);
/* Reads virtual memory. Returns how many bytes were possible, from the first on. */
size_t page_table_read(const struct page_memory *m, uint64_t satp, uint64_t va, void *bytes, size_t n);
/* Returns the root of the page table. */
uint64_t page_table_root(uint64_t satp);
