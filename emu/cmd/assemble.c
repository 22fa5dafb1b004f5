/*
 * The parts of a machine, put together: configuration, drives, cabinets, memory, scheduler, NCUs, front end.
 */
#define _GNU_SOURCE
#include "emu/cmd/assemble.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "emu/base/alike.h"
#include "emu/base/limits.h"
#include "emu/base/memory.h"
#include "emu/base/oneline.h"
#include "emu/base/signals.h"
#include "emu/model/net.h"
#include "emu/qemu/cost.h"
#include "vertex/contract/system.h"

int machine_complain(struct machine *m, const char *format, ...)
{
    char text[2 * MACHINE_ERROR_BYTES];
    va_list arguments;

    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    fflush(stdout);
    fprintf(stderr, "ncube: %s\n", one_line(text));
    m->failed = true;
    return -1;
}

/* ---- Where nodes are ---- */

static uint32_t node_address(const struct machine *m, uint32_t index)
{
    uint32_t compute = 1u << m->config.topo.dim;

    return index < compute ? index : m->config.topo.io[index - compute].node;
}

static uint32_t cabinet_of(const struct machine *m, uint32_t index)
{
    return index / m->config.topo.nodes_per_cabinet;
}

static uint32_t hart_of(const struct machine *m, uint32_t index)
{
    return index % m->config.topo.nodes_per_cabinet;
}

/* ---- What the scheduler, the NCUs and the front end ask for ---- */

static bool on_execute(void *ctx, uint32_t hart, uint32_t op, const uint64_t *arg, uint64_t now_cycles)
{
    return ncu_execute(((struct machine *)ctx)->ncu, hart, op, arg, now_cycles);
}

static bool on_cause_waits(void *ctx, uint32_t hart)
{
    return ncu_cause_waits(((struct machine *)ctx)->ncu, hart);
}

static void on_answer(void *ctx, uint32_t hart, uint64_t value)
{
    ncu_answer(((struct machine *)ctx)->ncu, hart, value);
}

static void on_interrupted(void *ctx, uint32_t hart, uint64_t start_cycles)
{
    const struct machine *m = ctx;

    trace_event(m->trace, sched_now(m->sched), ncu_address(m->ncu, hart), "interrupt since=%" PRIu64, start_cycles);
}

/* ---- The heartbeat ---- */

static uint64_t time_reached(const struct machine *m, const struct sched_view *v)
{
    uint64_t first = v->first_cycles < v->next_cycles ? v->first_cycles : v->next_cycles;

    return first == EVENTQ_NEVER || first < sched_now(m->sched) ? sched_now(m->sched) : first;
}

static int describe_first(const struct machine *m, const struct sched_view *v, char *text, size_t bytes)
{
    if (v->running == 0)
        return snprintf(text, bytes, "no node runs");
    return snprintf(text, bytes, "%u of %u nodes run, all wait for node %u at %.6f s", v->running, m->nodes,
                    ncu_address(m->ncu, v->first), (double)v->first_cycles / CLOCK_HZ);
}

static void describe_next(const struct sched_view *v, char *text, size_t bytes)
{
    if (v->next_cycles == EVENTQ_NEVER)
        snprintf(text, bytes, ", no event is due");
    else
        snprintf(text, bytes, ", next event at %.6f s", (double)v->next_cycles / CLOCK_HZ);
}

/* Prints the heartbeat's line if it is due. `streams`: ncube waits for one of the program's. */
static void beat(struct machine *m, bool streams)
{
    char text[256];

    if (!signals_take_beat())
        return;
    const struct sched_view v = sched_view(m->sched);
    int n = streams ? snprintf(text, sizeof text, "waits for the program's standard input or output, ") : 0;
    n += describe_first(m, &v, text + n, sizeof text - (size_t)n);
    describe_next(&v, text + n, sizeof text - (size_t)n);
    heartbeat_print(&m->heartbeat, time_reached(m, &v), text);
}

/* Lets an injector hart run until it asks for more. */
static bool run_injector(struct machine *m, const struct cabinet *c)
{
    uint32_t slot = c->first_slot + c->nodes, stops = harts_slot(&m->harts, slot)->stops;

    harts_grant(&m->harts, slot, 0, EVENTQ_NEVER >> 2, false); /* at first it is in QEMU's reset code */
    return harts_wait_injector(&m->harts, slot, stops + 1);
}

