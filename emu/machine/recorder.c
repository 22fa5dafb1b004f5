/*
 * The first entries of a recording. recording.json says what it is and names the others:
 *
 *   machine.conf      the machine file, with what it includes and with --set
 *   programs/0, ...   the executables; where a machine is kept up, they come later, by their SHA-256
 *   volumes/df00 ...  the images before the run, without free blocks
 */
#include "emu/machine/recorder.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/config/overrides.h"
#include "emu/disk/used_blocks.h"
#include "emu/job/program.h"
#include "emu/state/outputs.h"
#include "emu/machine/recorded.h"
#include "emu/record/digest.h"

/* ---- What it says ---- */

/* Those that the run uses. */
static json_t *describe_parts(const struct machine *m)
{
    static const char *const part[] = {"vertex.elf", "nsdisk.elf"};
    char digest[DIGEST_TEXT_BYTES];
    json_t *parts = json_object();

    for (size_t i = 0, n = m->config.topo.n_io > 0 ? 2 : 1; i < n; i++) {
        recorded_part_digest(m->options->lib, part[i], digest);
        json_object_set_new(parts, part[i], json_string(digest));
    }
    return parts;
}

static json_t *describe_machine(const struct machine *m)
{
    json_t *set = json_array();

    for (uint32_t i = 0; overrides_at(i); i++)
        json_array_append_new(set, recorded_text(overrides_at(i)));
    return json_pack("{s:o*, s:i, s:o}", "name", m->config.path ? recorded_text(host_last_part(m->config.path)) : NULL,
                     "dimension", (int)m->config.topo.dim, "set", set);
}

static json_t *describe_program(const struct job_program *p, bool light)
{
    json_t *words = json_array();
    char digest[DIGEST_TEXT_BYTES];
    struct stat st = {0};

    for (int i = 0; i < p->argc; i++)
        json_array_append_new(words, recorded_text(p->argv[i]));
    digest_path(program_file(p), digest);
    stat(program_file(p), &st);
    return json_pack("{s:o, s:o, s:i, s:b, s:i, s:s, s:I, s:b}", "path", recorded_text(p->path), "words", words,
                     "nodes", (int)p->nodes, "piped", (int)p->piped, "dimension", (int)p->dim, "sha256", digest,
                     "bytes", (json_int_t)st.st_size, "included", (int)!light);
}

/* Of a run: with its limit, and the words of the command line. */
static json_t *describe_job(const struct job_options *j, bool light, uint64_t limit_cycles, const char *command)
{
    json_t *programs = json_array();

    for (uint32_t i = 0; i < j->programs; i++)
        json_array_append_new(programs, describe_program(&j->program[i], light));
    return json_pack("{s:i, s:o*, s:I, s:I, s:I, s:i, s:b, s:b, s:o*, s:o*, s:o}", "dimension", (int)j->dim, "serve",
                     j->serve ? recorded_text(j->serve) : NULL, "stack_bytes", (json_int_t)j->stack_bytes, "heap_bytes",
                     (json_int_t)j->heap_bytes, "comm_bytes", (json_int_t)j->comm_bytes, "status_rule",
                     (int)j->status_rule, "label", (int)j->label, "registers", (int)j->registers, "limit_cycles",
                     limit_cycles == UINT64_MAX ? NULL : json_integer((json_int_t)limit_cycles), "command",
                     command ? recorded_text(command) : NULL, "programs", programs);
}

static json_t *describe_volumes(const struct machine *m)
{
    json_t *volumes = json_array();

    for (uint32_t i = 0; i < m->config.topo.n_io; i++)
        for (uint32_t d = 0; d < m->config.topo.io[i].ndrives; d++)
            json_array_append_new(volumes, json_string(m->config.topo.io[i].drive[d].volume));
    return volumes;
}

/* A machine that is kept up begins without a job. */
static json_t *describe_run(const struct machine *m, const struct run_options *o)
{
    json_t *job = o ? describe_job(&o->job, o->machine.light, o->limit_cycles, o->machine.program) : NULL;

    return json_pack("{s:s, s:i, s:i, s:o, s:o, s:o*, s:o}", "what", "a recording of ncube", "format",
                     o ? RECORDING_FORMAT : RECORDING_FORMAT_KEPT_UP, "timing", RECORDING_TIMING, "parts",
                     describe_parts(m), "machine", describe_machine(m), "job", job, "volumes", describe_volumes(m));
}

