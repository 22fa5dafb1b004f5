/* Striped volumes: files over several volumes by the calls of Unix. After each run e2fsck judges every image. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/guest.h"

TestSuite(striped, .timeout = 600);

#define PROGRAM "guest/striped"
#define DIM     6
#define VOLUMES 4
#define STRIPED \
    "striped = ( { volume = \"big\"; over = [\"df00\", \"df01\", \"df02\", \"df03\"]; map = \"%s\"; } );\n%s"

static char *striped_machine(const char *folder, const char *map, const char *more)
{
    char *striped = format(STRIPED, map, more), *machine = machine_file(folder, DIM, VOLUMES, striped);

    free(striped);
    return machine;
}

/* Runs a program on a new machine with the striped volume "big" over four volumes. */
static void pass(struct ncube_run r, const char *map, const char *more, int kilobytes)
{
    char *folder = folder_with_images(VOLUMES, kilobytes, 1024), *machine = striped_machine(folder, map, more);

    r.machine = machine;
    guest_must_pass(&r);
    images_check(folder, VOLUMES);
    free(machine);
    folder_remove(folder);
}

/* ---- Programs of its own ---- */

static const struct own_case {
    const char *dim, *map, *args[4];
} own_cases[] = {
    {"0", "cyclic 1000 4", {"like one file", "//big/", "1"}},
    {"0", "cyclic 16384 4", {"like one file", "//big/", "2"}},
    {"0", "cyclic 512 4", {"like one file", "//big/", "3"}},
    {"0", "cyclic 4097 4", {"like one file", "//big/", "4"}},
    {"0", "array 100x150x8 block,cyclic(7) on 2x2", {"like one file", "//big/", "5"}},
    {"0", "cyclic 4096 4", {"PIO file", "//big/", "4", "4096"}},
    {"0", "cyclic 1000 4", {"appends", "//big/"}},
    {"0", "cyclic 1000 4", {"beside libpio", "//big/"}},
    {"0", "cyclic 1000 4", {"names", "//big/"}},
    {"0", "cyclic 1000 4", {"lowest descriptors", "//big/"}},
    {"0", "cyclic 1000 4", {"sum of volumes", "//big/", "4"}},
    {"0", "cyclic 1000 4", {"largest offset", "//big/", "1000", "4"}},
    {"0", "cyclic 4099 4", {"largest offset", "//big/", "4099", "4"}},
    {"0", "cyclic 1000 4", {"shared", "//big/"}},
    {"3", "cyclic 1000 4", {"shared", "//big/"}},
    {"2", "array 64x64x2 cyclic(5),block on 2x2", {"shared", "//big/"}},
};

DrawnRowTest(striped, has_ordinary_files, own_cases, 2)
{
    const struct own_case *c = &own_cases[*row];
    struct ncube_run r = {.dim = c->dim, .program = PROGRAM};

    memcpy(r.args, c->args, sizeof c->args);
    pass(r, c->map, "", 1024);
}

/* ---- Programs that know nothing of it ---- */

static const struct {
    const char *program, *dim, *args[4];
} unix_cases[] = {
    {"guest/files", "0", {"opens and closes", "//big/"}},
    {"guest/files", "0", {"reads and writes", "//big/"}},
    {"guest/files", "0", {"truncates and appends", "//big/"}},
    {"guest/files", "0", {"describes", "//big/"}},
    {"guest/files", "0", {"serves stdio", "//big/"}},
    {"guest/files", "0", {"lists", "//big/"}},
    {"guest/files", "0", {"many files", "//big/"}},
    {"guest/files", "0", {"a big file", "//big/"}},
    {"guest/files", "0", {"holes", "//big/"}},
    {"guest/files", "0", {"beyond 4 GB", "//big/"}},
    {"guest/files", "3", {"own files", "//big/"}},
    {"guest/files", "3", {"one file", "//big/"}},
    {"guest/posix", "0", {"attributes", "//big/"}},
    {"guest/posix", "0", {"sorted lists", "//big/"}},
    {"guest/posix", "0", {"several buffers", "//big/"}},
    {"guest/posix", "0", {"file systems", "//big/"}},
    {"guest/posix", "0", {"synchronous writes", "//big/"}},
    {"guest/mapped", "1", {"calls", "//big/"}},
    {"guest/mapped", "2", {"streams", "//big/"}},
    {"guest/mapped", "2", {"shared file", "//big/", "cyclic 1024 4", "30000"}},
    {"guest/mapped", "3", {"shared file", "//big/", "array 50x60x8 block,block on 2x4", "24000"}},
    {"guest/mapped", "2", {"shared file", "//big/", "bits p1-0 o9-0", "4096"}},
};