/* Has a cabinet's injector write SSWI for up to NCU_INJECT_MAX harts. */
static bool inject(struct machine *m, uint32_t cabinet, const uint32_t *harts, uint32_t n)
{
    const struct cabinet *c = &m->cabinet[cabinet];
    struct ncu_mailbox *mailbox = (struct ncu_mailbox *)(cabinet_window(c, c->nodes) + NCU_MAILBOX_PA);

    memcpy(mailbox->inject, harts, n * sizeof *harts);
    mailbox->ans[0] = n;
    return run_injector(m, c);
}

static bool on_raise(void *ctx, const uint32_t *nodes, uint32_t n)
{
    struct machine *m = ctx;

    for (uint32_t cabinet = 0; cabinet < m->cabinets; cabinet++) {
        uint32_t batch[NCU_INJECT_MAX], count = 0;

        for (uint32_t k = 0; k < n; k++) {
            if (cabinet_of(m, nodes[k]) == cabinet)
                batch[count++] = hart_of(m, nodes[k]);
            if ((count == NCU_INJECT_MAX || k == n - 1) && count > 0) {
                if (!inject(m, cabinet, batch, count))
                    return false;
                count = 0;
            }
        }
    }
    return true;
}

/* ---- The host's processors ---- */

#define FOLLOW_MS 50

static bool is_time_to_look(struct machine *m)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
    int64_t ms = (now.tv_sec - m->looked.tv_sec) * 1000 + (now.tv_nsec - m->looked.tv_nsec) / 1000000;
    if (ms < FOLLOW_MS)
        return false;
    m->looked = now;
    return true;
}

static void bring_cabinet(const struct machine *m, pid_t pid)
{
    char path[64];

    snprintf(path, sizeof path, "/proc/%d/task", (int)pid);
    DIR *d = opendir(path);
    for (struct dirent *e; d && (e = readdir(d));)
        if (atoi(e->d_name) > 0)
            harts_bring(&m->harts, atoi(e->d_name));
    if (d)
        closedir(d);
}

/* Where several runs share a processor, and another has room, this one goes there. It changes no result. */
static void follow_room(struct machine *m)
{
    if (m->harts.claim.rank == 0 || !is_time_to_look(m) || !harts_follow(&m->harts))
        return;
    for (uint32_t c = 0; c < m->cabinets; c++)
        bring_cabinet(m, m->cabinet[c].pid);
}

static bool on_finished(void *ctx)
{
    struct machine *m = ctx;

    follow_room(m);
    signals_note_progress(sched_now(m->sched));
    beat(m, false);
    return m->failed || front_finished(m->front) || (m->hooks->pause && m->hooks->pause(m->ctx));
}

static void on_wake(void *ctx, uint32_t index, uint64_t now_cycles)
{
    sched_wake(((struct machine *)ctx)->sched, index, now_cycles);
}

static void on_cause(void *ctx, uint32_t index, uint64_t now_cycles)
{
    sched_cause(((struct machine *)ctx)->sched, index, now_cycles);
}

static void trace_exit(const struct machine *m, uint32_t from, const void *bytes, size_t n)
{
    struct job_exit e;

    if (n < sizeof e)
        return;
    memcpy(&e, bytes, sizeof e);
    trace_event(m->trace, sched_now(m->sched), from, "exit status=%d how=%u", e.status, e.how);
}

static void on_host_message(void *ctx, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    struct machine *m = ctx;

    if (TAG_TYPE(tag) == N_EXIT)
        trace_exit(m, from, bytes, n);
    front_receive(m->front, from, tag, bytes, n);
}

static void on_host_lost(void *ctx, uint32_t to, uint32_t tag, const void *bytes, size_t n, int status)
{
    (void)status;
    front_undeliverable(((struct machine *)ctx)->front, to, tag, bytes, n);
}

static void on_recovered(void *ctx)
{
    front_recovered(((struct machine *)ctx)->front);
}

static void on_fault(void *ctx, uint32_t index, const char *text)
{
    struct machine *m = ctx;

    machine_complain(m, "node %u: Vertex panicked: %s", ncu_address(m->ncu, index), text);
}

