/*
 * `ncube experiments`: the command. It reads the machine files, lets every section ask for its measurements, runs them,
 * and lets every section write; then the report gets its files.
 */
#define _GNU_SOURCE
#include "emu/study/experiments.h"

#include <errno.h>
#include <limits.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/base/oneline.h"
#include "emu/base/beside.h"
#include "emu/config/machine_file.h"
#include "emu/base/options.h"
#include "emu/config/overrides.h"
#include "emu/config/config_options.h"
#include "emu/cmd/commands.h"
#include "emu/study/study_machine.h"

#define WORKERS_MAX   16
#define BYTES_LEAST   4096u
#define BYTES_MAX     (8u << 20)
#define STATUS_FAILED 1
#define STATUS_SIGNAL 128
#define PATH_BYTES    4096

static const struct experiment_section *const sections[] = {&section_service, &section_plain,  &section_figures,
                                                            &section_model,   &section_disks,  &section_buffers,
                                                            &section_blocks,  &section_random, &section_nodes};
#define SECTIONS (sizeof sections / sizeof *sections)

static const char *const model_files[MODELS] = {
    [MODEL_1] = "model-1", [MODEL_4] = "model-4", [MODEL_8] = "model-8", [MODEL_WIDE] = "model-16"};

struct arguments {
    const char *machine, *out;
    bool wanted[SECTIONS];
    uint32_t bytes;
};

/* ---- Command line ---- */

static const struct option_line option_out = {KEY_OUT, "out", "DIR",
                                              "folder for the report, made if it is missing (default: experiments)"};
static const struct option_line option_only = {KEY_ONLY, "only", "NAME",
                                               "only this part of the report; may be given again"};
static const struct option_line option_transfer_bytes = {KEY_BYTES, "bytes", "SIZE",
                                                         "bytes of one transfer, up to 8M (default 2M, as the paper)"};

static void print_sections(void)
{
    puts("\nThe parts:");
    for (size_t i = 0; i < SECTIONS; i++)
        printf("  %-8s %s\n", sections[i]->name, sections[i]->title);
}

static void take_section(const struct options *o, struct arguments *a, const char *name)
{
    char known[256] = "";

    for (size_t i = 0; i < SECTIONS; i++) {
        size_t n = strlen(known);

        if (strcmp(sections[i]->name, name) == 0) {
            a->wanted[i] = true;
            return;
        }
        snprintf(known + n, sizeof known - n, "%s%s", n > 0 ? ", " : "", sections[i]->name);
    }
    options_refuse(o, "no part '%s'; there are %s", name, known);
}

/* Every machine gets it, and so does every run of one. */
static void take_setting(const struct options *o, const char *text)
{
    if (strncmp(text, "drives.image=", strlen("drives.image=")) == 0 ||
        strncmp(text, "images=", strlen("images=")) == 0)
        options_refuse(o, "set '%s': the measurements have images of their own; drop it", text);
    if (overrides_at(STUDY_SETTINGS_MAX - 1))
        options_refuse(o, "set '%s': at most %u settings", text, STUDY_SETTINGS_MAX);
    overrides_take_option(o, NULL, KEY_SET, text);
}

static bool take_option(const struct options *o, void *ctx, int key, const char *value)
{
    struct arguments *a = ctx;

    switch (key) {
    case KEY_OUT:
        if (value[0] == '\0')
            options_refuse(o, "out: give a folder's name");
        a->out = value;
        return true;
    case KEY_ONLY:
        take_section(o, a, value);
        return true;
    case KEY_SET:
        take_setting(o, value);
        return true;
    default: {
        uint64_t bytes = options_size(o, "bytes", value, BYTES_MAX);

        if (bytes < BYTES_LEAST || bytes % BYTES_LEAST != 0)
            options_refuse(o, "bytes '%s': give a multiple of 4K up to 8M", value);
        a->bytes = (uint32_t)bytes;
        return true;
    }
    }
}

static const struct options options = {
    .command = "ncube experiments",
    .usage = "[OPTION...] [MACHINE]",
    .summary =
        "Measures parallel file I/O on the machine of the machine file MACHINE (default: sandia) and on machines\n"
        "that are wired as the paper's model supposes. Writes report.md and report.html, with plots, and every\n"
        "measurement in runs.json. It makes images of its own.",
    .line = (const struct option_line *const[]){&option_machine_word, &option_out, &option_only, &option_transfer_bytes,
                                                &option_set, NULL},
    .print_end = print_sections,
    .take = take_option,
};

/* ---- Machines ---- */

static int load_machine(struct experiment *x, struct study_machine *m, const char *path, const char *name)
{
    char copy[PATH_BYTES];

    snprintf(copy, sizeof copy, "%s/%s.conf", x->study.work, name);
    return study_machine_load(m, path, copy, x->study.error);
}

static void rank_places(struct experiment *x)
{
    const struct topo *t = &x->machine.config.topo;
    uint32_t io_node[EXPERIMENT_VOLUMES], n = 0;

    for (uint32_t j = 0; j < t->n_io; j++)
        for (uint32_t d = 0; d < t->io[j].ndrives && n < EXPERIMENT_VOLUMES; d++)
            io_node[n++] = t->io[j].node;
    x->volumes = n;
    x->odd_volume = experiment_odd_volume(&x->machine, n);
    x->place = n > 0 ? place_rank(t, io_node, n) : NULL;
}

