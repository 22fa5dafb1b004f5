/* Sparse image files with ext2's magic number and nothing else, for the drive's tests. */
#pragma once

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define IMAGE_PATH_BYTES 64

/* Makes an image and writes its path; the caller unlinks it. Ends the process if that is impossible. */
static inline void image_make(char path[IMAGE_PATH_BYTES], uint64_t bytes)
{
    static const uint8_t magic[2] = {0x53, 0xef};

    snprintf(path, IMAGE_PATH_BYTES, "/tmp/ncube-test-XXXXXX");
    int fd = mkstemp(path);
    if (fd < 0 || ftruncate(fd, (off_t)bytes) < 0 || pwrite(fd, magic, 2, 1080) != 2) {
        perror(path);
        exit(1);
    }
    close(fd);
}
