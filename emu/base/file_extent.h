/* A part of a file that holds data; the rest of it reads as zeros. */
#pragma once

#include <stdint.h>

struct file_extent {
    uint64_t offset, bytes;
};
