/*
 * Whatever happens to a run, it ends soon, reports that, and leaves no process and no file.
 *
 * Signals arrive at times drawn from a fixed seed, from before the first QEMU starts to the middle of the program.
 * SOAK=N starts and stops N machines in a row instead of 10.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "tests/machine/booted.h"
#include "tests/machine/command.h"

TestSuite(ends, .timeout = 3600);

#define MOMENTS       9
#define MOMENT_MAX_MS 300

static unsigned draw(unsigned *state)
{
    *state = *state * 1664525u + 1013904223u;
    return *state >> 8;
}

static void pause_ms(unsigned ms)
{
    poll(NULL, 0, (int)ms);
}

static const struct victim {
    const char *name, *dim, *program, *args[2];
    bool waits_for_input; /* its input stays open */
    bool nobody_reads;    /* its output is a full pipe */
} victims[] = {
    {"a program that computes", "0", "guest/ends", {"spins"}, false, false},
    {"nodes that send messages", "2", "guest/ends", {"talks"}, false, false},
    {"nodes that print", "1", "guest/ends", {"prints"}, false, false},
    {"a program that waits for input", "0", "guest/streams", {"waits for input"}, true, false},
    {"output that nobody takes", "0", "guest/ends", {"prints"}, false, true},
};

/* A run and the test's ends of its pipes. */
struct run {
    struct command command;
    int in, out;
};

static struct run start(const struct victim *v)
{
    struct streams_of_test streams = {-1, -1};
    struct run r = {.in = -1, .out = -1};
    int ends[2];

    if (v->waits_for_input) {
        cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
        streams.in = ends[0], r.in = ends[1];
    }
    if (v->nobody_reads) {
        cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
        r.out = ends[0], streams.out = ends[1];
    }
    r.command = ncube_start_on(
        &(struct ncube_run){.dim = v->dim, .program = v->program, .args = {v->args[0], v->args[1]}}, streams);
    if (v->waits_for_input)
        close(streams.in);
    if (v->nobody_reads)
        close(streams.out);
    return r;
}

static void close_pipes(const struct run *r)
{
    if (r->in >= 0)
        close(r->in);
    if (r->out >= 0)
        close(r->out);
}

static struct outcome end(struct run *r, const char *what)
{
    cr_expect(command_ends_within(&r->command, END_MS), "%s: it does not end", what);
    struct outcome o = command_wait(&r->command);
    command_expect_nothing_left(&r->command, what);
    close_pipes(r);
    return o;
}

/* ---- Signals to ncube ---- */

static void interrupt(const struct victim *v, int signal_number, unsigned after_ms)
{
    char *what = format("%s, signal %d after %u ms", v->name, signal_number, after_ms);
    struct run r = start(v);

    pause_ms(after_ms);
    kill(r.command.pid, signal_number);
    struct outcome o = end(&r, what);
    cr_expect_eq(o.status, 128 + signal_number, "%s: status %d: %s", what, o.status, o.err);
    /* Nothing if the program had not begun; else the signal, how many have not ended, and each node or fewer. */
    cr_expect_leq(count_lines(o.err), 2 + (1 << atoi(v->dim)), "%s: %s", what, o.err);
    cr_expect(o.err[0] == '\0' || strstr(o.err, "ended by SIG") != NULL, "%s: %s", what, o.err);
    outcome_free(&o);
    free(what);
}

RowTest(ends, come_within_two_seconds_of_a_signal, victims)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    unsigned state = (unsigned)*row + 1;

    for (int i = 0; i < MOMENTS; i++)
        interrupt(&victims[*row], signals[i % 3], draw(&state) % MOMENT_MAX_MS);
}

