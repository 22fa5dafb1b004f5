/*
 * The state of the machine file's reader, which its parts share (config.c and the other files config_*.c). No other
 * file includes it.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "emu/config/config.h"
#include "emu/config/setting.h"

struct si_user { /* which I/O node uses the I/O channel of a compute node; line 0: none */
    uint32_t io_node;
    uint32_t line;
};

struct config_reader {
    struct setting_reader r;
    struct machine_config *config; /* which grows as the file is read */
    char *image_folder;
    uint32_t board;                    /* whose I/O nodes are read */
    struct si_user *si_user;           /* [compute nodes] */
    uint32_t *io_line;                 /* [topo.n_io], in the order of the file: where each I/O node is defined */
    uint32_t (*drive_line)[DRIVE_MAX]; /* likewise its drives */
};

static inline uint32_t config_compute_nodes(const struct config_reader *l)
{
    return 1u << l->config->topo.dim;
}

/* Reads each group of a list, if it is there. False, with the reader's error, if one is wrong. */
static inline bool config_each(struct config_reader *l, const config_setting_t *parent, const char *key,
                               bool (*load)(struct config_reader *l, const config_setting_t *group))
{
    const config_setting_t *list = NULL;
    bool good = setting_groups(&l->r, parent, key, &list);

    for (int i = 0; list && i < config_setting_length(list) && setting_goes_on(&l->r, good); i++)
        good = load(l, config_setting_get_elem(list, (unsigned)i)) && good;
    return good;
}

/* Checks that a name can be a volume's, and writes the error for `at` otherwise. */
bool config_check_volume_name(struct config_reader *l, const config_setting_t *at, const char *name);

/* Reads the list `striped`, if there is one, after the boards, whose volumes it names. False, with the reader's error,
 * if it is wrong. */
bool config_read_striped(struct config_reader *l, const config_setting_t *root);

/* Reads the group `cfs`, if there is one, after the boards. False, with the reader's error, if it is wrong. */
bool config_read_cfs(struct config_reader *l, const config_setting_t *root);
/* Reads `metadata`, the volume of Clusterfile's names, likewise. */
bool config_read_metadata(struct config_reader *l, const config_setting_t *root);

/* Read `timing`, and then `cycles`, which overrides it. False, with the reader's error, if something is wrong. */
bool config_read_timing(struct config_reader *l, const config_setting_t *root);
bool config_read_cycles(struct config_reader *l, const config_setting_t *root);

/* Reads `costs`. False, with the reader's error, if it is wrong. config_default_costs sets those of a machine whose
 * file does not say otherwise. */
bool config_read_costs(struct config_reader *l, const config_setting_t *root);
void config_default_costs(struct machine_config *config);

/* Reads the list `faults`, if there is one. False, with the reader's error, if it is wrong. */
bool config_read_faults(struct config_reader *l, const config_setting_t *root);

/* Reads the keys of a drive's data cache; an absent cache_kb gives none. io has the drives before it. False, with the
 * reader's error, if something is wrong. */
bool config_read_cache(struct config_reader *l, const config_setting_t *drive, const struct topo_io_node *io,
                       struct drive_cache *cache);
/* Checks that an I/O node, all of whose drives have been read, has memory for their data caches. */
bool config_check_cache_memory(struct config_reader *l, const config_setting_t *drives, const struct topo_io_node *io);