/* In the cabinet's text pool, or where it is. */
static uint64_t on_text(void *ctx, uint32_t index, uint64_t addr, uint64_t bytes)
{
    const struct machine *m = ctx;
    uint32_t cabinet = cabinet_of(m, index), hart = hart_of(m, index);
    const uint8_t *text = cabinet_window(&m->cabinet[cabinet], hart) + addr;
    int64_t offset = text_pool_share(m->text, cabinet, text, bytes);

    return offset >= 0 ? CABINET_TEXT_BASE + (uint64_t)offset : CABINET_WINDOW(hart, m->config.topo.ram_bytes) + addr;
}

static void on_front_send(void *ctx, uint32_t to, uint32_t tag, const void *bytes, size_t n)
{
    ncu_host_send(((struct machine *)ctx)->ncu, to, tag, bytes, n);
}

static void on_ended(void *ctx, uint32_t id)
{
    struct machine *m = ctx;

    m->hooks->ended(m->ctx, id);
}

static bool on_told_to_end(void *ctx)
{
    beat(ctx, true);
    return signals_asked() != 0;
}

static const struct sched_ops sched_calls = {.execute = on_execute,
                                             .cause_waits = on_cause_waits,
                                             .answer = on_answer,
                                             .interrupted = on_interrupted,
                                             .interrupt = on_raise,
                                             .finished = on_finished};
static const struct ncu_ops ncu_calls = {.wake = on_wake,
                                         .cause = on_cause,
                                         .host_message = on_host_message,
                                         .host_lost = on_host_lost,
                                         .recovered = on_recovered,
                                         .fault = on_fault,
                                         .text = on_text};
static const struct front_ops front_calls = {.job = {on_front_send, on_told_to_end}, .ended = on_ended};

#define PART_PATH_BYTES (PATH_MAX + 64) /* longer ones the host refuses */

/* ---- Reading everything that a run needs, before anything is started ---- */

static int read_config(struct machine *m)
{
    const struct machine_options *o = m->options;

    if (!o->machine) {
        config_default(&m->config, o->dim);
        return 0;
    }
    if (config_load(&m->config, o->machine, o->images, m->error, sizeof m->error) != 0)
        return machine_complain(m, "%s", m->error);
    m->inputs = m->config.files;
    m->config.files = (struct inputs){0};
    return 0;
}

void machine_reads(struct machine *m, const char *path, const char *what)
{
    inputs_add(&m->inputs, path, "%s", what);
}

static void find_part(struct machine *m, const char *name, char path[PART_PATH_BYTES])
{
    snprintf(path, PART_PATH_BYTES, "%s/%s", m->options->lib, name);
    machine_reads(m, path, "a part of ncube");
}

static int read_programs(struct machine *m)
{
    char path[PART_PATH_BYTES];

    find_part(m, "vertex.elf", path);
    if (elf_image_read(&m->kernel, path, m->error, sizeof m->error) != 0)
        return machine_complain(m, "%s", m->error);
    find_part(m, "nsdisk.elf", path);
    if (m->config.topo.n_io > 0 && elf_image_read(&m->nsdisk, path, m->error, sizeof m->error) != 0)
        return machine_complain(m, "%s", m->error);
    return 0;
}

#define SPARE_DESCRIPTORS 24u /* control segment, trace, statistics, what is open for a moment, a served file or two */
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

static uint32_t count_drives(const struct topo *t)
{
    uint32_t n = 0;

    for (uint32_t i = 0; i < t->n_io; i++)
        n += t->io[i].ndrives;
    return n;
}

/* What a node touches before its program does anything: 780 KB were measured, QEMU's share included, with 16 MB of RAM
 * (docs/performance.md). The bound is lower, so that nothing is refused that would have fitted. */
static uint64_t least_memory(const struct topo *t)
{
    return t->ram_bytes / 4 < 512u << 10 ? t->ram_bytes / 4 : 512u << 10;
}

static int check_limits(struct machine *m)
{
    const struct topo *t = &m->config.topo;
    uint32_t largest = m->nodes < t->nodes_per_cabinet ? m->nodes : t->nodes_per_cabinet;
    const struct limits there = limits_raise(), needed = {
                                                    .descriptors = count_open() + m->cabinets * CABINET_DESCRIPTORS +
                                                                   count_drives(t) + SPARE_DESCRIPTORS,
                                                    .threads = m->nodes + m->cabinets * CABINET_MORE_THREADS,
                                                    .address_bytes = m->cabinets * cabinet_bytes(0, t->ram_bytes) +
                                                                     m->nodes * t->ram_bytes + SPARE_ADDRESSES,
                                                    .file_bytes = cabinet_bytes(largest, t->ram_bytes),
                                                    .memory_bytes = m->nodes * least_memory(t),
                                                };

    return limits_suffice(&needed, &there, m->error, sizeof m->error) ? 0 : machine_complain(m, "%s", m->error);
}