RowTest(ends, leave_no_process_when_ncube_is_killed, victims)
{
    const struct victim *v = &victims[*row];
    unsigned state = (unsigned)*row + 100;

    for (int i = 0; i < MOMENTS / 3; i++) {
        struct run r = start(v);

        pause_ms(draw(&state) % MOMENT_MAX_MS);
        kill(r.command.pid, SIGKILL);
        struct outcome o = end(&r, v->name);
        cr_expect_eq(o.status, 128 + SIGKILL, "%s: status %d", v->name, o.status);
        outcome_free(&o);
    }
}

/* ---- Loops without end in user code ---- */

static const struct loop {
    const char *dim, *program, *name, *options[2];
} loops[] = {
    {"0", "guest/ends", "spins", {NULL}},
    {"2", "guest/ends", "spins among messages", {NULL}},
    {"2", "guest/ends", "spins among messages", {"--sync=strict"}},
    {"2", "guest/ends", "spins with a handler", {NULL}},
    {"1", "guest/ends", "spins in a reservation", {NULL}},
    {"2", "guest/ends", "polls for nothing", {NULL}},
    {"2", "guest/ends", "polls for nothing", {"--sync=strict"}},
    {"1", "guest/ends", "polls with a handler", {NULL}},
    {"1", "guest/processes", "spins", {NULL}},
};

static struct ncube_run run_of_loop(const struct loop *l)
{
    return (struct ncube_run){
        .dim = l->dim, .program = l->program, .args = {l->name}, .options = {l->options[0], l->options[1]}};
}

RowTest(ends, of_endless_loops_come_by_a_limit_of_virtual_time, loops)
{
    struct ncube_run r = run_of_loop(&loops[*row]);

    r.limit = "0.3";
    outcome_must_be(ncube_run(&r), loops[*row].name, 124, NULL, "limit");
}

RowTest(ends, of_endless_loops_come_by_a_signal, loops)
{
    struct ncube_run r = run_of_loop(&loops[*row]);
    struct run run = {.command = ncube_start(&r), .in = -1, .out = -1};

    command_await_lines(&run.command, 1);
    pause_ms(20);
    kill(run.command.pid, SIGINT);
    struct outcome o = end(&run, loops[*row].name);
    cr_expect_eq(o.status, 128 + SIGINT, "%s: status %d: %s", loops[*row].name, o.status, o.err);
    outcome_free(&o);
}

/* ---- What is said of a program that has not ended ---- */

#define COMPUTES " node 3 runs in compute (unfinished.c:15)\n"
#define FILLS    " node 3 runs in memset, called from fill (unfinished.c:24)\n"

/* Until the others wait, and for nothing that is still to come. */
static void await_one_runs(const struct command *c)
{
    command_await_heartbeat(c, "; 1 of 4 nodes run, all wait for node 3 ");
    command_await_heartbeat(c, ", no event is due\n");
}

/* Behind heartbeats, which the test may have asked for. */
static void expect_waits(const char *what, const struct outcome *o, int status, const char *first, const char *computes)
{
    const char *const lines[] = {" node 0 waits in nsync of type 1 for node 2\n",
                                 " node 1 waits in nsync of type 1 for node 0\n",
                                 " node 2 waits in nread for a message of type 5 from node 1\n", computes};

    cr_expect_eq(o->status, status, "%s: status %d", what, o->status);
    const char *at = o->err;
    while (strncmp(at, "ncube: after ", strlen("ncube: after ")) == 0 && strchr(at, '\n'))
        at = strchr(at, '\n') + 1;
    cr_expect_eq(strncmp(at, first, strlen(first)), 0, "%s: %s", what, o->err);
    for (size_t i = 0; i < sizeof lines / sizeof *lines; i++)
        cr_expect_not_null(strstr(at, lines[i]), "%s: no '%s' in: %s", what, lines[i], o->err);
}

