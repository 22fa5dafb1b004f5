/* For bad input ncube prints one clear line that names the error, and ends with the right status. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/machine/command.h"

TestSuite(bad_input, .timeout = 600);

enum { FAILED = 1, USAGE = 2, LIMIT = 124 };

/* One line on standard error, in which every word of the list occurs, and this on standard output. A limit's line is
 * followed by two on the program: how many nodes have not ended, and where the only one runs. */
static void expect_end(char *const argv[], const char *name, int status, const char *const *words, const char *out)
{
    struct outcome o = command_run(argv, NULL);

    cr_expect_eq(o.status, status, "%s: status %d, not %d: %s", name, o.status, status, o.err);
    cr_expect_eq(count_lines(o.err), status == LIMIT ? 3 : 1, "%s: not one line: %s", name, o.err);
    cr_expect_str_eq(o.out, out, "%s: %s", name, o.out);
    for (int i = 0; i < 4 && words[i] != NULL; i++)
        cr_expect(strstr(o.err, words[i]) != NULL, "%s: no '%s' in: %s", name, words[i], o.err);
    outcome_free(&o);
}

static void expect_refusal(char *const argv[], const char *name, int status, const char *const *words)
{
    expect_end(argv, name, status, words, "");
}

/* ---- The command line ---- */

#define HELLO "@examples/hello" /* '@': below the build folder */

static const struct line {
    const char *name, *argv[8];
    int status;
    const char *words[4];
} lines[] = {
    {"an unknown option", {"run", "--fast", HELLO}, USAGE, {"unknown option", "--fast"}},
    {"an unknown short option", {"run", "-x", HELLO}, USAGE, {"unknown option", "-x"}},
    {"a word of unknown short options", {"run", "-xy", HELLO}, USAGE, {"unknown option", "'-x'"}},
    {"an option without its value", {"run", "-d"}, USAGE, {"-d", "value"}},
    {"a dimension that is no number", {"run", "-d", "two", HELLO}, USAGE, {"'two'", "number"}},
    {"a dimension with something behind it", {"run", "-d", "2x", HELLO}, USAGE, {"'2x'"}},
    {"a negative dimension", {"run", "-d", "-1", HELLO}, USAGE, {"'-1'"}},
    {"too high a dimension", {"run", "-d", "14", HELLO}, USAGE, {"'14'", "13"}},
    {"a limit that is none", {"run", "--limit", "soon", HELLO}, USAGE, {"'soon'"}},
    {"no program", {"run"}, USAGE, {"program"}},
    {"an unknown command", {"walk", HELLO}, USAGE, {"'walk'"}},
    {"a program that is missing", {"run", "/no/such/program"}, FAILED, {"/no/such/program", "No such file"}},
    {"a folder as a program", {"run", "/tmp"}, FAILED, {"/tmp"}},
    {"a text as a program", {"run", "@lib/program.ld"}, FAILED, {"program.ld", "ELF"}},
    {"an empty program", {"run", "/dev/null"}, FAILED, {"/dev/null"}},
    {"a program of the host", {"run", "@bin/ncube"}, FAILED, {"ncube", "RISC-V"}},
    {"an object file as a program", {"run", "@lib/crt0.o"}, FAILED, {"crt0.o"}},
    {"the kernel as a program", {"run", "@lib/vertex.elf"}, FAILED, {"vertex.elf"}},
    {"a machine file that is missing", {"run", "-m", "/no/such/file", HELLO}, FAILED, {"/no/such/file"}},
    {"a served folder that is missing", {"run", "--serve", "/no/such/folder", HELLO}, FAILED, {"/no/such/folder"}},
    {"a served folder that is a file", {"run", "--serve", HELLO, HELLO}, FAILED, {"hello", "folder"}},
    {"a trace that cannot be written", {"run", "--trace", "/no/such/trace", HELLO}, FAILED, {"/no/such/trace"}},
    {"statistics that cannot be written", {"run", "--stats=/no/such/file", HELLO}, FAILED, {"/no/such/file"}},
    {"statistics in a file without a name", {"run", "--stats=", HELLO}, USAGE, {"stats", "name"}},
    {"a trace in a file without a name", {"run", "--trace=", HELLO}, USAGE, {"trace", "name"}},
    {"a heartbeat that is none", {"run", "--heartbeat=often", HELLO}, USAGE, {"'often'", "seconds"}},
    {"a heartbeat that never comes", {"run", "--heartbeat=0", HELLO}, USAGE, {"'0'", "seconds"}},
    {"too little virtual time", {"run", "--limit", "0.001", HELLO}, LIMIT, {"limit", "0.001"}},
};

RowTest(bad_input, on_the_command_line_is_refused, lines)
{
    const struct line *l = &lines[*row];
    char *argv[10] = {build_path("bin/ncube")};

    for (int i = 0; i < 8 && l->argv[i] != NULL; i++)
        argv[i + 1] = l->argv[i][0] == '@' ? build_path(l->argv[i] + 1) : strdup(l->argv[i]);
    expect_refusal(argv, l->name, l->status, l->words);
    for (int i = 0; argv[i] != NULL; i++)
        free(argv[i]);
}

Test(bad_input, a_limit_ends_a_program_that_never_ends)
{
    expect_end((char *[]){build_path("bin/ncube"), "run", "--limit", "0.1", build_path("guest/ends"), "spins", NULL},
               "spins", LIMIT, (const char *[4]){"limit", "0.1", "node 0 runs in spins (ends.c:"}, "begins\n");
}

