/*
 * Parts of parallel files on images and among the host's files (star_files.h), and the store of the images, by which
 * libpio/star reads them.
 */
#include "emu/tools/star_files.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "libpio/star/store.h"

#define IMAGE_PREFIX "pio:"
#define OPEN_MAX     8 /* parts that the library has open: three of a file */

static struct pio_volumes *volumes;
static char image_line[ERROR_LINE_BYTES]; /* of the last part that could not be opened; "" */
static struct {
    struct pio_image_file *file;
    int64_t bytes;
} opened[OPEN_MAX];

void star_files_begin(struct pio_volumes *all, bool writes)
{
    volumes = all;
    volumes->write = writes;
}

int star_files_end(int result, char *error)
{
    return pio_volumes_close(volumes, result, error);
}

static bool is_in_images(const char **name)
{
    size_t n = strlen(IMAGE_PREFIX);
    bool is = strncmp(*name, IMAGE_PREFIX, n) == 0;

    *name += is ? n : 0;
    return is;
}

/* ---- A store of the images, for reading ---- */

/* Whether a volume has a name. */
static bool any_has(const char *path)
{
    struct volume *v;
    bool has = false;

    for (uint32_t i = 0; i < volumes->n && !has; i++)
        has = pio_volume(volumes, i, &v, NULL) == 0 && volume_has(v, path);
    return has;
}

static int64_t open_image_file(const char *path, struct pio_image_file **f, uint64_t *bytes, char *error)
{
    char *description = memory_print("%s.pio", path);
    bool is_there = any_has(description);

    free(description);
    if (!is_there)
        return -ENOENT;
    return pio_image_open(volumes, path, f, bytes, error) < 0 ? -EIO : 0;
}

static int image_open(const char *name, int flags, const struct pio_layout *layout)
{
    uint64_t bytes;
    int handle = 0;

    (void)layout;
    if (flags != O_RDONLY)
        return -EROFS;
    while (handle < OPEN_MAX && opened[handle].file)
        handle++;
    if (handle == OPEN_MAX)
        return -EMFILE;
    image_line[0] = '\0';
    int error = (int)open_image_file(name, &opened[handle].file, &bytes, image_line);
    opened[handle].bytes = error ? 0 : (int64_t)bytes;
    return error ? error : handle;
}

static int image_close(int handle)
{
    pio_image_close(opened[handle].file, 0, NULL);
    opened[handle].file = NULL;
    return 0;
}

static int64_t image_read(int handle, void *buf, int64_t bytes, int64_t at)
{
    int64_t left = opened[handle].bytes - at, n = left < 0 ? 0 : left < bytes ? left : bytes;

    return n > 0 && pio_image_read(opened[handle].file, (uint64_t)at, buf, (size_t)n, NULL) < 0 ? -EIO : n;
}

static int64_t image_size(int handle)
{
    return opened[handle].bytes;
}

static int64_t image_unit(const char *name, const struct pio_layout *layout)
{
    (void)name;
    (void)layout;
    return STAR_BLOCK_BYTES;
}

/* Reads a plain file of the first volume that has it. */
static int64_t read_plain(const char *path, char *text, size_t most)
{
    struct volume *v = NULL;
    struct volume_file *file = NULL;
    uint64_t bytes = 0;
    uint32_t i = 0;

    int result;

    image_line[0] = '\0';
    for (; i < volumes->n; i++) {
        if (pio_volume(volumes, i, &v, image_line) < 0)
            return -EIO;
        if (volume_has(v, path))
            break;
    }
    if (i == volumes->n)
        return -ENOENT;
    result = volume_file_open(v, path, &file, &bytes, image_line);
    if (result == 0)
        result = volume_file_read(file, 0, text, bytes < most ? (size_t)bytes : most, image_line);
    result = volume_file_close(file, result, NULL);
    return result < 0 ? -EIO : (int64_t)bytes;
}

static int64_t image_get_meta(const char *name, const struct pio_layout *layout, char *text, size_t bytes)
{
    char *path = memory_print("%s.meta", name);
    int64_t result = read_plain(path, text, bytes);

    (void)layout;
    free(path);
    return result;
}

static const struct star_store images = {
    .open = image_open,
    .close = image_close,
    .read = image_read,
    .size = image_size,
    .unit = image_unit,
    .get_meta = image_get_meta,
};

/* A FIFO or a device is no part of a file: to open it could take for ever. */
static int host_open(const char *name, int flags, const struct pio_layout *layout)
{
    struct stat st;

    if (stat(name, &st) == 0 && !S_ISREG(st.st_mode))
        return S_ISDIR(st.st_mode) ? -EISDIR : -EINVAL;
    return star_store_unix.open(name, flags, layout);
}

const struct star_store *star_store_of(const char **name)
{
    static struct star_store host;

    host = star_store_unix;
    host.open = host_open;
    return is_in_images(name) ? &images : &host;
}

/* ---- Reading ---- */

static int say(char *error, const char *name, const char *suffix, int64_t number)
{
    if (number == -EIO && image_line[0])
        return error_line(error, "%s", image_line);
    return error_line(error, "%s%s: %s", name, suffix, strerror((int)-number));
}

/* Opens a part. *size -1: there is none. */
static int open_part(const char *name, const char *suffix, const struct star_store **store, int *handle, int64_t *size,
                     char *error)
{
    const char *path = name;

    *store = star_store_of(&path);
    char *part = memory_print("%s%s", path, suffix);
    *handle = (*store)->open(part, O_RDONLY, NULL);
    free(part);
    *size = *handle == -ENOENT ? -1 : *handle < 0 ? *handle : (*store)->size(*handle);
    return *handle < 0 && *handle != -ENOENT ? say(error, name, suffix, *handle) : 0;
}

