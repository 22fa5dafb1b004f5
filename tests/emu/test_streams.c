/* Standard streams on slow, full and broken pipes, with and without a machine that keeps going. */
#include "emu/hostfs/streams.h"

#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/hostfs/errmap.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/proto.h"

static struct streams s;
static int in_end, out_end; /* the test's ends of two pipes */

static void set_up_interruptible(bool (*interrupted)(void *arg), void *arg)
{
    int in[2], out[2];

    signal(SIGPIPE, SIG_IGN);
    cr_assert_eq(pipe(in), 0);
    cr_assert_eq(pipe(out), 0);
    in_end = in[1];
    out_end = out[0];
    cr_assert_eq(streams_init(&s, in[0], out[1], out[1], interrupted, arg), 0);
}

static void set_up(void)
{
    set_up_interruptible(NULL, NULL);
}

static void tear_down(void)
{
    close(in_end);
    close(out_end);
    close(s.fd[STREAM_IN]);
    close(s.fd[STREAM_OUT]);
    streams_free(&s);
}

TestSuite(streams, .init = set_up, .fini = tear_down);

static void give_input(const char *text)
{
    cr_assert_eq(write(in_end, text, strlen(text)), (ssize_t)strlen(text));
}

static void end_input(void)
{
    close(in_end);
    in_end = -1;
}

Test(streams, a_read_ends_after_a_newline_after_its_bytes_or_at_the_end)
{
    static const struct {
        const char *name;
        size_t bytes;
        const char *expected;
    } reads[] = {
        {"a line", 100, "one\n"},        {"no bytes asked", 0, ""},    {"fewer than the line", 2, "tw"},
        {"the line's rest", 100, "o\n"}, {"an empty line", 100, "\n"}, {"exactly the line", 6, "three\n"},
        {"what is left", 100, "four"},   {"the end", 100, ""},         {"the end again", 100, ""},
    };
    char got[100];

    give_input("one\ntwo\n\nthree\nfour");
    end_input();
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        int64_t n = streams_read(&s, got, reads[i].bytes);

        cr_expect_eq(n, (int64_t)strlen(reads[i].expected), "%s: %ld bytes", reads[i].name, (long)n);
        cr_expect_eq(memcmp(got, reads[i].expected, n), 0, "%s", reads[i].name);
    }
}

/* Writes the text in pieces of `chunk` bytes, from another thread, and ends the input. */
struct writer {
    const char *text;
    size_t chunk;
};

static void *write_in_chunks(void *arg)
{
    const struct writer *w = arg;
    size_t n = strlen(w->text);

    for (size_t at = 0; at < n; at += w->chunk) {
        size_t piece = n - at < w->chunk ? n - at : w->chunk;

        if (write(in_end, w->text + at, piece) != (ssize_t)piece)
            abort();
    }
    end_input();
    return NULL;
}

static void make_long_text(char *text, size_t n)
{
    for (size_t i = 0; i + 1 < n; i++)
        text[i] = i % 977 == 976 ? '\n' : 'a' + i % 23;
    text[n - 1] = '\0';
}

Test(streams, reads_do_not_depend_on_how_the_pipe_delivers)
{
    static const size_t chunks[] = {1, 7, 500, 4096, 100000};

    enum { TEXT = 20000, ASKED = 300 };
    static char text[TEXT];
    int64_t first[TEXT], lengths;

    make_long_text(text, TEXT);
    for (size_t k = 0; k < sizeof chunks / sizeof *chunks; k++) {
        pthread_t thread;
        struct writer w = {text, chunks[k]};
        char got[ASKED];

        if (k > 0) {
            tear_down();
            set_up();
        }
        cr_assert_eq(pthread_create(&thread, NULL, write_in_chunks, &w), 0);
        int64_t n, i = 0, at = 0;
        while ((n = streams_read(&s, got, ASKED)) > 0) {
            cr_assert_eq(memcmp(got, text + at, n), 0, "chunks of %zu, byte %ld", chunks[k], (long)at);
            if (k == 0)
                first[i] = n;
            cr_assert_eq(n, first[i], "chunks of %zu: read %ld returned %ld", chunks[k], (long)i, (long)n);
            i++;
            at += n;
        }
        pthread_join(thread, NULL);
        if (k == 0)
            lengths = i;
        cr_expect_eq(i, lengths, "chunks of %zu", chunks[k]);
        cr_expect_eq(at, TEXT - 1, "chunks of %zu", chunks[k]);
    }
}

