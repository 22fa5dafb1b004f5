/*
 * The Concurrent File System in the machine: <cfs.h> and the C library's calls on three disks, a dead I/O node, the
 * benchmark's line, and the same events in every run. e2fsck judges the disks after each.
 */
#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/guest.h"

TestSuite(cfs, .timeout = 600);

#define DISKS          3
#define CACHE          "cache_kb = 256; write = \"groups\"; fill = \"later\"; commands = 64;"
#define DRIVE(i, keys) "{ volume = \"df0" #i "\"; image = \"df0" #i ".img\"; " keys " }"

/* A 3-cube with disk 0 on one I/O node, and disks 1 and 2 on another; or 1 alone there. */
static char *cfs_machine(const char *folder, const char *more)
{
    char *path = format("%s/m.conf", folder);
    FILE *f = fopen(path, "we");

    cr_assert_not_null(f);
    fprintf(f,
            "dim = 3;\n%s\ncfs = { volumes = [ \"df00\", \"df01\", \"df02\" ]; };\n"
            "boards = ( { number = 0; io_nodes = (\n"
            "    { index = 0; si = [1]; service = \"concurrent\"; drives = ( " DRIVE(
                0, CACHE) " ); },\n"
                          "    { index = 1; si = [2]; service = \"concurrent\"; drives = ( " DRIVE(
                              1, CACHE) " ); },\n"
                                        "    { index = 2; si = [4]; service = \"concurrent\"; drives = ( " DRIVE(
                                            2, CACHE) " ); } ); } );\n",
            more);
    cr_assert_eq(fclose(f), 0);
    return path;
}

/* What the judge on the host (cfs_judge.py) prints about the disks; path: of a file whose bytes it is to print. */
static struct outcome judge(const char *folder, const char *path)
{
    char *image[DISKS];

    for (int i = 0; i < DISKS; i++)
        image[i] = format("%s/df0%d.img", folder, i);
    char *check[] = {"python3", "-B", "tests/machine/cfs_judge.py", "check", image[0], image[1], image[2], NULL};
    char *cat[] = {"python3", "-B", "tests/machine/cfs_judge.py", "cat", (char *)path, image[0], image[1],
                   image[2],  NULL};
    struct outcome o = command_run(path ? cat : check, NULL);
    for (int i = 0; i < DISKS; i++)
        free(image[i]);
    return o;
}

/* `ncube disk VERB -m the machine WORD -` */
static struct outcome disk(const char *folder, const char *verb, const char *word)
{
    char *ncube = build_path("bin/ncube"), *machine = format("%s/m.conf", folder);
    char *argv[] = {ncube, "disk", (char *)verb, "-m", machine, (char *)word, "-", NULL};

    argv[5] = word ? argv[5] : NULL;
    struct outcome o = command_run(argv, NULL);
    free(machine);
    free(ncube);
    return o;
}

/* Both on the host count the same files and blocks. */
static void expect_whole(const char *folder)
{
    images_check(folder, DISKS);
    struct outcome o = judge(folder, NULL), own = disk(folder, "fsck", NULL);
    unsigned files, blocks;
    cr_expect_eq(o.status, 0, "%s", o.err);
    cr_assert_eq(sscanf(o.out, "%u files, %u blocks", &files, &blocks), 2, "%s", o.out);
    char *said = format("Concurrent File System: %u file%s, %u blocks in ", files, files == 1 ? "" : "s", blocks);
    cr_expect_eq(own.status, 0, "%s", own.err);
    cr_expect_not_null(strstr(own.out, said), "%s, but not: %s", own.out, said);
    free(said);
    outcome_free(&own);
    outcome_free(&o);
}

/* The program's outcome on fresh disks, which are whole then; `look` sees them. */
static struct outcome run_and_look(struct ncube_run r, const char *more, bool whole, void (*look)(const char *folder))
{
    char *folder = folder_with_images(DISKS, 8192, 4096), *machine = cfs_machine(folder, more);

    r.machine = machine;
    struct outcome o = ncube_run(&r);
    if (whole)
        expect_whole(folder);
    if (look)
        look(folder);
    free(machine);
    folder_remove(folder);
    return o;
}

static struct outcome run(struct ncube_run r, const char *more, bool whole)
{
    return run_and_look(r, more, whole, NULL);
}

