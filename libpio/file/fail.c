/* Paths on volumes, and the one at which a call failed, for pio_failed_path. */
#include "libpio/file/file.h"
#include "libpio/file/pio.h"
#include "vertex/shared/text.h"

char pio_fail_path[PIO_PATH_MAX_BYTES];

void pio_path(char *path, const char *volume, const char *name, const char *suffix)
{
    text_print(path, PIO_PATH_MAX_BYTES, "//%s%s%s", volume, name, suffix);
}

int pio_fail_at(const char *path, int error)
{
    text_print(pio_fail_path, sizeof pio_fail_path, "%s", path);
    return error;
}

const char *pio_failed_path(void)
{
    return pio_fail_path;
}
