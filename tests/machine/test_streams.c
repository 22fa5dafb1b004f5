/* The standard streams, through the whole machine. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/machine/booted.h"
#include "tests/machine/guest.h"

TestSuite(streams, .timeout = 600);

#define PROGRAM "guest/streams"

static const struct dialogue {
    const char *name, *dim, *program_case, *input;
    int status;
    const char *out, *err;
} dialogues[] = {
    {"printf's formats", "0", "formats", "", 0,
     "-1    42|42   |00042 4000000000 beef BEEF 10 c text      right|left      |cut %\n"
     "-1099511627776 -4611686018427387904 18446744073709551615 4 -56 0x1234\n"
     "3.142 1.234568e+04 1e+100 0.0001    -2.50|\n42\npassed\n",
     ""},
    {"lines", "0", "copies lines", "a line\n\nanother\n", 0, "a line\n\nanother\npassed\n", ""},
    {"a last line without its end", "0", "copies lines", "a line\nthe end", 0, "a line\nthe endpassed\n", ""},
    {"no input", "0", "copies lines", "", 0, "passed\n", ""},
    {"only a new line", "0", "copies lines", "\n", 0, "\npassed\n", ""},
    {"scanf", "0", "scans numbers", "  12 3.5\nword", 0, "12 3.50 word\npassed\n", ""},
    {"nodes take the input in turns", "2", "shares the input", "a\nb\nc\nd\n", 0,
     "node 0: a\nnode 1: b\nnode 2: c\nnode 3: d\npassed\n", ""},
    {"the error stream is another", "0", "prints to both", "", 0, "to the output\npassed\n",
     "to the error stream\nno newline"},
    {"what streams are", "0", "describes streams", "", 0, "passed\n", ""},
    {"a closed output", "0", "closes its output", "", 34, "", ""},
};

RowTest(streams, carry_text, dialogues)
{
    const struct dialogue *d = &dialogues[*row];

    outcome_must_be(
        ncube_run(&(struct ncube_run){.dim = d->dim, .program = PROGRAM, .args = {d->program_case}, .input = d->input}),
        d->name, d->status, d->out, d->err);
}

/* ---- Large inputs and outputs ---- */

#define PASSED "passed\n"

static void expect_copy(const char *program_case, const uint8_t *bytes, size_t n)
{
    struct outcome o =
        ncube_run(&(struct ncube_run){.program = PROGRAM, .args = {program_case}, .input = bytes, .input_bytes = n});

    cr_expect_eq(o.status, 0, "%s: %s", program_case, o.err);
    cr_expect_eq(o.out_bytes, n + strlen(PASSED), "%s: %zu bytes", program_case, o.out_bytes);
    cr_expect(o.out_bytes >= n && memcmp(o.out, bytes, n) == 0, "%s: other bytes", program_case);
    outcome_free(&o);
}

/* All byte values, with new lines rare and, in the middle, frequent. */
static uint8_t *make_bytes(size_t n)
{
    uint8_t *bytes = malloc(n);
    uint32_t x = 1;

    cr_assert_not_null(bytes);
    for (size_t i = 0; i < n; i++) {
        x = x * 1664525u + 1013904223u;
        bytes[i] = i > n / 2 && i < n / 2 + n / 20 && x >> 30 == 0 ? '\n' : (uint8_t)(x >> 24);
    }
    return bytes;
}

Test(streams, carry_any_bytes_in_any_amount)
{
    size_t n = 1000003;
    uint8_t *bytes = make_bytes(n);

    expect_copy("copies bytes", bytes, n);
    expect_copy("copies in one read", bytes, 300000);
    free(bytes);
}

Test(streams, carry_a_megabyte_of_lines)
{
    struct outcome o = ncube_run(&(struct ncube_run){.program = PROGRAM, .args = {"prints a lot"}});
    const char *line = o.out;

    cr_expect_eq(o.status, 0, "%s", o.err);
    cr_assert_eq(o.out_bytes, 16384 * 64 + strlen(PASSED));
    for (int i = 0; i < 16384; i++, line += 64)
        cr_assert(atoi(line) == i && line[63] == '\n', "line %d: %.64s", i, line);
    outcome_free(&o);
}

/* Lines of several nodes may be mixed; none is broken, and each node's are in order. */
Test(streams, keep_lines_of_nodes_whole)
{
    struct outcome o = ncube_run(&(struct ncube_run){.dim = "2", .program = PROGRAM, .args = {"prints lines at once"}});

    lines_must_be_whole(&o, 4, 50);
    outcome_free(&o);
}

/* ---- When the other side ends ---- */

