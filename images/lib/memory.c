/*
 * Memory that newlib gives under another name only.
 */
#include <errno.h>
#include <malloc.h>
#include <stdlib.h>

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    int before = errno;

    if (alignment < sizeof(void *) || (alignment & (alignment - 1)))
        return EINVAL;
    void *block = memalign(alignment, bytes);
    errno = before;
    if (!block)
        return ENOMEM;
    *memory = block;
    return 0;
}
