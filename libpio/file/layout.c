/*
 * Layouts of PIO files: checks of a caller's layout, its defaults, and the text of descriptions (layout.h shows one).
 */
#include "libpio/file/layout.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

static const struct pio_layout all_defaults;

static const struct pio_layout *or_defaults(const struct pio_layout *layout)
{
    return layout ? layout : &all_defaults;
}

static int disks_of(const struct pio_layout *layout)
{
    return layout->disks ? layout->disks : PIO_DISKS_DEFAULT;
}

int pio_layout_buffers(const struct pio_layout *layout)
{
    int buffers = or_defaults(layout)->buffers;

    return buffers ? buffers : PIO_BUFFERS_DEFAULT;
}

/* ---- Checking ----------------------------------------------------------------------------- */

static bool volume_name_is_valid(const char *name)
{
    size_t length = name ? strnlen(name, PIO_VOLUME_BYTES) : 0;

    if (length == 0 || length == PIO_VOLUME_BYTES)
        return false;
    for (size_t i = 0; i < length; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("_-.", name[i]))
            return false;
    return true;
}

/* D names, each well-formed, none twice: two subfiles of one name cannot lie on one volume. */
static bool volume_names_are_valid(const char *const *names, int n)
{
    for (int i = 0; i < n; i++) {
        if (!volume_name_is_valid(names[i]))
            return false;
        for (int j = 0; j < i; j++)
            if (strcmp(names[i], names[j]) == 0)
                return false;
    }
    return true;
}

static bool map_is_valid(const struct pio_map *map)
{
    return map->disks >= 1 && map->disks <= PIO_DISKS_MAX && map->block_bytes >= 1 &&
           map->block_bytes <= PIO_BLOCK_BYTES_MAX;
}

int pio_layout_check(const struct pio_layout *layout)
{
    layout = or_defaults(layout);
    int buffers = pio_layout_buffers(layout);
    struct pio_map map = {.disks = disks_of(layout), .block_bytes = layout->block_size};

    if (!map.block_bytes)
        map.block_bytes = PIO_BLOCK_BYTES_DEFAULT;
    if (!map_is_valid(&map) || buffers < 1 || buffers > PIO_IN_FLIGHT_MAX / map.disks)
        return -EINVAL;
    if (layout->volumes && !volume_names_are_valid(layout->volumes, map.disks))
        return -EINVAL;
    return 0;
}

/* ---- A caller's layout and a file's ------------------------------------------------------- */

void pio_layout_complete(const struct pio_layout *layout, struct pio_description *description)
{
    layout = or_defaults(layout);
    memset(description, 0, sizeof *description);
    description->map.disks = disks_of(layout);
    description->map.block_bytes = layout->block_size ? layout->block_size : PIO_BLOCK_BYTES_DEFAULT;
    for (int k = 0; k < description->map.disks; k++) {
        if (layout->volumes)
            strncpy(description->volume[k], layout->volumes[k], PIO_VOLUME_BYTES - 1);
        else
            snprintf(description->volume[k], PIO_VOLUME_BYTES, PIO_VOLUME_DEFAULT_FORMAT, k);
    }
}

int pio_layout_compare(const struct pio_layout *layout, const struct pio_description *description)
{
    layout = or_defaults(layout);
    bool disks_stated = layout->disks || layout->volumes;

    if (disks_stated && disks_of(layout) != description->map.disks)
        return -EINVAL;
    if (layout->block_size && layout->block_size != description->map.block_bytes)
        return -EINVAL;
    for (int k = 0; layout->volumes && k < description->map.disks; k++)
        if (strcmp(layout->volumes[k], description->volume[k]) != 0)
            return -EINVAL;
    return 0;
}

/* ---- The text ------------------------------------------------------------------------------ */

size_t pio_description_format(const struct pio_description *description, int index, char *text)
{
    size_t n = sprintf(text, "pio 1\nblock %d\ndisks %d\nindex %d\nvolumes", description->map.block_bytes,
                       description->map.disks, index);

    for (int k = 0; k < description->map.disks; k++)
        n += sprintf(text + n, " %s", description->volume[k]);
    return n + sprintf(text + n, "\nend\n");
}

static bool parse_volumes(const char *text, struct pio_description *description)
{
    const char *names[PIO_DISKS_MAX];
    int used;

    for (int k = 0; k < description->map.disks; k++) {
        if (sscanf(text, " %15s%n", description->volume[k], &used) != 1)
            return false;
        names[k] = description->volume[k];
        text += used;
    }
    return volume_names_are_valid(names, description->map.disks);
}

/* Parsing is lenient; what was understood must then give the same text. */
int pio_description_parse(const char *text, size_t bytes, struct pio_description *description, int *index)
{
    char copy[PIO_DESCRIPTION_MAX_BYTES], again[PIO_DESCRIPTION_MAX_BYTES];
    struct pio_map *map = &description->map;
    int used = 0;

    if (bytes >= sizeof copy)
        return -EPROTO;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    if (sscanf(copy, "pio 1 block %9d disks %9d index %9d volumes%n", &map->block_bytes, &map->disks, index, &used) !=
            3 ||
        used == 0 || !map_is_valid(map) || *index < 0 || *index >= map->disks)
        return -EPROTO;
    if (!parse_volumes(copy + used, description))
        return -EPROTO;
    size_t expected = pio_description_format(description, *index, again);
    return expected == bytes && memcmp(again, text, bytes) == 0 ? 0 : -EPROTO;
}