Test(streams, the_longest_read_fits_and_a_longer_one_is_refused)
{
    size_t n = FILE_IO_MAX_BYTES + 10;
    char *text = malloc(n + 1), *got = malloc(n);
    pthread_t thread;

    memset(text, 'x', n);
    text[n] = '\0';
    struct writer w = {text, 65536};
    cr_assert_eq(pthread_create(&thread, NULL, write_in_chunks, &w), 0);
    cr_expect_eq(streams_read(&s, got, FILE_IO_MAX_BYTES + 1), -N_EINVAL);
    cr_expect_eq(streams_read(&s, got, FILE_IO_MAX_BYTES), FILE_IO_MAX_BYTES);
    cr_expect_eq(streams_read(&s, got, FILE_IO_MAX_BYTES), 10);
    pthread_join(thread, NULL);
    free(text);
    free(got);
}

static bool count_down(void *arg)
{
    return --*(int *)arg < 0;
}

Test(streams_interrupted, a_wait_for_input_gives_up_and_loses_nothing)
{
    int asked = 1;
    char got[10];

    set_up_interruptible(count_down, &asked);
    give_input("ab");
    cr_expect_eq(streams_read(&s, got, sizeof got), -N_EINTR);
    asked = 10;
    give_input("c\n");
    cr_expect_eq(streams_read(&s, got, sizeof got), 4);
    cr_expect_eq(memcmp(got, "abc\n", 4), 0);
    tear_down();
}

Test(streams_interrupted, a_wait_for_a_full_pipe_gives_up)
{
    int asked = 20; /* 16 writes fill the pipe */
    static char text[1 << 20];

    set_up_interruptible(count_down, &asked);
    int64_t n = streams_write(&s, STREAM_OUT, text, sizeof text);
    cr_expect_gt(n, 0);
    cr_expect_lt(n, (int64_t)sizeof text);
    cr_expect_eq(streams_write(&s, STREAM_OUT, text, 1), -N_EINTR);
    tear_down();
}

static void *read_all(void *arg)
{
    static char bytes[1000];
    ssize_t n;

    while ((n = read(out_end, bytes, sizeof bytes)) > 0)
        *(size_t *)arg += n;
    return NULL;
}

Test(streams, a_long_write_goes_out_whole_through_a_slow_reader)
{
    static char text[300001];
    size_t seen = 0;
    pthread_t thread;

    cr_assert_eq(fcntl(s.fd[STREAM_OUT], F_SETFL, O_NONBLOCK), 0);
    cr_assert_eq(pthread_create(&thread, NULL, read_all, &seen), 0);
    cr_expect_eq(streams_write(&s, STREAM_OUT, text, sizeof text), (int64_t)sizeof text);
    close(s.fd[STREAM_OUT]);
    s.fd[STREAM_OUT] = -1;
    pthread_join(thread, NULL);
    cr_expect_eq(seen, sizeof text);
}

Test(streams, errors_of_the_host_come_back_by_their_wire_names)
{
    char got[4];

    close(out_end);
    cr_expect_eq(streams_write(&s, STREAM_OUT, "x", 1), -N_EPIPE, "a reader that is gone");
    out_end = -1;

    cr_expect_eq(streams_write(&s, STREAM_IN, "x", 1), -N_EBADF, "writing to the input");

    int kept = s.fd[STREAM_OUT];
    s.fd[STREAM_OUT] = open("/dev/full", O_WRONLY);
    cr_expect_eq(streams_write(&s, STREAM_OUT, "x", 1), -N_ENOSPC, "a full device");
    close(s.fd[STREAM_OUT]);
    s.fd[STREAM_OUT] = kept;

    kept = s.fd[STREAM_IN];
    s.fd[STREAM_IN] = 1000;
    cr_expect_eq(streams_read(&s, got, 4), -N_EBADF, "an input that isn't open");
    cr_expect_eq(streams_read(&s, got, 4), -N_EBADF, "and stays so");
    s.fd[STREAM_IN] = kept;
}

