/*
 * The working directory. The kernel has it, so that every call about a name begins there.
 */
#include <errno.h>
#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "images/lib/devices/ndevice_switch.h"
#include "images/lib/traps/result.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/traps.h"

int chdir(const char *path)
{
    bool of_file = ndevice_of(path) == &ndevice_file; /* the kernel knows the directories of no other driver */

    return (int)result_to_errno(failure_of_path("chdir", path, of_file ? trap_chdir(path) : -N_ENOTDIR));
}

int fchdir(int fd)
{
    char path[FILE_NAME_MAX_BYTES + 1];
    long result = failure_of_fd("fchdir", fd, ndevice_path(fd, path, sizeof path));

    return result < 0 ? (int)result_to_errno(result) : chdir(path);
}

char *getcwd(char *buf, size_t size)
{
    char path[FILE_NAME_MAX_BYTES + 1];

    if (buf && size == 0) {
        result_set_errno(-EINVAL);
        return NULL;
    }
    if (result_to_errno(trap_fdpath(-1, buf ? buf : path, buf ? (long)size : (long)sizeof path)) < 0)
        return NULL;
    return buf ? buf : strdup(path);
}

char *getwd(char *buf)
{
    return getcwd(buf, PATH_MAX);
}

char *get_current_dir_name(void)
{
    return getcwd(NULL, 0);
}
