/*
 * Layouts of PIO files: checks of a caller's layout, its defaults, and the text of descriptions (layout.h shows one).
 */
#include "libpio/file/layout.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "vertex/shared/text.h"

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

/* Takes a word off the text, exactly. */
static bool take(const char **text, const char *word)
{
    size_t n = strlen(word);

    if (strncmp(*text, word, n) != 0)
        return false;
    *text += n;
    return true;
}

/* Takes a number of 1 to 9 digits. */
static bool take_number(const char **text, int *number)
{
    size_t digits = strspn(*text, "0123456789");

    if (digits < 1 || digits > 9)
        return false;
    for (*number = 0; digits > 0; digits--)
        *number = *number * 10 + *(*text)++ - '0';
    return true;
}

/* Returns B if the pattern is "cyclic B D" and one message can carry a block, else 0. */
static int stripe_block(const struct pattern *p)
{
    char text[64];
    const char *at = text;
    int block, disks;

    if (pattern_format(p, text, sizeof text) >= sizeof text || !take(&at, "cyclic ") || !take_number(&at, &block) ||
        !take(&at, " ") || !take_number(&at, &disks))
        return 0;
    return *at == '\0' && block <= PIO_BLOCK_BYTES_MAX ? block : 0;
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
            text_print(description->volume[k], PIO_VOLUME_BYTES, k < 10 ? "df0%d" : "df%d", k);
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
    const size_t room = PIO_DESCRIPTION_MAX_BYTES;
    bool mapped = description->map_text[0] != '\0';
    size_t n = text_print(text, room, "pio %d\nblock %d\ndisks %d\nindex %d\n", mapped ? 2 : 1,
                          description->map.block_bytes, description->map.disks, index);

    if (mapped)
        n += text_print(text + n, room - n, "map %s\n", description->map_text);
    n += text_print(text + n, room - n, "volumes");
    for (int k = 0; k < description->map.disks; k++)
        n += text_print(text + n, room - n, " %s", description->volume[k]);
    return n + text_print(text + n, room - n, "\nend\n");
}

/* Takes what is before `end`, of less than `room` bytes, to `to`. */
static bool take_until(const char **text, char end, char *to, size_t room)
{
    const char *stop = strchr(*text, end);
    size_t n = stop ? (size_t)(stop - *text) : room;

    if (n >= room)
        return false;
    memcpy(to, *text, n);
    to[n] = '\0';
    *text = stop;
    return true;
}

static bool parse_volumes(const char *text, struct pio_description *description)
{
    const char *names[PIO_DISKS_MAX];
    int last = description->map.disks - 1;

    for (int k = 0; k <= last; k++) {
        if (!take(&text, " ") || !take_until(&text, k < last ? ' ' : '\n', description->volume[k], PIO_VOLUME_BYTES))
            return false;
        names[k] = description->volume[k];
    }
    return volume_names_are_valid(names, description->map.disks);
}

/* Reads the lines before the volumes. Returns a pointer behind the word "volumes", or NULL on an error. */
static const char *parse_head(const char *text, struct pio_description *description, int *index)
{
    struct pio_map *map = &description->map;
    int version;

    *map = (struct pio_map){0};
    description->map_text[0] = '\0';
    if (!take(&text, "pio ") || !take_number(&text, &version) || !take(&text, "\nblock ") ||
        !take_number(&text, &map->block_bytes) || !take(&text, "\ndisks ") || !take_number(&text, &map->disks) ||
        !take(&text, "\nindex ") || !take_number(&text, index) || !take(&text, "\n"))
        return NULL;
    if (version == 2 && (!take(&text, "map ") || !take_until(&text, '\n', description->map_text, PIO_MAP_TEXT_BYTES) ||
                         !take(&text, "\n")))
        return NULL;
    return take(&text, "volumes") ? text : NULL;
}

/* Formatting the result must give the same text: no other spelling of a number or a map is one. */
int pio_description_parse(const char *text, size_t bytes, struct pio_description *description, int *index)
{
    char copy[PIO_DESCRIPTION_MAX_BYTES], again[PIO_DESCRIPTION_MAX_BYTES];
    struct pio_map *map = &description->map;

    if (bytes >= sizeof copy)
        return -EPROTO;
    memcpy(copy, text, bytes);
    copy[bytes] = '\0';
    const char *volumes = parse_head(copy, description, index);
    if (!volumes || !map_is_valid(map) || *index >= map->disks || !parse_volumes(volumes, description))
        return -EPROTO;
    size_t expected = pio_description_format(description, *index, again);
    return expected == bytes && memcmp(again, text, bytes) == 0 ? 0 : -EPROTO;
}
