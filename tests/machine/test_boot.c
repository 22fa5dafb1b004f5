/*
 * Machines that are kept up: programs from several users at once, and clean ends, whichever party ends in any way.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/machine/booted.h"

TestSuite(boot, .timeout = 600);

static void pause_ms(unsigned ms)
{
    poll(NULL, 0, (int)ms);
}

/* ---- Programs ---- */

static const struct program {
    const char *name, *words[8], *input;
    int status;
    const char *out, *err;
} programs[] = {
    {"one node", {"examples/hello"}, "", 0, "hello from node 0 of 1\n", ""},
    {"its own input", {"guest/streams", "copies lines"}, "a line\nthe end", 0, "a line\nthe endpassed\n", ""},
    {"both outputs",
     {"guest/streams", "prints to both"},
     "",
     0,
     "to the output\npassed\n",
     "to the error stream\nno newline"},
    {"its status", {"guest/status", "42"}, "", 42, "", ""},
    {"the highest status", {"-d2", "guest/status", "7"}, "", 10, "", ""},
    {"a fault", {"-d1", "guest/faults", "null load", "1"}, "", 1, NULL, "in fault_load"},
    {"a deadlock",
     {"-d1", "guest/ends", "waits for one that has ended"},
     "",
     125,
     "",
     "ncube: node 0 waits in nread for a message of type 42 from node 1\nncube: node 1 has ended with status 11\n"},
    {"no such file", {"./none"}, "", 1, "", "/none: cannot be opened"},
    {"too many nodes", {"-d4", "examples/hello"}, "", 1, "", "dimension 4 does not fit"},
    {"labels",
     {"-d1", "--label", "examples/hello"},
     "",
     0,
     "node 0: hello from node 0 of 2\nnode 1: hello from node 1 of 2\n",
     ""},
    {"two programs", {"-d1", "examples/hello", ":", "guest/status", "6"}, "", 7, "hello from node 0 of 2\n", ""},
};

/* One machine for all, so that each program follows one that ended in another way. */
Test(boot, programs_one_after_the_other_have_their_own_streams_and_status)
{
    struct booted b = booted_up(WORDS("-d", "3"));

    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        const struct program *p = &programs[i];

        outcome_must_be(xnc_run(&b, p->input, p->words), p->name, p->status, p->out, p->err);
    }
    booted_down(&b);
}

/* Vertex panics when a job leaves a page behind; this checks that ncube keeps no descriptors. */
Test(boot, fifty_programs_in_a_row_leave_nothing_in_the_machine)
{
    struct booted b = booted_up(WORDS("-d", "2"));
    size_t before = 0;

    for (int i = 0; i < 50; i++) {
        switch (i % 3) {
        case 0:
            xnc_expect(&b, "x\n", WORDS("-d2", "guest/streams", "copies lines"), 0, NULL, "");
            break;
        case 1:
            xnc_expect(&b, "", WORDS("-d1", "guest/ends", "leaves messages unread"), 0, "passed\n", "");
            break;
        case 2:
            xnc_expect(&b, "", WORDS("-d2", "guest/faults", "null store", "2"), 1, NULL, "store");
            break;
        }
        if (i == 2)
            before = booted_descriptors(&b);
    }
    booted_expect_descriptors(&b, before, "50 programs");
    booted_down(&b);
}

/* ---- Several at once ---- */

struct pipe {
    int in, out;
};

static struct pipe make_pipe(void)
{
    int ends[2];

    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    return (struct pipe){ends[1], ends[0]};
}

/* A program whose standard input the test holds open, at *input. */
static struct command start_on_pipe(const struct booted *b, const char *const words[], int *input)
{
    struct pipe p = make_pipe();
    struct command c = xnc_start(b, (struct streams_of_test){p.out, -1}, words);

    close(p.out);
    *input = p.in;
    return c;
}

static void say(int input, const char *text)
{
    cr_assert_eq(write(input, text, strlen(text)), (ssize_t)strlen(text));
}

static void expect_end(struct command *c, const char *name, int status, const char *out, const char *err)
{
    outcome_must_be(command_wait(c), name, status, out, err);
}

