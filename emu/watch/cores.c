/*
 * Core files of a program that dies (cores.h). Harts stop at two places of Vertex: where it has the registers of a
 * fault, and where it ends a process; there the process's memory is still whole.
 */
#include "emu/watch/cores.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/base/plural.h"
#include "emu/watch/debugged.h"
#include "emu/debug/core.h"
#include "vertex/contract/system.h"

#define CORE_PATH_BYTES (PATH_MAX + 32)
#define REGISTER_A0     10

struct cores {
    struct target target;
    uint64_t fault_pc, exit_pc;
    bool failed; /* one could not be written, and the line has been printed */
    uint32_t written;
    uint32_t first; /* the first node of those */
    bool *has_core; /* by node */
    bool has_nodes; /* the text has been written */
};

/* ---- Writing ---- */

static void fail(struct machine *m, const char *path)
{
    int reason = errno;

    m->cores->failed = true;
    fflush(stdout);
    fprintf(stderr, "ncube: %s: %s; no more cores are written\n", path, strerror(reason));
}

static void say_to_file(void *file, const char *line)
{
    fprintf(file, "%s\n", line);
}

/* The first core's moment is what the text tells of. */
static void write_nodes(struct machine *m)
{
    char path[CORE_PATH_BYTES];

    snprintf(path, sizeof path, "%s/nodes", m->options->core_dir);
    FILE *f = fopen(path, "we");
    if (f) {
        debugged_say_time(m, say_to_file, f);
        debugged_say_nodes(m, say_to_file, f);
        ncu_describe_queues(m->ncu, say_to_file, f);
    }
    if (!f || (ferror(f) | fclose(f)) != 0)
        fail(m, path);
}

static uint32_t elf_flags_of(int fd)
{
    Elf64_Ehdr head;

    return pread(fd, &head, sizeof head, 0) == sizeof head ? head.e_flags : 0;
}

static int write_core(struct machine *m, uint32_t node, int signal, const char *path)
{
    const struct job *j = debugged_job(m);
    uint32_t part = debugged_part(j, node);
    const struct core_program program = {.name = j->options.program[part].path,
                                         .argv = j->options.program[part].argv,
                                         .argc = j->options.program[part].argc,
                                         .elf_flags = elf_flags_of(j->own[part].fd)};
    int fd = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd < 0)
        return -1;
    int result = core_write(&m->cores->target, node, signal, &program, fd), reason = errno;
    if (close(fd) != 0 && result == 0)
        return -1;
    errno = reason;
    return result;
}

static void core_of(struct machine *m, uint32_t node, int signal)
{
    struct cores *c = m->cores;
    char path[CORE_PATH_BYTES];

    if (c->failed || c->has_core[node])
        return;
    if (!c->has_nodes)
        write_nodes(m);
    c->has_nodes = true;
    snprintf(path, sizeof path, "%s/core.%u", m->options->core_dir, node);
    if (c->failed)
        return;
    if (write_core(m, node, signal, path) != 0) {
        fail(m, path);
        return;
    }
    c->has_core[node] = true;
    if (c->written++ == 0)
        c->first = node;
}

/* ---- Stops ---- */

/* Returns true if the process that the kernel ends here dies: it has not ended by itself. */
static bool dies(const struct cores *c, uint32_t node, const struct debug_registers *kernel)
{
    struct job_exit death;

    return target_read(&c->target, node, kernel->x[REGISTER_A0] + PROC_DEATH_OFFSET, &death, sizeof death) ==
               sizeof death &&
           death.how != EXIT_NORMAL;
}

static void look_at(struct machine *m, uint32_t node)
{
    struct cores *c = m->cores;
    const struct debug_hart *d = &c->target.area->hart[debugged_ops.slot(m, node)];

    if (!d->has_program)
        return; /* it has not run */
    if (d->now.x[0] == c->fault_pc)
        core_of(m, node, core_signal_of(d->program.scause));
    else if (d->now.x[0] == c->exit_pc && dies(c, node, &d->now))
        core_of(m, node, 0);
}

/* Waits until nothing else moves, so that what is said of the other nodes is the same in every run. */
bool cores_stand(void *machine, uint32_t running)
{
    struct machine *m = machine;
    struct target_event e;
    bool any = false;

    if (target_stopped(&m->cores->target) != running)
        return false;
    while (target_take_event(&m->cores->target, &e)) {
        look_at(m, e.node);
        target_let_go(&m->cores->target, e.node, &(struct target_go){.how = TARGET_RUN});
        any = true;
    }
    return target_release_ended(&m->cores->target) || any;
}

void cores_write_all(struct machine *m)
{
    if (!m->cores || !debugged_job(m))
        return;
    debugged_ops.note(m);
    for (uint32_t node = 0; node < debugged_job(m)->nodes; node++) {
        uint32_t slot = debugged_ops.slot(m, node);

        if (slot != TARGET_NO_SLOT && m->cores->target.area->hart[slot].has_program)
            core_of(m, node, 0);
    }
}

/* ---- Life ---- */

int cores_open(struct machine *m)
{
    const char *folder = m->options->core_dir;
    struct stat st;

    if (!folder)
        return 0;
    if (mkdir(folder, 0777) != 0 && errno != EEXIST)
        return machine_complain(m, "%s: %s; give a folder for core files", folder, strerror(errno));
    if (stat(folder, &st) != 0 || !S_ISDIR(st.st_mode))
        return machine_complain(m, "%s: is not a folder; give one for core files", folder);
    if (access(folder, W_OK | X_OK) != 0)
        return machine_complain(m, "%s: %s; give a folder for core files", folder, strerror(errno));
    m->cores = memory_new(1, sizeof *m->cores);
    return 0;
}

int cores_prepare(struct machine *m)
{
    struct debug_area *area = debug_area_of(m->harts.control);
    struct cores *c = m->cores;

    if (!c)
        return 0;
    c->target = (struct target){.area = area, .slots = m->harts.count, .ops = &debugged_ops, .ctx = m};
    if (debugged_find_symbol(m, "trap_entry", &area->trap_pc) != 0 ||
        debugged_find_symbol(m, "trap_fault", &c->fault_pc) != 0 ||
        debugged_find_symbol(m, "proc_exit", &c->exit_pc) != 0)
        return -1;
    target_add_break(&c->target, c->fault_pc);
    target_add_break(&c->target, c->exit_pc);
    m->harts.control->debug = SLOT_DEBUG_KERNEL;
    return 0;
}

void cores_begin(struct machine *m, uint32_t id)
{
    if (!m->cores)
        return;
    m->debugged_job = id;
    m->cores->has_core = memory_new(debugged_job(m)->nodes, 1);
    target_choose_nodes(&m->cores->target, false);
}

void cores_tell(const struct machine *m)
{
    const struct cores *c = m->cores;
    const struct job *j = debugged_job(m);

    if (!c || c->written == 0 || !j)
        return;
    fflush(stdout);
    fprintf(stderr, "ncube: %u core file%s in %s: gdb-multiarch %s %s/core.%u\n", c->written, plural(c->written),
            m->options->core_dir, j->options.program[debugged_part(j, c->first)].path, m->options->core_dir, c->first);
}

void cores_end(struct machine *m)
{
    cores_tell(m);
    if (m->cores)
        target_choose_nodes(&m->cores->target, true);
}

void cores_close(struct machine *m)
{
    if (m->cores)
        free(m->cores->has_core);
    free(m->cores);
    m->cores = NULL;
}