static const struct broken {
    const char *name, *dim, *program_case;
    bool disk; /* the output is a full disk, else a pipe that nobody reads */
    int status;
    const char *err;
} broken_outputs[] = {
    {"the default", "0", "prints for ever", false, 141, ""},
    {"the default, on four nodes", "2", "prints for ever", false, 141, ""},
    {"ignored", "0", "writes to nobody", false, 33, ""},
    {"ignored, on two nodes", "1", "writes to nobody", false, 33, ""},
    {"handled", "0", "handles a broken pipe", false, 34, ""},
    {"blocked", "0", "blocks a broken pipe", false, 35, ""},
    {"by writeend", "0", "starts writes to nobody", false, 141, ""},
    {"at the end", "1", "leaves an incomplete line", false, 141, ""},
    {"a full disk", "0", "prints to a full disk", true, 37, ""},
    {"a full disk, on two nodes", "1", "prints to a full disk", true, 37, ""},
    {"a full disk at the end", "1", "leaves an incomplete line", true, 1,
     "ncube: output of the program is lost: no space left on volume\n"},
};

static int broken_end(const struct broken *b)
{
    int ends[2];

    if (b->disk)
        return open("/dev/full", O_WRONLY | O_CLOEXEC);
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    close(ends[0]);
    return ends[1];
}

static void expect_broken(const struct broken *b, struct command *c, const char *by)
{
    char *name = format("%s, by %s", b->name, by);

    outcome_must_be(command_wait(c), name, b->status, "", b->err);
    free(name);
}

RowTest(streams, that_break_tell_the_program_as_on_unix, broken_outputs)
{
    const struct broken *b = &broken_outputs[*row];
    int out = broken_end(b);
    struct command c = ncube_start_on(&(struct ncube_run){.dim = b->dim, .program = PROGRAM, .args = {b->program_case}},
                                      (struct streams_of_test){-1, out});

    close(out);
    expect_broken(b, &c, "ncube run");
}

Test(streams, that_break_on_a_machine_that_is_up_tell_the_program)
{
    struct booted machine = booted_up(WORDS("-d", "2"));

    for (size_t i = 0; i < sizeof broken_outputs / sizeof *broken_outputs; i++) {
        const struct broken *b = &broken_outputs[i];
        int out = broken_end(b);
        struct command c =
            xnc_start(&machine, (struct streams_of_test){-1, out}, WORDS("-d", b->dim, PROGRAM, b->program_case));

        close(out);
        expect_broken(b, &c, "xnc");
    }
    booted_down(&machine);
}

static size_t read_lines(int fd, size_t lines)
{
    size_t n = 0;
    char c;

    while (n < lines && read(fd, &c, 1) == 1)
        n += c == '\n';
    return n;
}

/* As "... | head -3": the reader ends when the pipe is full, while the machine still has more output. */
static void expect_head(struct command *c, int fd, const char *by)
{
    cr_expect_eq(read_lines(fd, 3), 3, "%s", by);
    usleep(50000); /* for the pipe to fill; the expected result does not depend on it */
    close(fd);
    outcome_must_be(command_wait(c), by, 141, "", "");
}

Test(streams, whose_reader_goes_end_the_program)
{
    struct booted machine = booted_up(WORDS("-d", "2"));
    int ends[2];

    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    struct command run =
        ncube_start_on(&(struct ncube_run){.dim = "1", .program = PROGRAM, .args = {"prints for ever"}},
                       (struct streams_of_test){-1, ends[1]});
    close(ends[1]);
    expect_head(&run, ends[0], "ncube run");
    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    struct command xnc =
        xnc_start(&machine, (struct streams_of_test){-1, ends[1]}, WORDS("-d", "1", PROGRAM, "prints for ever"));
    close(ends[1]);
    expect_head(&xnc, ends[0], "xnc");
    xnc_expect(&machine, "", WORDS("-d", "2", "guest/status", "3"), 6, "", "");
    booted_down(&machine);
}

/* The other side of a pipe writes byte by byte, and reads slowly: nothing is lost. */
Test(streams, of_a_slow_pipe_lose_nothing)
{
    int ends[2];

    cr_assert_eq(pipe2(ends, O_CLOEXEC), 0);
    struct command c = ncube_start_on(&(struct ncube_run){.program = PROGRAM, .args = {"copies lines"}},
                                      (struct streams_of_test){ends[0], -1});
    close(ends[0]);
    for (const char *at = "slow\nbut sure\n"; *at != '\0'; at++) {
        cr_assert_eq(write(ends[1], at, 1), 1);
        usleep(20000);
    }
    close(ends[1]);
    outcome_must_be(command_wait(&c), "slow input", 0, "slow\nbut sure\npassed\n", "");
}
