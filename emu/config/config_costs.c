/*
 * The keys `timing`, `cycles` and `costs` of the machine file.
 *
 * `timing` names a preset (emu/model/timing.h), or is a group that names one, or none, and changes some of it: the
 * network's times, whether it broadcasts, and what messages are charged, [send, receive, for each 1024 bytes], on
 * compute nodes and on I/O nodes; there also after a family's reply has left, for which the server then waits.
 *
 * `cycles` are the costs of classes of instructions: those that it names replace the preset's.
 *
 * `costs` are the stated costs of files (vertex/contract/stated.h). A group changes some rows of the default table,
 * each to [begin, change, command, end, for each 1024 bytes]; "instructions" states nothing. No preset changes them.
 */
#include <string.h>

#include "emu/base/memory.h"
#include "emu/config/config_state.h"
#include "emu/model/timing.h"

#define STATED_MAX_CYCLES 20000000 /* a second */
#define CHARGE_MAX_CYCLES 50000    /* 2.5 ms; for each 1024 bytes of all of a node's memory, below 2^32 */
#define CLASS_MAX_CYCLES  100000
#define HOP_MAX_CYCLES    100000
#define BYTE_MAX_CYCLES   10000
#define HEADER_MAX_BYTES  256

/* Reads an array of `n` numbers of cycles, each at most `most`; those that are left out are 0. Returns whether it is
 * there, and clears *good, with the reader's error, if it is wrong. */
static bool read_cycles(struct config_reader *l, const config_setting_t *group, const char *key, uint32_t n,
                        int64_t most, int64_t *cycles, bool *good)
{
    const config_setting_t *array = NULL;

    *good = setting_integers(&l->r, group, key, n, &array);
    for (uint32_t i = 0; array && *good && i < (uint32_t)config_setting_length(array); i++)
        *good = setting_integer_at(&l->r, array, i, 0, most, &cycles[i]);
    return array && *good;
}

/* ---- timing ---- */

static void add_cost(struct config_reader *l, const config_setting_t *at, const char *name, uint32_t cycles)
{
    struct machine_config *c = l->config;
    char where[512];

    setting_where(&l->r, at, where, sizeof where);
    c->cost = memory_resize(c->cost, c->n_costs + 1, sizeof *c->cost);
    c->cost[c->n_costs++] =
        (struct config_cost){memory_copy_text(name, SIZE_MAX), cycles, memory_copy_text(where, SIZE_MAX)};
}

static bool read_preset(struct config_reader *l, const config_setting_t *group, const char *key, struct timing *timing)
{
    uint32_t preset = UINT32_MAX;
    bool good = setting_choice(&l->r, group, key, timing_names, &preset);

    if (preset != UINT32_MAX)
        *timing = timing_presets[preset];
    return good;
}

static bool read_channels(struct config_reader *l, const config_setting_t *group, struct timing *timing)
{
    struct channel_times *c = &timing->channels;
    int64_t hop = c->hop_cycles, byte = c->byte_cycles, header = c->header_bytes, broadcasts = !timing->no_broadcasts;
    bool good = setting_integer(&l->r, group, "hop_cycles", 1, HOP_MAX_CYCLES, &hop) &&
                setting_integer(&l->r, group, "byte_cycles", 1, BYTE_MAX_CYCLES, &byte) &&
                setting_integer(&l->r, group, "header_bytes", 1, HEADER_MAX_BYTES, &header) &&
                setting_integer(&l->r, group, "broadcasts", 0, 1, &broadcasts);

    *c = (struct channel_times){(uint32_t)hop, (uint32_t)byte, (uint32_t)header};
    timing->no_broadcasts = !broadcasts;
    return good;
}

static bool read_charges(struct config_reader *l, const config_setting_t *group, const char *key, uint32_t numbers,
                         struct software_cost *cost)
{
    int64_t cycles[4] = {0};
    bool good;

