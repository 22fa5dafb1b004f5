/*
 * Layouts of PIO files: checks of a caller's layout, its defaults, and the text of descriptions (layout.h shows one).
 */
#include "libpio/file/layout.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct pio_layout all_defaults;

static const struct pio_layout *or_defaults(const struct pio_layout *layout)
{
    return layout ? layout : &all_defaults;
}

/* ---- Maps --------------------------------------------------------------------------------- */

int pio_map_make(const char *text, struct pattern **pattern)
{
    char why[PATTERN_WHY_BYTES];
    struct pattern *p;
    int64_t all = 0;

    if (strnlen(text, PIO_MAP_TEXT_BYTES) == PIO_MAP_TEXT_BYTES)
        return -EINVAL;
    int error = pattern_parse(text, &p, why);
    if (error)
        return error == -ENOMEM ? error : -EINVAL;
    bool in_order = true;
    for (int32_t e = 0; e < p->elements; e++) {
        all += p->element[e].bytes;
        in_order &= p->element[e].ascending;
    }
    if (p->elements > PIO_DISKS_MAX || p->displacement > 0 || all != p->period || !in_order) {
        pattern_free(p);
        return -EINVAL;
    }
    *pattern = p;
    return 0;
}

/* Returns B if the pattern is "cyclic B D" and one message can carry a block, else 0. */
static int stripe_block(const struct pattern *p)
{
    char text[64];
    int block, used = 0;

    if (pattern_format(p, text, sizeof text) >= sizeof text || sscanf(text, "cyclic %9d %*d%n", &block, &used) != 1)
        return 0;
    return used > 0 && text[used] == '\0' && block <= PIO_BLOCK_BYTES_MAX ? block : 0;
}

/* The values that a layout gives, by its fields or by its map. */
struct stated {
    int disks, block_bytes; /* 0: not given */
    const char *map;        /* NULL: stripes, or nothing */
};

static int read_map(const struct pio_layout *layout, struct stated *s)
{
    struct pattern *p;

    int error = pio_map_make(layout->map, &p);
    if (error)
        return error;
    int block = stripe_block(p), disks = p->elements;
    pattern_free(p);
    if ((s->disks && s->disks != disks) || (block && s->block_bytes && s->block_bytes != block))
        return -EINVAL;
    s->disks = disks;
    if (block)
        s->block_bytes = block;
    else
        s->map = layout->map + strspn(layout->map, " \t");
    return 0;
}

static int state(const struct pio_layout *layout, struct stated *s)
{
    *s = (struct stated){.disks = layout->disks, .block_bytes = layout->block_size};
    return layout->map ? read_map(layout, s) : 0;
}

/* True if both texts describe the same pattern. */
static bool maps_are_equal(const char *a, const char *b)
{
    const char *text[2] = {a, b};
    char *printed[2] = {NULL, NULL};
    bool equal = strcmp(a, b) == 0;

    for (int i = 0; i < 2 && !equal; i++) {
        struct pattern *p;

        if (pio_map_make(text[i], &p) != 0)
            break;
        size_t bytes = pattern_format(p, NULL, 0) + 1;
        printed[i] = malloc(bytes);
        if (printed[i])
            pattern_format(p, printed[i], bytes);
        pattern_free(p);
    }
    equal |= printed[0] && printed[1] && strcmp(printed[0], printed[1]) == 0;
    free(printed[0]);
    free(printed[1]);
    return equal;
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
    struct stated s;

    int error = state(layout, &s);
    if (error)
        return error;
    struct pio_map map = {.disks = s.disks ? s.disks : PIO_DISKS_DEFAULT,
                          .block_bytes = s.block_bytes ? s.block_bytes : PIO_BLOCK_BYTES_DEFAULT};
    if (!map_is_valid(&map) || buffers < 1 || buffers > PIO_IN_FLIGHT_MAX / map.disks)
        return -EINVAL;
    if (layout->volumes && !volume_names_are_valid(layout->volumes, map.disks))
        return -EINVAL;
    return 0;
}

