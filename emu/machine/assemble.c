/* Puts a machine together from its parts, in this order: the machine file and everything else that is read, outputs,
 * shared memory, cabinets, their memory, models (operate.c); and takes it apart again, however far it was built. */
#include "emu/machine/assemble.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/beside.h"
#include "emu/base/host.h"
#include "emu/base/limits.h"
#include "emu/base/memory.h"
#include "emu/base/plural.h"
#include "emu/base/progress.h"
#include "emu/base/signals.h"
#include "emu/watch/checking.h"
#include "emu/watch/cores.h"
#include "emu/watch/debugger.h"
#include "emu/state/explain.h"
#include "emu/machine/checkpoints.h"
#include "emu/machine/injectors.h"
#include "emu/machine/operate.h"
#include "emu/machine/placing.h"
#include "emu/machine/starting.h"
#include "emu/state/node_places.h"
#include "emu/state/origin.h"
#include "emu/state/outputs.h"
#include "emu/machine/recorded.h"
#include "emu/stats/stats_calls.h"
#include "emu/qemu/inside.h"
#include "vertex/contract/system.h"

#define PROGRESS_S 0.25 /* of the host, between two looks at how far the machine is */

/* ---- Reading everything that a run needs; nothing is started before ---- */

/* The machine file of a recording keeps its name. */
static int read_recorded_config(struct machine *m)
{
    const struct machine_options *o = m->options;
    char path[RECORDING_PATH_BYTES];

    if (!recording_path(o->recording, RECORDED_MACHINE, path)) {
        config_default(&m->config, o->dim);
        return 0;
    }
    if (config_load(&m->config, path, NULL, m->error, sizeof m->error) != 0)
        return machine_complain(m, "%s", m->error);
    free(m->config.path);
    m->config.path = o->machine_name ? memory_copy_text(o->machine_name, SIZE_MAX) : NULL;
    machine_reads(m, recording_file(o->recording), "the recording");
    return 0;
}

static int read_config(struct machine *m)
{
    const struct machine_options *o = m->options;

    if (recording_is_replayed(o->recording))
        return read_recorded_config(m);
    if (o->config && o->config->topo.ram_bytes > 0) {
        m->config = *o->config;
        *o->config = (struct machine_config){0};
        return 0;
    }
    if (!o->machine) {
        config_default(&m->config, o->dim);
        return 0;
    }
    if (config_check(&m->config, o->machine, o->images, o->say_fault, m, m->error, sizeof m->error) != 0)
        return o->say_fault ? -1 : machine_complain(m, "%s", m->error);
    m->inputs = m->config.files;
    m->config.files = (struct inputs){0};
    return 0;
}

static int read_programs(struct machine *m, bool io_nodes)
{
    char path[PART_PATH_BYTES];

    machine_find_part(m, "vertex.elf", path);
    if (elf_image_read(&m->kernel, path, m->error, sizeof m->error) != 0)
        return machine_complain(m, "%s", m->error);
    machine_find_part(m, "nsdisk.elf", path);
    if (io_nodes && elf_image_read(&m->nsdisk, path, m->error, sizeof m->error) != 0)
        return machine_complain(m, "%s", m->error);
    return 0;
}

#define SPARE_DESCRIPTORS 24u /* control segment, trace, statistics, files open for a moment, one or two served files */
#define SPARE_ADDRESSES   (64ull << 20)

static uint32_t count_open(void)
{
    uint32_t n = 0;
    DIR *d = opendir("/proc/self/fd");

    while (d && readdir(d))
        n++;
    if (d)
        closedir(d);
    return n;
}

/* The memory that a node touches before its program does anything: with 16 MB of RAM and QEMU's share, 780 KB were
 * measured, and 490 KB where cabinets are copies (docs/performance.md). The bound is lower, so that no machine is
 * refused that would have fitted. */
static uint64_t least_memory(const struct topo *t)
{
    return t->ram_bytes / 4 < 256u << 10 ? t->ram_bytes / 4 : 256u << 10;
}

/* A limit of addresses holds for each process: for this one, and for QEMU with the largest cabinet. */
static uint64_t addresses_here(const struct machine *m)
{
    uint64_t ram_bytes = m->config.topo.ram_bytes;

    return m->cabinets * cabinet_bytes(0, ram_bytes) + m->nodes * ram_bytes + SPARE_ADDRESSES;
}

