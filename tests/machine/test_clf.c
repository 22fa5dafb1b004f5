/*
 * Clusterfile in the machine: <clf.h> and the C library's calls on three volumes, of which the second has the names; a
 * judge on the host (clf_judge.py) and `ncube disk get` put the files together; a dead I/O node; e2fsck after each.
 */
#include <criterion/criterion.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/guest.h"

TestSuite(clf, .timeout = 600);

#define VOLUMES 3
/* A 3-cube with three I/O nodes of one volume each. */
static char *clf_machine(const char *folder, const char *cache, const char *more)
{
    static const int si[] = {1, 2, 4};
    char *path = format("%s/m.conf", folder);
    FILE *f = fopen(path, "we");

    cr_assert_not_null(f);
    fprintf(f, "dim = 3;\n%s\nmetadata = \"df01\";\nboards = ( { number = 0; io_nodes = (\n", more);
    for (int i = 0; i < VOLUMES; i++)
        fprintf(f,
                "    { index = %d; si = [%d]; service = \"concurrent\"; drives = (\n"
                "        { volume = \"df0%d\"; image = \"df0%d.img\"; %s } ); }%s\n",
                i, si[i], i, i, cache, i < VOLUMES - 1 ? "," : "");
    fprintf(f, ") } );\n");
    cr_assert_eq(fclose(f), 0);
    return path;
}

/* ---- What is on the volumes ---- */

#define ROWS    61
#define COLUMNS 37
#define ITEM    8
#define BYTES   (ROWS * COLUMNS * ITEM)

/* The bytes that tests/guest/clf.c writes, into so many files. */
static void expect_matrices(const struct outcome *o, const char *name, const char *by, size_t files)
{
    size_t at = 0;

    cr_assert_eq(o->status, 0, "%s of %s: %s", by, name, o->err);
    cr_assert_eq(o->out_bytes, files * BYTES, "%s of %s: %zu bytes", by, name, o->out_bytes);
    for (size_t i = 0; at < files * BYTES; at++, i = at % BYTES)
        if ((unsigned char)o->out[at] != (unsigned char)(i * 7 + i / 251 * 13))
            break;
    cr_expect_eq(at, files * BYTES, "%s of %s: byte %zu is wrong", by, name, at);
}

static void look(const char *folder, const char *machine)
{
    static const char *const names[] = {"/plain", "/mixed", "/rows", "/columns"};
    static const char all[] = "/plain,/mixed,/rows,/columns";
    char *image[VOLUMES], *ncube = build_path("bin/ncube");

    for (int i = 0; i < VOLUMES; i++)
        image[i] = format("df0%d=%s/df0%d.img", i, folder, i);
    images_check(folder, VOLUMES);
    char *judge[] = {"python3", "-B", "tests/machine/clf_judge.py", (char *)all, image[1], image[0], image[2], NULL};
    struct outcome o = command_run(judge, NULL);
    expect_matrices(&o, all, "the judge", 4);
    outcome_free(&o);
    for (int i = 0; i < 4; i++) {
        char *clf = format("clf:%s", names[i]);
        char *get[] = {ncube, "disk", "get", "-m", (char *)machine, clf, "-", NULL};

        o = command_run(get, NULL);
        expect_matrices(&o, names[i], "ncube disk get", 1);
        outcome_free(&o);
        free(clf);
    }
    for (int i = 0; i < VOLUMES; i++)
        free(image[i]);
    free(ncube);
}

/* ---- Running ---- */

static struct outcome run(struct ncube_run r, const char *cache, const char *more, bool whole)
{
    char *folder = folder_with_images(VOLUMES, 8192, 4096), *machine = clf_machine(folder, cache, more);

    r.machine = machine;
    struct outcome o = ncube_run(&r);
    if (whole)
        look(folder, machine);
    free(machine);
    folder_remove(folder);
    return o;
}

Test(clf, calls_do_what_they_say_and_the_volumes_have_each_byte_where_its_layout_says)
{
    static const char *const dims[] = {"0", "2", "3"};
    static const char *const caches[] = {"", "cache_kb = 96; write = \"back\";", "cache_kb = 512; write = \"groups\";"};

    for (int i = 0; i < 3; i++) {
        const struct ncube_run r = {.dim = dims[i], .program = "guest/clf", .args = {"calls"}};
        struct outcome o = run(r, caches[i], "", true);

        outcome_expect(&o, dims[i], 0, "passed\n", "");
        outcome_free(&o);
    }
}

