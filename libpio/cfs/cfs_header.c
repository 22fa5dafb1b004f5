/* A file's header as the client keeps it, and its pages of pointers [P2 section 3.0]. */
#include <stdlib.h>

#include "libpio/cfs/cfs_client.h"
#include "vertex/contract/errors.h"

int cfs_file_header(struct cfs_open *f, int type, uint16_t op, uint64_t arg)
{
    long number = cfs_start(f->home, type, cfs_request_of(f, op, arg), NULL, 0);

    return (int)cfs_end(number, &f->header, sizeof f->header, NULL, 0);
}

/* ---- Pointers ---- */

void cfs_file_forget(struct cfs_open *f, uint64_t block, bool all)
{
    for (uint64_t page = block / CFS_PAGE_POINTERS; page < CFS_PAGES_MAX; page++) {
        free(f->page[page]);
        f->page[page] = NULL;
        if (!all)
            return;
    }
}

static int fetch_page(struct cfs_open *f, uint32_t page)
{
    struct cfs_request r = cfs_request_of(f, 0, 0);

    if (!f->page[page] && !(f->page[page] = malloc(CFS_BLOCK_BYTES)))
        return -N_ENOMEM;
    r.block = page;
    long n = cfs_end(cfs_start(f->home, N_CPOINTER, r, NULL, 0), NULL, 0, f->page[page], CFS_BLOCK_BYTES);
    if (n < 0)
        cfs_file_forget(f, (uint64_t)page * CFS_PAGE_POINTERS, false);
    return n < 0 ? (int)n : 0;
}

int cfs_file_pointer(struct cfs_open *f, uint64_t block, uint32_t *pointer)
{
    const uint32_t page = (uint32_t)(block / CFS_PAGE_POINTERS), i = (uint32_t)(block % CFS_PAGE_POINTERS);
    int error = block >= (uint64_t)CFS_PAGES_MAX * CFS_PAGE_POINTERS ? -N_EFBIG
                : f->page[page] && f->page[page][i] != 0             ? 0
                                                                     : fetch_page(f, page);
    if (error < 0)
        return error;
    *pointer = f->page[page][i];
    return *pointer != 0 && CFS_POINTER_DISK(*pointer) >= f->disks ? -N_EIO : 0;
}
