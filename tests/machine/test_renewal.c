/*
 * QEMU's buffer for translated code, which is emptied while a machine is kept up and executes one program after the
 * other. That it changes no result is tested by test_exact.c.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "emu/qemu/fiber.h"
#include "tests/machine/booted.h"

TestSuite(renewal, .timeout = 600);

#define PROGRAMS      160
#define PROCESSES_MAX 16
#define SAID          "hello from"
#define GROWN_MOST_KB 2048 /* private memory of a QEMU for the second half of the programs; each one's code is 350 KB */

static const struct machine_of_test {
    const char *name, *text;
    int cabinets;
} machines[] = {
    {"one cabinet", "dim = 1; translation_mb = 16;", 1},
    {"a copied one, too", "dim = 1; translation_mb = 16; nodes_per_cabinet = 1;", 2},
    {"without a text pool", "dim = 1; translation_mb = 16; shared_text_kb = 0;", 1},
};

/* A program that differs from the others in its text, and says so. */
static char *make_program(const char *folder, char *elf, size_t bytes, int k)
{
    char number[8], *path = format("%s/program", folder);
    static char *said;

    snprintf(number, sizeof number, "h%04d", k);
    if (!said)
        said = memmem(elf, bytes, SAID, strlen(SAID));
    cr_assert(said, "hello says '" SAID "'");
    memcpy(said, number, strlen(number));
    file_write(folder, "program", elf, bytes);
    cr_assert_eq(chmod(path, 0755), 0);
    return path;
}

static long private_kb(pid_t pid)
{
    char path[64], line[256];
    long sum = 0, kb;

    snprintf(path, sizeof path, "/proc/%d/smaps_rollup", (int)pid);
    FILE *f = fopen(path, "re");
    while (f && fgets(line, sizeof line, f))
        if (sscanf(line, "Private_Dirty: %ld", &kb) == 1)
            sum += kb;
    if (f)
        fclose(f);
    return sum;
}

/* Of all processes of the machine. */
static long machine_kb(const struct booted *b)
{
    pid_t pid[PROCESSES_MAX];
    size_t n = command_processes(&b->command, pid, PROCESSES_MAX);
    long sum = 0;

    for (size_t i = 0; i < n; i++)
        sum += private_kb(pid[i]);
    return sum;
}

static json_int_t count_flushes(const char *path)
{
    json_t *stats = json_load_file(path, 0, NULL);
    json_int_t n = json_integer_value(json_object_get(json_object_get(stats, "host"), "code_flushes"));

    cr_assert(stats, "%s", path);
    json_decref(stats);
    return n;
}

DrawnRowTest(renewal, keeps_memory_level_while_a_machine_executes_many_programs, machines, 3)
{
    const struct machine_of_test *m = &machines[*row];

    if (!fiber_possible())
        cr_skip_test(NO_FIBERS);
    char *folder = folder_new(), *machine = format("%s/m.conf", folder), *stats = format("%s/stats", folder);
    char *option = format("--stats=%s", stats);
    size_t bytes;
    char *elf = file_read(build_path("examples"), "hello", &bytes);

    file_write(folder, "m.conf", m->text, strlen(m->text));
    struct booted b = booted_up(WORDS("-m", machine, option));
    long half_kb = 0;
    for (int k = 0; k < PROGRAMS; k++) {
        char *program = make_program(folder, elf, bytes, k), *out = format("h%04d from node 0 of 1\n", k);

        xnc_expect(&b, "", WORDS(program), 0, out, "");
        if (k == PROGRAMS / 2)
            half_kb = machine_kb(&b);
        free(out);
        free(program);
    }
    long grown_kb = machine_kb(&b) - half_kb;
    cr_expect_leq(grown_kb, GROWN_MOST_KB * m->cabinets, "%s: %ld KB, then %ld KB more", m->name, half_kb, grown_kb);
    booted_down(&b);
    json_int_t flushes = count_flushes(stats);
    cr_expect_geq(flushes, 2, "%s: %lld", m->name, (long long)flushes);
    free(elf);
    free(option);
    free(stats);
    free(machine);
    folder_remove(folder);
}

/* Without them machines would end after some thousand programs, and nothing would say so before. */
Test(renewal, finds_the_functions_of_qemu)
{
    static const char *const names[] = {"qemu_get_cpu", "cpu_restore_state", "cpu_exec_start",
                                        "cpu_exec_end", "start_exclusive",   "end_exclusive",
                                        "tb_flush",     "cpu_loop_exit",     "tcg_code_size"};
    struct outcome o =
        command_run((char *[]){"sh", "-c", "nm -D --defined-only \"$(command -v qemu-system-riscv64)\"", NULL}, NULL);

    cr_assert_eq(o.status, 0, "%s", o.err);
    for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
        char *line = format(" T %s\n", names[k]);

        cr_expect(strstr(o.out, line), "%s: see emu/plugin/plugin_flush.c", names[k]);
        free(line);
    }
    outcome_free(&o);
}