DrawnRowTest(striped, serves_programs_that_do_not_know_it, unix_cases, 2)
{
    struct ncube_run r = {.dim = unix_cases[*row].dim, .program = unix_cases[*row].program};

    memcpy(r.args, unix_cases[*row].args, sizeof unix_cases[*row].args);
    pass(r, "cyclic 1000 4", "", 4096);
}

/* ---- What the paper claims [P1 sections 1.1 and 2.6] ---- */

#define RATES "guest/striped_rates"

static void make_machine(const char *folder, const char *maps)
{
    char *machine = machine_file(folder, 5, 8, maps);

    free(machine);
}

/* Runs a case of guest/striped_rates on the folder's machine; the caller frees what it printed. */
static char *measure(const char *folder, const char *dim, const char *name, const char *first, const char *second)
{
    char *machine = format("%s/machine.conf", folder);
    struct outcome o =
        ncube_run(&(struct ncube_run){.dim = dim, .machine = machine, .program = RATES, .args = {name, first, second}});

    cr_assert_eq(o.status, 0, "%s", o.err);
    free(machine);
    free(o.err);
    return o.out;
}

/* The number behind the nth occurrence of a word. */
static double number_behind(const char *text, const char *word, int nth)
{
    for (; nth >= 0; nth--) {
        text = strstr(text, word);
        cr_assert_not_null(text, "%s", word);
        text += strlen(word);
    }
    return strtod(text, NULL);
}

#define OVER      "[\"df00\", \"df01\", \"df02\", \"df03\", \"df04\", \"df05\", \"df06\", \"df07\"]"
#define BLOCKS(b) "{ volume = \"b" b "\"; over = " OVER "; map = \"cyclic " b " 8\"; }"

/* Figure 10: a plain write to a striped disk is as fast as libpio's call, to 1 %. It may be faster: how far the disks
 * have turned when the first block comes differs. */
Test(striped, plain_writes_are_as_fast_as_pio_writes)
{
    char *text[2];

    for (int plain = 0; plain < 2; plain++) {
        char *folder = folder_with_images(8, 8192, 4096);

        make_machine(folder, "striped = (" BLOCKS("4096") ", " BLOCKS("8192") ", " BLOCKS("16384") ");");
        text[plain] = measure(folder, "5", "table", plain ? "open" : "pio", "write");
        images_check(folder, 8);
        folder_remove(folder);
    }
    for (int i = 0; i < 3; i++) {
        double pio_us = number_behind(text[0], "us=", i), plain_us = number_behind(text[1], "us=", i);

        cr_expect_lt(plain_us, pio_us * 1.01, "%d: %.0f us, by libpio %.0f us", i, plain_us, pio_us);
    }
    free(text[0]);
    free(text[1]);
}

/* Capacity, rates and seeks grow with the drives, to 5 %. */
Test(striped, grow_with_their_drives)
{
    static const char *const words[] = {"MB=", "write=", "read=", "reads="};
    char *text[2];

    for (int i = 0; i < 2; i++) {
        char *folder = folder_with_images(8, 8192, 4096);
        const char *dim = i ? "2" : "0";

        make_machine(folder, i ? "striped = ({ volume = \"big\"; map = \"cyclic 16384 4\"; over = [\"df00\", "
                                 "\"df01\", \"df02\", \"df03\"]; });"
                               : "striped = ({ volume = \"big\"; map = \"cyclic 16384 1\"; over = [\"df00\"]; });");
        text[i] = measure(folder, dim, "drives", NULL, NULL);
        folder_remove(folder);
    }
    for (size_t w = 0; w < sizeof words / sizeof *words; w++) {
        double one = number_behind(text[0], words[w], 0), four = number_behind(text[1], words[w], 0);

        cr_expect_gt(four, 4 * one * 0.95, "%s%.2f, with one drive %.2f", words[w], four, one);
        cr_expect_lt(four, 4 * one * 1.05, "%s%.2f, with one drive %.2f", words[w], four, one);
    }
    free(text[0]);
    free(text[1]);
}

/* ---- Failures ---- */

Test(striped, fills_up)
{
    pass((struct ncube_run){.program = PROGRAM, .args = {"full", "//big/"}}, "cyclic 4096 4", "", 400);
}