Test(boot, a_program_that_waits_for_input_stops_no_other)
{
    struct booted b = booted_up(WORDS("-d", "1"));
    int input;
    struct command waits = start_on_pipe(&b, WORDS("guest/streams", "copies lines"), &input);

    say(input, "half ");
    for (int i = 0; i < 3; i++)
        xnc_expect(&b, "", WORDS("examples/hello"), 0, "hello from node 0 of 1\n", "");
    say(input, "a line\n");
    close(input);
    expect_end(&waits, "the one that waits", 0, "half a line\npassed\n", "");
    booted_down(&b);
}

Test(boot, output_that_nobody_takes_stops_no_other)
{
    struct booted b = booted_up(WORDS("-d", "1"));
    struct pipe p = make_pipe();
    struct command prints = xnc_start(&b, (struct streams_of_test){-1, p.in}, WORDS("guest/streams", "prints a lot"));
    static char bytes[65536];
    size_t total = 0;

    close(p.in);
    for (int i = 0; i < 3; i++)
        xnc_expect(&b, "", WORDS("examples/hello"), 0, "hello from node 0 of 1\n", "");
    for (ssize_t n; (n = read(p.out, bytes, sizeof bytes)) > 0;)
        total += (size_t)n;
    close(p.out);
    cr_expect_eq(total, 16384 * 64 + strlen("passed\n"), "%zu bytes", total);
    expect_end(&prints, "the one that prints", 0, NULL, "");
    booted_down(&b);
}

/* The pipe is full before the program writes: the program ends, but xnc only when its output has been read. */
Test(boot, the_last_output_of_a_program_is_not_lost)
{
    static char bytes[1 << 17];
    struct booted b = booted_up(WORDS("-d", "1"));
    struct pipe p = make_pipe();
    size_t n = 0;

    cr_assert_eq(fcntl(p.in, F_SETFL, O_NONBLOCK), 0);
    for (ssize_t put; (put = write(p.in, bytes, 4096)) > 0;)
        n += (size_t)put;
    struct command c = xnc_start(&b, (struct streams_of_test){-1, p.in}, WORDS("examples/hello"));
    close(p.in);
    cr_expect_not(command_ends_within(&c, 500), "its output is still to come");
    for (size_t left = n; left > 0;)
        left -= (size_t)read(p.out, bytes, left < sizeof bytes ? left : sizeof bytes);
    ssize_t last = read(p.out, bytes, sizeof bytes);
    cr_expect(last == 23 && memcmp(bytes, "hello from node 0 of 1\n", 23) == 0, "%zd bytes", last);
    close(p.out);
    expect_end(&c, "xnc", 0, NULL, "");
    booted_down(&b);
}

#define NEIGHBOURS 4
#define ROUNDS     "60"

/* All start, all wait for a line, and then all run. */
Test(boot, messages_of_programs_at_once_do_not_cross)
{
    static const char *const dims[NEIGHBOURS] = {"-d1", "-d2", "-d0", "-d3"};
    struct booted b = booted_up(WORDS("-d", "4"));
    struct command c[NEIGHBOURS];
    int input[NEIGHBOURS];

    for (int i = 0; i < NEIGHBOURS; i++) {
        char mark[8];

        snprintf(mark, sizeof mark, "%d", i);
        c[i] = start_on_pipe(&b, WORDS(dims[i], "guest/neighbours", "exchanges", mark, ROUNDS), &input[i]);
    }
    xnc_expect(&b, "", WORDS("guest/neighbours", "reaches out"), 0, "passed\n", "");
    for (int i = 0; i < NEIGHBOURS; i++)
        say(input[i], "go\n");
    for (int i = 0; i < NEIGHBOURS; i++) {
        expect_end(&c[i], dims[i], 0, "passed\n", "");
        close(input[i]);
    }
    booted_down(&b);
}

