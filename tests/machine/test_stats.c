/* Statistics are exact and the same in every run, and neither they nor the heartbeat change anything. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <jansson.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/machine/command.h"

TestSuite(stats, .timeout = 600);

enum { FAILED = 1, VOLUMES = 2 };

/* ---- Runs with statistics ---- */

struct run {
    struct outcome outcome;
    json_t *stats; /* without the host's object, */
    json_t *host;  /* which is this */
    char *text;    /* of stats */
    char *trace;
    size_t trace_bytes;
};

static void take_json(struct run *r, const char *path)
{
    json_error_t error;

    r->stats = json_load_file(path, 0, &error);
    cr_assert_not_null(r->stats, "%s: %s", path, error.text);
    r->host = json_incref(json_object_get(r->stats, "host"));
    cr_assert_not_null(r->host);
    json_object_del(r->stats, "host");
    r->text = json_dumps(r->stats, JSON_INDENT(1));
}

/* Runs on fresh images, so that no run finds the files of the one before. */
static struct run run_with_stats(struct ncube_run r, const char *more)
{
    char *folder = folder_with_images(VOLUMES, 1024, 1024), *machine = machine_file(folder, 3, VOLUMES, more);
    char *trace = format("%s/trace", folder), *json = format("%s/stats", folder), *option = format("--stats=%s", json);
    struct run run = {.trace = NULL};

    r.machine = machine;
    r.trace = trace;
    r.options[0] = option;
    run.outcome = ncube_run(&r);
    take_json(&run, json);
    run.trace = file_read(folder, "trace", &run.trace_bytes);
    free(machine);
    free(trace);
    free(json);
    free(option);
    folder_remove(folder);
    return run;
}

static void run_free(struct run *r)
{
    outcome_free(&r->outcome);
    json_decref(r->stats);
    json_decref(r->host);
    free(r->text);
    free(r->trace);
}

static json_int_t number(const json_t *object, const char *key)
{
    const json_t *n = json_object_get(object, key);

    cr_assert(json_is_integer(n), "no number '%s'", key);
    return json_integer_value(n);
}

static json_int_t sum(const struct run *r, const char *list, const char *key)
{
    json_int_t total = 0;
    size_t i;
    json_t *part;

    json_array_foreach(json_object_get(r->stats, list), i, part) total += number(part, key);
    return total;
}

/* ---- The same in every run ---- */

static const struct program {
    const char *name, *dim, *program, *args[4], *limit;
    int status;
} programs[] = {
    {"messages", "3", "guest/clockwork", {NULL}, NULL, 0},
    {"files on two volumes", "2", "guest/pio", {"all nodes, one file", "2", "1024"}, NULL, 0},
    {"in the middle", "3", "guest/clockwork", {NULL}, "0.07", 124},
    {"several processes", "0", "guest/processes", {"equal shares"}, NULL, 0},
    {"an end by a signal", "2", "guest/signals", {"ended by another"}, NULL, 128 + SIGTERM},
};

static const struct variant {
    const char *name, *option, *cpu, *more;
} variants[] = {
    {"again, with heartbeats", "--heartbeat=0.01", NULL, ""},
    {"strictly", "--sync=strict", NULL, ""},
    {"on one processor", NULL, "0", ""},
    {"in four cabinets", NULL, NULL, "nodes_per_cabinet = 3;"},
};

static struct run run_variant(const struct program *p, const struct variant *v)
{
    struct ncube_run r = {
        .dim = p->dim, .program = p->program, .limit = p->limit, .on_cpu = v->cpu, .options = {NULL, v->option}};

    memcpy(r.args, p->args, sizeof p->args);
    return run_with_stats(r, v->more);
}

