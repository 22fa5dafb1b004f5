/*
 * Writing a container: the entries one after another, each with a header in which nothing depends on the host, and a
 * check that grows with them.
 */
#include "emu/record/container.h"

#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/record/container_parts.h"

#define BLOCK_BYTES (256u << 10)
#define PIECE_BYTES (256u << 10)

struct container {
    struct archive *archive;
    XXH3_state_t *check;
};

static int archive_fails(struct archive *a, char *error)
{
    int reason = archive_errno(a);

    return error_line(error, "%s", reason > 0 ? strerror(reason) : archive_error_string(a));
}

int container_begin(struct container **p, int fd, char *error)
{
    struct archive *a = archive_write_new();

    *p = NULL;
    if (!a)
        return error_line(error, "cannot be packed: %s", CONTAINER_NO_LIBRARY);
    *p = memory_new(1, sizeof **p);
    **p = (struct container){.archive = a};
    (*p)->check = XXH3_createState();
    XXH3_128bits_reset((*p)->check);
    if (archive_write_add_filter_zstd(a) == ARCHIVE_OK &&
        archive_write_set_filter_option(a, "zstd", "compression-level", "1") == ARCHIVE_OK &&
        archive_write_set_format_pax_restricted(a) == ARCHIVE_OK &&
        archive_write_set_bytes_per_block(a, BLOCK_BYTES) == ARCHIVE_OK &&
        archive_write_set_bytes_in_last_block(a, 1) == ARCHIVE_OK && archive_write_open_fd(a, fd) == ARCHIVE_OK)
        return 0;
    int result = archive_fails(a, error);
    container_end(*p, NULL, error);
    *p = NULL;
    return result;
}

/* Begins an entry. Nothing in its header depends on the host. */
static int begin_entry(struct container *p, const char *name, uint64_t bytes, const struct file_extent *extent,
                       size_t extents, char *error)
{
    struct archive_entry *e = archive_entry_new();

    container_check_name(p->check, name);
    archive_entry_set_pathname(e, name);
    archive_entry_set_size(e, (la_int64_t)bytes);
    archive_entry_set_filetype(e, AE_IFREG);
    archive_entry_set_perm(e, 0600);
    for (size_t i = 0; i < extents; i++)
        archive_entry_sparse_add_entry(e, (la_int64_t)extent[i].offset, (la_int64_t)extent[i].bytes);
    if (extents == 0 && extent) /* all of it is a hole */
        archive_entry_sparse_add_entry(e, (la_int64_t)bytes, 0);
    int result = archive_write_header(p->archive, e) == ARCHIVE_OK ? 0 : archive_fails(p->archive, error);
    archive_entry_free(e);
    return result;
}

static int write_data(struct container *p, const void *bytes, size_t n, char *error)
{
    const char *next = bytes;

    while (n > 0) {
        la_ssize_t put = archive_write_data(p->archive, next, n);

        if (put <= 0)
            return archive_fails(p->archive, error);
        next += put;
        n -= (size_t)put;
    }
    return 0;
}

int container_add(struct container *p, const char *name, const void *bytes, size_t n, char *error)
{
    if (begin_entry(p, name, n, NULL, 0, error) < 0)
        return -1;
    XXH3_128bits_update(p->check, bytes, n);
    return write_data(p, bytes, n, error);
}

/* libarchive takes the bytes of holes, too, and drops them. */
static int skip_hole(struct container *p, uint64_t bytes, char *error)
{
    static const char zeros[PIECE_BYTES];
    int result = 0;

    for (; result == 0 && bytes > 0; bytes -= bytes < PIECE_BYTES ? bytes : PIECE_BYTES)
        result = write_data(p, zeros, bytes < PIECE_BYTES ? bytes : PIECE_BYTES, error);
    return result;
}

static int add_extent(struct container *p, int fd, const struct file_extent *x, char *piece, char *error)
{
    int result = 0;

    for (uint64_t done = 0, n; result == 0 && done < x->bytes; done += n) {
        n = x->bytes - done < PIECE_BYTES ? x->bytes - done : PIECE_BYTES;
        ssize_t got = host_read(fd, piece, n, (off_t)(x->offset + done));

        if (got < 0)
            return error_line(error, "%s", strerror(errno));
        memset(piece + got, 0, n - (size_t)got); /* it has become shorter */
        XXH3_128bits_update(p->check, piece, n);
        result = write_data(p, piece, n, error);
    }
    return result;
}

int container_add_file(struct container *p, const char *name, int fd, uint64_t bytes, const struct file_extent *extent,
                       size_t extents, char *error)
{
    char *piece = memory_new(PIECE_BYTES, 1);
    uint64_t at = 0;
    int result = begin_entry(p, name, bytes, extent, extents, error);

    for (size_t i = 0; result == 0 && i < extents; i++) {
        result = skip_hole(p, extent[i].offset - at, error);
        if (result == 0)
            result = add_extent(p, fd, &extent[i], piece, error);
        at = extent[i].offset + extent[i].bytes;
    }
    if (result == 0)
        result = skip_hole(p, bytes - at, error);
    free(piece);
    return result;
}

/* The object without its last brace, and the check behind it. */
static char *add_check(struct container *p, const char *text)
{
    size_t n = strlen(text) - 1;
    char *whole = memory_new(n + CONTAINER_CHECK_BYTES, 1);

    memcpy(whole, text, n);
    XXH3_128bits_update(p->check, whole, n);
    container_write_check(p->check, whole + n);
    return whole;
}

int container_end(struct container *p, const char *text, char *error)
{
    int result = 0;

    if (!p)
        return 0;
    if (text) {
        char *whole = add_check(p, text);

        result = container_add(p, CONTAINER_END, whole, strlen(whole), error);
        free(whole);
    }
    if (result == 0 && text && archive_write_close(p->archive) != ARCHIVE_OK)
        result = archive_fails(p->archive, error);
    if (result != 0 || !text)
        archive_write_fail(p->archive);
    archive_write_free(p->archive);
    XXH3_freeState(p->check);
    free(p);
    return result;
}