/* Views that every node has: the columns of a 61 x 37 matrix for four nodes. */
static void must_leave_the_same(const char *dim, const char *cache, const char *how)
{
    struct outcome o = run((struct ncube_run){.dim = dim, .program = "guest/clf", .args = {how}}, cache, "", true);

    outcome_expect(&o, how, 0, "passed\n", "");
    outcome_free(&o);
}

Test(clf, collective_calls_leave_the_same_bytes)
{
    must_leave_the_same("0", "cache_kb = 96; write = \"back\";", "together");
    must_leave_the_same("2", "", "together");
}

Test(clf, two_phases_leave_the_same_bytes)
{
    must_leave_the_same("0", "", "phases");
    must_leave_the_same("2", "cache_kb = 96; write = \"back\";", "phases");
}

Test(clf, a_member_that_ends_in_a_collective_call_is_named_to_the_others)
{
    struct outcome o = run((struct ncube_run){.dim = "2", .program = "guest/clf", .args = {"ends"}}, "", "", false);

    cr_expect_eq(o.status, 0, "%s%s", o.out, o.err);
    for (int i = 0; i < 3; i++) {
        char *line = format("node %d passed\n", i);

        cr_expect_not_null(strstr(o.out, line), "%s%s", o.out, o.err);
        free(line);
    }
    outcome_free(&o);
}

Test(clf, nobody_waits_for_a_member_that_is_refused)
{
    struct outcome o = run((struct ncube_run){.dim = "2", .program = "guest/clf", .args = {"refused"}}, "", "", false);

    outcome_expect(&o, "refused", 0, "passed\n", "");
    outcome_free(&o);
}

static void schedule(const char *nodes, const char *what, const char *cache)
{
    char *folder = folder_with_images(VOLUMES, 8192, 4096), *machine = clf_machine(folder, cache, "");
    struct outcome o = ncube_run(&(struct ncube_run){
        .dim = "3", .machine = machine, .options = {"-n", nodes}, .program = "guest/clf_schedule", .args = {what}});

    outcome_expect(&o, nodes, 0, "passed\n", "");
    outcome_free(&o);
    images_check(folder, VOLUMES);
    free(machine);
    folder_remove(folder);
}

/* Members write in several turns, of which a server answers some while others of the same turn wait for the drive. */
Test(clf, what_a_collective_write_says_to_have_written_is_there_on_a_full_volume)
{
    schedule("3", "full", "cache_kb = 512; write = \"through\";");
    schedule("4", "full", "cache_kb = 512; write = \"back\";");
    schedule("2", "full", "");
}

Test(clf, a_server_that_dies_in_collective_calls_is_an_error_for_each_member_in_bounded_time)
{
    static const char *const when[] = {"8000000", "8700000"};

    for (int i = 0; i < 2; i++) {
        char *fault = format("server_limit_s = 2; faults = ( { io_node = [0, 2]; from_us = %s; } );", when[i]);
        struct outcome o = run((struct ncube_run){.dim = "2", .program = "guest/clf_schedule", .args = {"server"}},
                               "cache_kb = 512; write = \"back\";", fault, false);

        for (int node = 0; node < 4; node++) {
            char *line = format("node %d passed\n", node);

            cr_expect_not_null(strstr(o.out, line), "%s: %s%s", when[i], o.out, o.err);
            free(line);
        }
        outcome_free(&o);
        free(fault);
    }
}

/* The deadlock report names group and file. */
Test(clf, a_member_that_never_calls_is_waited_for_in_a_call_that_the_report_names)
{
    static const char *const lines[] = {
        "  nodes 1-2: each waits in clf_read of a group of 3, file '/clf/never', for the file server on node 16384\n",
        "  nodes 1-2: each waits in clf_write of a group of 3, file '/clf/never', in group_all_reduce of context 5 for "
        "node "
        "0\n"};

    for (int phases = 0; phases < 2; phases++) {
        char *folder = folder_with_images(VOLUMES, 8192, 4096), *machine = clf_machine(folder, "", "");
        struct ncube_run r = {
            .machine = machine, .options = {"-n", "3"}, .program = "guest/clf_schedule", .args = {"never"}};

        r.args[1] = phases ? "phases" : NULL;
        struct outcome o = ncube_run(&r);
        cr_expect(o.status != 0 && strstr(o.err, lines[phases]), "%d: %s", o.status, o.err);
        outcome_free(&o);
        free(machine);
        folder_remove(folder);
    }
}

