/*
 * Reads the machine file into a struct machine_config, top-down: machine, boards, I/O nodes, drives; then the faults
 * (config_faults.c).
 *
 * What must be unique in the whole machine is noted with its line as it is read, so that an error can name both places:
 * I/O nodes, SI nodes (each has one channel 13), volumes, images.
 */
#include "emu/config/config.h"

#include <assert.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/base/order.h"
#include "emu/config/config_state.h"
#include "emu/config/machine_file.h"
#include "emu/config/overrides.h"
#include "emu/model/disk.h"

#define RPM_LEAST 600

#define SERVER_LIMIT_S     60 /* a server that works makes progress: a command of a drive takes a second at most */
#define SERVER_LIMIT_MAX_S 100000

/* Of QEMU's buffer for translated code: the kernel, nsdisk and a program take 2 to 4; QEMU takes less than 2048. */
#define CODE_MB     1024
#define CODE_MB_MIN 16
#define CODE_MB_MAX 2047

static char *copy(const char *text)
{
    return memory_copy_text(text, SIZE_MAX);
}

/* ---- Paths -------------------------------------------------------------------------------- */

static char *join_path(const char *folder, const char *name)
{
    return *name == '/' || strcmp(folder, ".") == 0 ? copy(name) : memory_print("%s/%s", folder, name);
}

static char *image_folder_of(const struct config_reader *l, const char *images, const char *override)
{
    if (override)
        return copy(override);
    char *path = copy(l->r.path);
    char *folder = images ? join_path(dirname(path), images) : copy(dirname(path));
    free(path);
    return folder;
}

/* ---- Drives ------------------------------------------------------------------------------- */

static bool check_drive_is_new(struct config_reader *l, const config_setting_t *at, const struct topo_drive *drive)
{
    const struct topo *t = &l->config->topo;

    for (uint32_t j = 0; j < t->n_io; j++) {
        for (uint32_t d = 0; d < t->io[j].ndrives; d++) {
            const struct topo_drive *other = &t->io[j].drive[d];

            if (strcmp(drive->volume, other->volume) == 0)
                return setting_fail(&l->r, at, "volume '%s' is already defined in line %u; volume names are unique",
                                    drive->volume, l->drive_line[j][d]);
            if (strcmp(drive->image, other->image) == 0)
                return setting_fail(&l->r, at, "image '%s' already belongs to volume '%s' (line %u)", drive->image,
                                    other->volume, l->drive_line[j][d]);
        }
    }
    return true;
}

static bool load_rpm(struct config_reader *l, const config_setting_t *group, const char *name, uint32_t *rpm)
{
    const struct disk_model *model = disk_model_find(name);
    int64_t value = model->rpm;

    if (!setting_integer(&l->r, group, "rpm", RPM_LEAST, disk_model_most_rpm(model), &value))
        return false;
    *rpm = (uint32_t)value;
    return true;
}

static bool load_drive(struct config_reader *l, const config_setting_t *group)
{
    static const char *const keys[] = {"volume", "image", "model",    "cache_kb", "block",  "group", "look_ahead",
                                       "write",  "evict", "commands", "fill",     "misses", "rpm",   NULL};
    const char *volume = NULL, *image = NULL;
    uint32_t model = 0;
    struct setting_reader *r = &l->r;

    if (!setting_check_keys(r, group, keys) ||
        !setting_require(r, group, "volume", "the drive's volume name, \"df00\" say") ||
        !setting_require(r, group, "image", "the path of its image file") ||
        !setting_string(r, group, "volume", &volume) || !setting_string(r, group, "image", &image) ||
        !setting_choice(r, group, "model", disk_model_names, &model) || !config_check_volume_name(l, group, volume))
        return false;

    struct topo *t = &l->config->topo;
    struct topo_io_node *io = &t->io[t->n_io - 1];
    struct topo_drive drive = {.volume = ""};
    if (!config_read_cache(l, group, io, &drive.cache) || !load_rpm(l, group, disk_model_names[model], &drive.rpm))
        return false;
    drive.image = join_path(l->image_folder, image);
    strcpy(drive.volume, volume);
    if (!check_drive_is_new(l, group, &drive)) {
        free(drive.image);
        return false;
    }
    drive.model = copy(disk_model_names[model]);
    l->drive_line[t->n_io - 1][io->ndrives] = setting_line(group);
    io->drive[io->ndrives++] = drive;
    return true;
}

