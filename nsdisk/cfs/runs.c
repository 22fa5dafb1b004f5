/*
 * The blocks of a file's part, in runs that are sorted by their place on the disk, and their bits (cfs.h).
 */
#include <stdlib.h>
#include <string.h>

#include "nsdisk/cfs/cfs.h"
#include "vertex/contract/errors.h"

/* How many runs begin at or before a block. */
static uint32_t runs_up_to(const struct cfs_part *p, uint32_t block)
{
    uint32_t low = 0, high = p->runs;

    while (low < high) {
        uint32_t middle = (low + high) / 2;

        if (p->run[middle].first <= block)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

const struct cfs_part_run *cfs_part_find(const struct cfs_part *p, uint32_t block)
{
    uint32_t n = runs_up_to(p, block);

    return n > 0 && block - p->run[n - 1].first < p->run[n - 1].count ? &p->run[n - 1] : NULL;
}

int cfs_part_append(struct cfs_part *p, uint32_t first, uint32_t count)
{
    uint32_t n = runs_up_to(p, first);
    size_t old = cfs_bytes_of_bits(p->blocks), new = cfs_bytes_of_bits(p->blocks + count);
    struct cfs_part_run *before = n > 0 ? &p->run[n - 1] : NULL;
    bool joins = before && before->first + before->count == first && before->at + before->count == p->blocks;
    uint8_t *written = realloc(p->written, new);
    if (!written)
        return -N_ENOMEM;
    memset(written + old, 0, new - old);
    p->written = written;
    if (!joins) {
        struct cfs_part_run *run = realloc(p->run, (p->runs + 1) * sizeof *run);

        if (!run)
            return -N_ENOMEM;
        memmove(run + n + 1, run + n, (p->runs - n) * sizeof *run);
        run[n] = (struct cfs_part_run){first, 0, p->blocks};
        p->run = run;
        p->runs++;
        before = &run[n];
    }
    before->count += count;
    p->blocks += count;
    return 0;
}

void cfs_part_cut(struct cfs_part *p, uint32_t blocks)
{
    uint32_t kept = 0;

    for (uint32_t i = 0; i < p->runs; i++) {
        struct cfs_part_run run = p->run[i];

        if (run.at >= blocks)
            continue;
        run.count = run.count < blocks - run.at ? run.count : blocks - run.at;
        p->run[kept++] = run;
    }
    p->runs = kept;
    for (uint32_t i = blocks; i < p->blocks; i++)
        p->written[i >> 3] &= (uint8_t) ~(1u << (i & 7));
    p->written_changed |= blocks < p->blocks;
    p->blocks = blocks;
}