DrawnRowTest(stats, are_the_same_in_every_run, programs, 2)
{
    const struct program *p = &programs[*row];
    struct run plain = run_variant(p, &(struct variant){.more = ""});

    cr_expect_eq(plain.outcome.status, p->status, "%s: status %d: %s", p->name, plain.outcome.status,
                 plain.outcome.err);
    for (size_t i = 0; i < sizeof variants / sizeof *variants; i++) {
        const struct variant *v = &variants[i];
        struct run other = run_variant(p, v);

        cr_expect_str_eq(other.text, plain.text, "%s, %s", p->name, v->name);
        cr_expect_str_eq(other.outcome.out, plain.outcome.out, "%s, %s: output", p->name, v->name);
        cr_expect(other.trace_bytes == plain.trace_bytes && memcmp(other.trace, plain.trace, plain.trace_bytes) == 0,
                  "%s, %s: the trace differs", p->name, v->name);
        run_free(&other);
    }
    run_free(&plain);
}

/* ---- Contents ---- */

Test(stats, every_cycle_of_a_node_is_user_codes_the_kernels_or_idle)
{
    struct run r = run_with_stats((struct ncube_run){.dim = "3", .program = "guest/clockwork"}, "");
    json_int_t all = number(r.stats, "virtual_cycles");
    size_t i;
    json_t *node;

    cr_expect_eq(json_array_size(json_object_get(r.stats, "nodes")), 8 + VOLUMES);
    json_array_foreach(json_object_get(r.stats, "nodes"), i, node)
    {
        json_int_t user = number(node, "user_cycles"), kernel = number(node, "kernel_cycles");

        cr_expect_eq(user + kernel + number(node, "idle_cycles"), all, "node %zu", i);
        cr_expect(user > 0 && kernel > 0, "node %zu: user %lld, kernel %lld", i, user, kernel);
    }
    run_free(&r);
}

/* Where every class of instruction takes one cycle, cycles of user code are instructions, whatever interrupts it and
 * however it enters the kernel. At the end no compute node is in user code. */
Test(stats, cycles_of_user_code_are_exactly_its_instructions_where_each_takes_one)
{
    static const char one_cycle[] =
        "cycles = { alu = 1; multiply = 1; divide = 1; load = 1; store = 1; branch = 1; jump = 1; atomic = 1;\n"
        "    fp_load = 1; fp_store = 1; fp_add = 1; fp_multiply = 1; fp_fused = 1; fp_divide = 1; fp_convert = 1;\n"
        "    fp_move = 1; csr = 1; trap = 1; fence = 1; };";
    struct run r = run_with_stats((struct ncube_run){.dim = "3", .program = "guest/clockwork"}, one_cycle);
    size_t i;
    json_t *node;

    cr_expect_gt(sum(&r, "nodes", "interrupts"), 20);
    json_array_foreach(json_object_get(r.stats, "nodes"), i, node) if (i < 8)
        cr_expect_eq(number(node, "user_cycles"), number(node, "instructions"), "node %zu: %lld, %lld", i,
                     number(node, "user_cycles"), number(node, "instructions"));
    run_free(&r);
}

static json_int_t count_in(const char *text, const char *what)
{
    json_int_t n = 0;

    while ((text = strstr(text, what)) != NULL) {
        text++;
        n++;
    }
    return n;
}

Test(stats, count_what_the_trace_shows)
{
    struct run r = run_with_stats((struct ncube_run){.dim = "3", .program = "guest/clockwork"}, "");
    const json_t *front = json_object_get(r.stats, "front_end");
    json_int_t sent = sum(&r, "nodes", "messages_sent") + number(front, "messages_sent");
    json_int_t received = sum(&r, "nodes", "messages_received") + number(front, "messages_received");

    cr_expect_eq(sent, count_in(r.trace, " send to="), "%lld sent", sent);
    cr_expect_eq(received, count_in(r.trace, " arrival from="), "%lld received", received);
    cr_expect_eq(sum(&r, "nodes", "interrupts"), count_in(r.trace, " interrupt since="));
    cr_expect_eq(sum(&r, "drives", "reads"), count_in(r.trace, " read sector="));
    cr_expect_eq(sum(&r, "drives", "writes"), count_in(r.trace, " write sector="));
    cr_expect_gt(sum(&r, "nodes", "copies"), 0);
    run_free(&r);
}

