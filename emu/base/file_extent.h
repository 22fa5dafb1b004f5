/* A part of a file that holds data; the rest of it reads as zeros. */
#ifndef NCUBE_FILE_EXTENT_H
#define NCUBE_FILE_EXTENT_H

#include <stdint.h>

struct file_extent {
    uint64_t offset, bytes;
};

#endif
