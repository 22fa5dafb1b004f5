/*
 * Growth: the client holds it at the home disk, asks each disk for blocks, and sets the pointers, page by page.
 *
 * Block k goes to the disk after that of block k - 1, the first one to the file's number mod its disks [P2 section
 * 3.0]; a disk that is full is passed over. A file grows by whole groups of eight blocks on each of its disks.
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/cfs/cfs_client.h"
#include "vertex/contract/errors.h"

#define BLOCKS_MAX ((uint64_t)CFS_PAGES_MAX * CFS_PAGE_POINTERS)

/* What a disk has given in this round. */
struct given {
    struct cfs_run run[CFS_ALLOC_RUNS_MAX];
    uint32_t at, left; /* the run that is used now, and blocks that are */
};

struct growth {
    struct cfs_open *f;
    struct given *given;         /* [disks] */
    uint32_t got[CFS_DISKS_MAX]; /* of all rounds */
    bool full[CFS_DISKS_MAX];
};

static bool may_have(const struct growth *g, uint32_t d)
{
    return !g->full[d] && (g->f->header.only_disks == 0 || (g->f->header.only_disks >> d & 1));
}

static bool has_some(const struct growth *g, uint32_t d)
{
    return g->given[d].left > 0;
}

/* The disk of block k: the next one in turn, of those that the file is limited to, that can. The number of disks: there
 * is none. */
static uint32_t in_turn(const struct growth *g, uint64_t k, bool (*can)(const struct growth *g, uint32_t d))
{
    const uint32_t only = g->f->header.only_disks, disks = g->f->disks;
    uint32_t allowed[CFS_DISKS_MAX], n = 0;

    for (uint32_t d = 0; d < disks; d++)
        if (only == 0 || (only >> d & 1))
            allowed[n++] = d;
    for (uint32_t i = 0; i < n; i++) {
        const uint32_t d = allowed[(CFS_HANDLE_NUMBER(g->f->handle) + k + i) % n];

        if (can(g, d))
            return d;
    }
    return disks;
}

/* Takes what a disk has given. -N_ENOSPC: it is full. */
static int take_given(struct growth *g, uint32_t d, long number)
{
    struct given *given = &g->given[d];

    memset(given, 0, sizeof *given);
    long n = cfs_end(number, NULL, 0, given->run, sizeof given->run);
    if (n < 0) {
        g->full[d] = n == -N_ENOSPC;
        return n == -N_ENOSPC ? 0 : (int)n;
    }
    given->left = (uint32_t)n;
    g->got[d] += (uint32_t)n;
    return 0;
}

/* Asks each disk for what blocks [k, end) want of it. */
static int ask_disks(struct growth *g, uint64_t k, uint64_t end)
{
    struct cfs_open *f = g->f;
    uint32_t wanted[CFS_DISKS_MAX] = {0};
    long number[CFS_DISKS_MAX];
    int result = 0;

    for (; k < end; k++) {
        uint32_t d = in_turn(g, k, may_have);

        if (d < f->disks)
            wanted[d]++;
    }
    for (uint32_t d = 0; d < f->disks; d++)
        if (wanted[d] > 0)
            number[d] = cfs_start(f->disk[d], N_CALLOC, cfs_request_of(f, 0, wanted[d]), NULL, 0);
    for (uint32_t d = 0; d < f->disks; d++) {
        int error = wanted[d] > 0 ? take_given(g, d, number[d]) : 0;

        if (wanted[d] == 0)
            g->given[d].left = 0;
        result = result < 0 ? result : error;
    }
    return result;
}

static uint32_t take_block(struct given *given)
{
    struct cfs_run *run = &given->run[given->at];

    given->left--;
    given->at += --run->count == 0;
    return run->first++;
}