Test(striped, names_the_error_when_a_drive_is_dead)
{
    char *folder = folder_with_images(VOLUMES, 1024, 1024);
    char *machine = striped_machine(folder, "cyclic 1000 4", "faults = ( { drive = \"df02\"; from_us = 4000000; } );");

    outcome_must_be(
        ncube_run(&(struct ncube_run){.machine = machine, .program = PROGRAM, .args = {"dead drive", "//big/"}}),
        "dead drive", 1, "passed\n", "I/O node 2 of board 3: df02: the drive failed");
    free(machine);
    folder_remove(folder);
}

/* As e2fsck or the server leaves a file system that it does not trust. */
static void mark_with_errors(const char *folder, int volume)
{
    char *image = format("%s/df%02d.img", folder, volume);

    command_must_succeed((char *[]){"debugfs", "-w", "-R", "set_super_value state 2", image, NULL});
    free(image);
}

/* What no failed call may change, of a volume's root. */
static char *list_names(const char *folder, int volume)
{
    char *image = format("%s/df%02d.img", folder, volume);
    struct outcome o = command_run((char *[]){"debugfs", "-R", "ls -l /", image, NULL}, "");

    cr_assert_eq(o.status, 0, "%s", o.err);
    free(o.err);
    free(image);
    return o.out;
}

Test(striped, fails_and_changes_nothing_when_one_volume_is_read_only)
{
    for (int volume = 0; volume < VOLUMES; volume++) {
        char *folder = folder_with_images(VOLUMES, 1024, 1024), *before[VOLUMES];
        char *machine = striped_machine(folder, "cyclic 3 4", "");

        guest_must_pass(&(struct ncube_run){.machine = machine, .program = PROGRAM, .args = {"some names", "//big/"}});
        mark_with_errors(folder, volume);
        for (int k = 0; k < VOLUMES; k++)
            before[k] = list_names(folder, k);
        struct outcome o =
            ncube_run(&(struct ncube_run){.machine = machine, .program = PROGRAM, .args = {"read-only", "//big/"}});
        cr_expect(o.status == 0 && strcmp(o.out, "passed\n") == 0, "volume %d: %d, %s%s", volume, o.status, o.out,
                  o.err);
        outcome_free(&o);
        for (int k = 0; k < VOLUMES; k++) {
            char *after = list_names(folder, k);

            cr_expect_str_eq(after, before[k], "volume %d is read-only: df%02d", volume, k);
            free(after);
            free(before[k]);
        }
        free(machine);
        folder_remove(folder);
    }
}

/* The last of eight nodes has the lock of all names, and does not give it back. */
static const struct holder {
    const char *end, *faults, *error;
    int status;
} holders[] = {
    {"ends", "", "0", 0},
    {"killed", "", "0", 0},
    {"cut off", "faults = ( { node = 7; from_us = 2500000; } );\n", "116", 124}, /* ETIMEDOUT; node 7 never exits */
};

Test(striped, answer_those_who_wait_for_a_lock_that_is_not_given_back)
{
    for (size_t i = 0; i < sizeof holders / sizeof *holders; i++) {
        const struct holder *h = &holders[i];
        char *folder = folder_with_images(VOLUMES, 1024, 1024), *more = format("server_limit_s = 1;\n%s", h->faults);
        char *machine = striped_machine(folder, "cyclic 1000 4", more);
        struct outcome o = ncube_run(&(struct ncube_run){.dim = "3",
                                                         .machine = machine,
                                                         .program = PROGRAM,
                                                         .args = {"lock", "//big/", h->error, h->end},
                                                         .limit = "12"});

        cr_expect(o.status == h->status && strcmp(o.out, "passed\n") == 0, "%s: status %d, %s%s", h->end, o.status,
                  o.out, o.err);
        outcome_free(&o);
        images_check(folder, VOLUMES);
        free(machine);
        free(more);
        folder_remove(folder);
    }
}

Test(striped, is_not_there_unless_the_machine_file_names_it)
{
    char *folder = folder_with_images(2, 1024, 1024), *machine = machine_file(folder, 3, 2, "");

    guest_must_pass(&(struct ncube_run){.machine = machine, .program = PROGRAM, .args = {"unknown", "//big/"}});
    free(machine);
    folder_remove(folder);
}

/* ---- The machine ---- */

Test(striped, is_known_to_a_program_that_a_program_loads)
{
    char *folder = folder_with_programs(PROGRAM);

    pass((struct ncube_run){.serve = folder, .program = PROGRAM, .args = {"loads another", "//big/", "/striped"}},
         "cyclic 1000 4", "", 1024);
    folder_remove(folder);
}
