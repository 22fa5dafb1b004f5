/*
 * The node's memory in pages: contiguous runs, first fit, and promises.
 *
 * Free memory is a list of runs in ascending order, each described in its own first page, so that boot touches
 * one page and free memory costs the host nothing.
 *
 * A promise sets pages aside without choosing them: a program's heap, bss and stack are promised when they come
 * into being and get their pages at the first access, which then cannot fail. What is not promised is for
 * messages and kernel objects; PAGE_KEEP pages are never promised, so that a program cannot take the memory
 * that its own messages need.
 *
 * A process's pages lie where their addresses suggest (vm.h) if that is free, so that what is one piece to the
 * program is one piece to the NCU.
 *
 *   free >= promised           always
 *   free - promised            what page_alloc may hand out
 *
 * Every page in use has an owner class; page_owned() of a class is 0 when its last object is gone.
 * Pure: host tests link it.
 */
#ifndef VERTEX_PAGE_H
#define VERTEX_PAGE_H

#include <stdbool.h>
#include <stdint.h>

#define PAGE_BYTES         4096u
#define PAGE_KEEP          32u /* unless page_keep says otherwise */
#define PAGE_ROUND_DOWN(a) ((a) & ~(uint64_t)(PAGE_BYTES - 1))
#define PAGE_ROUND_UP(a)   PAGE_ROUND_DOWN((a) + PAGE_BYTES - 1)

enum mem_owner {
    MEM_MESSAGE, /* buffers of messages, armed, queued or being sent */
    MEM_PROCESS, /* a process, its memory, page tables and files */
    MEM_SLAB,    /* pages that kmem.c divides */
    MEM_OWNERS
};

/* The memory from low to high, both page aligned, becomes free. */
void page_init(void *low, void *high);

/* A contiguous run, contents undefined; NULL if there is none beyond what is promised. */
void *page_alloc(enum mem_owner owner, uint32_t pages);
void page_free(enum mem_owner owner, void *run, uint32_t pages);

/* Promises pages; false if memory does not suffice. page_release takes back promises that were not used. */
bool page_promise(uint32_t pages);
void page_release(uint32_t pages);
/* Uses one promise up, with this page if it is free, else with any. */
void *page_take_promised(void *wished);

/* So many bytes are never promised from now on; 0: PAGE_KEEP pages. What is promised already stays so. */
void page_keep(uint64_t bytes);

/* The longest run of free pages, in *pages its length. */
void *page_longest_run(uint64_t *pages);

uint32_t page_free_count(void);
uint32_t page_owned(enum mem_owner owner);

#endif