Test(boot, a_machine_that_is_full_says_so_and_has_room_again_later)
{
    struct booted b = booted_up(WORDS("-d", "2"));
    int input;
    struct command waits = start_on_pipe(&b, WORDS("-d1", "guest/streams", "copies lines"), &input);

    say(input, "line\n");
    xnc_await(&b, &waits, XNC_RUNS);
    xnc_expect(&b, "", WORDS("-d2", "examples/hello"), 1, "", "no subcube of 4 nodes is free now");
    xnc_expect(&b, "", WORDS("-d1", "guest/neighbours", "answers"), 0, "passed\n", "");
    close(input);
    expect_end(&waits, "the one that waits", 0, NULL, "");
    xnc_expect(&b, "", WORDS("-d2", "guest/neighbours", "answers"), 0, "passed\n", "");
    booted_down(&b);
}

/* Two nodes of four are taken. */
struct queue {
    struct booted b;
    int input;
    struct command holder;
};

static struct queue queue_new(void)
{
    struct queue q = {.b = booted_up(WORDS("-d", "2"))};

    q.holder = start_on_pipe(&q.b, WORDS("-d1", "guest/streams", "copies lines"), &q.input);
    xnc_await(&q.b, &q.holder, XNC_RUNS);
    return q;
}

static struct command queue_up(const struct queue *q, int out, const char *dim)
{
    struct command c = xnc_start(&q->b, (struct streams_of_test){-1, out}, WORDS("--wait", dim, "examples/hello"));

    xnc_await(&q->b, &c, XNC_WAITS);
    return c;
}

static void queue_let_go(struct queue *q)
{
    close(q->input);
    expect_end(&q->holder, "the one that has nodes", 0, "passed\n", "");
}

Test(boot, programs_that_wait_for_a_subcube_get_it_in_the_order_of_asking)
{
    struct queue q = queue_new();
    struct pipe p = make_pipe();
    struct command all = queue_up(&q, p.in, "-d2"), one = queue_up(&q, p.in, "-d0");
    char text[256] = "";

    close(p.in);
    xnc_expect(&q.b, "", WORDS("-d0", "examples/hello"), 1, "", "other programs already wait for a subcube");
    queue_let_go(&q);
    expect_end(&all, "all nodes", 0, NULL, "");
    expect_end(&one, "one node", 0, NULL, "");
    for (ssize_t n, at = 0; (n = read(p.out, text + at, sizeof text - 1 - (size_t)at)) > 0;)
        at += n;
    cr_expect_eq(count_lines(text), 5, "%s", text);
    cr_expect_str_eq(strstr(text, "of 1"), "of 1\n", "the one node was before the four: %s", text);
    close(p.out);
    booted_down(&q.b);
}

Test(boot, a_user_that_goes_away_gives_up_the_turn)
{
    static const int signals[] = {SIGKILL, SIGINT, SIGTERM};

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        struct queue q = queue_new();
        struct command gone = queue_up(&q, -1, "-d2"), one = queue_up(&q, -1, "-d0");

        kill(gone.pid, signals[i]);
        expect_end(&gone, "the one that went", 128 + signals[i], "", "");
        expect_end(&one, "the next one", 0, "hello from node 0 of 1\n", "");
        queue_let_go(&q);
        booted_down(&q.b);
    }
}

Test(boot, what_cannot_run_does_not_wait)
{
    struct queue q = queue_new();

    xnc_expect(&q.b, "", WORDS("--wait", "-d2", "./none"), 1, "", "/none: cannot be opened");
    xnc_expect(&q.b, "", WORDS("--wait", "-d3", "examples/hello"), 1, "", "dimension 3 does not fit");
    queue_let_go(&q);
    xnc_expect(&q.b, "", WORDS("--wait", "-d1", "examples/hello"), 0, NULL, "");
    booted_down(&q.b);
}

Test(boot, going_down_sends_home_who_waits)
{
    struct queue q = queue_new();
    struct command all = queue_up(&q, -1, "-d2");

    booted_down(&q.b);
    expect_end(&all, "the one that waits", 1, "", "the machine goes down");
    expect_end(&q.holder, "the one that has nodes", 1, NULL, "the machine goes down");
    close(q.input);
}