/* What all nodes have written together (tests/guest/cfs.c, all_nodes). */
static void look_at_all(const char *folder)
{
    struct outcome o = judge(folder, "/all"), own = disk(folder, "get", "cfs:/all");
    size_t i = 0;

    cr_assert_eq(o.status, 0, "%s", o.err);
    cr_expect(o.out_bytes > 0 && o.out_bytes % 30000 == 0, "%zu bytes", o.out_bytes);
    while (i < o.out_bytes && (unsigned char)o.out[i] == (unsigned char)(i * 7 + i / 4096 * 13 + 4 * 31))
        i++;
    cr_expect_eq(i, o.out_bytes, "byte %zu is wrong", i);
    cr_expect(own.out_bytes == o.out_bytes && memcmp(own.out, o.out, o.out_bytes) == 0, "ncube disk get: %s", own.err);
    outcome_free(&own);
    outcome_free(&o);
}

/* One disk's parts of all files go. */
static void remove_parts(const char *folder)
{
    char *script = format("%s/script", folder), *image = format("%s/df01.img", folder);
    char *argv[] = {"debugfs", "-w", "-f", script, image, NULL};
    FILE *f = fopen(script, "we");

    cr_assert_not_null(f);
    for (int i = 1; i <= 100; i++)
        fprintf(f, "rm /.cfs/%d\n", i);
    cr_assert_eq(fclose(f), 0);
    struct outcome o = command_run(argv, NULL);
    outcome_free(&o);
    o = disk(folder, "fsck", NULL);
    cr_expect_eq(o.status, 1);
    cr_expect_not_null(strstr(o.err, "is not where its pointer says"), "%s", o.err);
    outcome_free(&o);
    o = disk(folder, "get", "cfs:/nothing");
    cr_expect_eq(o.status, 1);
    cr_expect_not_null(
        strstr(o.err, "cfs:/nothing: no volume of this machine has a file of the Concurrent File System"), "%s", o.err);
    outcome_free(&o);
    free(image);
    free(script);
}

Test(cfs, fsck_names_a_file_whose_blocks_are_gone)
{
    const struct ncube_run r = {.dim = "0", .program = "guest/cfs", .args = {"calls"}};
    struct outcome o = run_and_look(r, "", true, remove_parts);

    outcome_free(&o);
}

Test(cfs, calls_do_what_they_say_on_one_node_and_on_several)
{
    static const char *const dims[] = {"0", "2", "3"};
    static const char *const timings[] = {"", "timing = \"ipsc-860\";"};

    for (int i = 0; i < 3; i++)
        for (int k = 0; k < 2; k++) {
            if (!is_drawn((size_t)(2 * i + k), 3))
                continue;
            const struct ncube_run r = {.dim = dims[i], .program = "guest/cfs", .args = {"calls"}};
            struct outcome o = run_and_look(r, timings[k], true, look_at_all);

            outcome_expect(&o, dims[i], 0, "passed\n", "");
            outcome_free(&o);
        }
}

Test(cfs, a_program_without_its_calls_has_it_where_the_machine_does)
{
    struct outcome o = run((struct ncube_run){.dim = "0", .program = "guest/cfs_plain"}, "", true);

    outcome_expect(&o, "plain", 0, "passed\n", "");
    outcome_free(&o);
}

Test(cfs, io_modes_put_bytes_where_they_say)
{
    static const char *const dims[] = {"0", "3"};

    for (int i = 0; i < 2; i++) {
        struct outcome o =
            run((struct ncube_run){.dim = dims[i], .program = "guest/cfs_modes", .args = {"all"}}, "", true);

        outcome_expect(&o, dims[i], 0, "passed\n", "");
        outcome_free(&o);
    }
    struct outcome o = run((struct ncube_run){.dim = "1", .program = "guest/cfs_modes", .args = {"unequal"}}, "", true);
    outcome_expect(&o, "unequal", 0, "passed\n", "");
    outcome_free(&o);
}