Test(ends, by_a_limit_say_who_waits_for_whom_and_who_computes)
{
    static const char *const options[] = {"--sync=strict", "--harts=threads", NULL, "--check"};

    for (int i = 0; i < 4; i++) {
        struct outcome o = ncube_run(
            &(struct ncube_run){.dim = "2", .program = "guest/unfinished", .options = {options[i]}, .limit = "0.1"});

        expect_waits("limit", &o, 124,
                     "ncube: the limit of 0.100000 s of virtual time is reached\n"
                     "  the front end waits for 4 of 4 nodes to exit, first node 0\n",
                     COMPUTES);
        outcome_free(&o);
        o = ncube_run(&(struct ncube_run){
            .dim = "2", .program = "guest/unfinished", .args = {"fill"}, .options = {options[i]}, .limit = "0.2"});
        expect_waits("limit in a library", &o, 124, "ncube: the limit of 0.200000 s of virtual time is reached\n",
                     FILLS);
        outcome_free(&o);
    }
}

/* Code that has run ahead past an interrupt is at the limit again after a second. */
Test(ends, by_a_limit_say_where_a_node_computes_that_has_been_interrupted)
{
    static const char *const options[] = {"--sync=strict", "--harts=threads", NULL};

    for (int i = 0; i < 3; i++) {
        struct ncube_run r = {.dim = "2", .program = "guest/unfinished", .args = {"told"}, .options = {options[i]}};

        r.limit = "0.9";
        struct outcome o = ncube_run(&r);
        expect_waits("shortly after", &o, 124, "ncube: the limit of 0.900000 s", " node 3 runs\n");
        outcome_free(&o);
        r.limit = "1.3";
        o = ncube_run(&r);
        expect_waits("a second after", &o, 124, "ncube: the limit of 1.300000 s", COMPUTES);
        outcome_free(&o);
    }
}

/* A program on 4 of 8 nodes: the others have none that could have ended. */
Test(ends, by_a_limit_say_nothing_of_nodes_without_a_program)
{
    struct outcome o = ncube_run(
        &(struct ncube_run){.dim = "3", .program = "guest/unfinished", .options = {"-n", "4"}, .limit = "0.1"});

    expect_waits("limit", &o, 124,
                 "ncube: the limit of 0.100000 s of virtual time is reached\n"
                 "  the front end waits for 4 of 4 nodes to exit, first node 0\n",
                 COMPUTES);
    cr_expect_eq(count_lines(o.err), 6, "%s", o.err);
    outcome_free(&o);
}

/* Where a node is at the limit that has run ahead, has just been interrupted or polls, depends on the host: nothing is
 * said of it. */
Test(ends, by_a_limit_name_the_places_that_are_the_same_in_every_run)
{
    int named = 0;

    for (int i = 0; i < 6; i++) {
        char *seed = format("%d", i), *limit = format("0.%d", 1153 + 577 * i);
        struct ncube_run r = {.dim = "2", .program = "guest/places", .args = {seed}, .limit = limit};
        struct outcome ahead = ncube_run(&r);

        r.options[0] = "--sync=strict";
        struct outcome strict = ncube_run(&r);
        cr_expect_str_eq(ahead.err, strict.err, "limit %s", limit);
        for (const char *at = ahead.err; (at = strstr(at, " runs in step_")); at++)
            named++;
        outcome_free(&ahead);
        outcome_free(&strict);
        free(limit);
        free(seed);
    }
    cr_expect_geq(named, 3, "%d places", named);
}

Test(ends, by_a_signal_say_who_waits_for_whom_and_who_computes)
{
    static const struct {
        int number;
        const char *first;
    } signals[] = {{SIGINT, "ncube: ended by SIGINT at "},
                   {SIGTERM, "ncube: ended by SIGTERM at "},
                   {SIGINT, "ncube: ended by SIGINT at "},
                   {SIGTERM, "ncube: ended by SIGTERM at "}};

    for (int i = 0; i < 4; i++) {
        struct ncube_run r = {.dim = "2", .program = "guest/unfinished", .args = {i < 2 ? NULL : "fill"}};
        struct run run = {.command = ncube_start(&r), .in = -1, .out = -1};

        command_await_lines(&run.command, 1);
        await_one_runs(&run.command);
        kill(run.command.pid, signals[i].number);
        struct outcome o = end(&run, "unfinished");
        expect_waits(signals[i].first, &o, 128 + signals[i].number, signals[i].first, i < 2 ? COMPUTES : FILLS);
        outcome_free(&o);
    }
}

