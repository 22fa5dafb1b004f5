/* Reading a container: every entry becomes a file in memory. What is wrong with it is told apart: another file than a
 * recording, one that has been cut, one whose bytes are not those that were written. */
#include <archive.h>
#include <archive_entry.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/record/container.h"
#include "emu/record/container_parts.h"

#define BLOCK_BYTES    (256u << 10)
#define END_MOST_BYTES (1u << 30)

struct unpacking {
    struct unpacked *to;
    struct archive *archive;
    XXH3_state_t *check;
    char *error;
};

static int damaged(const struct unpacking *u, const char *why)
{
    return error_line(u->error, "the recording is damaged%s%s", why ? ": " : "", why ? why : "");
}

/* libarchive says "truncated" in several ways; the file itself says it best. */
static int fails(const struct unpacking *u)
{
    return damaged(u, archive_error_string(u->archive));
}

static struct unpacked_entry *add_entry(struct unpacked *u, const char *name, uint64_t bytes)
{
    u->entry = memory_grow(u->entry, &u->room, u->n + 1, sizeof *u->entry);
    struct unpacked_entry *e = &u->entry[u->n++];
    *e = (struct unpacked_entry){.name = memory_copy_text(name, strlen(name)), .bytes = bytes};
    e->fd = memfd_create("recorded", MFD_CLOEXEC);
    return e;
}

static int take_data(struct unpacking *u, struct unpacked_entry *e, bool last)
{
    const void *bytes;
    size_t n;
    la_int64_t at;
    int got;

    while ((got = archive_read_data_block(u->archive, &bytes, &n, &at)) == ARCHIVE_OK) {
        if (at < 0 || (uint64_t)at > e->bytes || n > e->bytes - (uint64_t)at)
            return damaged(u, NULL);
        if (!last)
            XXH3_128bits_update(u->check, bytes, n);
        e->stored += n;
        if (host_write(e->fd, bytes, n, at) != (ssize_t)n)
            return error_line(u->error, "no room in memory for it: %s", strerror(errno));
    }
    return got == ARCHIVE_EOF ? 0 : fails(u);
}

static int take_entry(struct unpacking *u, struct archive_entry *header)
{
    const char *name = archive_entry_pathname(header);
    la_int64_t bytes = archive_entry_size(header);
    bool last = name && strcmp(name, CONTAINER_END) == 0;

    if (!name || bytes < 0 || (u->to->n == 0 && strcmp(name, CONTAINER_FIRST) != 0))
        return u->to->n == 0 ? error_line(u->error, "is no recording of ncube") : damaged(u, NULL);
    if (!last)
        container_check_name(u->check, name);
    struct unpacked_entry *e = add_entry(u->to, name, (uint64_t)bytes);
    if (e->fd < 0 || ftruncate(e->fd, bytes) < 0)
        return error_line(u->error, "no room in memory for it: %s", strerror(errno));
    return take_data(u, e, last);
}

static int check_end(const struct unpacking *u)
{
    const struct unpacked_entry *e = unpacked_find(u->to, CONTAINER_END);
    char wanted[CONTAINER_CHECK_BYTES], *text;

    if (!e || e->bytes > END_MOST_BYTES)
        return error_line(u->error, "the recording has no end: it is not all there");
    text = unpacked_text(e);
    size_t n = text ? strlen(text) : 0;
    bool same = n >= sizeof wanted;
    if (same) {
        XXH3_128bits_update(u->check, text, n - (sizeof wanted - 1));
        container_write_check(u->check, wanted);
        same = strcmp(text + n - (sizeof wanted - 1), wanted) == 0;
    }
    free(text);
    return same ? 0 : damaged(u, "its bytes are not those that were written");
}

static int take_all(struct unpacking *u)
{
    struct archive_entry *header;
    int got;

    while ((got = archive_read_next_header(u->archive, &header)) == ARCHIVE_OK)
        if (take_entry(u, header) < 0)
            return -1;
    if (got == ARCHIVE_EOF)
        return check_end(u);
    return u->to->n == 0 ? error_line(u->error, "is no recording of ncube") : fails(u);
}

int unpack(struct unpacked *to, int fd, char *error)
{
    struct unpacking u = {.to = to, .archive = archive_read_new(), .error = error};

    *to = (struct unpacked){0};
    if (!u.archive)
        return error_line(error, "cannot be unpacked: %s", CONTAINER_NO_LIBRARY);
    u.check = XXH3_createState();
    XXH3_128bits_reset(u.check);
    archive_read_support_filter_zstd(u.archive);
    archive_read_support_format_tar(u.archive);
    int result = archive_read_open_fd(u.archive, fd, BLOCK_BYTES) == ARCHIVE_OK
                     ? take_all(&u)
                     : error_line(error, "is no recording of ncube");
    archive_read_free(u.archive);
    XXH3_freeState(u.check);
    return result;
}

const struct unpacked_entry *unpacked_find(const struct unpacked *u, const char *name)
{
    for (size_t i = 0; i < u->n; i++)
        if (strcmp(u->entry[i].name, name) == 0)
            return &u->entry[i];
    return NULL;
}

char *unpacked_text(const struct unpacked_entry *e)
{
    char *text = e->bytes < SIZE_MAX ? malloc(e->bytes + 1) : NULL;

    if (!text || host_read(e->fd, text, e->bytes, 0) != (ssize_t)e->bytes) {
        free(text);
        return NULL;
    }
    text[e->bytes] = '\0';
    return text;
}

void unpacked_free(struct unpacked *u)
{
    for (size_t i = 0; i < u->n; i++) {
        free(u->entry[i].name);
        if (u->entry[i].fd >= 0)
            close(u->entry[i].fd);
    }
    free(u->entry);
    *u = (struct unpacked){0};
}