static uint64_t needed_addresses(const struct machine *m, uint32_t largest)
{
    const struct topo *t = &m->config.topo;
    uint64_t here = addresses_here(m), qemu = cabinet_qemu_bytes(largest, t->ram_bytes, t->code_mb);

    return here > qemu ? here : qemu;
}

struct limits machine_needs(const struct machine *m, uint32_t first_cabinet, uint32_t end_cabinet)
{
    const struct topo *t = &m->config.topo;
    uint32_t largest = m->nodes < t->nodes_per_cabinet ? m->nodes : t->nodes_per_cabinet;
    uint32_t cabinets = end_cabinet - first_cabinet, nodes = cabinets * t->nodes_per_cabinet; /* of this host */

    if (nodes > m->nodes)
        nodes = m->nodes;
    return (struct limits){
        .descriptors = count_open() + cabinets * CABINET_DESCRIPTORS + topo_drives(t) + SPARE_DESCRIPTORS,
        .threads = nodes + cabinets * CABINET_MORE_THREADS,
        .address_bytes = needed_addresses(m, largest),
        .file_bytes = cabinet_bytes(largest, t->ram_bytes),
        .memory_bytes = nodes * least_memory(t),
    };
}

static int check_limits(struct machine *m)
{
    const struct limits there = limits_raise(), needed = machine_needs(m, m->first_cabinet, m->end_cabinet);

    return limits_suffice(&needed, &there, m->error, sizeof m->error) ? 0 : machine_complain(m, "%s", m->error);
}

static struct recorded_calls *calls_of_disk(struct machine *m, const struct topo_drive *drive)
{
    char name[RECORDED_NAME_BYTES];

    snprintf(name, sizeof name, "drive %s", drive->volume);
    return recording_calls(m->options->recording, name);
}

static void record_disk(struct machine *m, const struct topo_drive *drive, struct disk *disk)
{
    disk_set_rpm(disk, drive->rpm);
    disk_record(disk, calls_of_disk(m, drive));
}

/* The images of a recording are in memory. */
static int open_recorded_disk(struct machine *m, const struct topo_drive *drive, struct disk **disk)
{
    char name[RECORDED_NAME_BYTES], path[RECORDING_PATH_BYTES];

    snprintf(name, sizeof name, RECORDED_VOLUME, drive->volume);
    recording_path(m->options->recording, name, path);
    if (disk_open(disk, path, disk_model_find(drive->model), m->error, sizeof m->error) != 0)
        return machine_complain(m, "%s: the volume %s, %s", recording_file(m->options->recording), drive->volume,
                                m->error);
    record_disk(m, drive, *disk);
    return 0;
}

/* Two drives on one image, under two names, would overwrite each other. */
static int open_disk(struct machine *m, const struct topo_drive *drive, struct disk **disk)
{
    if (recording_is_replayed(m->options->recording))
        return open_recorded_disk(m, drive, disk);
    *disk = disk_open_held(calls_of_disk(m, drive), disk_model_find(drive->model));
    if (*disk) {
        record_disk(m, drive, *disk);
        return 0;
    }
    const char *other = inputs_find(&m->inputs, drive->image);

    if (other)
        return machine_complain(m, "the image of volume %s, %s, is also %s; each drive needs a file of its own",
                                drive->volume, drive->image, other);
    inputs_add(&m->inputs, drive->image, "the image of volume %s", drive->volume);
    if (disk_open(disk, drive->image, disk_model_find(drive->model), m->error, sizeof m->error) != 0)
        return machine_complain(m, "%s", m->error);
    record_disk(m, drive, *disk);
    return 0;
}

static int open_disks(struct machine *m)
{
    m->disk = memory_new(m->config.topo.n_io * DRIVE_MAX, sizeof(struct disk *));
    for (uint32_t i = 0; i < m->config.topo.n_io; i++)
        for (uint32_t d = 0; d < m->config.topo.io[i].ndrives; d++)
            if (open_disk(m, &m->config.topo.io[i].drive[d], &m->disk[i * DRIVE_MAX + d]) != 0)
                return -1;
    return 0;
}

static int open_statistics(struct machine *m)
{
    const char *path = m->options->statistics_file;

    if (!path)
        return 0;
    m->statistics = machine_open_output(m, "--stats", path);
    return m->statistics ? 0 : -1;
}

/* ---- Filling the memory ---- */