/* On a machine that is kept up: the user's xnc gets the signal, or the machine. */
Test(ends, of_a_machine_that_is_up_and_of_xnc_say_the_same)
{
    static const struct {
        int number;
        bool to_machine;
        int status;
        const char *first;
    } cases[] = {{SIGINT, false, 128 + SIGINT, "ncube: ended by SIGINT at "},
                 {SIGTERM, false, 128 + SIGTERM, "ncube: ended by SIGTERM at "},
                 {SIGHUP, false, 128 + SIGHUP, "ncube: ended by SIGHUP at "},
                 {SIGTERM, true, 1, "ncube: the machine goes down at "}};
    struct booted b = booted_up(WORDS("-d", "2"));

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const struct streams_of_test streams = {.in = -1, .out = -1};
        struct command c = xnc_start(&b, streams, WORDS("-d2", "guest/unfinished"));

        command_await_lines(&c, 1);
        await_one_runs(&b.command);
        kill(cases[i].to_machine ? b.command.pid : c.pid, cases[i].number);
        struct outcome o = command_wait(&c);
        expect_waits(cases[i].first, &o, cases[i].status, cases[i].first, COMPUTES);
        outcome_free(&o);
    }
    struct outcome o = booted_end(&b, command_patience(5000));
    cr_expect_eq(o.status, 128 + SIGTERM, "%d: %s", o.status, o.err);
    outcome_free(&o);
}

/* ---- Signals to QEMU ---- */

static void lose_qemu(const struct victim *v, int signal_number, unsigned after_ms)
{
    char *what = format("%s, signal %d to QEMU after %u ms", v->name, signal_number, after_ms);
    struct run r = start(v);
    pid_t qemu = command_find_qemu(&r.command);

    cr_assert_neq(qemu, 0, "%s: no QEMU", what);
    pause_ms(after_ms);
    kill(qemu, signal_number);
    struct outcome o = end(&r, what);
    cr_expect_eq(o.status, 1, "%s: status %d", what, o.status);
    cr_expect(count_lines(o.err) == 1 && strstr(o.err, "qemu-system-riscv64") != NULL, "%s: %s", what, o.err);
    outcome_free(&o);
    free(what);
}

Test(ends, come_when_qemu_is_lost_and_say_so)
{
    unsigned state = 7;

    for (int i = 0; i < 9; i++)
        lose_qemu(&victims[i % 3], (int[]){SIGKILL, SIGABRT, SIGSEGV}[i / 3], draw(&state) % MOMENT_MAX_MS);
}

Test(ends, come_when_qemu_does_not_answer)
{
    unsigned state = 8;

    for (int i = 0; i < 4; i++) {
        struct run r = start(&victims[i % 2]);
        pid_t qemu = command_find_qemu(&r.command);

        pause_ms(draw(&state) % MOMENT_MAX_MS);
        cr_assert_gt(qemu, 0, "no QEMU has come up");
        kill(qemu, SIGSTOP);
        pause_ms(20);
        kill(r.command.pid, SIGTERM);
        struct outcome o = end(&r, "QEMU stopped");
        cr_expect_eq(o.status, 128 + SIGTERM, "status %d: %s", o.status, o.err);
        outcome_free(&o);
    }
}

/* ---- QEMUs that do not come up, or do not go on ---- */

static const struct false_qemu {
    const char *name, *script, *told;
} false_qemus[] = {
    {"one that sleeps", "exec sleep 1000", "has not come up: it was silent for 10 s"},
    {"one that says something and sleeps", "echo 'no such machine' >&2; exec sleep 1000",
     "has not come up: it was silent for 10 s"},
    {"one without room for translated code",
     "export PATH=/usr/bin:/bin; exec bash -c 'exec qemu-system-riscv64 \"${@/tb-size=*/tb-size=1}\"' - \"$@\"",
     "hangs; if it has executed many different programs, it may have no room for translated code left"},
};