int star_files_size(const char *name, const char *suffix, int64_t *bytes, char *error)
{
    const struct star_store *store;
    int handle, result = open_part(name, suffix, &store, &handle, bytes, error);

    if (handle >= 0)
        store->close(handle);
    return result;
}

int star_data_begin(struct star_data *d, const char *name, char *error)
{
    const char *path = name;
    uint64_t bytes;

    *d = (struct star_data){.bytes = -1};
    if (star_files_size(name, "", &d->bytes, error) < 0)
        return -1;
    if (d->bytes < 0)
        return error_line(error, "%s: %s", name, strerror(ENOENT));
    if (is_in_images(&path) && pio_image_open(volumes, path, &d->pio, &bytes, error) < 0)
        return -1;
    d->whole = d->pio ? pio_image_missing(d->pio, 0, d->bytes) : d->bytes;
    return 0;
}

bool star_data_has(const void *data, int64_t at, int64_t n)
{
    const struct star_data *d = data;

    return at + n <= d->bytes && (!d->pio || pio_image_missing(d->pio, at, at + n) == at + n);
}

void star_data_end(struct star_data *d)
{
    pio_image_close(d->pio, 0, NULL);
    d->pio = NULL;
}

int star_files_read(const char *name, const char *suffix, unsigned char **all, int64_t *bytes, char *error)
{
    const struct star_store *store;
    int handle, result = open_part(name, suffix, &store, &handle, bytes, error);

    *all = NULL;
    if (handle < 0)
        return result;
    *all = memory_new((size_t)*bytes + 1, 1);
    int64_t got = store->read(handle, *all, *bytes, 0);
    store->close(handle);
    return got < 0 ? say(error, name, suffix, got) : 0;
}

int star_files_meta(const char *name, struct star_meta *m, bool *is_there, char *error)
{
    char text[STAR_META_BYTES];
    const char *path = name;
    const struct star_store *store = star_store_of(&path);
    int64_t bytes = store->get_meta(path, NULL, text, sizeof text);

    *is_there = bytes != -ENOENT;
    if (bytes < 0)
        return *is_there ? say(error, name, ".meta", bytes) : 0;
    if (bytes > (int64_t)sizeof text || star_meta_parse(text, (size_t)bytes, m) < 0)
        return error_line(error, "%s.meta: is not the description of a parallel file", name);
    return 0;
}

/* ---- Writing ---- */

/* Volumes and block of a new PIO file. */
static int describe(const char *like, struct pio_description *d, char *error)
{
    struct pio_image_file *f;
    uint64_t bytes;

    if (like && is_in_images(&like) && open_image_file(like, &f, &bytes, error) == 0) {
        *d = *pio_image_description(f);
        return pio_image_close(f, 0, error);
    }
    return pio_image_describe(volumes, STAR_BLOCK_BYTES, NULL, d, error);
}

int star_new_open(struct star_new *n, const char *name, const char *suffix, const char *like, char *error)
{
    struct pio_description description;
    const char *path = name;

    *n = (struct star_new){.host = {.fd = -1}, .name = name};
    if (is_in_images(&path))
        return describe(like, &description, error) < 0 ? -1 : pio_image_new(volumes, &description, &n->pio, error);
    char *part = memory_print("%s%s", path, suffix);
    int result = new_file_open(&n->host, part, error);
    free(part);
    return result;
}

int star_new_write(struct star_new *n, int64_t at, const void *bytes, size_t count, char *error)
{
    if (n->pio)
        return pio_image_write(n->pio, (uint64_t)at, bytes, count, error);
    return host_write(n->host.fd, bytes, count, at) < 0 ? error_line(error, "%s: %s", n->name, strerror(errno)) : 0;
}

int star_new_close(struct star_new *n, const char *suffix, int result, char *error)
{
    const char *path = n->name;

    if (n->pio && result == 0) {
        is_in_images(&path);
        char *part = memory_print("%s%s", path, suffix);
        result = pio_image_link(n->pio, part, error);
        free(part);
    }
    result = pio_image_close(n->pio, result, error);
    return n->host.fd >= 0 ? new_file_close(&n->host, result, error) : result;
}

/* On the file's first volume. */
static int put_plain(const char *path, const char *text, size_t bytes, char *error)
{
    struct pio_image_file *f;
    uint64_t size;
    uint32_t i = 0;
    struct volume *v;
    struct volume_file *file = NULL;

    if (pio_image_open(volumes, path, &f, &size, error) < 0)
        return -1;
    while (i + 1 < volumes->n && strcmp(volumes->name[i], pio_image_description(f)->volume[0]) != 0)
        i++;
    char *part = memory_print("%s.meta", path);
    int result = pio_volume(volumes, i, &v, error);
    if (result == 0)
        result = volume_file_new(v, &file, error);
    if (result == 0)
        result = volume_file_write(file, 0, text, bytes, error);
    if (result == 0)
        result = volume_file_link(file, part, error);
    result = volume_file_close(file, result, error);
    free(part);
    return pio_image_close(f, result, error);
}

int star_files_put_meta(const char *name, const struct star_meta *m, char *error)
{
    char text[STAR_META_BYTES];
    size_t bytes = star_meta_format(m, text);
    const char *path = name;
    struct star_new n;

    if (is_in_images(&path))
        return put_plain(path, text, bytes, error);
    int result = star_new_open(&n, name, ".meta", NULL, error);
    if (result == 0)
        result = star_new_write(&n, 0, text, bytes, error);
    return star_new_close(&n, ".meta", result, error);
}
