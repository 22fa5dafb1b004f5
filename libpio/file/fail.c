/* Paths on volumes, and the one at which a call failed, for pio_failed_path. */
#include "libpio/file/file.h"
#include "libpio/file/pio.h"
#include "vertex/shared/text.h"

char pio_fail_path[PIO_PATH_MAX_BYTES];

void pio_path(char *path, const char *volume, const char *name, const char *suffix)
{
    text_print(path, PIO_PATH_MAX_BYTES, "//%s%s%s", volume, name, suffix);
}

int pio_fail_at(const char *volume, const char *name, const char *suffix, int error)
{
    pio_path(pio_fail_path, volume, name, suffix);
    return error;
}

const char *pio_failed_path(void)
{
    return pio_fail_path;
}