Test(stats, tell_messages_that_were_sent_again)
{
    struct run r = run_with_stats((struct ncube_run){.dim = "3", .program = "guest/broken", .args = {"noise"}},
                                  "faults = ( { parity = 20; seed = 1; } );");

    cr_expect_eq(r.outcome.status, 0, "%s", r.outcome.err);
    cr_expect_gt(sum(&r, "nodes", "resends"), 0);
    cr_expect_eq(sum(&r, "nodes", "resends"), count_in(r.trace, " status=-3"));
    run_free(&r);
}

Test(stats, of_drives_agree_with_their_commands)
{
    struct run r = run_with_stats(
        (struct ncube_run){.dim = "0", .program = "guest/pio", .args = {"sizes around blocks", "2", "1024"}}, "");
    json_int_t all = number(r.stats, "virtual_cycles");
    size_t i;
    json_t *drive;

    json_array_foreach(json_object_get(r.stats, "drives"), i, drive)
    {
        json_int_t busy = number(drive, "busy_cycles"), queue = number(drive, "queue_cycles");

        cr_expect(busy > 0 && busy < all && queue >= busy && number(drive, "queue_max") >= 1, "drive %zu", i);
        cr_expect_gt(number(drive, "bytes_written"), 0, "drive %zu", i);
        cr_expect_float_eq(json_real_value(json_object_get(drive, "utilisation")), (double)busy / (double)all, 1e-6);
    }
    run_free(&r);
}

/* A message holds each of its channels for 117 cycles at least, and no channel belongs to two. */
Test(stats, of_channels_agree_with_the_messages_over_them)
{
    struct run r = run_with_stats((struct ncube_run){.dim = "3", .program = "guest/clockwork"}, "");
    json_int_t all = number(r.stats, "virtual_cycles");
    size_t i;
    json_t *channel;

    cr_expect_eq(json_array_size(json_object_get(r.stats, "channels")), 8 * 3 + 2 * VOLUMES + 2);
    json_array_foreach(json_object_get(r.stats, "channels"), i, channel)
    {
        json_int_t messages = number(channel, "messages"), busy = number(channel, "busy_cycles");

        cr_expect(busy >= 117 * messages && busy <= all, "channel %zu: %lld messages, busy %lld", i, messages, busy);
    }
    run_free(&r);
}

/* ---- Of the host ---- */

static void expect_polls(struct ncube_run r, json_int_t more_than)
{
    struct run ahead = run_with_stats(r, "");

    r.options[1] = "--sync=strict";
    struct run strict = run_with_stats(r, "");
    cr_expect_gt(number(ahead.host, "polls_skipped"), more_than);
    cr_expect_eq(number(strict.host, "polls_skipped"), 0);
    cr_expect_str_eq(ahead.text, strict.text);
    run_free(&ahead);
    run_free(&strict);
}

/* gcc 14 makes two calls a turn of the loop of exact (sched_poll.c). */
Test(stats, tell_of_loops_that_poll_that_strict_mode_executes_them)
{
    expect_polls((struct ncube_run){.dim = "3", .program = "guest/exact", .args = {"await", "3"}},
                 command_other_compiler() ? -1 : 1000);
    expect_polls((struct ncube_run){.dim = "2", .program = "guest/ends", .args = {"polls for nothing"}, .limit = "0.3"},
                 1000);
}

/* ---- Files for statistics ---- */

/* 2 nodes write 25 blocks of 1000 bytes each, one a call, to one node each, and tell both that they have ended. Headers
 * have 8 bytes; 16 in the first message to each, and 24 in the last. */