/* A deadlock is seen when nothing else runs: the one that waits for the user is none. */
Test(boot, a_deadlock_of_one_program_leaves_another_that_waits_for_input)
{
    struct booted b = booted_up(WORDS("-d", "2"));
    int input;
    struct command waits = start_on_pipe(&b, WORDS("guest/streams", "copies lines"), &input);

    xnc_expect(&b, "", WORDS("-d1", "guest/ends", "waits for one that has ended"), 125, "", "deadlock at ");
    say(input, "still here\n");
    close(input);
    expect_end(&waits, "the one that waits", 0, "still here\npassed\n", "");
    booted_down(&b);
}

/* ---- Users that disconnect ---- */

static const char *const victims[][4] = {
    {"-d2", "guest/ends", "spins", NULL},
    {"-d2", "guest/ends", "talks", NULL},
    {"-d2", "guest/ends", "prints", NULL},
    {"-d2", "guest/streams", "waits for input", NULL},
};
#define VICTIMS (sizeof victims / sizeof *victims)

/* The victim has the whole machine: the next program shows that its nodes are free again, perhaps after a moment. */
static void expect_room(const struct booted *b, const char *what)
{
    struct outcome o = {.status = 1};

    for (int i = 0; i < 1200 && o.status != 0; i++) {
        outcome_free(&o);
        o = xnc_run(b, "", WORDS("-d2", "guest/neighbours", "answers"));
        pause_ms(o.status ? 50 : 0);
    }
    outcome_expect(&o, what, 0, "passed\n", "");
    outcome_free(&o);
}

static void end_user(const struct booted *b, size_t v, int signal_number, unsigned after_ms)
{
    int input;
    char *what = format("%s, signal %d after %u ms", victims[v][2], signal_number, after_ms);
    struct command c = start_on_pipe(b, victims[v], &input);

    pause_ms(after_ms);
    kill(c.pid, signal_number);
    cr_expect(command_ends_within(&c, END_MS), "%s: xnc does not end", what);
    struct outcome o = command_wait(&c);
    cr_expect_eq(o.status, 128 + signal_number, "%s: status %d: %s", what, o.status, o.err);
    cr_expect(o.err[0] == '\0' || (signal_number != SIGKILL && strstr(o.err, "ncube: ended by SIG") == o.err), "%s: %s",
              what, o.err);
    outcome_free(&o);
    expect_room(b, what);
    close(input);
    free(what);
}

Test(boot, a_user_that_goes_away_takes_the_program_along_and_nothing_else)
{
    static const int signals[] = {SIGKILL, SIGINT, SIGTERM, SIGHUP};
    struct booted b = booted_up(WORDS("-d", "2"));

    for (size_t i = 0; i < 2 * VICTIMS; i++)
        end_user(&b, i % VICTIMS, signals[i / 2 % 4], 20 + 60 * (unsigned)(i % 3));
    booted_down(&b);
}

/* ---- Machines that end ---- */

static void start_users(const struct booted *b, struct command *c, int *input)
{
    for (size_t v = 0; v < VICTIMS; v++)
        c[v] = start_on_pipe(b, victims[v], &input[v]);
}

static void await_users(const struct booted *b, const struct command *c)
{
    for (size_t v = 0; v < VICTIMS; v++)
        xnc_await(b, &c[v], XNC_RUNS);
}

static void expect_users_end(struct command *c, const int *input, const char *err)
{
    for (size_t v = 0; v < VICTIMS; v++) {
        cr_expect(command_ends_within(&c[v], END_MS), "%s: xnc does not end", victims[v][2]);
        expect_end(&c[v], victims[v][2], 1, NULL, err);
        close(input[v]);
    }
}

static const struct ending {
    const char *name;
    int signal_number;
    bool to_qemu;
    unsigned after_ms; /* all users have their nodes; 0: whether they have or not */
    int status;
} endings[] = {
    {"SIGINT", SIGINT, false, 300, 130},         {"SIGTERM", SIGTERM, false, 300, 143},
    {"SIGTERM at once", SIGTERM, false, 1, 143}, {"SIGTERM while users come", SIGTERM, false, 0, 143},
    {"SIGKILL", SIGKILL, false, 300, 137},       {"a lost QEMU", SIGKILL, true, 300, 1},
};

