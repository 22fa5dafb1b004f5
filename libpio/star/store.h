/*
 * What parallel files need of a file system [P4 5: "a few routines make calls to the machine-dependent file system"]:
 * store_pio.c has it for PIO files, store_unix.c for ordinary ones, and the tests on the host have one in memory.
 *
 * A file has parts, by suffix: "" the data, ".meta" a short text. Every function returns >= 0, or a negative errno.
 * The calls are this node's own: the caller has seen to it that the program is in local mode.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libpio/star/cstar.h"

#define STAR_NAME_BYTES  1024                  /* of a name, with its NUL */
#define STAR_PART_BYTES  (STAR_NAME_BYTES + 8) /* of a part's */
#define STAR_BLOCK_BYTES 32768                 /* B of a new file: the paper's striping unit */
#define STAR_UNIX_PREFIX "unix:"
#define STAR_NEW_SUFFIX  ".meta.new"

struct pattern;

struct star_store {
    /* flags: O_RDONLY, O_WRONLY or O_RDWR, with O_CREAT, O_TRUNC. Returns a handle. */
    int (*open)(const char *name, int flags, const struct pio_layout *layout);
    int (*close)(int handle);
    /* Bytes moved: all, or up to the end of the file; or an error, also if only some have moved. */
    int64_t (*read)(int handle, void *buf, int64_t bytes, int64_t at);
    int64_t (*write)(int handle, const void *buf, int64_t bytes, int64_t at);
    /* A write that goes on meanwhile, with bytes that stay as they are; NULL: there are none. Returns its number, or an
     * error and has started nothing. Its end returns the bytes written, maybe not all, or an error. */
    int (*write_start)(int handle, const void *buf, int64_t bytes, int64_t at);
    int64_t (*write_end)(int number);
    /* The same of reads. */
    int (*read_start)(int handle, void *buf, int64_t bytes, int64_t at);
    int64_t (*read_end)(int number);
    /* From here on the handle has the bytes of that element alone, one after the other. NULL: there are no views. */
    int (*set_view)(int handle, const struct pattern *p, int element);
    int64_t (*size)(int handle);
    int (*truncate)(int handle, int64_t bytes);
    int (*sync)(int handle); /* what has been written survives a crash */
    /* The file's striping unit. */
    int64_t (*unit)(const char *name, const struct pio_layout *layout);
    /* Reads the .meta. Returns its length, also if that is more than `bytes`. -ENOENT: there is none. */
    int64_t (*get_meta)(const char *name, const struct pio_layout *layout, char *text, size_t bytes);
    /* Makes it, or replaces it: whatever happens, the old one or the new one is there, whole. */
    int (*put_meta)(const char *name, const struct pio_layout *layout, const char *text, size_t bytes);
    /* Removes the .meta; a part; the data, and then their .meta, so that a crash leaves no data without. -ENOENT: there
     * is none. */
    int (*remove_meta)(const char *name, const struct pio_layout *layout);
    int (*remove)(const char *name);
    int (*remove_all)(const char *name);
};

/* The store of a name, and the name there. */
const struct star_store *star_store_of(const char **name);

extern const struct star_store star_store_pio, star_store_unix;