/* More parts than a process may ask at a time, in an order of each member's own. */
Test(clf, members_with_different_orders_of_parts_do_not_wait_for_each_other_for_ever)
{
    static const char *const nodes[] = {"1", "3", "8"};

    for (int i = 0; i < 3; i++)
        if (is_drawn((size_t)i, 2))
            schedule(nodes[i], "orders", i % 2 == 0 ? "cache_kb = 512; write = \"back\";" : "");
}

Test(clf, a_member_without_requests_of_its_own_is_refused_and_may_call_again)
{
    schedule("3", "spent", "");
    schedule("4", "spent", "cache_kb = 512; write = \"back\";");
}

/* ---- The schedule of requests [P3 section 7.1] ---- */

#define SERVER_0  16384 /* the address of the first I/O node */
#define SENT_MOST 64

/* The writes of a trace, in order: who sends how much to whom. */
struct sent {
    int n, node[SENT_MOST], server[SENT_MOST], bytes[SENT_MOST];
};

static void read_writes(const char *path, struct sent *s)
{
    FILE *f = fopen(path, "re");
    char line[300];
    int node, to, bytes;

    cr_assert_not_null(f);
    *s = (struct sent){.n = 0};
    while (fgets(line, sizeof line, f))
        if (sscanf(line, "%*d %d send to=%d tag=0x8055 bytes=%d", &node, &to, &bytes) == 3 && s->n < SENT_MOST) {
            s->node[s->n] = node;
            s->bytes[s->n] = bytes;
            s->server[s->n++] = to - SERVER_0;
        }
    fclose(f);
}

static struct sent traced(struct ncube_run r, const char *more)
{
    char *folder = folder_with_images(VOLUMES, 8192, 4096), *machine = clf_machine(folder, "", more);
    char *path = format("%s/trace", folder), *trace = format("--trace=%s", path);
    struct sent s;

    r.machine = machine;
    r.options[0] = trace;
    struct outcome o = ncube_run(&r);
    cr_expect_eq(o.status, 0, "%s%s", o.out, o.err);
    outcome_free(&o);
    read_writes(path, &s);
    free(trace);
    free(path);
    free(machine);
    folder_remove(folder);
    return s;
}

static struct sent columns(const char *dim, const char *way, const char *servers)
{
    return traced((struct ncube_run){.dim = dim,
                                     .program = "examples/clfbench",
                                     .args = {way, "n=512", "view=sb", servers, "fresh=1"}},
                  "");
}

/* Of four nodes and three servers, node i sends to server (i + j) mod 3 at step j. */
Test(clf, a_collective_write_begins_with_another_server_on_each_node)
{
    const struct sent s = columns("2", "directed", "servers=3");
    int steps[4] = {0};

    cr_assert_eq(s.n, 12, "%d writes", s.n);
    for (int i = 0; i < s.n; i++) {
        const int node = s.node[i], step = steps[node]++;

        cr_expect_eq(s.server[i], (node + step) % 3, "node %d, step %d: server %d", node, step, s.server[i]);
    }
}

/* A file of one stripe: what the members' views have on the other servers is behind its end. Servers hear of that, but
 * last, so that a request of no bytes which waits for a channel holds up none with bytes. */
Test(clf, a_collective_write_sends_bytes_before_requests_of_none)
{
    const struct sent s = traced((struct ncube_run){.dim = "2",
                                                    .program = "examples/clfbench",
                                                    .args = {"directed", "n=16", "view=3d", "servers=3", "fresh=1"}},
                                 "");
    int steps[4] = {0};

    cr_assert_eq(s.n, 12, "%d writes", s.n);
    for (int i = 0; i < s.n; i++) {
        const bool is_first = steps[s.node[i]]++ == 0;

        cr_expect_eq(s.bytes[i] >= 16384, is_first, "node %d: %d bytes", s.node[i], s.bytes[i]);
    }
}

/* The length of a schedule as the thesis counts it: in a step each node sends its next request, if its server has none
 * in this step. */
static int steps_of(const struct sent *s)
{
    bool done[SENT_MOST] = {false};
    int left = s->n, steps = 0;

    for (; left > 0; steps++) {
        unsigned nodes = 0, servers = 0; /* that have a request in this step, or are not to be overtaken */

        for (int i = 0; i < s->n; i++) {
            const unsigned node = 1u << s->node[i], server = 1u << s->server[i];

            if (done[i] || (nodes & node) != 0)
                continue;
            nodes |= node;
            done[i] = (servers & server) == 0;
            servers |= server;
            left -= done[i];
        }
    }
    return steps;
}