Test(bad_input, a_missing_qemu_is_named)
{
    char *argv[] = {"/usr/bin/env", "PATH=/no/such/folder",       build_path("bin/ncube"),
                    "run",          build_path("examples/hello"), NULL};

    expect_refusal(argv, "no QEMU", FAILED, (const char *[4]){"qemu-system-riscv64"});
}

Test(bad_input, too_many_arguments_are_refused)
{
    char *big = malloc(100001);

    memset(big, 'x', 100000);
    big[100000] = '\0';

    expect_refusal((char *[]){build_path("bin/ncube"), "run", build_path("examples/hello"), big, NULL}, "arguments",
                   FAILED, (const char *[4]){"arguments"});
    free(big);
}

/* ---- The machine file ---- */

static const struct machine_text {
    const char *name, *text;
    const char *words[4]; /* the first is line and colon */
} machine_texts[] = {
    {"an unknown key", "dim = 1;\nspeed = 3;\n", {":2:", "speed"}},
    {"a wrong type", "dim = \"one\";\n", {":1:", "dim"}},
    {"a value out of range", "dim = 1;\nram_mb = 128;\n", {":2:", "ram_mb", "64"}},
    {"a memory that is no power of two", "dim = 1;\nram_mb = 3;\n", {":2:", "power of two"}},
    {"no dimension", "ram_mb = 4;\n", {"dim"}},
    {"no syntax", "dim = 1;\nram_mb = = 4;\n", {":2:"}},
    {"an unknown key of a drive",
     "dim = 2;\nboards = ( { number = 3; io_nodes = (\n{ index = 0; drives = (\n{ volume = \"a\"; image = \"a.img\";"
     " size = 3; } ); } ); } );\n",
     {":4:", "size"}},
    {"a volume twice",
     "dim = 2;\nboards = ( { number = 3; io_nodes = (\n{ index = 0; drives = ( { volume = \"a\"; image = \"a.img\"; "
     "},\n"
     "{ volume = \"a\"; image = \"b.img\"; } ); } ); } );\n",
     {":4:", "'a'", "line 3"}},
    {"an SI node that is not there",
     "dim = 1;\nboards = ( { number = 0; io_nodes = (\n{ index = 0; si = [7]; } ); } );\n",
     {":3:", "7"}},
    {"an unknown instruction class", "dim = 0;\ncycles = { thinking = 3; };\n", {":2:", "thinking"}},
    {"an unknown drive model",
     "dim = 2;\nboards = ( { number = 3; io_nodes = (\n{ index = 0; drives = (\n{ volume = \"a\"; image = \"a.img\";"
     " model = \"fast\"; } ); } ); } );\n",
     {":4:", "fast", "scsi-1990"}},
};

RowTest(bad_input, in_a_machine_file_is_named_with_its_line, machine_texts)
{
    const struct machine_text *m = &machine_texts[*row];
    char *folder = folder_new(), *path = format("%s/bad.conf", folder);

    file_write(folder, "bad.conf", m->text, strlen(m->text));
    expect_refusal((char *[]){build_path("bin/ncube"), "run", "-m", path, build_path("examples/hello"), NULL}, m->name,
                   FAILED, (const char *[4]){"bad.conf", m->words[0], m->words[1], m->words[2]});
    free(path);
    folder_remove(folder);
}

/* ---- Machine and images ---- */

static void expect_machine_refused(const char *machine, const char *dim, const char *name, const char *const *words)
{
    expect_refusal((char *[]){build_path("bin/ncube"), "run", "-d", (char *)dim, "-m", (char *)machine,
                              build_path("examples/hello"), NULL},
                   name, FAILED, words);
}

Test(bad_input, a_dimension_that_does_not_fit_the_machine_is_refused)
{
    char *folder = folder_new(), *machine = machine_file(folder, 2, 0, "");

    expect_machine_refused(machine, "3", "dimension", (const char *[4]){"dimension 3", "0 to 2"});
    free(machine);
    folder_remove(folder);
}

Test(bad_input, an_image_that_is_missing_or_no_file_system_is_refused)
{
    char *folder = folder_new(), *machine = machine_file(folder, 2, 1, "");
    static const char zeros[65536];

    expect_machine_refused(machine, "0", "missing",
                           (const char *[4]){"df00.img", "No such file", "--images", "ncube disk create"});
    file_write(folder, "df00.img", zeros, sizeof zeros);
    expect_machine_refused(machine, "0", "zeros", (const char *[4]){"df00.img", "ext2", "ncube disk create"});
    file_write(folder, "df00.img", "", 0);
    expect_machine_refused(machine, "0", "empty", (const char *[4]){"df00.img", "ext2"});
    file_write(folder, "df00.img", zeros, 1030);
    expect_machine_refused(machine, "0", "short", (const char *[4]){"df00.img", "ext2"});
    unlink(format("%s/df00.img", folder));
    cr_assert_eq(mkdir(format("%s/df00.img", folder), 0700), 0);
    expect_machine_refused(machine, "0", "a folder", (const char *[4]){"df00.img"});
    free(machine);
    folder_remove(folder);
}

Test(bad_input, an_image_in_use_is_refused)
{
    char *folder = folder_with_images(1, 1024, 1024), *machine = machine_file(folder, 2, 1, "");
    struct command user =
        ncube_start(&(struct ncube_run){.machine = machine, .program = "guest/ends", .args = {"spins"}});

    command_await_lines(&user, 1); /* QEMU is there before the image is open */
    cr_assert_neq(command_find_qemu(&user), 0);
    expect_machine_refused(machine, "0", "in use", (const char *[4]){"df00.img", "in use"});
    kill(user.pid, SIGTERM);
    struct outcome o = command_wait(&user);
    outcome_free(&o);
    free(machine);
    folder_remove(folder);
}
