/* The PIO file table [P0 section 3], and what every call does with a descriptor and a result (file.h). */
#include <errno.h>
#include <stddef.h>

#include "libpio/file/file.h"
#include "libpio/file/transport.h"

static struct pio_file *table[PIO_OPEN_MAX];

int64_t pio_result(int64_t result, const char *call)
{
    if (result >= 0)
        return result;
    pio_transport->tell_failure(call, pio_fail_path, (int)result);
    errno = -result;
    return -1;
}

int pio_fail_at_volume(const struct pio_file *file, int volume, int error)
{
    return pio_fail_at(file->description.volume[volume], file->name, "", error);
}

int pio_file_find_empty(void)
{
    for (int pfd = 0; pfd < PIO_OPEN_MAX; pfd++)
        if (!table[pfd])
            return pfd;
    return -EMFILE;
}

void pio_file_enter(int pfd, struct pio_file *file)
{
    table[pfd] = file;
}

struct pio_file *pio_file_get(int pfd)
{
    pio_fail_path[0] = '\0';
    return pfd >= 0 && pfd < PIO_OPEN_MAX ? table[pfd] : NULL;
}
