/*
 * Pointers that are in doubt. A machine that ended without a shutdown leaves disks of different moments: a header may
 * point to blocks that are not in the file's parts, or no longer where it says. So the first client that opens a file
 * after a start of the machine compares them: along the file, the blocks on each disk must come in the order of its
 * part. The file ends before the first that does not, and blocks behind the last that does are free again. What was
 * synced is before that.
 *
 * Also when a client has ended while it made the file longer: its blocks without pointers are freed.
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/cfs/cfs_client.h"
#include "vertex/contract/errors.h"

/* A disk's part, from the block behind the last that was found. */
struct part {
    struct cfs_run run[CFS_ALLOC_RUNS_MAX];
    uint32_t at, left; /* the run, and blocks that are left of all */
    uint32_t place;    /* in the part, of the next block */
    uint32_t used;     /* blocks up to the last that was found */
    bool end;          /* there is no more behind them */
};

static long ask_part(const struct cfs_open *f, uint32_t d, const struct part *p)
{
    return cfs_start(f->disk[d], N_CALLOC, cfs_request_of(f, 1, p->place), NULL, 0);
}

/* A disk with nothing of the file has no blocks of it. */
static int take_part(struct part *p, long number)
{
    long n = cfs_end(number, NULL, 0, p->run, sizeof p->run), sum = 0;
    uint32_t runs = 0;

    n = n == -N_ESTALE ? 0 : n;
    if (n < 0)
        return (int)n;
    while (sum < n && runs < CFS_ALLOC_RUNS_MAX)
        sum += p->run[runs++].count;
    if (sum != n)
        return -N_EPROTO;
    p->at = 0;
    p->left = (uint32_t)n;
    p->end = runs < CFS_ALLOC_RUNS_MAX;
    return 0;
}

/* 1: the block is there, and what follows is behind it; 0. */
static int find(const struct cfs_open *f, uint32_t d, struct part *p, uint32_t block)
{
    for (;;) {
        for (; p->left > 0; p->at++) {
            struct cfs_run *run = &p->run[p->at];
            const bool here = block - run->first < run->count;
            const uint32_t passed = here ? block - run->first + 1 : run->count;

            p->left -= passed;
            p->place += passed;
            if (!here)
                continue;
            run->first += passed;
            run->count -= passed;
            p->at += run->count == 0;
            p->used = p->place;
            return 1;
        }
        if (p->end)
            return 0;
        int error = take_part(p, ask_part(f, d, p));
        if (error < 0)
            return error;
    }
}

static int ask_parts(const struct cfs_open *f, struct part *part)
{
    long number[CFS_DISKS_MAX];
    int result = 0;

    for (uint32_t d = 0; d < f->disks; d++)
        number[d] = ask_part(f, d, &part[d]);
    for (uint32_t d = 0; d < f->disks; d++) {
        int error = take_part(&part[d], number[d]);

        result = result < 0 ? result : error;
    }
    return result;
}

/* How many blocks from the first on have a pointer to a block of their part. */
static int64_t count_good(struct cfs_open *f, struct part *part)
{
    uint32_t k = 0;

    for (; k < f->header.blocks; k++) {
        uint32_t pointer = 0;
        int result = cfs_file_pointer(f, k, &pointer);

        if (result < 0 && pointer == 0) /* the page cannot be had */
            return result;
        if (pointer == 0 || CFS_POINTER_DISK(pointer) >= f->disks)
            break;
        const uint32_t d = CFS_POINTER_DISK(pointer);
        result = find(f, d, &part[d], CFS_POINTER_BLOCK(pointer));
        if (result < 0)
            return result;
        if (result == 0)
            break;
    }
    return k;
}

/* Blocks that nothing points to go, once the header on its disk cannot point to them any more. */
static int drop_rest(struct cfs_open *f, const struct part *part)
{
    long number[CFS_DISKS_MAX];
    int result = 0;

    for (uint32_t d = 0; d < f->disks; d++)
        if (part[d].left > 0 || !part[d].end)
            number[d] = cfs_start(f->disk[d], N_CFREE, cfs_request_of(f, 0, part[d].used), NULL, 0);
    for (uint32_t d = 0; d < f->disks; d++) {
        int error = part[d].left > 0 || !part[d].end ? (int)cfs_end(number[d], NULL, 0, NULL, 0) : 0;

        result = result < 0 ? result : error;
    }
    return result;
}

int cfs_file_shorten(struct cfs_open *f, uint64_t blocks)
{
    const bool shorter = blocks < f->header.blocks;
    int error = cfs_file_header(f, N_CGROW, 2, blocks);

    if (error == 0 && shorter)
        error = cfs_ask_all(&f->home, 1, N_CSYNC, cfs_request_of(f, 0, 0));
    cfs_file_forget(f, blocks, true);
    return error;
}

int cfs_file_compare(struct cfs_open *f)
{
    struct part *part = f->header.in_doubt ? calloc(f->disks, sizeof *part) : NULL;

    if (!part)
        return f->header.in_doubt ? -N_ENOMEM : 0;
    cfs_file_forget(f, 0, true);
    int64_t good = ask_parts(f, part);
    if (good == 0)
        good = count_good(f, part);
    int error = good < 0 ? (int)good : cfs_file_shorten(f, (uint64_t)good);
    if (error == 0)
        error = drop_rest(f, part);
    free(part);
    return error;
}

void cfs_file_check(struct cfs_open *f)
{
    if (!f->header.in_doubt || cfs_file_header(f, N_CGROW, 0, 0) < 0)
        return;
    cfs_file_compare(f);
    cfs_file_header(f, N_CGROW, 1, f->header.blocks);
}
