/*
 * PIO files on their volumes: see store.h for the order in which descriptions and subfiles are made and removed.
 */
#include "libpio/file/store.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include "libpio/file/file.h"
#include "libpio/file/transport.h"

#define DESCRIPTION_SUFFIX      ".pio"
#define TEMPORARY_SUFFIX_FORMAT ".pio-%llx"
#define SUFFIX_MAX_BYTES        32

/* ---- Names --------------------------------------------------------------------------------- */

static int parse_volume(const char *text, struct pio_name *name)
{
    const char *volume = text + 2, *slash = strchr(volume, '/');

    if (!slash || slash == volume || slash - volume >= PIO_VOLUME_BYTES)
        return -EINVAL;
    memcpy(name->volume, volume, slash - volume);
    name->name = slash;
    return 0;
}

static bool ends_in(const char *text, size_t length, const char *suffix)
{
    size_t n = strlen(suffix);

    return length >= n && strcmp(text + length - n, suffix) == 0;
}

int pio_name_parse(const char *text, struct pio_name *name)
{
    *name = (struct pio_name){.name = text};
    if (!text || !*text)
        return -ENOENT;
    if (strncmp(text, "//", 2) == 0 && parse_volume(text, name) < 0)
        return -EINVAL;
    size_t length = strlen(name->name);
    if (name->name[0] != '/' || name->name[1] == '/' || ends_in(name->name, length, DESCRIPTION_SUFFIX))
        return -EINVAL;
    if (ends_in(name->name, length, "/"))
        return -EISDIR;
    return length + 2 + PIO_VOLUME_BYTES + SUFFIX_MAX_BYTES > PIO_PATH_MAX_BYTES ? -ENAMETOOLONG : 0;
}

void pio_path(char *path, const char *volume, const char *name, const char *suffix)
{
    snprintf(path, PIO_PATH_MAX_BYTES, "//%s%s%s", volume, name, suffix);
}

/* ---- One description ----------------------------------------------------------------------- */

static ssize_t read_all(int fd, char *text, size_t bytes)
{
    size_t done = 0;

    while (done < bytes) {
        ssize_t n = pio_transport->read(fd, text + done, bytes - done);

        if (n < 0)
            return n;
        if (n == 0)
            break;
        done += n;
    }
    return done;
}

/* Reads the description that a volume holds. 0; -ENOENT; -EPROTO if it is not one of that volume. */
static int read_description(const char *volume, const char *name, struct pio_description *description, int *index)
{
    char path[PIO_PATH_MAX_BYTES], text[PIO_DESCRIPTION_MAX_BYTES];

    pio_path(path, volume, name, DESCRIPTION_SUFFIX);
    int fd = pio_transport->open(path, O_RDONLY, 0);
    if (fd < 0)
        return pio_fail_at(path, fd);
    ssize_t bytes = read_all(fd, text, sizeof text);
    pio_transport->close(fd);
    if (bytes < 0)
        return pio_fail_at(path, bytes);
    if (pio_description_parse(text, bytes, description, index) < 0 || strcmp(description->volume[*index], volume) != 0)
        return pio_fail_at(path, -EPROTO);
    return 0;
}

/* Checks that volume k describes the file that *expected describes. */
static int check_description(const char *name, const struct pio_description *expected, int k)
{
    char path[PIO_PATH_MAX_BYTES], text[PIO_DESCRIPTION_MAX_BYTES], wanted[PIO_DESCRIPTION_MAX_BYTES];
    struct pio_description found;
    int index;

    int error = read_description(expected->volume[k], name, &found, &index);
    if (error)
        return error;
    size_t bytes = pio_description_format(&found, index, text);
    if (bytes == pio_description_format(expected, k, wanted) && memcmp(text, wanted, bytes) == 0)
        return 0;
    pio_path(path, expected->volume[k], name, DESCRIPTION_SUFFIX);
    return pio_fail_at(path, -EPROTO);
}

static int write_text(int fd, const char *text, size_t bytes)
{
    ssize_t n = pio_transport->write(fd, text, bytes);

    if (n < 0)
        return n;
    return (size_t)n == bytes ? pio_transport->fsync(fd) : -ENOSPC;
}

/* Makes a file under an unused name, which it writes to `path`. Returns its descriptor, or the volume's error. */
static int open_temporary(const char *volume, const char *name, mode_t mode, char *path)
{
    char suffix[SUFFIX_MAX_BYTES];
    int fd;

    do {
        snprintf(suffix, sizeof suffix, TEMPORARY_SUFFIX_FORMAT, (unsigned long long)pio_transport->number());
        pio_path(path, volume, name, suffix);
        fd = pio_transport->open(path, O_WRONLY | O_CREAT | O_EXCL, mode);
    } while (fd == -EEXIST);
    return fd;
}

/* Creates volume k's description, complete from the start. Returns 0, -EEXIST if another exists, or the volume's
 * error. */