static void place_kernel(const struct machine *m, const struct cabinet *c)
{
    for (uint32_t i = 0; i < m->kernel.segments; i++) {
        const struct elf_segment *s = &m->kernel.segment[i];

        if (s->file_bytes > 0)
            memcpy(cabinet_shared(c, s->pa), s->data, s->file_bytes);
    }
}

/* Returns the bytes that a segment takes of the shared region: whole pages, from the start of its first one. */
static uint64_t builtin_bytes(const struct elf_segment *s)
{
    return round_up(s->va % NODE_PAGE_BYTES + s->file_bytes, NODE_PAGE_BYTES);
}

/* An nsdisk needs no drivers. */
static bool is_placed(const struct elf_segment *s)
{
    return !(s->flags & PROGRAM_SEGMENT_DRIVERS);
}

static void place_nsdisk(const struct machine *m, const struct cabinet *c, struct boot_info *info)
{
    uint64_t pa = CABINET_BUILTIN_BASE;

    info->builtin_entry = m->nsdisk.entry;
    for (uint32_t i = 0; i < m->nsdisk.segments; i++) {
        const struct elf_segment *s = &m->nsdisk.segment[i];
        if (!is_placed(s))
            continue;
        uint64_t offset = s->va % NODE_PAGE_BYTES; /* of the first byte in its page */

        info->segment[info->segments++] = (struct boot_segment){.pa = pa,
                                                                .va = s->va - offset,
                                                                .file_bytes = s->file_bytes + offset,
                                                                .mem_bytes = s->mem_bytes + offset,
                                                                .writable = (s->flags & ELF_SEGMENT_W) != 0};
        if (s->file_bytes > 0)
            memcpy(cabinet_shared(c, pa + offset), s->data, s->file_bytes);
        pa += builtin_bytes(s);
    }
}

static int check_nsdisk(struct machine *m)
{
    uint64_t bytes = 0;
    uint32_t segments = 0;

    for (uint32_t i = 0; i < m->nsdisk.segments; i++)
        if (is_placed(&m->nsdisk.segment[i])) {
            bytes += builtin_bytes(&m->nsdisk.segment[i]);
            segments++;
        }
    if (segments > sizeof((struct boot_info *)0)->segment / sizeof(struct boot_segment))
        return machine_complain(m, "nsdisk.elf has %u segments, more than 4; build ncube again", segments);
    if (bytes > CABINET_TEXT_BASE - CABINET_BUILTIN_BASE)
        return machine_complain(m, "nsdisk.elf takes %" PRIu64 " bytes, more than %" PRIu64 "; build ncube again",
                                bytes, (uint64_t)(CABINET_TEXT_BASE - CABINET_BUILTIN_BASE));
    return 0;
}

static int check_kernel(struct machine *m)
{
    for (uint32_t i = 0; i < m->kernel.segments; i++) {
        const struct elf_segment *s = &m->kernel.segment[i];

        if (s->pa < CABINET_RAM_BASE || s->pa + s->file_bytes > CABINET_BUILTIN_BASE)
            return machine_complain(
                m, "vertex.elf: segment at %#" PRIx64 " is outside the kernel's region; build ncube again", s->pa);
    }
    return 0;
}

static int fill_memory(struct machine *m)
{
    if (check_nsdisk(m) != 0 || check_kernel(m) != 0)
        return -1;
    for (uint32_t k = m->first_cabinet; k < m->end_cabinet; k++) {
        struct cabinet *c = &m->cabinet[k];

        if (cabinet_clear(c) != 0)
            return machine_complain(m, "cannot clear the memory of cabinet %u: %s", k, strerror(errno));
        struct boot_info *info = (struct boot_info *)cabinet_shared(c, CABINET_BOOT_INFO);
        *info = (struct boot_info){.magic = BOOT_INFO_MAGIC, .ram_bytes = c->ram_bytes, .nodes = c->nodes};
        place_kernel(m, c);
        place_nsdisk(m, c, info);
    }
    return 0;
}

/* ---- Life ---- */

int machine_check_host(struct machine *m)
{
    const struct topo *t = &m->config.topo;

    m->nodes = (1u << t->dim) + t->n_io;
    if (m->options->far)
        return placing_divide(m) != 0 ? -1 : check_limits(m);
    m->cabinets = m->end_cabinet = (m->nodes + t->nodes_per_cabinet - 1) / t->nodes_per_cabinet;
    return check_limits(m);
}

bool machine_fits_inside(const struct machine *m)
{
    const struct topo *t = &m->config.topo;

    return m->cabinets == 1 &&
           addresses_here(m) + cabinet_qemu_bytes(m->nodes, t->ram_bytes, t->code_mb) <= limits_raise().address_bytes;
}