static bool load_drives(struct config_reader *l, const config_setting_t *io_group)
{
    const config_setting_t *drives = config_setting_get_member(io_group, "drives");

    if (drives && config_setting_is_list(drives) && config_setting_length(drives) > (int)DRIVE_MAX)
        return setting_fail(&l->r, drives, "%d drives; a controller has at most %u", config_setting_length(drives),
                            DRIVE_MAX);
    return config_each(l, io_group, "drives", load_drive) &&
           config_check_cache_memory(l, drives, &l->config->topo.io[l->config->topo.n_io - 1]);
}

/* ---- Wiring ------------------------------------------------------------------------------- */

static bool connect(struct config_reader *l, const config_setting_t *at, struct topo_io_node *io, uint32_t k,
                    uint32_t si)
{
    struct si_user *user = &l->si_user[si];

    if (user->line)
        return setting_fail(&l->r, at,
                            "channel %u cannot reach compute node %u: "
                            "that node's I/O channel goes to I/O node %u of board %u (line %u)",
                            k, si, NODE_INDEX_OF(user->io_node), NODE_BOARD_OF(user->io_node), user->line);
    *user = (struct si_user){io->node, setting_line(at)};
    io->si[k] = si;
    return true;
}

/* `si = [n0, n1, ...]`: connects channel k to compute node nk; -1 stands for none. */
static bool wire_freely(struct config_reader *l, const config_setting_t *si, struct topo_io_node *io)
{
    for (uint32_t k = 0; k < (uint32_t)config_setting_length(si); k++) {
        int64_t node;

        if (!setting_integer_at(&l->r, si, k, -1, config_compute_nodes(l) - 1, &node))
            return false;
        if (node >= 0 && !connect(l, si, io, k, (uint32_t)node))
            return false;
    }
    return true;
}

/* `channels = [k, ...]`: connects those channels, wired as at Sandia. */
static bool wire_channels(struct config_reader *l, const config_setting_t *channels, struct topo_io_node *io)
{
    for (uint32_t i = 0; i < (uint32_t)config_setting_length(channels); i++) {
        int64_t k;

        if (!setting_integer_at(&l->r, channels, i, 0, NCU_SI_CHANNELS - 1, &k))
            return false;
        uint32_t si = topo_sandia_si(NODE_BOARD_OF(io->node), NODE_INDEX_OF(io->node), (uint32_t)k);
        if (si >= config_compute_nodes(l))
            return setting_fail(&l->r, channels, "channel %u reaches compute node %u, which a %u-cube does not have",
                                (uint32_t)k, si, l->config->topo.dim);
        if (!connect(l, channels, io, (uint32_t)k, si))
            return false;
    }
    return true;
}

/* Neither key is given: connects all channels whose compute node exists, wired as at Sandia [P0 Table 1]. */
static bool wire_sandia(struct config_reader *l, const config_setting_t *io_group, struct topo_io_node *io)
{
    for (uint32_t k = 0; k < NCU_SI_CHANNELS; k++) {
        uint32_t si = topo_sandia_si(NODE_BOARD_OF(io->node), NODE_INDEX_OF(io->node), k);

        if (si < config_compute_nodes(l) && !connect(l, io_group, io, k, si))
            return false;
    }
    return true;
}

static bool is_connected(const struct topo_io_node *io)
{
    for (uint32_t k = 0; k < NCU_SI_CHANNELS; k++)
        if (io->si[k] != TOPO_NONE)
            return true;
    return false;
}