/* Figure 7.1: two nodes have four requests for two servers. */
Test(clf, the_schedule_needs_two_steps_where_one_order_for_all_needs_three)
{
    const struct sent one_order = columns("1", "view", "servers=2"), scheduled = columns("1", "directed", "servers=2");

    cr_expect(one_order.n == 4 && scheduled.n == 4, "%d and %d writes", one_order.n, scheduled.n);
    cr_expect_eq(steps_of(&one_order), 3, "%d steps", steps_of(&one_order));
    cr_expect_eq(steps_of(&scheduled), 2, "%d steps", steps_of(&scheduled));
}

/* A server has memory for some of the members' requests, of 256 KB each, and has to go on without the others'. */
Test(clf, a_server_short_of_memory_fails_no_collective_call)
{
    static const char *const views[] = {"view=bb", "view=sb", "view=cc"}, *const caches[] = {
                                                                              "cache_kb = 64; write = \"back\";", "",
                                                                              "cache_kb = 64; write = \"through\";"};

    for (int i = 0; i < 3; i++) {
        const struct ncube_run r = {
            .dim = "2", .program = "examples/clfbench", .args = {"directed", "n=1024", views[i], "servers=1", "k=9"}};
        struct outcome o = run(r, caches[i], "ram_mb = 4;", false);

        cr_expect(o.status == 0 && strstr(o.out, "op=read"), "%s: %s%s", views[i], o.out, o.err);
        outcome_free(&o);
    }
}

/* Requests of the next call would take the memory that those of this one need. */
Test(clf, a_server_short_of_memory_has_requests_of_the_next_call_sent_again)
{
    const struct sent s =
        traced((struct ncube_run){.dim = "3", .program = "guest/clf_schedule", .args = {"ahead"}}, "ram_mb = 4;");

    cr_expect_gt(s.n, 2 * (2 * 3 + 6 + 8), "%d writes", s.n); /* two members with three turns, six others; all again */
}

/* By one node from one volume, in several requests: of 1 MB each; and of 128 KB, as nodes have 2 MB. */
Test(clf, an_access_of_more_bytes_than_a_message_may_have_takes_several)
{
    static const char *const of[][3] = {{"0", "n=2048", ""}, {"2", "n=1024", "ram_mb = 2;"}};

    for (int i = 0; i < 2; i++) {
        const struct ncube_run r = {
            .dim = of[i][0], .program = "examples/clfbench", .args = {"view", of[i][1], "view=bb", "servers=1"}};
        struct outcome o = run(r, "", of[i][2], false);

        cr_expect(o.status == 0 && strstr(o.out, "op=read"), "%s: %s%s", of[i][1], o.out, o.err);
        outcome_free(&o);
    }
}

Test(clf, a_piece_costs_a_server_and_a_client_few_cycles)
{
    struct outcome o = run((struct ncube_run){.dim = "0", .program = "guest/clf", .args = {"costs"}},
                           "cache_kb = 512; write = \"back\";", "", false);

    outcome_expect(&o, "costs", 0, "passed\n", "");
    outcome_free(&o);
}

/* ---- Cache managers ---- */

static struct ncube_run cached(const char *nodes, const char *managers, const char *what, const char *seed)
{
    return (struct ncube_run){.dim = "3",
                              .program = "guest/clf_cached",
                              .args = {nodes, managers, what, seed, ":", "-n", managers, "examples/pio_cache", "256"},
                              .options = {"-n", nodes}};
}

/* Blocks of managers are one way among others: numbers that do not divide, and more managers than nodes. */
Test(clf, what_a_view_shows_does_not_depend_on_cache_managers)
{
    static const char *const of[][3] = {{"3", "2", "1"}, {"5", "3", "2"}, {"1", "1", "3"}, {"3", "5", "4"}};
    static const char *const caches[] = {"", "cache_kb = 96; write = \"back\";"};

    for (int i = 0; i < 4; i++) {
        if (!is_drawn((size_t)i, 2))
            continue;
        char *folder = folder_with_images(VOLUMES, 8192, 4096), *machine = clf_machine(folder, caches[i / 2], "");
        struct ncube_run r = cached(of[i][0], of[i][1], "random", of[i][2]);

        r.machine = machine;
        struct outcome o = ncube_run(&r);
        outcome_expect(&o, of[i][2], 0, "passed\n", "");
        outcome_free(&o);
        images_check(folder, VOLUMES);
        free(machine);
        folder_remove(folder);
    }
}

