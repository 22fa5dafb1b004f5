#include "emu/hostfs/lines.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "vertex/contract/errors.h"

#define BASE 8u

static struct streams streams;
static struct lines lines;
static int out_end, err_end;

static void make_output(int *end, int *given)
{
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    cr_assert_eq(fcntl(ends[0], F_SETFL, O_NONBLOCK), 0);
    *end = ends[0];
    *given = ends[1];
}

static void begin(uint32_t nodes, bool label)
{
    int out, err;

    make_output(&out_end, &out);
    make_output(&err_end, &err);
    cr_assert_eq(streams_init(&streams, 0, out, err, NULL, NULL), 0);
    cr_assert_eq(lines_init(&lines, &streams, BASE, nodes, label), 0);
}

static void tear_down(void)
{
    lines_free(&lines);
    streams_free(&streams);
}

TestSuite(lines, .fini = tear_down);

static void put(uint32_t node, const char *text)
{
    cr_expect_eq(lines_write(&lines, BASE + node, STREAM_OUT, text, strlen(text)), (int64_t)strlen(text));
}

static void expect_new(int end, const char *expected)
{
    static char text[65536];
    ssize_t n = read(end, text, sizeof text - 1);

    text[n < 0 ? 0 : n] = '\0';
    cr_expect_str_eq(text, expected);
}

Test(lines, of_different_nodes_do_not_mix)
{
    begin(4, false);
    put(0, "first ");
    put(1, "other\nand ");
    expect_new(out_end, "other\n");
    put(0, "line\n\nnext");
    expect_new(out_end, "first line\n\n");
    put(1, "more\n");
    expect_new(out_end, "and more\n");
    lines_flush(&lines, BASE + 0);
    expect_new(out_end, "next");
    lines_flush(&lines, BASE + 1);
    expect_new(out_end, "");
}

Test(lines, are_labelled_once_each)
{
    begin(4, true);
    put(3, "a\n\nb");
    expect_new(out_end, "node 3: a\nnode 3: \n");
    lines_flush(&lines, BASE + 3);
    expect_new(out_end, "node 3: b");
    put(3, "c\nd\n");
    expect_new(out_end, "c\nnode 3: d\n");
}

Test(lines, of_one_node_are_not_held_back)
{
    begin(1, false);
    put(0, "prompt: ");
    expect_new(out_end, "prompt: ");
}

Test(lines, of_the_error_stream_are_gathered_apart)
{
    begin(2, false);
    put(0, "out");
    cr_expect_eq(lines_write(&lines, BASE, STREAM_ERR, "err\n", 4), 4);
    expect_new(err_end, "err\n");
    expect_new(out_end, "");
    put(0, "\n");
    expect_new(out_end, "out\n");
}

Test(lines, that_are_very_long_go_on_in_pieces_with_one_label)
{
    static char text[LINES_MAX_BYTES + 2], expected[LINES_MAX_BYTES + 20];

    begin(2, true);
    memset(text, 'x', LINES_MAX_BYTES + 1);
    put(1, text);
    sprintf(expected, "node 1: %s", text);
    expect_new(out_end, expected);
    put(1, "y\nz\n");
    expect_new(out_end, "y\nnode 1: z\n");
}

Test(lines, that_nobody_takes_tell_the_error)
{
    begin(2, false);
    close(streams.fd[STREAM_OUT]);
    cr_expect_eq(lines_write(&lines, BASE, STREAM_OUT, "part", 4), 4);
    cr_expect_lt(lines_write(&lines, BASE, STREAM_OUT, "\n", 1), 0);
}

Test(lines, whose_rest_nobody_takes_tell_it_with_the_next_write_or_at_the_end)
{
    begin(2, false);
    put(0, "part");
    put(1, "other");
    close(streams.fd[STREAM_OUT]);
    lines_flush(&lines, BASE);
    cr_expect_eq(lines_take_error(&lines), 0, "the node is there to be told");
    cr_expect_eq(lines_write(&lines, BASE, STREAM_OUT, "more", 4), -N_EBADF);
    put(0, "again");
    lines_end(&lines, BASE + 1);
    cr_expect_eq(lines_take_error(&lines), -N_EBADF);
    cr_expect_eq(lines_take_error(&lines), 0);
}