/* An image that has two names would be two drives that overwrite each other. */
static int open_disk(struct machine *m, const struct topo_drive *drive, struct disk **disk)
{
    const char *other = inputs_find(&m->inputs, drive->image);

    if (other)
        return machine_complain(m, "the image of volume %s, %s, is also %s; each drive needs a file of its own",
                                drive->volume, drive->image, other);
    inputs_add(&m->inputs, drive->image, "the image of volume %s", drive->volume);
    if (disk_open(disk, drive->image, disk_model_find(drive->model), m->error, sizeof m->error) != 0)
        return machine_complain(m, "%s", m->error);
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

/* -1 if it is something that the run reads. */
static int check_output(struct machine *m, const char *option, const char *path)
{
    const char *what = inputs_find(&m->inputs, path);

    if (what)
        return machine_complain(m, "%s: this is %s, which %s would overwrite; give another file", path, what, option);
    return 0;
}

/* Terminals, pipes and /dev/null take more than one output. */
static bool is_regular(const char *path)
{
    struct stat st;

    return stat(path, &st) == 0 && S_ISREG(st.st_mode);
}

static int open_trace(struct machine *m)
{
    const char *path = m->options->trace;

    if (!path)
        return 0;
    if (check_output(m, "--trace", path) != 0)
        return -1;
    m->trace = trace_open(path);
    if (!m->trace)
        return machine_complain(m, "%s: %s", path, strerror(errno));
    if (is_regular(path))
        machine_reads(m, path, "the trace");
    return 0;
}

static int open_statistics(struct machine *m)
{
    const char *path = m->options->statistics_file;

    if (!path)
        return 0;
    if (check_output(m, "--stats", path) != 0)
        return -1;
    m->statistics = fopen(path, "we");
    return m->statistics ? 0 : machine_complain(m, "%s: %s", path, strerror(errno));
}

/* ---- Starting the cabinets ---- */

static int set_costs(struct machine *m)
{
    uint32_t *cycles = m->harts.control->cycles_of_class;

    memcpy(cycles, cost_class_cycles, sizeof cost_class_cycles);
    for (uint32_t i = 0; i < m->config.n_costs; i++) {
        int class = cost_class_find(m->config.cost[i].name);

        if (class < 0)
            return machine_complain(m, "%s: unknown instruction class '%s'", m->config.cost[i].where,
                                    m->config.cost[i].name);
        cycles[class] = m->config.cost[i].cycles;
    }
    return 0;
}

static int start_cabinets(struct machine *m)
{
    const struct topo *t = &m->config.topo;
    char plugin[PART_PATH_BYTES];

    find_part(m, "plugin.so", plugin);
    m->cabinet = memory_new(m->cabinets, sizeof *m->cabinet);
    for (uint32_t c = 0, first = 0; c < m->cabinets; c++) {
        uint32_t left = m->nodes - c * t->nodes_per_cabinet;
        uint32_t nodes = left < t->nodes_per_cabinet ? left : t->nodes_per_cabinet;

        if (cabinet_start(&m->cabinet[c], nodes, t->ram_bytes, first, m->harts.fd, plugin, m->options->statistics,
                          m->error, sizeof m->error) != 0)
            return machine_complain(m, "%s", m->error);
        first += nodes + 1;
    }
    return 0;
}

int machine_explain_stop(struct machine *m)
{
    for (uint32_t c = 0; c < m->cabinets; c++)
        if (cabinet_died(&m->cabinet[c], m->error, sizeof m->error))
            return machine_complain(m, "cabinet %u: %s", c, m->error);
    m->failed = true;
    return -1; /* a signal: who sent it knows */
}

/* ---- Waiting for QEMU ---- */

#define SILENCE_MS    10000 /* without a hart that comes, or work of a QEMU: then it does not come up */
#define SILENCES_MOST 12    /* without a hart, whatever the QEMUs work */

static uint64_t cabinets_worked(const struct machine *m)
{
    uint64_t ticks = 0;

    for (uint32_t c = 0; c < m->cabinets; c++)
        ticks += cabinet_worked(&m->cabinet[c]);
    return ticks;
}

/* Names the first cabinet of which a hart is missing. */
static int complain_of_silence(struct machine *m)
{
    uint32_t c = 0, slot = 0;

    while (c + 1 < m->cabinets && harts_have_come(&m->harts, slot, m->cabinet[c].nodes + 1))
        slot += m->cabinet[c++].nodes + 1;
    cabinet_describe(&m->cabinet[c], m->error, sizeof m->error);
    return machine_complain(m, "cabinet %u: %s does not come up: it has been silent for %u s", c, m->error,
                            SILENCE_MS / 1000);
}

/* A busy host may take long; a QEMU that neither works nor answers is not waited for. */
static int await_harts(struct machine *m, uint32_t slots)
{
    uint64_t worked = 0;
    uint32_t silences = 0;

    while (slots > 0) {
        uint32_t left = harts_wait(&m->harts, slots, SILENCE_MS);

        if (left > 0 && !m->harts.silent)
            return machine_explain_stop(m);
        uint64_t now = cabinets_worked(m);
        silences = left < slots ? 0 : silences + 1;
        if (silences > 0 && (now == worked || silences == SILENCES_MOST))
            return complain_of_silence(m);
        worked = now;
        slots = left;
    }
    return 0;
}

static int start_harts(struct machine *m)
{
    const struct topo *t = &m->config.topo;
    uint32_t slots = m->nodes + m->cabinets;

    if (harts_init(&m->harts, slots, m->options->processors) != 0)
        return machine_complain(m, "cannot make shared memory for %u nodes: %s", m->nodes, strerror(errno));
    m->harts_ready = true;
    signals_install(&m->harts.control->doorbell);
    m->slot_of = memory_new(m->nodes, sizeof *m->slot_of);
    for (uint32_t i = 0; i < m->nodes; i++)
        m->slot_of[i] = cabinet_of(m, i) * (t->nodes_per_cabinet + 1) + hart_of(m, i);
    if (set_costs(m) != 0 || start_cabinets(m) != 0)
        return -1;
    return await_harts(m, slots);
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

/* What a segment takes of the shared region: from the start of its first page, in whole pages. */
static uint64_t builtin_bytes(const struct elf_segment *s)
{
    return (s->va % NODE_PAGE_BYTES + s->file_bytes + NODE_PAGE_BYTES - 1) & ~(uint64_t)(NODE_PAGE_BYTES - 1);
}

static void place_nsdisk(const struct machine *m, const struct cabinet *c, struct boot_info *info)
{
    uint64_t pa = CABINET_BUILTIN_BASE;

    info->builtin_entry = m->nsdisk.entry;
    info->segments = m->nsdisk.segments;
    for (uint32_t i = 0; i < m->nsdisk.segments; i++) {
        const struct elf_segment *s = &m->nsdisk.segment[i];
        uint64_t offset = s->va % NODE_PAGE_BYTES; /* of the first byte in its page */

        info->segment[i] = (struct boot_segment){.pa = pa,
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

    if (m->nsdisk.segments > sizeof((struct boot_info *)0)->segment / sizeof(struct boot_segment))
        return machine_complain(m, "nsdisk.elf has %u segments; 4 are the most", m->nsdisk.segments);
    for (uint32_t i = 0; i < m->nsdisk.segments; i++)
        bytes += builtin_bytes(&m->nsdisk.segment[i]);
    if (bytes > CABINET_TEXT_BASE - CABINET_BUILTIN_BASE)
        return machine_complain(m, "nsdisk.elf takes %" PRIu64 " bytes; %" PRIu64 " are the most", bytes,
                                (uint64_t)(CABINET_TEXT_BASE - CABINET_BUILTIN_BASE));
    return 0;
}

static int check_kernel(struct machine *m)
{
    for (uint32_t i = 0; i < m->kernel.segments; i++) {
        const struct elf_segment *s = &m->kernel.segment[i];

        if (s->pa < CABINET_RAM_BASE || s->pa + s->file_bytes > CABINET_BUILTIN_BASE)
            return machine_complain(m, "vertex.elf: segment at %#" PRIx64 " is outside the kernel's region", s->pa);
    }
    return 0;
}

/* Differs between two boots of the same images, and is the same when everything else is: the mount count of the
 * first volume, which nsdisk advances. */
static uint64_t find_boot_number(const struct machine *m)
{
    uint8_t superblock[2 * SECTOR_BYTES];

    if (m->config.topo.n_io == 0 || !m->disk[0] || disk_transfer(m->disk[0], false, 2, 2, superblock) != 0)
        return 1;
    return 1u + (superblock[52] | superblock[53] << 8);
}

static void attach_nodes(struct machine *m)
{
    ncu_set_software_cost(m->ncu, &m->config.software);
    uint64_t boot_number = find_boot_number(m);
    uint32_t compute = 1u << m->config.topo.dim;
    for (uint32_t i = 0; i < m->nodes; i++) {
        struct disk **disks = i < compute ? NULL : &m->disk[(i - compute) * DRIVE_MAX];
        uint8_t *ram = cabinet_window(&m->cabinet[cabinet_of(m, i)], hart_of(m, i));

        ncu_attach(m->ncu, i, node_address(m, i), ram, disks, boot_number);
    }
}

static int fill_memory(struct machine *m)
{
    if (check_nsdisk(m) != 0 || check_kernel(m) != 0)
        return -1;
    for (uint32_t k = 0; k < m->cabinets; k++) {
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

static void make_text_pool(struct machine *m)
{
    m->text = text_pool_new(m->cabinets, (uint64_t)m->config.topo.shared_text_kb << 10);
    for (uint32_t k = 0; k < m->cabinets; k++)
        text_pool_attach(m->text, k, cabinet_shared(&m->cabinet[k], CABINET_TEXT_BASE));
}

/* Injectors first: they are ready before any node can be interrupted. */
static int start_injectors(struct machine *m)
{
    for (uint32_t k = 0; k < m->cabinets; k++)
        if (!run_injector(m, &m->cabinet[k]))
            return machine_explain_stop(m);
    return 0;
}

/* ---- Life ---- */

int machine_configure(struct machine *m, const struct machine_options *o, const struct machine_hooks *hooks, void *ctx)
{
    *m = (struct machine){.options = o, .hooks = hooks, .ctx = ctx};
    if (read_config(m) != 0)
        return -1;
    machine_reads(m, "/proc/self/exe", "ncube itself");
    const struct front_options f = {.topo = &m->config.topo, .out = 1, .err = 2, .keeps_going = o->keeps_going};
    if (front_new(&m->front, &f, &front_calls, m, m->error, sizeof m->error) != 0)
        return machine_complain(m, "%s", m->error);
    return 0;
}

static void start_models(struct machine *m)
{
    make_text_pool(m);
    m->events = eventq_new();
    m->ncu =
        ncu_new(&m->config.topo, m->events, m->nodes, &ncu_calls, m, m->trace, m->config.fault, m->config.n_faults);
    m->sched = sched_new(m->events, &m->harts, m->slot_of, m->nodes, NET_LOOKAHEAD_CYCLES, m->options->strict,
                         &sched_calls, m);
    attach_nodes(m);
    front_start(m->front);
    for (uint32_t i = 0; i < m->config.topo.n_io; i++)
        if (fault_node_is_dead(m->config.fault, m->config.n_faults, m->config.topo.io[i].node, 0))
            front_unreachable(m->front, m->config.topo.io[i].node);
}

static void count_parts(struct machine *m)
{
    const struct topo *t = &m->config.topo;

    m->nodes = (1u << t->dim) + t->n_io;
    m->cabinets = (m->nodes + t->nodes_per_cabinet - 1) / t->nodes_per_cabinet;
}

int machine_build(struct machine *m)
{
    clock_gettime(CLOCK_MONOTONIC, &m->build_begun);
    count_parts(m);
    if (check_limits(m) != 0 || read_programs(m) != 0 || open_disks(m) != 0)
        return -1;
    if (open_trace(m) != 0 || open_statistics(m) != 0)
        return -1;
    if (start_harts(m) != 0 || fill_memory(m) != 0 || start_injectors(m) != 0)
        return -1;
    start_models(m);
    heartbeat_begin(&m->heartbeat, m->options->heartbeat_s);
    return 0;
}

enum sched_end machine_run(struct machine *m, uint64_t limit_cycles)
{
    return sched_run(m->sched, limit_cycles);
}

void machine_act_now(struct machine *m)
{
    ncu_advance(m->ncu, sched_now(m->sched));
}

void machine_rest(struct machine *m)
{
    harts_rest(&m->harts);
    m->looked = (struct timespec){0};
}

bool machine_is_quiet(const struct machine *m)
{
    return eventq_next(m->events) == EVENTQ_NEVER;
}

/* What a node waits for; or else how its program has ended, if it was one of the job's. False: neither. */
static bool describe_node(const struct machine *m, const struct job *j, uint32_t index, char *text, size_t bytes)
{
    return ncu_describe_wait(m->ncu, index, text, bytes) ||
           (j && job_describe_end(j, ncu_address(m->ncu, index), text, bytes));
}

void machine_report_waits(struct machine *m, const struct job *j, bool whole, void (*say)(void *ctx, const char *line),
                          void *ctx)
{
    struct alike alike = {0};
    char text[ALIKE_TEXT_BYTES];

    for (uint32_t i = 0; i < m->nodes; i++) {
        uint32_t address = ncu_address(m->ncu, i);

        if ((whole || job_has_node(j, address)) && describe_node(m, j, i, text, sizeof text))
            alike_add(&alike, whole ? address : address - j->base, text);
    }
    alike_say(&alike, !j ? "--stats=FILE lists all" : "ncube run --stats=FILE lists all", say, ctx);
    alike_free(&alike);
    ncu_describe_faults(m->ncu, sched_now(m->sched), say, ctx);
    m->stuck = m->stuck || whole;
}

const struct fault *machine_find_dead_node(const struct machine *m, const struct job *j)
{
    for (uint32_t i = 0; i < m->config.n_faults; i++) {
        const struct fault *f = &m->config.fault[i];

        if (f->kind == FAULT_NODE && fault_is_active(f, sched_now(m->sched)) && job_awaits_node(j, f->node))
            return f;
    }
    return NULL;
}

double machine_seconds(const struct machine *m)
{
    return (double)sched_now(m->sched) / CLOCK_HZ;
}

static double seconds_between(const struct timespec *a, const struct timespec *b)
{
    return (double)(b->tv_sec - a->tv_sec) + (double)(b->tv_nsec - a->tv_nsec) * 1e-9;
}

static int write_statistics(struct machine *m, const struct stats_source *source)
{
    int written = stats_write(m->statistics, source), closed = fclose(m->statistics);

    m->statistics = NULL;
    if (written != 0 || closed != 0)
        return machine_complain(m, "%s: %s", m->options->statistics_file, strerror(errno));
    return 0;
}

int machine_tell_statistics(struct machine *m)
{
    struct timespec now;

    if (!m->options->statistics || !m->sched)
        return 0;
    clock_gettime(CLOCK_MONOTONIC, &now);
    const struct stats_source source = {.topo = &m->config.topo,
                                        .sched = m->sched,
                                        .ncu = m->ncu,
                                        .nodes = m->nodes,
                                        .stuck = m->stuck,
                                        .start_seconds = seconds_between(&m->build_begun, &m->heartbeat.begun),
                                        .run_seconds = seconds_between(&m->heartbeat.begun, &now),
                                        .cabinets = m->cabinets,
                                        .processors = m->harts.processors};
    if (m->statistics)
        return write_statistics(m, &source);
    stats_print(stderr, &source);
    return 0;
}

/* The trace first: what it could not write is an error of the run. */
int machine_free(struct machine *m)
{
    heartbeat_end();
    signals_release();
    int written = trace_close(m->trace) == 0 ? 0 : machine_complain(m, "%s: %s", m->options->trace, strerror(errno));
    for (uint32_t c = 0; m->cabinet && c < m->cabinets; c++)
        cabinet_stop(&m->cabinet[c]);
    free(m->cabinet);
    if (m->text)
        text_pool_free(m->text);
    if (m->statistics)
        fclose(m->statistics); /* the machine has not run */
    if (m->sched)
        sched_free(m->sched);
    if (m->ncu)
        ncu_free(m->ncu);
    if (m->events)
        eventq_free(m->events);
    if (m->harts_ready)
        harts_free(&m->harts);
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