Test(clf, what_cache_managers_have_read_comes_from_them)
{
    struct outcome o = run(cached("3", "2", "views", "1"), "", "", false);

    outcome_expect(&o, "views", 0, "passed\n", "");
    outcome_free(&o);
}

Test(clf, a_cache_manager_without_room_has_others_keep_its_blocks)
{
    static const char *const managers[] = {"3", "2", "1"}; /* with one, there are no others */

    for (int i = 0; i < 3; i++) {
        if (!is_drawn((size_t)i, 3))
            continue;
        struct outcome o = run(cached("3", managers[i], "forward", managers[i]), "", "", false);

        outcome_expect(&o, managers[i], 0, "passed\n", "");
        outcome_free(&o);
    }
}

/* What the statistics say of each cache manager, and how many they are. */
static size_t managers_of(const json_t *stats, const json_t *manager[8])
{
    const json_t *node;
    size_t i, n = 0;

    json_array_foreach(json_object_get(stats, "nodes"), i, node) if (json_object_get(node, "cache_manager"))
        manager[n++] = json_object_get(node, "cache_manager");
    return n;
}

static json_int_t told(const json_t *object, const char *key)
{
    cr_assert(json_is_integer(json_object_get(object, key)), "no number '%s'", key);
    return json_integer_value(json_object_get(object, key));
}

static json_t *run_with_stats(const char *what, const char *sync)
{
    char *folder = folder_with_images(VOLUMES, 8192, 4096);
    char *machine = clf_machine(folder, "", ""), *path = format("%s/stats", folder),
         *stats = format("--stats=%s", path);
    struct ncube_run r = cached("3", "3", what, "1");
    json_error_t why;

    r.machine = machine;
    r.options[0] = "-n3";
    r.options[1] = stats;
    r.options[2] = sync;
    struct outcome o = ncube_run(&r);
    outcome_expect(&o, what, 0, "passed\n", "");
    outcome_free(&o);
    json_t *all = json_load_file(path, 0, &why);
    cr_assert_not_null(all, "%s", why.text);
    json_object_del(all, "host");
    free(stats);
    free(path);
    free(machine);
    folder_remove(folder);
    return all;
}

/* The first manager has all blocks of the file, 390000 bytes, and room for 256 KB. */
Test(clf, statistics_have_what_cache_managers_did)
{
    json_t *all = run_with_stats("forward", NULL);
    const json_t *m[8];

    cr_assert_eq(managers_of(all, m), 3);
    cr_expect_geq(told(m[0], "bytes_written"), 390000);
    cr_expect_gt(told(m[0], "given"), 0);
    cr_expect_geq(told(m[0], "evicted"), told(m[0], "given"));
    cr_expect_gt(told(m[0], "asked_back"), 0);
    cr_expect_geq(told(m[0], "asked_back"), told(m[1], "given_back") + told(m[2], "given_back"));
    cr_expect_gt(told(m[1], "given_back") + told(m[2], "given_back"), 0);
    cr_expect_leq(told(m[1], "received") + told(m[2], "received"), told(m[0], "given"));
    cr_expect_gt(told(m[1], "received"), 0);
    cr_expect_gt(told(json_object_get(m[0], "data_cache"), "hits"), 0);
    for (int i = 0; i < 3; i++)
        cr_expect_leq(told(m[i], "kb_most"), 256);
    cr_expect_geq(told(m[0], "kb_most"), 240); /* it was full */
    json_decref(all);
}

Test(clf, statistics_of_cache_managers_are_the_same_in_every_run)
{
    json_t *all = run_with_stats("errors", NULL), *strict = run_with_stats("errors", "--sync=strict");
    const json_t *m[8];

    cr_expect(json_equal(all, strict));
    cr_assert_eq(managers_of(all, m), 3);
    cr_expect_gt(told(m[0], "bytes_written"), 0);
    json_decref(all);
    json_decref(strict);
}