/* ---- What it contains ---- */

/* Under its number in a run; or, if a machine that is kept up is recorded, by its SHA-256. */
static void keep_program(struct recording *r, const struct job_program *p, const char *name)
{
    struct stat st;
    int fd = open(program_file(p), O_RDONLY | O_CLOEXEC);

    if (fd >= 0 && fstat(fd, &st) == 0)
        recording_keep_file(r, name, fd, (uint64_t)st.st_size);
    if (fd >= 0)
        close(fd);
}

static void add_programs(struct recording *r, const struct job_options *j)
{
    char name[RECORDED_NAME_BYTES];

    for (uint32_t i = 0; i < j->programs; i++) {
        snprintf(name, sizeof name, RECORDED_PROGRAM, i);
        keep_program(r, &j->program[i], name);
    }
}

json_t *recorder_keep_job(struct machine *m, const struct job_options *j)
{
    json_t *job = describe_job(j, m->options->light, UINT64_MAX, NULL), *program;
    char name[RECORDED_NAME_BYTES];
    size_t i;

    json_array_foreach(json_object_get(job, "programs"), i, program)
    {
        snprintf(name, sizeof name, RECORDED_LAUNCHED, json_string_value(json_object_get(program, "sha256")));
        if (!m->options->light)
            keep_program(m->options->recording, &j->program[i], name);
    }
    return job;
}

static void add_volume(struct recording *r, const char *volume, const struct disk *disk)
{
    struct stat st;
    char name[RECORDED_NAME_BYTES];
    size_t n;

    if (fstat(disk_image(disk), &st) < 0)
        return;
    struct file_extent *extent = used_blocks(disk_image(disk), (uint64_t)st.st_size, &n);
    snprintf(name, sizeof name, RECORDED_VOLUME, volume);
    recording_add_file(r, name, disk_image(disk), (uint64_t)st.st_size, extent, n);
    free(extent);
}

static void add_volumes(struct recording *r, const struct machine *m)
{
    for (uint32_t i = 0; i < m->config.topo.n_io; i++)
        for (uint32_t d = 0; d < m->config.topo.io[i].ndrives; d++)
            add_volume(r, m->config.topo.io[i].drive[d].volume, m->disk[i * DRIVE_MAX + d]);
}

/* The trace, the report and the statistics are open already; a recording would replace them at its end. */
static int check_file(struct machine *m, const char *path)
{
    const struct machine_options *o = m->options;
    const struct {
        const char *option, *path;
    } others[] = {{"--stats", o->statistics_file}, {"--report", o->trace.report}, {"--trace", o->trace.path}};

    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (others[i].path && strcmp(others[i].path, path) == 0)
            return machine_complain(m, "%s: %s writes this file, too; give another one", path, others[i].option);
    return machine_check_output(m, "--record", path);
}

int recorder_begin(struct machine *m, const struct run_options *o)
{
    struct recording *r = m->options->recording;
    char error[ERROR_LINE_BYTES];

    if (!recording_is_written(r) || recording_is_kept(r))
        return 0;
    if (check_file(m, recording_file(r)) != 0)
        return -1;
    if (recording_open(r, error) < 0)
        return machine_complain(m, "%s", error);
    recording_add_json(r, RECORDED_ABOUT, describe_run(m, o));
    if (m->config.text)
        recording_add_text(r, RECORDED_MACHINE, m->config.text);
    if (o && !o->machine.light)
        add_programs(r, &o->job);
    add_volumes(r, m);
    return 0;
}

int recorder_end(struct machine *m, int status)
{
    struct recording *r = m->options->recording;
    char error[ERROR_LINE_BYTES];

    if (!recording_is_written(r) || recording_is_kept(r) || !m->sched)
        return 0;
    const struct job *j = front_first_job(m->front);
    json_t *end = json_pack("{s:i, s:I, s:b, s:I}", "status", status, "cycles", (json_int_t)sched_now(m->sched),
                            "fault", j && j->faulted, "failed", (json_int_t)m->failed_cycles);
    return recording_close(r, end, error) < 0 ? machine_complain(m, "%s", error) : 0;
}
