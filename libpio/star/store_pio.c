/*
 * PIO files as stores: the data are a PIO file, the .meta is a plain file on its first volume. Also chooses the store
 * of a name.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/file/file.h"
#include "libpio/file/store.h"
#include "libpio/file/transport.h"
#include "libpio/map/pattern.h"
#include "libpio/star/store.h"

static int64_t result_of(int64_t result)
{
    return result < 0 ? -errno : result;
}

static struct pio_layout completed(const struct pio_layout *layout)
{
    struct pio_layout l = layout ? *layout : (struct pio_layout){0};

    l.block_size = l.block_size > 0 ? l.block_size : STAR_BLOCK_BYTES;
    return l;
}

static int pio_store_handle(const char *name, int flags, const struct pio_layout *layout)
{
    struct pio_layout l = completed(layout);

    /* A file that exists has a layout of its own. */
    int handle = pio_open_layout(name, flags & ~O_CREAT, 0666, layout);
    if (handle < 0 && errno == ENOENT && (flags & O_CREAT))
        handle = pio_open_layout(name, flags, 0666, &l);
    return (int)result_of(handle);
}

static int close_handle(int handle)
{
    return (int)result_of(pio_close(handle));
}

static int64_t read_handle(int handle, void *buf, int64_t bytes, int64_t at)
{
    int64_t done = 0, n = 1;

    while (done < bytes && n > 0) {
        n = pio_pread(handle, (char *)buf + done, (size_t)(bytes - done), at + done);
        if (n < 0)
            return -errno;
        done += n;
    }
    return done;
}

static int64_t write_handle(int handle, const void *buf, int64_t bytes, int64_t at)
{
    for (int64_t done = 0; done < bytes;) {
        int64_t n = pio_pwrite(handle, (const char *)buf + done, (size_t)(bytes - done), at + done);

        if (n <= 0)
            return n < 0 ? -errno : -EIO;
        done += n;
    }
    return bytes;
}

static int start_write(int handle, const void *buf, int64_t bytes, int64_t at)
{
    return (int)result_of(pio_ipwrite(handle, buf, (size_t)bytes, at));
}

static int start_read(int handle, void *buf, int64_t bytes, int64_t at)
{
    return (int)result_of(pio_ipread(handle, buf, (size_t)bytes, at));
}

/* Of a read, too. */
static int64_t end_transfer(int number)
{
    return result_of(pio_iowait(number));
}

static int set_view(int handle, const struct pattern *p, int element)
{
    int64_t bytes = pattern_pack(p, element, NULL, 0);
    char *packed = bytes < 0 ? NULL : malloc((size_t)bytes);
    int error = bytes < 0 ? (int)bytes : packed ? (int)pattern_pack(p, element, packed, (size_t)bytes) : -ENOMEM;

    if (error >= 0)
        error = (int)result_of(pio_setview(handle, packed, (size_t)bytes));
    free(packed);
    return error;
}

static int64_t size_of_handle(int handle)
{
    struct stat st;

    return pio_fstat(handle, &st) < 0 ? -errno : st.st_size;
}

static int truncate_handle(int handle, int64_t bytes)
{
    return (int)result_of(pio_ftruncate(handle, bytes));
}

static int sync_handle(int handle)
{
    return (int)result_of(pio_fsync(handle));
}

/* ---- The .meta ---- */

struct place {
    char name[PIO_PATH_MAX_BYTES]; /* without the volume */
    char volume[PIO_VOLUME_BYTES];
    int64_t unit;
};

/* Finds the file's first volume and its B; of a file that is not there, those that it would have. */
static int find_place(const char *name, const struct pio_layout *layout, struct place *place)
{
    static struct pio_description description;
    struct pio_layout l = completed(layout);
    struct pio_name parsed;
    int error = pio_name_parse(name, &parsed);

    if (!error)
        error = pio_layout_check(&l);
    if (error)
        return error;
    error = pio_store_find(&parsed, layout, &description, NULL);
    if (error == -ENOENT)
        pio_layout_complete(&l, &description);
    else if (error)
        return error;
    if (strlen(parsed.name) >= sizeof place->name)
        return -ENAMETOOLONG;
    strcpy(place->name, parsed.name);
    strcpy(place->volume, description.volume[0]);
    place->unit = description.map.block_bytes;
    return 0;
}