int machine_configure(struct machine *m, const struct machine_options *o)
{
    *m = (struct machine){.options = o};
    if (read_config(m) != 0)
        return -1;
    machine_reads(m, beside_program(), "ncube itself");
    const struct front_options f = {.topo = &m->config.topo,
                                    .out = 1,
                                    .err = 2,
                                    .keeps_going = o->kept_up && !recording_is_replayed(o->recording),
                                    .recording = o->recording};
    if (front_new(&m->front, &f, &machine_front_ops, m, m->error, sizeof m->error) != 0)
        return machine_complain(m, "%s", m->error);
    return 0;
}

int machine_build(struct machine *m)
{
    m->build_begun_ns = host_ns(CLOCK_MONOTONIC);
    if (machine_check_host(m) != 0 || read_programs(m, m->config.topo.n_io > 0) != 0 || open_disks(m) != 0)
        return -1;
    if (m->options->progress)
        progress_line("starts %u node%s", m->nodes, plural(m->nodes));
    if (tracing_open(m) != 0 || open_statistics(m) != 0 || debugger_open(m) != 0 || cores_open(m) != 0)
        return -1;
    if (machine_start_harts(m) != 0 || fill_memory(m) != 0 || machine_start_injectors(m) != 0)
        return -1;
    machine_start_models(m);
    bool draws = m->options->progress && progress_has_terminal();
    heartbeat_begin(&m->heartbeat, draws ? PROGRESS_S : m->options->heartbeat_s);
    return 0;
}

int machine_build_rack(struct machine *m, bool io_nodes, const uint32_t *cycles_of_class)
{
    if (check_limits(m) != 0 || read_programs(m, io_nodes) != 0 || machine_make_harts(m) != 0)
        return -1;
    memcpy(m->harts.control->cycles_of_class, cycles_of_class, sizeof m->harts.control->cycles_of_class);
    if (machine_start_cabinets(m) != 0 || fill_memory(m) != 0)
        return -1;
    machine_make_text_pool(m);
    return 0;
}

/* For the machine that takes this one's place: the file may have been changed meanwhile. */
static void keep_config(struct machine *m)
{
    if (!m->options->config || !debugger_travels(m))
        return;
    *m->options->config = m->config;
    m->config = (struct machine_config){0};
}

/* The machine that takes this one's place is not in this process. */
static void leave_inside(struct machine *m)
{
    harts_calm(&m->harts);
    inside_leave();
}

/* The trace first: a trace that could not be written is an error of the run. */
int machine_free(struct machine *m)
{
    progress_erase();
    heartbeat_end();
    if (inside_is() && debugger_travels(m))
        leave_inside(m);
    else
        inside_end_signals();
    signals_release();
    int written = tracing_close(m);
    free(m->traced);
    keep_config(m);
    checkpoints_end(m);
    debugger_close(m);
    cores_close(m);
    checking_close(m);
    origin_close(m);
    user_calls_free(m->places);
    if (m->racks)
        m->options->far->stop(m);
    for (uint32_t c = 0; m->cabinet && c < m->cabinets; c++)
        cabinet_kill(&m->cabinet[c]);
    for (uint32_t c = 0; m->cabinet && c < m->cabinets; c++)
        cabinet_stop(&m->cabinet[c]);
    free(m->cabinet);
    free(m->rack_end);
    if (m->text)
        text_pool_free(m->text);
    stats_calls_free(m->calls);
    if (m->statistics)
        fclose(m->statistics); /* the machine has not run, or nothing was written */
    if (m->sched)
        sched_free(m->sched);
    if (m->ncu)
        ncu_free(m->ncu);
    if (m->events)
        eventq_free(m->events);
    if (m->harts_ready)
        harts_free(&m->harts);
    for (uint32_t i = 0; m->snapshot && i < m->nodes; i++)
        snapshot_free(m->snapshot[i]);
    free(m->snapshot);
    free(m->slot_of);
    for (uint32_t i = 0; m->disk && i < m->config.topo.n_io * DRIVE_MAX; i++)
        if (m->disk[i])
            disk_close(m->disk[i]);
    free(m->disk);
    if (m->front)
        front_free(m->front);
    elf_image_free(&m->kernel);
    elf_image_free(&m->nsdisk);
    config_free(&m->config);
    inputs_free(&m->inputs);
    return written;
}