/* ---- A caller's layout and a file's ------------------------------------------------------- */

void pio_layout_complete(const struct pio_layout *layout, struct pio_description *description)
{
    struct stated s;

    layout = or_defaults(layout);
    memset(description, 0, sizeof *description);
    if (state(layout, &s) != 0) /* it has been checked, but memory may have run out */
        s = (struct stated){.disks = layout->disks, .block_bytes = layout->block_size, .map = layout->map};
    description->map.disks = s.disks ? s.disks : PIO_DISKS_DEFAULT;
    description->map.block_bytes = s.block_bytes ? s.block_bytes : PIO_BLOCK_BYTES_DEFAULT;
    if (s.map)
        strncpy(description->map_text, s.map, PIO_MAP_TEXT_BYTES - 1);
    for (int k = 0; k < description->map.disks; k++) {
        if (layout->volumes)
            strncpy(description->volume[k], layout->volumes[k], PIO_VOLUME_BYTES - 1);
        else
            snprintf(description->volume[k], PIO_VOLUME_BYTES, PIO_VOLUME_DEFAULT_FORMAT, k);
    }
}

int pio_layout_compare(const struct pio_layout *layout, const struct pio_description *description)
{
    struct stated s;

    layout = or_defaults(layout);
    int error = state(layout, &s);
    if (error)
        return error;
    if ((s.disks || layout->volumes) && (s.disks ? s.disks : PIO_DISKS_DEFAULT) != description->map.disks)
        return -EINVAL;
    if (s.block_bytes && s.block_bytes != description->map.block_bytes)
        return -EINVAL;
    if (layout->map && !maps_are_equal(s.map ? s.map : "", description->map_text))
        return -EINVAL;
    for (int k = 0; layout->volumes && k < description->map.disks; k++)
        if (strcmp(layout->volumes[k], description->volume[k]) != 0)
            return -EINVAL;
    return 0;
}

/* ---- The text ------------------------------------------------------------------------------ */

size_t pio_description_format(const struct pio_description *description, int index, char *text)
{
    bool mapped = description->map_text[0] != '\0';
    size_t n = sprintf(text, "pio %d\nblock %d\ndisks %d\nindex %d\n", mapped ? 2 : 1, description->map.block_bytes,
                       description->map.disks, index);

    if (mapped)
        n += sprintf(text + n, "map %s\n", description->map_text);
    n += sprintf(text + n, "volumes");
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

/* Reads the lines before the volumes. Returns their length, or 0 on an error. */
static int parse_head(const char *text, struct pio_description *description, int *index)
{
    struct pio_map *map = &description->map;
    int used = 0, version = 0;

    *map = (struct pio_map){0};
    description->map_text[0] = '\0';
    if (sscanf(text, "pio %1d block %9d disks %9d index %9d volumes%n", &version, &map->block_bytes, &map->disks, index,
               &used) == 4 &&
        used == 0 && version == 2)
        sscanf(text, "pio %*d block %*d disks %*d index %*d map %1023[^\n] volumes%n", description->map_text, &used);
    return used;
}

/* The parser is lenient; the check is that formatting the result gives the same text. */
int pio_description_parse(const char *text, size_t bytes, struct pio_description *description, int *index)
{
    char copy[PIO_DESCRIPTION_MAX_BYTES], again[PIO_DESCRIPTION_MAX_BYTES];
    struct pio_map *map = &description->map;

    if (bytes >= sizeof copy)
        return -EPROTO;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    int used = parse_head(copy, description, index);
    if (used == 0 || !map_is_valid(map) || *index < 0 || *index >= map->disks)
        return -EPROTO;
    if (!parse_volumes(copy + used, description))
        return -EPROTO;
    size_t expected = pio_description_format(description, *index, again);
    return expected == bytes && memcmp(again, text, bytes) == 0 ? 0 : -EPROTO;
}