static struct command start_with_false_qemu(const char *folder, const char *script)
{
    char *text = format("#!/bin/sh\n%s\n", script), *path = format("PATH=%s:/usr/bin:/bin", folder);

    file_write(folder, "qemu-system-riscv64", text, strlen(text));
    char *file = format("%s/qemu-system-riscv64", folder);
    cr_assert_eq(chmod(file, 0755), 0);
    free(file);
    free(text);
    return command_start(
        (char *[]){"/usr/bin/env", path, build_path("bin/ncube"), "run", build_path("examples/hello"), NULL}, NULL, 0);
}

RowTest(ends, of_runs_whose_qemu_does_not_come_up_or_go_on_are_told_in_a_line, false_qemus)
{
    const struct false_qemu *q = &false_qemus[*row];
    char *folder = folder_new();
    struct command c = start_with_false_qemu(folder, q->script);

    cr_expect(command_ends_within(&c, 90000), "%s: it does not end", q->name);
    struct outcome o = command_wait(&c);
    outcome_expect(&o, q->name, 1, "", q->told);
    cr_expect_eq(count_lines(o.err), 1, "%s: %s", q->name, o.err);
    if (strstr(q->script, "no such machine"))
        cr_expect_not_null(strstr(o.err, "no such machine"), "%s: %s", q->name, o.err);
    command_expect_nothing_left(&c, q->name);
    outcome_free(&o);
    folder_remove(folder);
}

Test(ends, come_at_once_by_a_signal_while_qemu_does_not_come_up)
{
    char *folder = folder_new();
    struct command c = start_with_false_qemu(folder, "exec sleep 1000");

    pause_ms(200);
    kill(c.pid, SIGINT);
    cr_expect(command_ends_within(&c, END_MS));
    struct outcome o = command_wait(&c);
    cr_expect_eq(o.status, 128 + SIGINT, "status %d: %s", o.status, o.err);
    command_expect_nothing_left(&c, "a QEMU that sleeps");
    outcome_free(&o);
    folder_remove(folder);
}

/* ---- An orderly end takes the time that it needs ---- */

#define SLOW_VOLUMES 15
#define SLICE_NS     1000000
#define SLICE_MS     50
#define PAUSE_MS     150