/* The deadlock report names the call and the file, and then what the call waits for. */
Test(cfs, a_call_that_not_all_nodes_make_is_a_deadlock)
{
    static const struct {
        const char *call, *told;
    } calls[] = {{"setiomode", "each waits in setiomode, file '/cfs/a', in group_make for node 0"},
                 {"gopen", "each waits in gopen, file '/cfs/b', in group_make for node 0"},
                 {"read", "waits in read, file '/cfs/a', in "},
                 {"close", "waits in close, file '/cfs/a', in "}};

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        struct outcome o = run(
            (struct ncube_run){.dim = "2", .program = "guest/cfs_modes", .args = {"absent", calls[i].call}}, "", true);

        cr_expect_eq(o.status, 125, "%s: %d", calls[i].call, o.status);
        cr_expect_not_null(strstr(o.err, calls[i].told), "%s: %s", calls[i].call, o.err);
        outcome_free(&o);
    }
}

/* Both libraries tell what a process waits in, by one record. */
Test(cfs, a_deadlock_with_mpi_names_the_call_of_either)
{
    static const char *const told[] = {"nodes 1-3: each waits in MPI_Barrier, communicator 'MPI_COMM_WORLD'\n",
                                       "nodes 1-3: each waits in setiomode, file '/cfs/a', in group_barrier of "};

    for (int i = 0; i < 2; i++) {
        struct outcome o =
            run((struct ncube_run){.dim = "2", .program = "guest/cfs_mpi", .args = {i ? "cfs" : NULL}}, "", true);

        cr_expect_eq(o.status, 125, "%d", o.status);
        cr_expect_not_null(strstr(o.err, told[i]), "%s", o.err);
        cr_expect_not_null(strstr(o.err, "node 0 waits in MPI_Recv from 1, tag 7"), "%s", o.err);
        outcome_free(&o);
    }
}

Test(cfs, a_call_without_a_result_ends_the_program_with_one_line)
{
    struct outcome o = run((struct ncube_run){.dim = "0", .program = "guest/cfs", .args = {"must"}}, "", true);

    outcome_expect(&o, "must", 1, "", "cread: /cfs/short: the file ends before that\n");
    outcome_free(&o);
}

Test(cfs, a_dead_disk_is_an_error_of_its_blocks_only)
{
    struct outcome o = run((struct ncube_run){.dim = "0", .program = "guest/cfs", .args = {"dead"}},
                           "server_limit_s = 2; faults = ( { io_node = [0, 2]; from_us = 8000000; } );", false);

    cr_expect_not_null(strstr(o.out, "passed"), "%s%s", o.out, o.err);
    outcome_free(&o);
}

Test(cfs, without_the_name_server_opens_fail_and_open_files_go_on)
{
    struct outcome o = run((struct ncube_run){.dim = "0", .program = "guest/cfs", .args = {"unnamed"}},
                           "server_limit_s = 2; faults = ( { io_node = [0, 0]; from_us = 8000000; } );", false);

    cr_expect_str_eq(o.out, "made\n", "%s%s", o.out, o.err);
    cr_expect_eq(o.status, 1, "%d", o.status);
    cr_expect_not_null(strstr(o.err, "cread: /cfs/a: disk df00: Host is unreachable\n"), "%s", o.err);
    outcome_free(&o);
}

Test(cfs, full_disks_keep_what_there_was_room_for)
{
    struct outcome o = run((struct ncube_run){.dim = "0", .program = "guest/cfs", .args = {"full"}}, "", true);

    outcome_expect(&o, "full", 0, "passed\n", "");
    outcome_free(&o);
}

/* Stopped twice in a row, at another moment each time, without a shutdown and without e2fsck between. */
Test(cfs, a_machine_that_is_stopped_leaves_what_was_synced)
{
    static const char *const limits[][2] = {{"--limit=4.3", "--limit=5.171"}, {"--limit=3.777", "--limit=6.5"}};

    for (int k = 0; k < 2; k++) {
        char *folder = folder_with_images(DISKS, 8192, 4096), *machine = cfs_machine(folder, "");
        struct ncube_run r = {.dim = "0", .machine = machine, .program = "guest/cfs", .args = {"stop"}};

        for (int stop = 0; stop < 2; stop++) {
            r.options[0] = limits[k][stop];
            struct outcome o = ncube_run(&r);
            cr_expect_eq(o.status, 124, "%d", o.status);
            cr_expect_str_eq(o.out, "synced\n", "%s%s", o.out, o.err);
            outcome_free(&o);
        }
        r.options[0] = NULL;
        r.args[0] = "after";
        struct outcome o = ncube_run(&r);
        cr_expect_str_eq(o.out, "passed\n", "%s%s", o.out, o.err);
        outcome_free(&o);
        free(machine);
        folder_remove(folder);
    }
}