    if (read_cycles(l, group, key, numbers, CHARGE_MAX_CYCLES, cycles, &good))
        *cost = (struct software_cost){.send_cycles = (uint32_t)cycles[0],
                                       .receive_cycles = (uint32_t)cycles[1],
                                       .kb_cycles = (uint32_t)cycles[2],
                                       .after_cycles = (uint32_t)cycles[3]};
    return good;
}

static bool change_preset(struct config_reader *l, const config_setting_t *group, struct timing *timing)
{
    static const char *const keys[] = {"preset",     "hop_cycles", "byte_cycles", "header_bytes",
                                       "broadcasts", "compute",    "io",          NULL};

    if (!setting_check_keys(&l->r, group, keys) || !read_preset(l, group, "preset", timing))
        return false;
    timing->channels = topo_times(&(struct topo){.times = timing->channels});
    return read_channels(l, group, timing) && read_charges(l, group, "compute", 3, &timing->software.compute) &&
           read_charges(l, group, "io", 4, &timing->software.io);
}

bool config_read_timing(struct config_reader *l, const config_setting_t *root)
{
    const config_setting_t *timing = config_setting_get_member(root, "timing");
    bool is_group = timing && config_setting_is_group(timing);
    struct timing t = {0};

    if (!(is_group ? change_preset(l, timing, &t) : read_preset(l, root, "timing", &t)))
        return false;
    l->config->topo.times = t.channels;
    l->config->topo.no_broadcasts = t.no_broadcasts;
    l->config->software = t.software;
    for (const struct instruction_cost *c = t.instructions; c && c->class; c++)
        add_cost(l, timing, c->class, c->cycles);
    return true;
}

/* ---- cycles ---- */

bool config_read_cycles(struct config_reader *l, const config_setting_t *root)
{
    const config_setting_t *group = NULL;

    if (!setting_group(&l->r, root, "cycles", &group))
        return false;
    bool good = true;
    for (int i = 0; group && i < config_setting_length(group) && setting_goes_on(&l->r, good); i++) {
        const config_setting_t *s = config_setting_get_elem(group, (unsigned)i);
        int64_t cycles;
        bool right = setting_integer(&l->r, group, config_setting_name(s), 1, CLASS_MAX_CYCLES, &cycles);

        if (right)
            add_cost(l, s, config_setting_name(s), (uint32_t)cycles);
        good = right && good;
    }
    return good;
}

/* ---- costs ---- */

static bool check_rows(struct config_reader *l, const config_setting_t *group)
{
    const char *keys[STATED_ROWS + 1] = {NULL};

    for (uint32_t row = 0; row < STATED_ROWS; row++)
        keys[row] = software_stated[row].name;
    return setting_check_keys(&l->r, group, keys);
}

static bool read_row(struct config_reader *l, const config_setting_t *group, uint32_t row)
{
    int64_t cycles[5] = {0};
    bool good;

    if (read_cycles(l, group, software_stated[row].name, 5, STATED_MAX_CYCLES, cycles, &good))
        l->config->stated[row] = (struct stated_cost){(uint32_t)cycles[0], (uint32_t)cycles[1], (uint32_t)cycles[2],
                                                      (uint32_t)cycles[3], (uint32_t)cycles[4]};
    return good;
}

void config_default_costs(struct machine_config *config)
{
    for (uint32_t row = 0; row < STATED_ROWS; row++)
        config->stated[row] = software_stated[row].cost;
}

bool config_read_costs(struct config_reader *l, const config_setting_t *root)
{
    static const char *const presets[] = {"instructions", NULL};
    const config_setting_t *costs = config_setting_get_member(root, "costs"), *group = NULL;
    uint32_t preset;
    bool good = true;

    config_default_costs(l->config);
    if (costs && config_setting_type(costs) == CONFIG_TYPE_STRING) {
        memset(l->config->stated, 0, sizeof l->config->stated);
        return setting_choice(&l->r, root, "costs", presets, &preset);
    }
    if (!setting_group(&l->r, root, "costs", &group) || (group && !check_rows(l, group)))
        return false;
    for (uint32_t row = 0; group && row < STATED_ROWS && setting_goes_on(&l->r, good); row++)
        good = read_row(l, group, row) && good;
    return good;
}