static int write_description(const char *name, const struct pio_description *description, int k, mode_t mode)
{
    char temporary[PIO_PATH_MAX_BYTES], path[PIO_PATH_MAX_BYTES], text[PIO_DESCRIPTION_MAX_BYTES];
    const char *volume = description->volume[k];
    size_t bytes = pio_description_format(description, k, text);

    pio_path(path, volume, name, DESCRIPTION_SUFFIX);
    int fd = open_temporary(volume, name, (mode & 0777) | 0444, temporary);
    if (fd < 0)
        return pio_fail_at(path, fd);
    int error = write_text(fd, text, bytes);
    int close_error = pio_transport->close(fd);
    if (!error)
        error = close_error;
    if (!error)
        error = pio_transport->link(temporary, path);
    pio_transport->unlink(temporary);
    return error ? pio_fail_at(path, error) : 0;
}

/* ---- Whole files --------------------------------------------------------------------------- */

/* Lists the volumes that may have a description: the one in the name, else those of the layout, else the default
 * ones. */
static int list_places(const struct pio_name *name, const struct pio_layout *layout, struct pio_description *places)
{
    pio_layout_complete(layout && layout->volumes ? layout : NULL, places);
    if (!name->volume[0])
        return places->map.disks;
    memcpy(places->volume[0], name->volume, PIO_VOLUME_BYTES);
    return 1;
}

int pio_store_find(const struct pio_name *name, const struct pio_layout *layout, struct pio_description *description)
{
    struct pio_description places;
    int n = list_places(name, layout, &places), index;
    char path[PIO_PATH_MAX_BYTES];

    for (int i = 0; i < n; i++) {
        int error = read_description(places.volume[i], name->name, description, &index);

        if (error != -ENOENT)
            return error;
    }
    pio_path(path, places.volume[0], name->name, "");
    return pio_fail_at(path, -ENOENT);
}

static int stat_subfiles(const char *name, const struct pio_description *description, bool *present, int64_t *bytes)
{
    char path[PIO_PATH_MAX_BYTES];
    struct stat st;

    for (int k = 0; k < description->map.disks; k++) {
        pio_path(path, description->volume[k], name, "");
        int error = pio_transport->stat(path, &st);
        if (error && error != -ENOENT)
            return pio_fail_at(path, error);
        present[k] = !error;
        bytes[k] = error ? 0 : st.st_size;
    }
    return 0;
}

/* Looks at the subfiles before the descriptions: see store.h. */
int pio_store_survey(const char *name, const struct pio_description *description, struct pio_survey *survey)
{
    bool present[PIO_DISKS_MAX];
    int64_t bytes[PIO_DISKS_MAX];

    int error = stat_subfiles(name, description, present, bytes);
    if (error)
        return error;
    *survey = (struct pio_survey){.bytes = pio_map_logical_bytes(&description->map, bytes), .missing = -1};
    for (int k = 0; k < description->map.disks; k++) {
        error = check_description(name, description, k);
        if (error == -ENOENT && present[k])
            return -EPROTO;
        if (error && error != -ENOENT)
            return error;
        if (survey->missing < 0 && (error || !present[k]))
            survey->missing = k;
    }
    return 0;
}

static int check_volumes_exist(const struct pio_description *description)
{
    char path[PIO_PATH_MAX_BYTES];
    struct stat st;

    for (int k = 0; k < description->map.disks; k++) {
        pio_path(path, description->volume[k], "/", "");
        int error = pio_transport->stat(path, &st);
        if (error)
            return pio_fail_at(path, error);
    }
    return 0;
}

/* Returns 0 when volume k has the right description, made by this process or another one. */
static int describe_volume(const char *name, const struct pio_description *description, int k, mode_t mode)
{
    int error = check_description(name, description, k);

    if (error == -ENOENT)
        error = write_description(name, description, k, mode);
    if (error == -EEXIST)
        error = check_description(name, description, k);
    return error;
}

int pio_store_describe(const char *name, const struct pio_description *description, mode_t mode, bool exclusive)
{
    int error = check_volumes_exist(description);

    if (!error && exclusive)
        error = write_description(name, description, 0, mode);
    for (int k = 0; !error && k < description->map.disks; k++)
        error = describe_volume(name, description, k, mode);
    return error;
}

static int remove_path(const char *volume, const char *name, const char *suffix)
{
    char path[PIO_PATH_MAX_BYTES];

    pio_path(path, volume, name, suffix);
    int error = pio_transport->unlink(path);
    return error && error != -ENOENT ? pio_fail_at(path, error) : 0;
}

/* Removes volume 0's part last: as long as any part is left, the next call finds the file and can remove it. */
int pio_store_remove(const char *name, const struct pio_description *description)
{
    int first_error = 0;

    for (int k = description->map.disks - 1; k >= 0; k--) {
        int error = remove_path(description->volume[k], name, "");

        if (!error)
            error = remove_path(description->volume[k], name, DESCRIPTION_SUFFIX);
        if (!first_error)
            first_error = error;
    }
    return first_error;
}