static bool wire(struct config_reader *l, const config_setting_t *io_group, struct topo_io_node *io)
{
    const config_setting_t *si = NULL, *channels = NULL;

    if (!setting_integers(&l->r, io_group, "si", NCU_SI_CHANNELS, &si) ||
        !setting_integers(&l->r, io_group, "channels", NCU_SI_CHANNELS, &channels))
        return false;
    if (si && channels)
        return setting_fail(&l->r, channels, "'channels' selects from the Sandia wiring, 'si' wires freely: give one");
    bool good = si ? wire_freely(l, si, io) : channels ? wire_channels(l, channels, io) : wire_sandia(l, io_group, io);
    if (good && !is_connected(io))
        return setting_fail(&l->r, io_group,
                            "I/O node %u of board %u reaches no compute node of a %u-cube; wire it with 'si'",
                            NODE_INDEX_OF(io->node), NODE_BOARD_OF(io->node), l->config->topo.dim);
    return good;
}

/* ---- Boards and I/O nodes ----------------------------------------------------------------- */

static struct topo_io_node *append_io_node(struct config_reader *l, uint32_t node, uint32_t line)
{
    struct topo *t = &l->config->topo;

    t->io = memory_resize(t->io, t->n_io + 1, sizeof *t->io);
    l->io_line = memory_resize(l->io_line, t->n_io + 1, sizeof *l->io_line);
    l->drive_line = memory_resize(l->drive_line, t->n_io + 1, sizeof *l->drive_line);
    l->io_line[t->n_io] = line;
    struct topo_io_node *io = &t->io[t->n_io++];
    *io = (struct topo_io_node){.node = node};
    for (uint32_t k = 0; k < NCU_SI_CHANNELS; k++)
        io->si[k] = TOPO_NONE;
    return io;
}

static bool load_service(struct config_reader *l, const config_setting_t *group, struct topo_io_node *io)
{
    static const char *const services[] = {"in-order", "concurrent", NULL};
    uint32_t service = 0;
    bool good = setting_choice(&l->r, group, "service", services, &service);

    io->concurrent = service == 1;
    return good;
}

static bool load_io_node(struct config_reader *l, const config_setting_t *group)
{
    static const char *const keys[] = {"index", "channels", "si", "drives", "service", NULL};
    int64_t index = 0;

    if (!setting_check_keys(&l->r, group, keys) ||
        !setting_require(&l->r, group, "index", "the I/O node's number on its board, 0 to 15") ||
        !setting_integer(&l->r, group, "index", 0, NODE_BOARD_NODES - 1, &index))
        return false;
    uint32_t node = NODE_IO(l->board, (uint32_t)index);
    for (uint32_t j = 0; j < l->config->topo.n_io; j++)
        if (l->config->topo.io[j].node == node)
            return setting_fail(&l->r, group, "I/O node %u of board %u is already defined in line %u", (uint32_t)index,
                                l->board, l->io_line[j]);
    struct topo_io_node *io = append_io_node(l, node, setting_line(group));
    bool good = wire(l, group, io);
    if (setting_goes_on(&l->r, good))
        good = load_service(l, group, io) && good;
    if (setting_goes_on(&l->r, good))
        good = load_drives(l, group) && good;
    return good;
}

static bool load_board(struct config_reader *l, const config_setting_t *group)
{
    static const char *const keys[] = {"number", "io_nodes", NULL};
    int64_t number = 0;

    if (!setting_check_keys(&l->r, group, keys) ||
        !setting_require(&l->r, group, "number", "the board's number, which the Sandia wiring depends on") ||
        !setting_integer(&l->r, group, "number", 0, NODE_BOARDS - 1, &number))
        return false;
    l->board = (uint32_t)number;
    return config_each(l, group, "io_nodes", load_io_node);
}

static int by_node(const void *a, const void *b)
{
    return order(((const struct topo_io_node *)a)->node, ((const struct topo_io_node *)b)->node);
}

static bool load_boards(struct config_reader *l, const config_setting_t *root)
{
    struct topo *t = &l->config->topo;

    l->si_user = memory_new(config_compute_nodes(l), sizeof *l->si_user);
    bool good = config_each(l, root, "boards", load_board);
    order_sort(t->io, t->n_io, sizeof *t->io, by_node);
    return good;
}

/* ---- The machine -------------------------------------------------------------------------- */