RowTest(boot, a_machine_that_ends_by_force_ends_its_users_and_leaves_nothing, endings)
{
    const struct ending *e = &endings[*row];
    struct booted b = booted_up(WORDS("-d", "4"));
    struct command c[VICTIMS];
    int input[VICTIMS];

    start_users(&b, c, input);
    if (e->after_ms > 0)
        await_users(&b, c);
    pause_ms(e->after_ms);
    kill(e->to_qemu ? command_find_qemu(&b.command) : b.command.pid, e->signal_number);
    struct outcome o = booted_end(&b, END_MS);
    cr_expect_eq(o.status, e->status, "%s: status %d: %s", e->name, o.status, o.err);
    outcome_free(&o);
    expect_users_end(c, input, e->after_ms > 0 ? "the machine " : "machine "); /* or "no machine called ..." */
}

Test(boot, an_idle_machine_ends_at_a_signal_and_one_that_boots_too)
{
    for (int idle = 0; idle < 2; idle++)
        for (int i = 0; i < 3; i++) {
            struct booted b = booted_start(WORDS("-d", "3"));

            if (idle)
                booted_await(&b);
            pause_ms(40 * (unsigned)i);
            kill(b.command.pid, SIGTERM);
            struct outcome o = booted_end(&b, END_MS);
            cr_expect_eq(o.status, 143, "idle %d, %d: %d %s", idle, i, o.status, o.err);
            outcome_free(&o);
        }
}

Test(boot, an_idle_machine_that_loses_its_qemu_says_so)
{
    struct booted b = booted_up(WORDS("-d", "1"));

    pause_ms(100);
    kill(command_find_qemu(&b.command), SIGKILL);
    outcome_must_be(booted_end(&b, END_MS), "boot", 1, NULL, "qemu-system-riscv64");
}

Test(boot, going_down_ends_the_programs_that_run)
{
    struct booted b = booted_up(WORDS("-d", "4"));
    struct command c[VICTIMS];
    int input[VICTIMS];

    start_users(&b, c, input);
    await_users(&b, c);
    booted_down(&b);
    expect_users_end(c, input, "the machine goes down");
}

/* ---- Names ---- */

Test(boot, a_name_is_taken_as_long_as_its_machine_is_up)
{
    struct booted b = booted_up(WORDS("-d", "0"));
    char *ncube = build_path("bin/ncube");

    outcome_must_be(command_run((char *[]){ncube, "boot", "--name", b.name, NULL}, NULL), "a second machine", 1, "",
                    "is already up");
    booted_down(&b);
    xnc_expect(&b, "", WORDS("examples/hello"), 1, "", " is up; ");
    free(ncube);
}

static const struct usage {
    const char *name, *words[6]; /* the first below bin/ */
    int status;
    const char *err;
} usages[] = {
    {"xnc without a program", {"xnc"}, 2, "xnc: no program given; see xnc --help"},
    {"xnc with an option that it has not", {"xnc", "--trace", "x", "prog"}, 2, "unknown option '--trace'"},
    {"a bad dimension", {"xnc", "-d", "14", "prog"}, 2, "give a number from 0 to 13"},
    {"a bad number of nodes", {"xnc", "-n", "0", "prog"}, 2, "give a number from 1 to 8192"},
    {"-n without a number", {"xnc", "prog", ":", "-n"}, 2, "option '-n' needs a value"},
    {"a bad name", {"xnc", "--name", "a/b", "prog"}, 2, "name 'a/b'"},
    {"no machine", {"xnc", "--name", "test-none", "prog"}, 1, "no machine called 'test-none' is up"},
    {"no machine to end", {"ncube", "down", "--name", "test-none"}, 1, "no machine called 'test-none' is up"},
    {"down with a word too many", {"ncube", "down", "now"}, 2, "unexpected word 'now'"},
    {"two machine files", {"ncube", "boot", "a", "b"}, 2, "unexpected word 'b'"},
    {"a machine file and a dimension", {"ncube", "boot", "-d1", "a"}, 2, "omit -d"},
    {"a machine file that is not there", {"ncube", "boot", "--name", "test-none", "./none"}, 1, "./none"},
};