/* With views of several managers, of one, and with a program of one node; blocks that others keep are dropped, too. */
Test(clf, what_is_written_past_cache_managers_is_seen_through_them_and_back)
{
    static const char *const of[][2] = {{"3", "3"}, {"2", "1"}, {"1", "2"}};
    static const char *const caches[] = {"", "cache_kb = 96; write = \"back\";"};

    for (int i = 0; i < 3; i++) {
        if (!is_drawn((size_t)i, 2))
            continue;
        struct outcome o = run(cached(of[i][0], of[i][1], "past", of[i][1]), caches[i % 2], "", false);

        outcome_expect(&o, of[i][0], 0, "passed\n", "");
        outcome_free(&o);
    }
}

Test(clf, bad_managers_are_refused_in_a_line)
{
    struct outcome o = run(cached("3", "2", "errors", "1"), "", "", false);

    outcome_expect(&o, "errors", 0, "passed\n", "");
    outcome_free(&o);
}

Test(clf, a_cache_manager_that_ends_is_named_and_takes_nothing_with_it)
{
    struct outcome o = run(cached("3", "2", "ends", "1"), "", "", false);

    outcome_expect(&o, "ends", 0, "passed\n", "");
    outcome_free(&o);
}

/* With 2 MB a manager cannot begin, and says so; with more, it is killed. */
Test(clf, a_cache_manager_that_nobody_has_met_is_an_error_in_bounded_time)
{
    for (int i = 0; i < 2; i++) {
        struct outcome o = run(cached("3", i == 0 ? "1" : "2", "absent", "1"), "", i == 0 ? "ram_mb = 2;" : "", false);

        cr_expect_str_eq(o.out, "passed\n", "%s", o.err);
        cr_expect_eq(strstr(o.err, "pio_cache: not enough memory\n") != NULL, i == 0, "%s", o.err);
        outcome_free(&o);
    }
}

Test(clf, a_cache_manager_on_a_dead_node_is_an_error_in_bounded_time)
{
    struct ncube_run r = cached("3", "1", "dies", "1");

    r.args[6] = "5"; /* programs, on the last nodes: the last one is the manager's */
    struct outcome o = run(r, "", "faults = ( { node = 7; from_us = 4000000; } );", false);

    cr_expect_not_null(strstr(o.out, "passed"), "%s%s", o.out, o.err);
    outcome_free(&o);
}

Test(clf, a_member_that_ends_in_a_call_to_cache_managers_is_named)
{
    struct outcome o = run(cached("3", "2", "member", "1"), "", "", false);

    cr_expect_eq(o.status, 0, "%s%s", o.out, o.err);
    cr_expect(strstr(o.out, "node 0 passed") && strstr(o.out, "node 1 passed"), "%s%s", o.out, o.err);
    outcome_free(&o);
}

Test(clf, a_dead_volume_is_an_error_of_its_bytes_only)
{
    struct outcome o = run((struct ncube_run){.dim = "0", .program = "guest/clf", .args = {"dead"}}, "",
                           "server_limit_s = 2; faults = ( { io_node = [0, 0]; from_us = 8000000; } );", false);

    cr_expect_not_null(strstr(o.out, "passed"), "%s%s", o.out, o.err);
    outcome_free(&o);
}

Test(clf, a_machine_without_the_key_has_no_such_files)
{
    char *folder = folder_with_images(VOLUMES, 8192, 4096), *machine = clf_machine(folder, "", "");
    char *plain = format("%s/plain.conf", folder), *sed = format("sed '/metadata/d' %s >%s", machine, plain);

    cr_assert_eq(system(sed), 0);
    struct outcome o =
        ncube_run(&(struct ncube_run){.dim = "0", .machine = plain, .program = "guest/clf", .args = {"none"}});
    outcome_expect(&o, "none", 0, "passed\n", "");
    outcome_free(&o);
    free(sed);
    free(plain);
    free(machine);
    folder_remove(folder);
}

static char *plain_machine(const char *folder, int volumes)
{
    (void)volumes;
    return clf_machine(folder, "", "");
}

Test(clf, repeats_every_event)
{
    const struct images_of_test images = {VOLUMES, 8192, 4096, plain_machine};

    ncube_must_repeat_on(&images, (struct ncube_run){.dim = "2", .program = "guest/clf", .args = {"calls"}},
                         "passed\n");
}

Test(clf, cache_managers_repeat_every_event)
{
    const struct images_of_test images = {VOLUMES, 8192, 4096, plain_machine};

    ncube_must_repeat_on(&images, cached("3", "2", "views", "5"), "passed\n");
    ncube_must_repeat_on(&images, cached("3", "2", "forward", "5"), "passed\n");
}