static int load_machines(struct experiment *x, const struct arguments *a)
{
    char *folder = beside_find("machines"), *path = machine_file_find(a->machine), model[PATH_BYTES];
    int result = load_machine(x, &x->machine, path, "machine");

    for (int i = 0; result == 0 && i < MODELS; i++) {
        snprintf(model, sizeof model, "%s/%s.conf", folder, model_files[i]);
        result = load_machine(x, &x->model[i], model, model_files[i]);
    }
    if (result == 0)
        rank_places(x);
    free(folder);
    free(path);
    return result;
}

/* ---- The report ---- */

static void write_sections(struct experiment *x, const struct arguments *a)
{
    for (size_t i = 0; i < SECTIONS; i++)
        if (a->wanted[i]) {
            page_heading(x->page, sections[i]->name, sections[i]->title);
            sections[i]->write(x);
        }
}

static void collect(struct experiment *x, const struct arguments *a)
{
    char error[STUDY_ERROR_BYTES];
    struct page page;

    page_begin(&page, "", NULL, NULL, error, sizeof error);
    x->page = &page;
    x->study.collecting = true;
    write_sections(x, a);
    x->study.collecting = false;
    page_end(&page);
}

/* A machine whose volumes are not alike has no single service time to predict with. */
static void say_what_differs(struct experiment *x)
{
    if (x->odd_volume > 0)
        page_paragraph(x->page,
                       "Left out: predictions for %s. Its volumes %s and %s are not alike (drive, cache, or how many "
                       "drives share an I/O node), and the model has one service time for all.",
                       x->machine.name, experiment_volume_name(&x->machine, 0),
                       experiment_volume_name(&x->machine, x->odd_volume));
}

static void say_what_is_set(struct experiment *x)
{
    char list[1024] = "";

    for (uint32_t i = 0; overrides_at(i); i++) {
        size_t n = strlen(list);

        snprintf(list + n, sizeof list - n, "%s%s", n > 0 ? ", " : "", overrides_at(i));
    }
    if (list[0] != '\0')
        page_paragraph(x->page, "Set on the command line, for all machines: %s.", list);
}

static int write_report(struct experiment *x, const struct arguments *a)
{
    struct page page;
    char size[EXPERIMENT_NAME_BYTES];

    page_begin(&page, "User-level parallel file I/O, measured", NULL, x->study.work, x->study.error,
               sizeof x->study.error);
    x->page = &page;
    page_paragraph(&page,
                   "The experiments of Y. Wang and E. L. Leiss, User-Level Parallel File I/O [P0], on the machine %s, "
                   "in virtual time. Each transfer has %s. A rate is bytes over the time of the calls alone; MB are "
                   "2^20 bytes, as in the paper. Every measurement has a machine and blank volumes of its own, and "
                   "reading another start of the machine than writing, so that no server remembers what it wrote.",
                   x->machine.name, experiment_bytes_name(x->bytes, size));
    say_what_is_set(x);
    say_what_differs(x);
    write_sections(x, a);
    page_json(&page, "runs.json", study_json(&x->study));
    int result = page_write(&page, a->out);
    page_end(&page);
    return result;
}

static int complain(struct experiment *x)
{
    fprintf(stderr, "ncube experiments: %s\n", one_line(x->study.error));
    return STATUS_FAILED;
}

static int conduct(struct experiment *x, const struct arguments *a)
{
    if (load_machines(x, a) < 0)
        return complain(x);
    collect(x, a);
    int result = study_run_all(&x->study);
    if (result > 0)
        return STATUS_SIGNAL + result;
    if (result < 0 || write_report(x, a) < 0)
        return complain(x);
    printf("%s/report.html, report.md and runs.json: %zu measurements\n", a->out, x->study.n);
    return 0;
}

static uint32_t count_processors(void)
{
    cpu_set_t set;
    int n = sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;

    return n < WORKERS_MAX ? (uint32_t)n : WORKERS_MAX;
}

static int make_work(struct study *s)
{
    const char *folder = getenv("TMPDIR");

    if (asprintf(&s->work, "%s/ncube-experiments.XXXXXX", folder && *folder ? folder : "/tmp") < 0)
        s->work = NULL;
    if (s->work && mkdtemp(s->work))
        return 0;
    snprintf(s->error, sizeof s->error, "%s: %s", s->work ? s->work : "temporary folder", strerror(errno));
    free(s->work);
    s->work = NULL;
    return -1;
}

int experiments_command(int argc, char **argv)
{
    struct arguments a = {.machine = "sandia", .out = "experiments", .bytes = 2u << 20};
    char **word = options_parse(&options, &a, argc, argv), self[PATH_MAX] = "";
    char *examples = beside_find("examples");
    struct experiment x = {.bytes = a.bytes,
                           .study = {.self = self, .examples = examples, .processors = count_processors()}};
    bool any = false;
    int status;

    if (word[0] && word[1])
        options_refuse(&options, "unexpected word '%s' after the machine file; give one machine file", word[1]);
    if (word[0])
        a.machine = word[0];
    for (size_t i = 0; i < SECTIONS; i++)
        any |= a.wanted[i];
    for (size_t i = 0; i < SECTIONS; i++)
        a.wanted[i] |= !any;
    if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
        snprintf(x.study.error, sizeof x.study.error, "/proc/self/exe: %s", strerror(errno));
    else if (!plot_has_program())
        snprintf(x.study.error, sizeof x.study.error,
                 "gnuplot, which draws the plots, cannot be run; Debian has it in gnuplot-nox");
    status = x.study.error[0] != '\0' || make_work(&x.study) < 0 ? complain(&x) : conduct(&x, &a);
    study_free(&x.study);
    study_machine_free(&x.machine);
    for (int i = 0; i < MODELS; i++)
        study_machine_free(&x.model[i]);
    free(x.place);
    free(examples);
    return status;
}