/* The value of name=value in a line. */
static double value(const char *line, const char *name)
{
    const char *at = strstr(line, name);

    cr_assert_not_null(at, "no %s in: %s", name, line);
    return strtod(at + strlen(name), NULL);
}

static char *bench_timed(const char *timing, const char *dim, const char *test, const char *op, const char *words[5])
{
    struct ncube_run r = {.dim = dim,
                          .program = "examples/cfsbench",
                          .args = {test, op, words[0], words[1], words[2], words[3], words[4]}};
    struct outcome o = run(r, timing, true);

    cr_assert_eq(o.status, 0, "%s", o.err);
    char *line = format("%s", o.out);
    outcome_free(&o);
    return line;
}

static char *bench(const char *dim, const char *test, const char *op, const char *words[5])
{
    return bench_timed("timing = \"ipsc-860\";", dim, test, op, words);
}

/* Time on the clock of so many nodes that read all of a file, by calls of 4 KB, with that charge after a reply. */
static double read_by_all(const char *nodes, const char *after)
{
    char *timing = format("timing = { preset = \"ipsc-860\"; io = [0, 0, 0, %s]; };", after);
    const char *words[5] = {nodes, "block=4K", "file=256K"};
    char *line = bench_timed(timing, "3", "bcast", "read", words);
    double us = value(line, " us=");

    free(line);
    free(timing);
    return us;
}

/* A lone client asks one disk after the other, and does not see what a server does when its reply has left; eight wait
 * for it. */
Test(cfs, a_server_pays_when_its_reply_has_left)
{
    const double alone = read_by_all("nodes=1", "0"), together = read_by_all("nodes=8", "0");

    cr_expect_lt(read_by_all("nodes=1", "20000"), 1.05 * alone);
    cr_expect_gt(read_by_all("nodes=8", "20000"), 1.3 * together);
}

/* With one node that has all of the file in one block, parts and interleaved blocks are the same [P2 section 5.2],
 * but for the microseconds in which the program computes where they are. */
Test(cfs, parts_and_interleaved_blocks_agree_where_they_are_the_same)
{
    static const char *const ops[] = {"read", "write"};
    const char *words[5] = {"nodes=1", "block=256K", "file=256K"};

    for (int i = 0; i < 2; i++) {
        char *part = bench("2", "part", ops[i], words), *inter = bench("2", "inter", ops[i], words);

        cr_expect_lt(fabs(value(part, " us=") - value(inter, " us=")), 20, "%s%s", part, inter);
        free(part);
        free(inter);
    }
}

/* Eight streams that fit into the caches move each block once; with a cache of four groups on each disk they do not. */
Test(cfs, the_benchmark_counts_what_moves)
{
    const char *words[5] = {"nodes=8", "block=16K", "file=4M"};
    char *line = bench("3", "part", "read", words);

    cr_expect_eq(value(line, " bytes="), 4194304);
    cr_expect_eq(value(line, " needed="), 1024);
    cr_expect_lt(value(line, " moved="), 1024 * 1.3, "%s", line);
    cr_expect_geq(value(line, " moved="), 1024, "%s", line);
    cr_expect_geq(value(line, " requests="), 1024, "%s", line);
    free(line);
}

/* Both trees carry all of the file to all nodes, as the benchmark checks. Eight nodes are three steps of a tree: one
 * that forwards whole parts takes longer than one whose pieces follow each other. */
Test(cfs, a_tree_that_forwards_whole_parts_takes_longer)
{
    const char *pieces[5] = {"nodes=8", "block=16K", "file=768K", "readers=3"};
    const char *parts[5] = {"nodes=8", "block=16K", "file=768K", "readers=3", "forward=1"};
    char *by_pieces = bench("3", "tree", "read", pieces), *by_parts = bench("3", "tree", "read", parts);

    cr_expect_eq(value(by_parts, " bytes="), 8 * 786432);
    cr_expect_gt(value(by_parts, " us="), 1.2 * value(by_pieces, " us="), "%s%s", by_parts, by_pieces);
    free(by_pieces);
    free(by_parts);
}

