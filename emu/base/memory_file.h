/*
 * Files in memory that this process shares with others, and its copies that are to have them for themselves.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define MEMORY_MAPPINGS_MOST 16u /* of one file in a process */

struct memory_file { /* a file in memory, which is mapped here */
    int fd;
    uint32_t n;
    struct memory_mapping {
        uint8_t *start;
        size_t bytes;
        off_t offset;
    } mapping[MEMORY_MAPPINGS_MOST];
};

/* Finds where the file of that descriptor is mapped. To be called before the copy is made: mappings may be left out of
 * one. All other memory is included from now on. Returns 0 or an errno. */
int memory_file_find(struct memory_file *f, int fd);
/* Maps another file in its places. */
bool memory_file_map(const struct memory_file *f, int fd);
/* In a copy: gives it a file of its own with the same bytes, under the same descriptors and in the same places. The
 * original must not write meanwhile. Returns 0 or an errno. */
int memory_file_own(const struct memory_file *f);
/* Calls act(fd, ctx) for each descriptor of a file in this process, until one returns an errno. Returns that, or 0.
 * descriptor_replace: makes it one of the file of *by, an int. */
struct stat;
int descriptors_each(const struct stat *file, int (*act)(int fd, void *ctx), void *ctx);
int descriptor_replace(int fd, void *by);
/* The memory that the file takes. */
uint64_t memory_file_bytes(int fd);