/* ---- Streams that keep going ---- */

Test(streams, that_keep_going_are_ready_when_a_read_would_not_wait)
{
    char got[10];

    streams_keep_going(&s);
    cr_expect_not(streams_ready(&s, STREAM_IN, 10));
    cr_expect_eq(streams_read(&s, got, 10), -N_EAGAIN);
    give_input("li");
    cr_expect_not(streams_ready(&s, STREAM_IN, 10), "the line is not complete");
    cr_expect(streams_ready(&s, STREAM_IN, 2));
    give_input("ne\n");
    cr_expect(streams_ready(&s, STREAM_IN, 10));
    cr_expect_eq(streams_read(&s, got, 10), 5);
    cr_expect_not(streams_ready(&s, STREAM_IN, 10));
    end_input();
    cr_expect(streams_ready(&s, STREAM_IN, 10));
    cr_expect_eq(streams_read(&s, got, 10), 0);
}

Test(streams, that_keep_going_hold_back_what_a_full_pipe_does_not_take)
{
    static char text[300000], got[65536];
    size_t seen = 0;

    for (size_t i = 0; i < sizeof text; i++)
        text[i] = (char)(i % 251);
    streams_keep_going(&s);
    cr_expect_eq(streams_write(&s, STREAM_OUT, text, sizeof text), (int64_t)sizeof text);
    cr_expect(streams_holds_back(&s, STREAM_OUT));
    cr_expect_not(streams_ready(&s, STREAM_OUT, 1));
    while (seen < sizeof text) {
        ssize_t n = read(out_end, got, sizeof got);

        cr_assert_gt(n, 0);
        cr_assert_eq(memcmp(got, text + seen, (size_t)n), 0, "at %zu", seen);
        seen += (size_t)n;
        streams_drain(&s);
    }
    cr_expect(streams_ready(&s, STREAM_OUT, 1));
    cr_expect_eq(streams_write(&s, STREAM_OUT, "x", 1), 1);
}

Test(streams, that_keep_going_tell_the_error_of_held_output_with_the_next_write)
{
    static char text[300000];

    streams_keep_going(&s);
    cr_expect_eq(streams_write(&s, STREAM_OUT, text, sizeof text), (int64_t)sizeof text);
    close(out_end);
    out_end = -1;
    cr_expect(streams_ready(&s, STREAM_OUT, 1), "nothing is held any more");
    cr_expect_eq(streams_write(&s, STREAM_OUT, "x", 1), -N_EPIPE);
    cr_expect_eq(streams_take_error(&s, STREAM_OUT), 0, "it has been told");
}

Test(streams, that_keep_going_keep_the_error_of_held_output_that_no_write_tells)
{
    static char text[300000];

    streams_keep_going(&s);
    cr_expect_eq(streams_write(&s, STREAM_OUT, text, sizeof text), (int64_t)sizeof text);
    close(out_end);
    out_end = -1;
    cr_expect_not(streams_drain(&s));
    cr_expect_eq(streams_take_error(&s, STREAM_OUT), -N_EPIPE);
    cr_expect_eq(streams_take_error(&s, STREAM_OUT), 0);
}

Test(errmap, host_errors_keep_their_names)
{
    static const struct {
        int host;
        int32_t wire;
    } cases[] = {
        {ENOENT, -N_ENOENT},       {ENOTEMPTY, -N_ENOTEMPTY}, {ENAMETOOLONG, -N_ENAMETOOLONG},
        {ELOOP, -N_ELOOP},         {ENOSYS, -N_ENOSYS},       {EOPNOTSUPP, -N_ENOTSUP},
        {EOVERFLOW, -N_EOVERFLOW}, {ESTALE, -N_ESTALE},       {EDQUOT, -N_ENOSPC},
        {ETXTBSY, -N_EBUSY},       {ENOTBLK, -N_EIO},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_eq(errmap_from_host(cases[i].host), cases[i].wire, "%s", strerror(cases[i].host));
    cr_expect_str_eq(errmap_text(-N_ENOTEMPTY), "directory not empty");
    cr_expect_str_eq(errmap_text(-9999), "unknown error");
    cr_expect_str_eq(errmap_text(5), "unknown error");
}
