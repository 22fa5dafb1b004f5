/*
 * The list `faults` of the machine file (docs/machine-file.md). It is read after boards and drives, so that a fault can
 * name only parts that the machine has.
 */
#include "emu/base/memory.h"
#include "emu/config/config_state.h"

#define FAULT_MAX_US 1000000000000ll /* eleven days of virtual time */

/* Reads `key = [a, b]`: exactly two integers, each from 0 to its limit. */
static bool load_pair(struct config_reader *l, const config_setting_t *group, const char *key, int64_t most_a,
                      int64_t most_b, uint32_t pair[2])
{
    const config_setting_t *array = NULL;
    int64_t a, b;

    if (!setting_integers(&l->r, group, key, 2, &array))
        return false;
    if (config_setting_length(array) != 2)
        return setting_fail(&l->r, array, "'%s' takes two numbers", key);
    if (!setting_integer_at(&l->r, array, 0, 0, most_a, &a) || !setting_integer_at(&l->r, array, 1, 0, most_b, &b))
        return false;
    pair[0] = (uint32_t)a;
    pair[1] = (uint32_t)b;
    return true;
}

static bool load_fault_io_node(struct config_reader *l, const config_setting_t *group, struct fault *f)
{
    uint32_t pair[2];

    if (!load_pair(l, group, "io_node", NODE_BOARDS - 1, NODE_BOARD_NODES - 1, pair))
        return false;
    f->kind = FAULT_NODE;
    f->node = NODE_IO(pair[0], pair[1]);
    return topo_has_node(&l->config->topo, f->node) ||
           setting_fail(&l->r, group, "there is no I/O node %u on board %u", pair[1], pair[0]);
}

static bool load_fault_node(struct config_reader *l, const config_setting_t *group, struct fault *f)
{
    int64_t node = 0;

    if (!setting_integer(&l->r, group, "node", 0, config_compute_nodes(l) - 1, &node))
        return false;
    f->kind = FAULT_NODE;
    f->node = (uint32_t)node;
    return true;
}

static bool load_fault_link(struct config_reader *l, const config_setting_t *group, struct fault *f)
{
    uint32_t pair[2];

    if (!load_pair(l, group, "link", config_compute_nodes(l) - 1, NCU_IO_CHANNEL, pair))
        return false;
    if (f->kind != FAULT_PARITY)
        f->kind = FAULT_LINK;
    f->node = pair[0];
    f->channel = pair[1];
    return (topo_node_channels(&l->config->topo, f->node) >> f->channel & 1) != 0 ||
           setting_fail(&l->r, group, "channel %u of compute node %u is not connected", f->channel, f->node);
}

static bool load_fault_drive(struct config_reader *l, const config_setting_t *group, struct fault *f)
{
    const char *volume = NULL;

    if (!setting_string(&l->r, group, "drive", &volume))
        return false;
    f->kind = FAULT_DRIVE;
    f->node = topo_find_volume(&l->config->topo, volume, &f->drive);
    return f->node != TOPO_NONE || setting_fail(&l->r, group, "there is no volume '%s'", volume);
}

static bool load_fault_parity(struct config_reader *l, const config_setting_t *group, struct fault *f)
{
    int64_t rate = 0, seed = 1;

    if (!setting_integer(&l->r, group, "parity", 1, FAULT_RATE_ONE, &rate) ||
        !setting_integer(&l->r, group, "seed", 0, INT64_MAX, &seed))
        return false;
    f->kind = FAULT_PARITY;
    f->node = TOPO_NONE;
    f->rate = (uint32_t)rate;
    f->seed = (uint64_t)seed;
    return !config_setting_get_member(group, "link") || load_fault_link(l, group, f);
}

static bool load_fault_times(struct config_reader *l, const config_setting_t *group, struct fault *f)
{
    int64_t from = 0, until = -1;

    if (!setting_integer(&l->r, group, "from_us", 0, FAULT_MAX_US, &from) ||
        !setting_integer(&l->r, group, "until_us", 0, FAULT_MAX_US, &until))
        return false;
    if (until >= 0 && until <= from)
        return setting_fail(&l->r, group, "until_us = %lld does not lie after from_us = %lld", (long long)until,
                            (long long)from);
    f->from_cycles = (uint64_t)from * CYCLES_PER_US;
    f->until_cycles = until < 0 ? FAULT_NEVER : (uint64_t)until * CYCLES_PER_US;
    return true;
}

/* The first of these keys that is given is the kind of the fault; only `parity` takes a second one, `link`. */
static const struct fault_key {
    const char *key;
    bool (*load)(struct config_reader *l, const config_setting_t *group, struct fault *f);
} fault_keys[] = {
    {"parity", load_fault_parity},   {"link", load_fault_link},   {"node", load_fault_node},
    {"io_node", load_fault_io_node}, {"drive", load_fault_drive},
};
#define FAULT_KEYS (sizeof fault_keys / sizeof *fault_keys)

static bool load_fault(struct config_reader *l, const config_setting_t *group)
{
    static const char *const keys[] = {"parity", "seed",    "link",     "node", "io_node",
                                       "drive",  "from_us", "until_us", NULL};
    const struct fault_key *what = NULL;
    struct fault f = {0};
    uint32_t given = 0;

    if (!setting_check_keys(&l->r, group, keys))
        return false;
    for (size_t i = 0; i < FAULT_KEYS; i++)
        if (config_setting_get_member(group, fault_keys[i].key)) {
            what = what ? what : &fault_keys[i];
            given++;
        }
    bool noisy_link =
        given == 2 && config_setting_get_member(group, "parity") && config_setting_get_member(group, "link");
    if (given != 1 && !noisy_link)
        return setting_fail(&l->r, group,
                            "a fault is of one link, node, io_node or drive, or parity of one or all links");
    if (config_setting_get_member(group, "seed") && !config_setting_get_member(group, "parity"))
        return setting_fail(&l->r, group, "'seed' needs 'parity'");
    if (!what->load(l, group, &f) || !load_fault_times(l, group, &f))
        return false;
    struct machine_config *c = l->config;
    c->fault = memory_resize(c->fault, c->n_faults + 1, sizeof *c->fault);
    c->fault[c->n_faults++] = f;
    return true;
}

bool config_read_faults(struct config_reader *l, const config_setting_t *root)
{
    return config_each(l, root, "faults", load_fault);
}