/* Two groups of four nodes, of which one is active at a time, take longer than eight nodes at once; the bytes are the
 * same, as the benchmark checks them. */
Test(cfs, groups_take_turns)
{
    const char *words[5] = {"nodes=8", "block=16K", "file=1M"};
    char *free_for_all = bench("3", "part", "read", words);

    for (int by_call = 0; by_call < 2; by_call++) {
        const char *grouped[5] = {"nodes=8", "block=16K", "file=1M", "group=2", by_call ? "turn=call" : "turn=part"};
        char *line = bench("3", "part", "read", grouped);

        cr_expect_gt(value(line, " us="), value(free_for_all, " us="), "%s%s", line, free_for_all);
        free(line);
    }
    free(free_for_all);
}

/* ---- Other machines ---- */

/* The trace of a program that sends, reads and writes on one volume, on a machine with these settings. */
static char *trace_on(const char *settings, const char *drive, const char *more, size_t *bytes)
{
    char *folder = folder_with_images(1, 1200, 1024), *trace = format("%s/trace", folder);
    char *machine = machine_file_of_drives(folder, 3, 1, settings, drive, more);

    outcome_must_be(
        ncube_run(&(struct ncube_run){
            .dim = "2", .machine = machine, .trace = trace, .program = "guest/star", .args = {"elemental", "/x", "1"}}),
        more, 0, "passed\n", "");
    char *text = file_read(folder, "trace", bytes);
    free(machine);
    free(trace);
    folder_remove(folder);
    return text;
}

/* What the keys that this machine needs are where they are absent: the nCUBE 2's network, without charges, and nsdisk's
 * service and cache as they were. Not an event is another one then, at another time. With any of them, some are. */
Test(cfs, without_its_keys_no_event_changes)
{
    static const char cache[] = "cache_kb = 256;",
                      spelt[] = "cache_kb = 256; block = 4096; group = 8; look_ahead = 1; write = \"through\"; "
                                "evict = \"lru\"; fill = \"first\"; commands = 4;";
    static const struct {
        const char *settings, *drive, *more;
        bool is_same;
    } machines[] = {
        {"", cache, "", true},
        {"", cache, "timing = {};", true},
        {"service = \"in-order\";", spelt,
         "timing = { hop_cycles = 45; byte_cycles = 9; header_bytes = 8; broadcasts = 1; compute = [0, 0, 0]; "
         "io = [0, 0, 0, 0]; };",
         true},
        {"", cache, "timing = \"ipsc-860\";", false},
        {"", cache, "timing = { io = [0, 0, 0, 1]; compute = [1]; };", false},
        {"service = \"concurrent\";", cache, "", false},
        {"", "cache_kb = 256; write = \"groups\"; fill = \"later\";", "", false},
    };
    size_t first_bytes, bytes;
    char *first = trace_on(machines[0].settings, machines[0].drive, machines[0].more, &first_bytes);

    cr_assert_gt(first_bytes, 1000);
    for (size_t i = 1; i < sizeof machines / sizeof *machines; i++) {
        char *text = trace_on(machines[i].settings, machines[i].drive, machines[i].more, &bytes);
        bool is_same = bytes == first_bytes && memcmp(text, first, bytes) == 0;

        cr_expect_eq(is_same, machines[i].is_same, "machine %zu: %zu and %zu bytes", i, first_bytes, bytes);
        free(text);
    }
    free(first);
}

static char *plain_machine(const char *folder, int disks)
{
    (void)disks;
    return cfs_machine(folder, "");
}

static char *paying_machine(const char *folder, int disks)
{
    (void)disks;
    return cfs_machine(folder, "timing = \"ipsc-860\";");
}

/* Servers that pay after their replies wait for them, too. */
Test(cfs, repeats_every_event)
{
    const struct images_of_test plain = {DISKS, 8192, 4096, plain_machine};
    const struct images_of_test paying = {DISKS, 8192, 4096, paying_machine};
    const struct ncube_run run = {.dim = "2", .program = "guest/cfs", .args = {"calls"}};

    ncube_must_repeat_on(&plain, run, "passed\n");
    ncube_must_repeat_on(&paying, run, "passed\n");
}
