/* A run's options out of a recording: those of the run; and a description that makes no sense is refused. */
#include "emu/machine/replayer.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "emu/machine/recorded.h"
#include "tests/emu/recording_version.h"
#include "tests/emu/scratch.h"

#define NOTHING "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855" /* SHA-256 of an empty file */
#define HEAD    "{\"format\": " THIS_FORMAT ", \"timing\": " THIS_TIMING ", "
#define PARTS   "\"parts\": {\"vertex.elf\": \"" NOTHING "\"}, "
#define MACHINE "\"machine\": {\"name\": \"m.conf\", \"dimension\": 2, \"set\": [\"dim=2\"]}, "
#define SIZES   "\"stack_bytes\": 1, \"heap_bytes\": 2, \"comm_bytes\": 3, "
#define RULES   "\"status_rule\": 1, \"label\": true, \"registers\": false, "
#define PROGRAM "{\"path\": \"./a\", \"words\": [\"a\", [98, 255]], \"nodes\": 3, \"piped\": false, \"dimension\": 2}"
#define JOB(dim, programs) \
    "\"job\": {\"dimension\": " dim ", " SIZES RULES "\"limit_cycles\": 77, \"programs\": [" programs "]}}"

static struct scratch scratch;
static char error[ERROR_LINE_BYTES];
static struct run_options o;
static struct replayer replayer;

static void set_up(void)
{
    scratch_make(&scratch);
    scratch_write(&scratch, "vertex.elf", "", 0);
}

static void tear_down(void)
{
    scratch_remove(&scratch);
}

TestSuite(replayer, .init = set_up, .fini = tear_down);

static int fill(const char *about)
{
    char path[PATH_MAX];
    struct recording *r;

    snprintf(path, sizeof path, "%s", scratch_path(&scratch, "run.ncr"));
    r = recording_new(path);
    cr_assert_eq(recording_open(r, error), 0, "%s", error);
    recording_add_text(r, "recording.json", about);
    recording_add_text(r, "programs/0", "ELF");
    cr_assert_eq(recording_close(r, json_pack("{s:i}", "status", 0), error), 0, "%s", error);
    recording_free(r);
    cr_assert_eq(recording_read(&r, path, error), 0, "%s", error);
    replayer = (struct replayer){0};
    o = (struct run_options){.machine = {.lib = scratch.path, .recording = r}};
    error[0] = '\0';
    return replayer_fill(&o, &replayer, error);
}

static void forget(void)
{
    replayer_free(&replayer);
    recording_free(o.machine.recording);
}

Test(replayer, takes_the_runs_options)
{
    cr_assert_eq(fill(HEAD PARTS MACHINE JOB("2", PROGRAM)), 0, "%s", error);
    cr_expect_str_eq(o.machine.machine_name, "m.conf");
    cr_expect_eq(o.limit_cycles, 77);
    cr_expect(o.job.dim == 2 && o.job.stack_bytes == 1 && o.job.heap_bytes == 2 && o.job.comm_bytes == 3);
    cr_expect(o.job.status_rule == JOB_STATUS_FIRST && o.job.label && !o.job.registers);
    cr_assert_eq(o.job.programs, 1);
    const struct job_program *p = &o.job.program[0];
    cr_expect_str_eq(p->path, "./a");
    cr_expect_eq(p->argc, 2);
    cr_expect_str_eq(p->argv[1], "b\xff");
    cr_expect_eq(p->nodes, 3);
    cr_expect_not_null(p->file);
    forget();
}

static const struct wrong {
    const char *about, *why;
} wrong[] = {
    {HEAD "\"parts\": 3}", "makes no sense"},
    {HEAD "\"parts\": {\"../vertex.elf\": \"" NOTHING "\"}}", "makes no sense"},
    {HEAD "\"parts\": {\"vertex.elf\": \"00\"}, " MACHINE JOB("2", PROGRAM), "recorded with another vertex.elf"},
    {HEAD "\"parts\": {\"nsdisk.elf\": \"" NOTHING "\"}, " MACHINE JOB("2", PROGRAM),
     "recorded with another nsdisk.elf"},
    {HEAD PARTS "\"machine\": {\"dimension\": -1, \"set\": []}, " JOB("2", PROGRAM), "makes no sense"},
    {HEAD PARTS "\"machine\": {\"dimension\": 2, \"set\": [\"no key\"]}, " JOB("2", PROGRAM), "makes no sense"},
    {HEAD PARTS "\"machine\": {\"dimension\": 2, \"set\": [7]}, " JOB("2", PROGRAM), "makes no sense"},
    {HEAD PARTS MACHINE "\"job\": []}", "makes no sense"},
    {HEAD PARTS MACHINE JOB("14", PROGRAM), "makes no sense"},
    {HEAD PARTS MACHINE JOB("2", ""), "makes no sense"},
    {HEAD PARTS MACHINE JOB("2", "{}"), "makes no sense"},
    {HEAD PARTS MACHINE JOB("2", "{\"path\": \"a\", \"words\": [null]}"), "makes no sense"},
    {HEAD PARTS MACHINE JOB("2", "{\"path\": \"a\", \"words\": [\"a\"], \"dimension\": 40}"), "makes no sense"},
    {HEAD PARTS MACHINE JOB("2", PROGRAM ", {\"path\": \"a\", \"words\": [\"a\"]}"), "makes no sense"},
    {HEAD PARTS MACHINE JOB("2", PROGRAM ", {\"path\": \"/none\", \"words\": [\"a\"], \"sha256\": \"" NOTHING "\"}"),
     "/none is not there"},
    {HEAD PARTS MACHINE JOB("2", PROGRAM ", {\"path\": \"/proc/self/exe\", \"words\": [\"a\"], \"sha256\": \"" NOTHING
                                         "\"}"),
     "/proc/self/exe is not the program that was recorded"},
};

Test(replayer, refuses_what_makes_no_sense)
{
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        cr_expect_eq(fill(wrong[i].about), -1, "row %zu", i);
        cr_expect(strstr(error, wrong[i].why) && !strchr(error, '\n'), "row %zu: %s", i, error);
        forget();
    }
}