Test(stats, of_pipes_agree_with_what_was_written)
{
    static const char *const sync[] = {NULL, "--sync=strict"};
    char *first = NULL;

    for (size_t i = 0; i < sizeof sync / sizeof *sync; i++) {
        struct run r =
            run_with_stats((struct ncube_run){.dim = "1",
                                              .program = "guest/pipe_rate",
                                              .options = {NULL, sync[i]},
                                              .args = {"write", "cyclic 1000 2", "50000", "1000", "|", "-d", "1",
                                                       "guest/pipe_rate", "read", "cyclic 1000 2", "1000"}},
                           "");
        const json_t *pipes = json_object_get(r.stats, "pipes"), *pipe = json_array_get(pipes, 0);
        char *text = json_dumps(pipes, 0);

        cr_assert_eq(r.outcome.status, 0, "%s", r.outcome.err);
        cr_expect_eq(json_array_size(pipes), 1);
        cr_expect_eq(number(pipe, "pipe"), 0);
        cr_expect_eq(number(pipe, "messages"), 50 + 4);
        cr_expect_eq(number(pipe, "bytes"), 50000 + 48 * 8 + 2 * 16 + 4 * 24);
        cr_expect_eq(number(pipe, "room_messages"), 2, "a reader passes one slot of 16 KB");
        cr_expect_gt(number(pipe, "waits_for_data"), 0);
        cr_expect_eq(number(pipe, "waits_for_room"), 0);
        if (first)
            cr_expect_str_eq(text, first);
        free(first);
        first = text;
        run_free(&r);
    }
    free(first);
}

Test(stats, are_printed_to_standard_error_without_a_file)
{
    struct outcome o = ncube_run(&(struct ncube_run){.dim = "2", .program = "examples/hello", .options = {"--stats"}});

    cr_expect_eq(o.status, 0);
    cr_expect_eq(count_lines(o.out), 4, "%s", o.out);
    cr_expect(strstr(o.err, "virtual time ") && strstr(o.err, "4 compute nodes") && strstr(o.err, "on this host"), "%s",
              o.err);
    outcome_free(&o);
}

Test(stats, that_cannot_be_written_are_a_failure)
{
    struct outcome o = ncube_run(&(struct ncube_run){.program = "examples/hello", .options = {"--stats=/dev/full"}});

    outcome_expect(&o, "a full device", FAILED, "hello from node 0 of 1\n", "/dev/full");
    cr_expect_eq(count_lines(o.err), 1, "%s", o.err);
    outcome_free(&o);
}

/* ---- The heartbeat ---- */

Test(stats, the_heartbeat_tells_how_far_a_node_is_that_only_computes)
{
    struct outcome o = ncube_run(&(struct ncube_run){
        .program = "guest/ends", .args = {"spins"}, .limit = "20", .options = {"--heartbeat=0.02"}});

    cr_expect_geq(count_lines(o.err), 3, "%s", o.err);
    cr_expect(strstr(o.err, "1 of 1 nodes run, all wait for node 0 at ") != NULL, "%s", o.err);
    outcome_free(&o);
}

Test(stats, a_signal_asks_for_a_heartbeat_also_while_the_program_waits_for_input)
{
    int ends[2];

    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    struct command c = ncube_start_on(&(struct ncube_run){.program = "guest/streams", .args = {"copies lines"}},
                                      (struct streams_of_test){ends[0], -1});
    close(ends[0]);
    cr_assert_eq(write(ends[1], "one\n", 4), 4);
    command_await_lines(&c, 1);
    command_await_heartbeat(&c, "waits for the program's standard input");
    cr_assert_eq(write(ends[1], "two\n", 4), 4);
    close(ends[1]);
    struct outcome o = command_wait(&c);
    cr_expect_eq(o.status, 0);
    cr_expect(strncmp(o.out, "one\ntwo\n", 8) == 0, "%s", o.out);
    cr_expect_not_null(strstr(o.err, "virtual time "), "%s", o.err);
    outcome_free(&o);
}
