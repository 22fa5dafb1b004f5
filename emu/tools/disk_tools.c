/* The programs of e2fsprogs (disk_tools.h). */
#define _GNU_SOURCE
#include "emu/tools/disk_tools.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/child.h"
#include "emu/base/new_file.h"
#include "emu/disk/volume.h"

/* Runs a program. Returns its exit status, or -1 with a line in error. */
static int run(char *const argv[], char *error)
{
    int status = child_run(argv, false);

    if (status < 0)
        return error_line(error, "%s: %s", argv[0], strerror(errno));
    if (status > 128)
        return error_line(error, "%s: was killed", argv[0]);
    if (status == CHILD_NOT_FOUND)
        return error_line(error, "%s: cannot be run; Debian has it in e2fsprogs", argv[0]);
    return status;
}

int disk_tools_create(const char *image, uint64_t bytes, uint32_t block_bytes, const char *label, char *error)
{
    char block[16], self[40];
    struct new_file f = {.fd = -1};

    if (access(image, F_OK) == 0)
        return error_line(error, "%s: already exists; nothing was changed", image);
    if (strlen(label) > 16)
        return error_line(error, "%s: a label has at most 16 characters", label);
    if (new_file_open(&f, image, error) < 0)
        return -1;
    snprintf(block, sizeof block, "%u", block_bytes);
    snprintf(self, sizeof self, "/proc/%ld/fd/%d", (long)getpid(), f.fd); /* mke2fs has other descriptors */
    int result = ftruncate(f.fd, (off_t)bytes) < 0 ? error_line(error, "%s: %s", image, strerror(errno)) : 0;
    if (result == 0)
        result =
            run((char *[]){"mke2fs", "-q", "-F", "-t", "ext2", "-b", block, "-m", "0", "-L", (char *)label, self, NULL},
                error);
    if (result > 0)
        result = error_line(error, "%s: mke2fs could not make a file system of this size", image);
    return new_file_close_as_new(&f, result, error);
}

int disk_tools_check(const char *image, char *error)
{
    int fd = volume_lock(image, true, error);

    if (fd < 0)
        return -1;
    int result = run((char *[]){"e2fsck", "-f", "-p", (char *)image, NULL}, error);
    if (result > 2) /* 1 and 2: errors were corrected */
        result = error_line(error, "%s: e2fsck could not repair it automatically; run it without -p", image);
    close(fd);
    return result < 0 ? -1 : 0;
}