static uint64_t processor_ns(pid_t pid)
{
    struct timespec t;
    clockid_t clock;

    if (clock_getcpuclockid(pid, &clock) != 0 || clock_gettime(clock, &t) != 0)
        return 0;
    return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

/* A host that gives QEMU so little time that going down takes long: until the end, QEMU has 1 ms of a processor after
 * each 150 ms, on a busy host, too; if it does not want that much, 50 ms of the host's time. */
static void slow_down_until_end(struct command *c, pid_t qemu)
{
    for (bool ended = false; !ended;) {
        uint64_t until = processor_ns(qemu) + SLICE_NS;

        kill(qemu, SIGSTOP);
        pause_ms(PAUSE_MS);
        kill(qemu, SIGCONT);
        for (int ms = 0; ms < SLICE_MS && !ended && processor_ns(qemu) < until; ms++)
            ended = command_ends_within(c, 1);
    }
}

static void end_slowly(void)
{
    char *folder = folder_with_images(SLOW_VOLUMES, 8192, 4096), *machine = machine_file(folder, 4, SLOW_VOLUMES, "");
    struct command c =
        ncube_start(&(struct ncube_run){.machine = machine, .program = "guest/files", .args = {"syncs", "//df00/"}});
    pid_t qemu = command_find_qemu(&c);

    cr_assert_neq(qemu, 0);
    command_await_lines(&c, 2);
    kill(c.pid, SIGTERM);
    slow_down_until_end(&c, qemu);
    struct outcome o = command_wait(&c);
    cr_expect_eq(o.status, 128 + SIGTERM, "status %d: %s", o.status, o.err);
    images_check(folder, SLOW_VOLUMES);
    outcome_free(&o);
    free(machine);
    folder_remove(folder);
}

/* This usually takes a second and a half, and less if QEMU gets more than its slice. */
Test(ends, in_order_are_not_cut_short_on_a_slow_host)
{
    for (int i = 0; i < 3; i++)
        end_slowly();
}

/* ---- Nothing is left ---- */

/* Names of ncube or QEMU in a folder where other programs, too, have files. */
static int count_files(const char *folder)
{
    DIR *d = opendir(folder);
    int n = 0;

    for (struct dirent *e; d != NULL && (e = readdir(d)) != NULL;)
        n += (strstr(e->d_name, "ncube") != NULL && strncmp(e->d_name, "ncube-test-", 11) != 0) ||
             strstr(e->d_name, "qemu") != NULL || strncmp(e->d_name, "vl.", 3) == 0;
    if (d != NULL)
        closedir(d);
    return n;
}

static int count_all_files(void)
{
    return count_files("/tmp") + count_files("/dev/shm") + count_files("/var/tmp") + count_files("/run") +
           count_files(".");
}

static void start_and_stop(int number)
{
    struct command c = ncube_start(&(struct ncube_run){.dim = "1", .program = "examples/hello"});
    struct outcome o = command_wait(&c);
    char what[32];

    snprintf(what, sizeof what, "start %d", number);
    cr_expect(o.status == 0 && count_lines(o.out) == 2 && o.err[0] == '\0', "%s: status %d, %s%s", what, o.status,
              o.out, o.err);
    command_expect_nothing_left(&c, what);
    outcome_free(&o);
}

Test(ends, leave_nothing_after_many_starts)
{
    const char *soak = getenv("SOAK");
    int before = count_all_files();

    for (int i = 0; i < (soak != NULL ? atoi(soak) : 10); i++)
        start_and_stop(i);
    cr_expect_eq(count_all_files(), before, "%d files, not %d", count_all_files(), before);
}

Test(ends, leave_no_file_when_ncube_is_killed)
{
    int before = count_all_files();

    for (int i = 0; i < 4; i++) {
        struct run r = start(&victims[1]);

        command_find_qemu(&r.command);
        pause_ms(50u * (unsigned)i);
        kill(r.command.pid, SIGKILL);
        struct outcome o = end(&r, "killed");
        outcome_free(&o);
    }
    cr_expect_eq(count_all_files(), before, "%d files, not %d", count_all_files(), before);
}

Test(ends, are_normal_with_standard_streams_closed)
{
    static const char *const closed[] = {"<&-", ">&-", "2>&-", "<&- >&- 2>&-"};

    for (int i = 0; i < 4; i++) {
        char *line = format("exec %s run %s 3 %s", build_path("bin/ncube"), build_path("guest/status"), closed[i]);

        outcome_must_be(command_run((char *[]){"/bin/sh", "-c", line, NULL}, NULL), closed[i], 3, "", "");
        free(line);
    }
}

Test(ends, do_not_come_by_a_signal_that_was_ignored_at_the_start)
{
    char *line = format("trap '' HUP; exec %s run -d 2 %s talks", build_path("bin/ncube"), build_path("guest/ends"));
    struct command c = command_start((char *[]){"/bin/sh", "-c", line, NULL}, NULL, 0);

    cr_assert_neq(command_find_qemu(&c), 0);
    kill(c.pid, SIGHUP);
    cr_expect(!command_ends_within(&c, 300), "nohup does not help");
    kill(c.pid, SIGTERM);
    struct outcome o = command_wait(&c);
    cr_expect_eq(o.status, 128 + SIGTERM, "status %d: %s", o.status, o.err);
    outcome_free(&o);
    free(line);
}