/* Points blocks [k, end), of one page, to what the disks have given. Returns how many. */
static int64_t set_pointers(struct growth *g, uint64_t k, uint64_t end)
{
    struct cfs_open *f = g->f;
    const uint32_t page = (uint32_t)(k / CFS_PAGE_POINTERS), first = (uint32_t)(k % CFS_PAGE_POINTERS);
    struct cfs_request r = cfs_request_of(f, 1, 0);
    uint32_t pointer[CFS_PAGE_POINTERS], n = 0, d;

    while (k + n < end && (d = in_turn(g, k + n, has_some)) < f->disks)
        pointer[n++] = CFS_POINTER(d, take_block(&g->given[d]));
    if (n == 0)
        return 0;
    r.block = page;
    r.offset = (uint16_t)first;
    r.bytes = (uint16_t)(4 * n);
    long status = cfs_end(cfs_start(f->home, N_CPOINTER, r, pointer, 4 * n), NULL, 0, NULL, 0);
    if (status >= 0 && f->page[page])
        memcpy(f->page[page] + first, pointer, 4 * n);
    return status < 0 ? status : (int64_t)n;
}

/* Gives the file blocks [*k, end), as far as there are any. */
static int fill(struct growth *g, uint64_t *k, uint64_t end)
{
    while (*k < end) {
        uint64_t page_end = (*k / CFS_PAGE_POINTERS + 1) * CFS_PAGE_POINTERS, to = page_end < end ? page_end : end;
        int error = ask_disks(g, *k, to);
        int64_t n = error < 0 ? error : set_pointers(g, *k, to);

        if (n < 0)
            return (int)n;
        *k += (uint64_t)n;
        if (n == 0 && in_turn(g, *k, may_have) == g->f->disks)
            return -N_ENOSPC;
    }
    return 0;
}

static void undo(struct growth *g, uint64_t blocks)
{
    for (uint32_t d = 0; d < g->f->disks; d++)
        if (g->got[d] > 0)
            cfs_ask_all(&g->f->disk[d], 1, N_CFREE, cfs_request_of(g->f, 2, g->got[d]));
    cfs_file_forget(g->f, blocks, true);
}

/* Whole groups on each disk that may have blocks. */
static uint64_t rounded(const struct growth *g, uint64_t blocks)
{
    uint64_t unit = 0;

    for (uint32_t d = 0; d < g->f->disks; d++)
        unit += may_have(g, d) ? CFS_GROUP : 0;
    const uint64_t end = unit == 0 ? blocks : (blocks + unit - 1) / unit * unit;
    return end < BLOCKS_MAX ? end : BLOCKS_MAX;
}

static int grow_held(struct growth *g, uint64_t blocks, bool all)
{
    const uint64_t before = g->f->header.blocks;
    uint64_t k = before;
    int error = k < blocks ? fill(g, &k, rounded(g, blocks)) : 0;

    if (error == -N_ENOSPC && (k >= blocks || !all))
        error = k >= blocks ? 0 : error; /* what there is stays */
    else if (error < 0)
        undo(g, k = before);
    int status = cfs_file_header(g->f, N_CGROW, 1, k);
    return error < 0 ? error : status;
}

static int let_go_unchanged(struct cfs_open *f, int error)
{
    cfs_file_header(f, N_CGROW, 1, f->header.blocks);
    return error;
}

int cfs_file_grow(struct cfs_open *f, uint64_t blocks, bool all)
{
    struct growth g = {.f = f};

    if (blocks > BLOCKS_MAX)
        return -N_EFBIG;
    g.given = malloc(f->disks * sizeof *g.given);
    if (!g.given)
        return -N_ENOMEM;
    int status = cfs_file_header(f, N_CGROW, 0, 0);
    if (status == 0) {
        int error = cfs_file_compare(f);

        status = error < 0 ? let_go_unchanged(f, error) : grow_held(&g, blocks, all);
    }
    free(g.given);
    return status;
}

int cfs_file_truncate(struct cfs_open *f)
{
    int status = cfs_file_header(f, N_CGROW, 0, 0);

    if (status < 0)
        return status;
    int error = cfs_file_shorten(f, 0);
    if (error == 0)
        error = cfs_ask_all(f->disk, f->disks, N_CFREE, cfs_request_of(f, 0, 0));
    status = cfs_file_header(f, N_CGROW, 1, f->header.blocks);
    return error < 0 ? error : status;
}
