/*
 * The list `striped` of the machine file (docs/striped.md): names under which programs find files that are spread over
 * several volumes [P1 section 2.6, "specified by the system administrator"]. It is read after the boards, so that it
 * can name only volumes that the machine has. The rule for names of volumes is here, too.
 */
#include <string.h>

#include "emu/base/memory.h"
#include "emu/config/config_state.h"
#include "libpio/file/layout.h"
#include "vertex/contract/system.h"

bool config_check_volume_name(struct config_reader *l, const config_setting_t *at, const char *name)
{
    if (strlen(name) >= VOLUME_NAME_BYTES)
        return setting_fail(&l->r, at, "volume '%s' has a name of %zu characters; give it at most %u", name,
                            strlen(name), VOLUME_NAME_BYTES - 1);
    if (strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-") != strlen(name))
        return setting_fail(&l->r, at, "volume '%s': a name has only letters, digits, '_' and '-'", name);
    return true;
}

static bool has_volume(const struct topo *t, const char *name)
{
    uint32_t drive;

    return topo_find_volume(t, name, &drive) != TOPO_NONE;
}

static bool check_name(struct config_reader *l, const config_setting_t *group, const char *name)
{
    const struct topo *t = &l->config->topo;

    if (!config_check_volume_name(l, group, name))
        return false;
    if (has_volume(t, name))
        return setting_fail(&l->r, group, "'%s' is already the volume of a drive; give the striped volume another name",
                            name);
    for (uint32_t i = 0; i < t->n_striped; i++)
        if (strcmp(t->striped[i].name, name) == 0)
            return setting_fail(&l->r, group, "striped volume '%s' is already defined; volume names are unique", name);
    return true;
}

/* Checks element i of `over` and appends it. */
static bool add_volume(struct config_reader *l, const config_setting_t *over, uint32_t i, struct topo_striped *s)
{
    const char *name = config_setting_get_string_elem(over, (int)i);

    if (!name)
        return setting_fail(&l->r, over, "'over' is a list of names of volumes, such as [\"df00\", \"df01\"]");
    if (!has_volume(&l->config->topo, name))
        return setting_fail(&l->r, over, "striped volume '%s': there is no volume '%s'", s->name, name);
    for (uint32_t k = 0; k < i; k++)
        if (strcmp(s->over[k], name) == 0)
            return setting_fail(&l->r, over, "striped volume '%s' has volume '%s' twice; a volume holds one part",
                                s->name, name);
    strcpy(s->over[i], name);
    s->disks = i + 1;
    return true;
}

static bool load_over(struct config_reader *l, const config_setting_t *group, struct topo_striped *s)
{
    const config_setting_t *over = config_setting_get_member(group, "over");
    uint32_t n = config_setting_is_array(over) || config_setting_is_list(over) ? config_setting_length(over) : 0;

    if (n < 1 || n > PIO_DISKS_MAX)
        return setting_fail(&l->r, over, "'over' must be a list of 1 to %d names of volumes", PIO_DISKS_MAX);
    s->over = memory_new(n, sizeof *s->over);
    for (uint32_t i = 0; i < n; i++)
        if (!add_volume(l, over, i, s))
            return false;
    return true;
}

/* A map gives each byte to one of the volumes, in order. */
static bool check_map(struct config_reader *l, const config_setting_t *at, const struct topo_striped *s)
{
    char why[PATTERN_WHY_BYTES];
    struct pattern *p;

    if (strpbrk(s->map, "\r\n"))
        return setting_fail(&l->r, at, "striped volume '%s': a map is one line", s->name);
    if (pattern_parse(s->map, &p, why) != 0)
        return setting_fail(&l->r, at, "striped volume '%s': %s", s->name, why);
    uint32_t elements = (uint32_t)p->elements;
    pattern_free(p);
    if (elements != s->disks)
        return setting_fail(&l->r, at, "striped volume '%s': the map \"%s\" is for %u volumes, but 'over' has %u",
                            s->name, s->map, elements, s->disks);
    const struct pio_layout layout = {.disks = (int)s->disks, .map = s->map};
    return pio_layout_check(&layout) == 0 ||
           setting_fail(&l->r, at,
                        "striped volume '%s': the map \"%s\" does not suit volumes: it must give each byte from 0 on "
                        "to one of them, in order, in at most %d characters and blocks of at most %d bytes",
                        s->name, s->map, PIO_MAP_TEXT_BYTES - 1, PIO_BLOCK_BYTES_MAX);
}

static bool load_striped(struct config_reader *l, const config_setting_t *group)
{
    static const char *const keys[] = {"volume", "over", "map", NULL};
    const char *name = NULL, *map = NULL;
    struct topo *t = &l->config->topo;

    if (!setting_check_keys(&l->r, group, keys) ||
        !setting_require(&l->r, group, "volume", "the name under which programs find its files, \"big\" say") ||
        !setting_require(&l->r, group, "over", "the volumes that hold the parts of its files") ||
        !setting_require(&l->r, group, "map", "which volume has which byte, \"cyclic 16384 2\" say") ||
        !setting_string(&l->r, group, "volume", &name) || !setting_string(&l->r, group, "map", &map) ||
        !check_name(l, group, name))
        return false;
    t->striped = memory_resize(t->striped, t->n_striped + 1, sizeof *t->striped);
    struct topo_striped *s = &t->striped[t->n_striped++];
    *s = (struct topo_striped){.map = memory_copy_text(map, SIZE_MAX)};
    strcpy(s->name, name);
    return load_over(l, group, s) && check_map(l, config_setting_get_member(group, "map"), s);
}

/* What the nodes are told of all striped volumes is one text (vertex/contract/system.h). */
static bool check_text(struct config_reader *l, const config_setting_t *list)
{
    size_t bytes = topo_striped_text(&l->config->topo, NULL, 0);

    return bytes <= LOAD_STRIPED_MAX_BYTES ||
           setting_fail(&l->r, list, "the striped volumes are described by %zu characters; at most %u fit", bytes,
                        LOAD_STRIPED_MAX_BYTES);
}

bool config_read_striped(struct config_reader *l, const config_setting_t *root)
{
    const config_setting_t *list = config_setting_get_member(root, "striped");

    return config_each(l, root, "striped", load_striped) && (!list || check_text(l, list));
}