/* Whether they are the nodes of the machine is checked where there are racks. */
static bool load_racks(struct config_reader *l, const config_setting_t *root)
{
    const config_setting_t *array = NULL;
    bool good = setting_integers(&l->r, root, "racks", CONFIG_RACKS_MOST, &array);

    l->config->n_racks = array ? (uint32_t)config_setting_length(array) : 0;
    for (uint32_t k = 0; good && k < l->config->n_racks; k++) {
        int64_t nodes = 0;

        good = setting_integer_at(&l->r, array, k, 1, NODE_HOST, &nodes);
        l->config->rack_nodes[k] = (uint32_t)nodes;
    }
    return good;
}

static bool load_size(struct config_reader *l, const config_setting_t *root)
{
    int64_t dim = 0, ram_mb = NODE_RAM_DEFAULT_BYTES >> 20, per_cabinet = CABINET_MAX_NODES,
            text_kb = CABINET_TEXT_MAX_BYTES >> 10, code_mb = CODE_MB, limit_s = SERVER_LIMIT_S;

    if (!setting_require(&l->r, root, "dim", "the dimension of the hypercube, 0 to 13") ||
        !setting_integer(&l->r, root, "dim", 0, NODE_MAX_DIM, &dim) ||
        !setting_integer(&l->r, root, "ram_mb", NODE_RAM_MIN_BYTES >> 20, NODE_RAM_MAX_BYTES >> 20, &ram_mb) ||
        !setting_integer(&l->r, root, "nodes_per_cabinet", 1, CABINET_MAX_NODES, &per_cabinet) ||
        !setting_integer(&l->r, root, "shared_text_kb", 0, CABINET_TEXT_MAX_BYTES >> 10, &text_kb) ||
        !setting_integer(&l->r, root, "translation_mb", CODE_MB_MIN, CODE_MB_MAX, &code_mb) ||
        !setting_integer(&l->r, root, "server_limit_s", 1, SERVER_LIMIT_MAX_S, &limit_s))
        return false;
    if (ram_mb & (ram_mb - 1))
        return setting_fail(&l->r, config_setting_get_member(root, "ram_mb"),
                            "ram_mb = %d is not a power of two; it must be 1, 2, 4, 8, 16, 32 or 64", (int)ram_mb);
    struct topo *t = &l->config->topo;
    t->dim = (uint32_t)dim;
    t->ram_bytes = (uint64_t)ram_mb << 20;
    t->nodes_per_cabinet = (uint32_t)per_cabinet;
    t->shared_text_kb = (uint32_t)text_kb;
    t->code_mb = (uint32_t)code_mb;
    t->server_limit_s = (uint32_t)limit_s;
    return load_racks(l, root);
}

static bool choose_host_si(struct config_reader *l, const config_setting_t *root)
{
    for (uint32_t node = 0; node < config_compute_nodes(l); node++) {
        if (!l->si_user[node].line) {
            l->config->topo.host_si = node;
            return true;
        }
    }
    return setting_fail(&l->r, root, "no compute node has its I/O channel free for the front end");
}

static bool load_front_end(struct config_reader *l, const config_setting_t *root)
{
    static const char *const keys[] = {"si", NULL};
    const config_setting_t *group = NULL;
    int64_t si = -1;

    if (!setting_group(&l->r, root, "front_end", &group))
        return false;
    if (group && (!setting_check_keys(&l->r, group, keys) ||
                  !setting_integer(&l->r, group, "si", 0, config_compute_nodes(l) - 1, &si)))
        return false;
    if (si < 0)
        return choose_host_si(l, root);
    const struct si_user *user = &l->si_user[si];
    if (user->line)
        return setting_fail(&l->r, config_setting_get_member(group, "si"),
                            "the I/O channel of compute node %u goes to I/O node %u of board %u (line %u)",
                            (uint32_t)si, NODE_INDEX_OF(user->io_node), NODE_BOARD_OF(user->io_node), user->line);
    l->config->topo.host_si = (uint32_t)si;
    return true;
}

