/*
 * The node's memory in pages: contiguous runs, first fit, and promises.
 *
 * Free memory is a list of runs in ascending order, each described in its own first page, so that boot touches
 * one page and free memory costs the host nothing.
 *
 * A promise reserves a number of pages without choosing them. A program's heap, bss and stack are promised when they
 * are created and get their pages at the first access, which therefore cannot fail. Memory that is not promised serves
 * messages and kernel objects. PAGE_KEEP pages are never promised, so a program cannot use up the memory that its own
 * messages need.
 *
 * A process's page gets the place that its address suggests (vm.h) if that is free, so that a buffer that is contiguous
 * for the program is also contiguous for the NCU.
 *
 *   free >= promised           always
 *   free - promised            the pages that page_alloc may hand out
 *
 * Every page in use has an owner class; page_owned() of a class is 0 when its last object is gone.
 * Pure: host tests link it.
 */
#pragma once

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

/* Makes the memory from low to high, both page aligned, free. Called once, at boot. */
void page_init(void *low, void *high);

/* Returns a contiguous run of undefined contents, or NULL if the memory that is not promised has none. */
void *page_alloc(enum mem_owner owner, uint32_t pages);
void page_free(enum mem_owner owner, void *run, uint32_t pages);

/* page_promise reserves pages, or returns false if there are too few. page_release returns promises that were not
 * used. */
bool page_promise(uint32_t pages);
void page_release(uint32_t pages);
/* Uses up one promise and returns the page at `wished` if that is free, else any page. */
void *page_take_promised(void *wished);

/* Sets the number of bytes that later promises leave free; 0 sets PAGE_KEEP pages. Earlier promises stay valid. */
void page_keep(uint64_t bytes);

/* Returns the longest run of free pages and stores its length in *pages. */
void *page_longest_run(uint64_t *pages);

uint32_t page_free_count(void);
uint32_t page_owned(enum mem_owner owner);
