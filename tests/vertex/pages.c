#include "tests/vertex/pages.h"

#include <stdlib.h>

#include "vertex/memory/page.h"

char *pages_base;

void pages_set_up(unsigned pages)
{
    pages_base = aligned_alloc(PAGE_BYTES, pages * PAGE_BYTES);
    page_init(pages_base, pages_base + pages * PAGE_BYTES);
}

void pages_tear_down(void)
{
    free(pages_base);
}