static int64_t find_unit(const char *name, const struct pio_layout *layout)
{
    struct place place;
    int error = find_place(name, layout, &place);

    return error ? error : place.unit;
}

static int ask(const struct place *place, enum pio_question_kind kind, const char *suffix, char *buffer, size_t bytes)
{
    struct pio_question q = {.kind = kind,
                             .volume = place->volume,
                             .name = place->name,
                             .suffix = suffix,
                             .mode = kind == PIO_ASK_MAKE ? 0666 : 0,
                             .buffer = buffer,
                             .bytes = bytes};

    pio_transport->ask(&q, 1);
    return q.result;
}

static int64_t get_meta(const char *name, const struct pio_layout *layout, char *text, size_t bytes)
{
    struct place place;
    int error = find_place(name, layout, &place);

    return error ? error : ask(&place, PIO_ASK_READ, ".meta", text, bytes);
}

/* A later one is made beside the first, and gets its name: a crash leaves one of them. */
static int put_meta(const char *name, const struct pio_layout *layout, const char *text, size_t bytes)
{
    char path[PIO_PATH_MAX_BYTES], new_path[PIO_PATH_MAX_BYTES];
    struct place place;
    int error = find_place(name, layout, &place);

    if (error || (error = ask(&place, PIO_ASK_MAKE, ".meta", (char *)text, bytes)) != -EEXIST)
        return error < 0 ? error : 0;
    error = ask(&place, PIO_ASK_MAKE, STAR_NEW_SUFFIX, (char *)text, bytes);
    if (error == -EEXIST) { /* a crash has left it */
        ask(&place, PIO_ASK_UNLINK, STAR_NEW_SUFFIX, NULL, 0);
        error = ask(&place, PIO_ASK_MAKE, STAR_NEW_SUFFIX, (char *)text, bytes);
    }
    if (error < 0)
        return error;
    pio_path(path, place.volume, place.name, ".meta");
    pio_path(new_path, place.volume, place.name, STAR_NEW_SUFFIX);
    error = pio_transport->rename(new_path, path);
    if (error < 0)
        ask(&place, PIO_ASK_UNLINK, STAR_NEW_SUFFIX, NULL, 0);
    return error;
}

static int remove_meta(const char *name, const struct pio_layout *layout)
{
    struct place place;
    int error = find_place(name, layout, &place);

    return error ? error : ask(&place, PIO_ASK_UNLINK, ".meta", NULL, 0);
}

static int remove_data(const char *name)
{
    return (int)result_of(pio_unlink(name));
}

static int remove_all(const char *name)
{
    struct place place;
    int error = find_place(name, NULL, &place), data = error ? error : remove_data(name);

    if (data < 0 && data != -ENOENT)
        return data;
    int meta = ask(&place, PIO_ASK_UNLINK, ".meta", NULL, 0);
    return meta < 0 && meta != -ENOENT ? meta : data < 0 ? meta : 0;
}

const struct star_store star_store_pio = {
    .open = pio_store_handle,
    .close = close_handle,
    .read = read_handle,
    .write = write_handle,
    .write_start = start_write,
    .write_end = end_transfer,
    .read_start = start_read,
    .read_end = end_transfer,
    .set_view = set_view,
    .size = size_of_handle,
    .truncate = truncate_handle,
    .sync = sync_handle,
    .unit = find_unit,
    .get_meta = get_meta,
    .put_meta = put_meta,
    .remove_meta = remove_meta,
    .remove = remove_data,
    .remove_all = remove_all,
};

const struct star_store *star_store_of(const char **name)
{
    size_t n = strlen(STAR_UNIX_PREFIX);

    if (strncmp(*name, STAR_UNIX_PREFIX, n) != 0)
        return &star_store_pio;
    *name += n;
    return &star_store_unix;
}
