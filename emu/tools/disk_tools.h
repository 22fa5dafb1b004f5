/*
 * The programs of e2fsprogs for `ncube disk`.
 *
 * Functions return 0, or -1 with one line in `error` (ERROR_LINE_BYTES).
 */
#pragma once

#include <stdint.h>

/* Makes an ext2 image by mke2fs. The file must not exist. */
int disk_tools_create(const char *image, uint64_t bytes, uint32_t block_bytes, const char *label, char *error);

/* Checks an image by e2fsck -p, which prints what it does. */
int disk_tools_check(const char *image, char *error);