/* The other parts of the file name parts of the boards: they can be judged only if those are good. */
static bool load_parts(struct config_reader *l, const config_setting_t *root)
{
    bool good = load_boards(l, root),
         (*const parts[])(struct config_reader *, const config_setting_t *) = {
             config_read_striped, config_read_cfs, config_read_metadata, load_front_end, config_read_faults};

    for (size_t i = 0, boards = good; boards && i < sizeof parts / sizeof *parts && setting_goes_on(&l->r, good); i++)
        good = parts[i](l, root) && good;
    if (setting_goes_on(&l->r, good))
        good = config_read_timing(l, root) && good;
    if (setting_goes_on(&l->r, good))
        good = config_read_cycles(l, root) && good;
    if (setting_goes_on(&l->r, good))
        good = config_read_costs(l, root) && good;
    return good;
}

static bool load_machine(struct config_reader *l, const config_setting_t *root, const char *image_folder)
{
    static const char *const keys[] = {"dim",
                                       "ram_mb",
                                       "nodes_per_cabinet",
                                       "shared_text_kb",
                                       "translation_mb",
                                       "boards",
                                       "front_end",
                                       "images",
                                       "cycles",
                                       "timing",
                                       "faults",
                                       "striped",
                                       "cfs",
                                       "metadata",
                                       "server_limit_s",
                                       "costs",
                                       "racks",
                                       NULL};
    const char *images = NULL;

    bool good = setting_check_keys(&l->r, root, keys);
    if (!setting_goes_on(&l->r, good) || !load_size(l, root) || !setting_string(&l->r, root, "images", &images))
        return false;
    l->image_folder = image_folder_of(l, images, image_folder);
    return load_parts(l, root) && good;
}

/* Returns the settings as text; NULL: no memory. */
static char *write_text(config_t *parsed)
{
    char *text = NULL;
    size_t bytes;
    FILE *f = open_memstream(&text, &bytes);

    if (!f)
        return NULL;
    config_write(parsed, f);
    return fclose(f) == 0 ? text : NULL;
}

int config_check(struct machine_config *config, const char *path, const char *image_folder,
                 void (*say)(void *ctx, const char *fault), void *ctx, char *error, size_t error_bytes)
{
    *config = (struct machine_config){.path = machine_file_find(path)};
    struct config_reader l = {.r = {.path = config->path,
                                    .error = error,
                                    .error_bytes = error_bytes,
                                    .files = &config->files,
                                    .say = say,
                                    .ctx = ctx},
                              .config = config};
    config_t parsed;
    bool good = setting_parse(&l.r, &parsed) && overrides_apply(&l.r, config_root_setting(&parsed)) &&
                load_machine(&l, config_root_setting(&parsed), image_folder);
    if (good)
        config->text = write_text(&parsed);
    free(l.drive_line);
    free(l.io_line);
    free(l.si_user);
    free(l.image_folder);
    config_destroy(&parsed);
    if (!good && say && l.r.faults == 0)
        say(ctx, error);
    if (!good)
        config_free(config);
    return good ? 0 : -1;
}

int config_load(struct machine_config *config, const char *path, const char *image_folder, char *error,
                size_t error_bytes)
{
    return config_check(config, path, image_folder, NULL, NULL, error, error_bytes);
}

void config_default(struct machine_config *config, uint32_t dim)
{
    assert(dim <= NODE_MAX_DIM);
    *config = (struct machine_config){
        .topo = {.dim = dim,
                 .ram_bytes = NODE_RAM_DEFAULT_BYTES,
                 .nodes_per_cabinet = CABINET_MAX_NODES,
                 .server_limit_s = SERVER_LIMIT_S,
                 .shared_text_kb = CABINET_TEXT_MAX_BYTES >> 10,
                 .code_mb = CODE_MB},
    };
    config_default_costs(config);
}

void config_free(struct machine_config *config)
{
    for (uint32_t i = 0; i < config->n_costs; i++) {
        free(config->cost[i].name);
        free(config->cost[i].where);
    }
    free(config->cost);
    free(config->fault);
    free(config->path);
    free(config->text);
    inputs_free(&config->files);
    topo_free(&config->topo);
    *config = (struct machine_config){0};
}