RowTest(boot, wrong_command_lines_are_told_in_one_line, usages)
{
    const struct usage *u = &usages[*row];
    char *words[8] = {format("%s/bin/%s", build_folder(), u->words[0])};

    for (int i = 1; i < 6 && u->words[i]; i++)
        words[i] = (char *)u->words[i];
    struct outcome o = command_run(words, NULL);
    outcome_expect(&o, u->name, u->status, "", u->err);
    cr_expect_eq(count_lines(o.err), 1, "%s: %s", u->name, o.err);
    outcome_free(&o);
    free(words[0]);
}

/* ---- Volumes ---- */

Test(boot, volumes_stay_mounted_between_programs_and_are_clean_after_down)
{
    char *folder = folder_with_images(2, 4096, 1024), *machine = machine_file(folder, 3, 2, "");
    struct booted b = booted_up(WORDS(machine, "--images", folder)); /* options may stand behind the file */
    char *ncube = build_path("bin/ncube");
    static const char *const first[] = {"holes", "renames and links"}, *const second[] = {"opens and closes", "lists"};
    int input;

    for (int i = 0; i < 2; i++) {
        struct command other = start_on_pipe(&b, WORDS("guest/files", first[i], "//df00/"), &input);

        xnc_expect(&b, "", WORDS("guest/files", second[i], "//df01/"), 0, "passed\n", "");
        expect_end(&other, "the other", 0, "passed\n", "");
        close(input);
    }
    outcome_must_be(command_run((char *[]){ncube, "run", "-m", machine, build_path("examples/hello"), NULL}, NULL),
                    "the images are in use", 1, "", "in use");
    booted_down(&b);
    images_check(folder, 2);
    free(ncube);
    free(machine);
    folder_remove(folder);
}

/* The user disconnects in the middle: the program's open files are closed, and the volume is clean. */
/* The program writes all the time. A second signal does not wait for the volumes. */
static void end_by_signals(const char *machine, int signals, unsigned after_ms)
{
    struct booted b = booted_up(WORDS(machine));
    const struct streams_of_test in_memory = {-1, -1};
    struct command c = xnc_start(&b, in_memory, WORDS("guest/files", "syncs", "//df00/"));

    command_await_lines(&c, 2);
    pause_ms(after_ms);
    for (int i = 0; i < signals; i++)
        kill(b.command.pid, SIGTERM);
    struct outcome o = booted_end(&b, END_MS);
    cr_expect_eq(o.status, 143, "%d signals: status %d: %s", signals, o.status, o.err);
    outcome_free(&o);
    o = command_wait(&c);
    cr_expect_eq(o.status, 1, "%d signals: xnc ends with %d", signals, o.status);
    outcome_free(&o);
}

Test(boot, a_machine_that_ends_by_a_signal_leaves_volumes_clean)
{
    for (unsigned i = 0; i < 3; i++) {
        char *folder = folder_with_images(1, 8192, 4096), *machine = machine_file(folder, 1, 1, "");

        end_by_signals(machine, 1, 20 * i);
        images_check(folder, 1);
        end_by_signals(machine, 2, 20 * i);
        free(machine);
        folder_remove(folder);
    }
}

Test(boot, a_program_that_is_killed_leaves_volumes_that_go_down_clean)
{
    char *folder = folder_with_images(1, 8192, 4096), *machine = machine_file(folder, 2, 1, "");
    struct booted b = booted_up(WORDS(machine));
    int input;

    for (unsigned i = 0; i < 4; i++) {
        struct command c = start_on_pipe(&b, WORDS("guest/files", "many files", "//df00/"), &input);

        pause_ms(50 + 40 * i);
        kill(c.pid, SIGKILL);
        struct outcome o = command_wait(&c);
        outcome_free(&o);
        close(input);
    }
    booted_down(&b);
    images_check(folder, 1);
    free(machine);
    folder_remove(folder);
}
