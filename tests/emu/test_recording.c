/* A recording's file: what is noted comes again; and what is wrong with a file is told, whatever it is. */
#define _GNU_SOURCE /* memfd_create */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/record/recording.h"
#include "tests/emu/recording_version.h"
#include "tests/emu/scratch.h"
#include "vertex/contract/errors.h"

#define ABOUT(format, timing) "{\"format\": " format ", \"timing\": " timing "}"
#define ABOUT_THIS            ABOUT(THIS_FORMAT, THIS_TIMING)

/* libarchive loses its buffer when a write fails. */
const char *__lsan_default_suppressions(void);

const char *__lsan_default_suppressions(void)
{
    return "leak:libarchive.so\n";
}

static char error[ERROR_LINE_BYTES];
static struct scratch scratch;

static void set_up(void)
{
    scratch_make(&scratch);
}

static void tear_down(void)
{
    scratch_remove(&scratch);
}

TestSuite(recording, .init = set_up, .fini = tear_down);

/* The test's only file. */
static const char *in_scratch(const char *name)
{
    static char path[PATH_MAX];

    snprintf(path, sizeof path, "%s", scratch_path(&scratch, name));
    return path;
}

static struct recording *begin(const char *path, const char *about)
{
    struct recording *r = recording_new(path);

    cr_assert_eq(recording_open(r, error), 0, "%s", error);
    recording_add_text(r, "recording.json", about);
    return r;
}

static int end(struct recording *r)
{
    int result = recording_close(r, json_pack("{s:i, s:i}", "status", 3, "cycles", 4), error);

    recording_free(r);
    return result;
}

static const struct recorded_request request = {1, 2, 0x8023, 77};

/* A run with some of everything. Data of replies is long, or short, or the same. */
static void write_all(const char *path)
{
    struct recording *r = begin(path, ABOUT_THIS);
    struct recorded_calls *c = recording_calls(r, "writes");
    char data[5000];

    memset(data, 'd', sizeof data);
    recorded_input_note(recording_input(r, RECORDING_INPUT), "one\ntwo", 7);
    for (int i = 0; i < 10; i++)
        recorded_calls_note(c, 100, i == 7 ? -N_EPIPE : 100, 0);
    recorded_calls_note(c, 0, 0, ENOSPC);
    recording_note_reply(r, &request, -N_ENOENT, NULL, 0);
    for (int i = 0; i < 3; i++)
        recording_note_reply(r, &request, i, data, sizeof data);
    recording_note_reply(r, &request, 3, "abc", 3);
    recording_note_signal(r, &(struct recorded_signal){2, 1ull << 40, SIGINT, true});
    recording_note_program(r, -1);
    cr_assert_eq(end(r), 0, "%s", error);
}

Test(recording, gives_again_what_was_noted)
{
    const char *path = in_scratch("run.ncr");
    char bytes[6000];
    struct recording *r;
    size_t n;
    int reason;

    write_all(path);
    cr_assert_eq(recording_read(&r, path, error), 0, "%s", error);
    cr_expect(recording_is_replayed(r) && !recording_is_written(r));
    struct recorded_input *in = recording_input(r, RECORDING_INPUT);
    cr_expect_eq(recorded_input_take(in, bytes, 5), 5);
    cr_expect_eq(recorded_input_take(in, bytes, 5), 2);
    cr_expect_eq(memcmp(bytes, "wo", 2), 0);
    cr_expect_eq(recorded_input_take(in, bytes, 5), 0);
    cr_expect_eq(recorded_input_take(recording_input(r, "input of another"), bytes, 5), 0);
    struct recorded_calls *c = recording_calls(r, "writes");
    for (int i = 0; i < 10; i++)
        cr_expect_eq(recorded_calls_take(c, 50, &reason), i == 7 ? -N_EPIPE : 50, "call %d", i);
    cr_expect_eq(recorded_calls_take(c, 0, &reason), 0);
    cr_expect_eq(reason, ENOSPC);
    cr_expect_eq(recording_take_reply(r, &request, bytes, sizeof bytes, &n), -N_ENOENT);
    for (int i = 0; i < 3; i++) {
        cr_expect_eq(recording_take_reply(r, &request, bytes, sizeof bytes, &n), i);
        cr_expect(n == 5000 && bytes[0] == 'd' && bytes[4999] == 'd');
    }
    cr_expect_eq(recording_take_reply(r, &request, bytes, sizeof bytes, &n), 3);
    cr_expect(n == 3 && memcmp(bytes, "abc", 3) == 0);
    const struct recorded_signal *s = recording_next_signal(r);
    cr_assert_not_null(s);
    cr_expect(s->round == 2 && s->cycles == 1ull << 40 && s->signal == SIGINT && s->at_once);
    recording_drop_signal(r);
    cr_expect_null(recording_next_signal(r));
    cr_expect_eq(recording_take_program(r), -1);
    recording_free(r);
}

Test(recording, equal_data_is_kept_once)
{
    const char *path = in_scratch("run.ncr");
    struct recording *r;
    uint64_t data = 0;

    write_all(path);
    cr_assert_eq(recording_read(&r, path, error), 0, "%s", error);
    const struct unpacked *u = recording_entries(r);
    for (size_t i = 0; i < u->n; i++)
        if (strstr(u->entry[i].name, ".data"))
            data += u->entry[i].bytes;
    cr_expect_eq(data, 5003);
    recording_free(r);
}

/* More data and more replies than one piece of the file has. */
Test(recording, many_replies_come_again_in_their_order)
{
    const char *path = in_scratch("run.ncr");
    struct recording *r = begin(path, ABOUT_THIS);
    const size_t long_bytes = 60001, longs = 211, shorts = 70001;
    uint8_t *bytes = malloc(long_bytes);
    size_t n;

    for (size_t i = 0; i < longs; i++) {
        for (size_t k = 0; k < long_bytes; k++)
            bytes[k] = (uint8_t)(k * (i + 3) >> 5 ^ i);
        recording_note_reply(r, &request, (int32_t)i, bytes, long_bytes);
    }
    for (size_t i = 0; i < shorts; i++)
        recording_note_reply(r, &request, (int32_t)i, &i, sizeof i);
    cr_assert_eq(end(r), 0, "%s", error);
    cr_assert_eq(recording_read(&r, path, error), 0, "%s", error);
    for (size_t i = 0; i < longs; i++) {
        size_t wrong = 0;

        cr_assert_eq(recording_take_reply(r, &request, bytes, long_bytes, &n), (int32_t)i);
        cr_assert_eq(n, long_bytes);
        for (size_t k = 0; k < long_bytes; k++)
            wrong += bytes[k] != (uint8_t)(k * (i + 3) >> 5 ^ i);
        cr_expect_eq(wrong, 0, "reply %zu", i);
    }
    for (size_t i = 0, taken; i < shorts; i++) {
        cr_assert_eq(recording_take_reply(r, &request, &taken, sizeof taken, &n), (int32_t)i);
        cr_assert(n == sizeof taken && taken == i, "reply %zu", i);
    }
    recording_free(r);
    free(bytes);
}

Test(recording, another_request_departs_once_and_for_a_reason)
{
    const char *path = in_scratch("run.ncr");
    char bytes[10];
    struct recorded_request other = request;
    struct recording *r;
    size_t n;

    write_all(path);
    cr_assert_eq(recording_read(&r, path, error), 0, "%s", error);
    other.check++;
    cr_expect_null(recording_departure(r));
    cr_expect_eq(recording_take_reply(r, &other, bytes, sizeof bytes, &n), -N_EIO);
    cr_expect_eq(n, 0);
    cr_assert_not_null(recording_departure(r));
    cr_expect_not_null(strstr(recording_departure(r), "node 1"));
    recording_free(r);
}

/* A program that was read at the front end's, and an image with holes: at its begin, within, and at its end. */
Test(recording, files_come_again_with_their_holes)
{
    const char *path = in_scratch("run.ncr");
    char name[RECORDING_PATH_BYTES], byte;
    int image = memfd_create("image", 0), program = memfd_create("program", 0);
    const struct file_extent extent[] = {{1 << 20, 3}, {3 << 20, 1}};
    struct recording *r = begin(path, ABOUT_THIS);

    cr_assert_eq(pwrite(image, "xyz", 3, 1 << 20), 3);
    cr_assert_eq(pwrite(image, "!", 1, 3 << 20), 1);
    cr_assert_eq(pwrite(image, "?", 1, 2 << 20), 1); /* in no extent */
    cr_assert_eq(write(program, "ELF", 3), 3);
    recording_add_file(r, "volumes/df00", image, 5 << 20, extent, 2);
    recording_add_file(r, "volumes/empty", image, 1 << 20, extent, 0);
    recording_note_program(r, program);
    recording_note_program(r, program);
    cr_assert_eq(end(r), 0, "%s", error);
    cr_assert_eq(recording_read(&r, path, error), 0, "%s", error);
    cr_assert(recording_path(r, "volumes/df00", name));
    int fd = open(name, O_RDWR);
    struct stat st;
    cr_assert_eq(fstat(fd, &st), 0);
    cr_expect_eq(st.st_size, 5 << 20);
    cr_expect_lt(st.st_blocks, 100);
    cr_expect(pread(fd, &byte, 1, (1 << 20) + 2) == 1 && byte == 'z');
    cr_expect(pread(fd, &byte, 1, 2 << 20) == 1 && byte == 0);
    cr_expect(pread(fd, &byte, 1, 3 << 20) == 1 && byte == '!');
    cr_expect(recording_path(r, "volumes/empty", name));
    for (int i = 0; i < 2; i++)
        cr_expect(pread(recording_take_program(r), &byte, 1, 2) == 1 && byte == 'F');
    recording_free(r);
}

/* ---- What is wrong with a file ---- */

static void expect_refused(const char *path, const char *why)
{
    struct recording *r;

    error[0] = '\0';
    cr_expect_eq(recording_read(&r, path, error), -1, "%s: it was read, not refused: %s", path, why);
    cr_expect_null(r);
    cr_expect_eq(strncmp(error, path, strlen(path)), 0, "%s", error);
    cr_expect_not_null(strstr(error, why), "'%s' is not in: %s", why, error);
    cr_expect_null(strchr(error, '\n'));
}

static size_t read_file(const char *path, char **bytes)
{
    int fd = open(path, O_RDONLY);
    struct stat st;

    cr_assert_eq(fstat(fd, &st), 0);
    *bytes = malloc((size_t)st.st_size);
    cr_assert_eq(read(fd, *bytes, (size_t)st.st_size), st.st_size);
    close(fd);
    return (size_t)st.st_size;
}

static void write_file(const char *path, const char *bytes, size_t n)
{
    FILE *f = fopen(path, "w");

    cr_assert_eq(fwrite(bytes, 1, n, f), n);
    fclose(f);
}

Test(recording, a_file_that_is_none_is_refused)
{
    const char *path = in_scratch("other");

    expect_refused("/nowhere", "No such file");
    expect_refused("/tmp", "");
    write_file(path, "", 0);
    expect_refused(path, "no recording of ncube");
    write_file(path, "dim = 2;\n", 9);
    expect_refused(path, "no recording of ncube");
    expect_refused("/proc/self/exe", "no recording of ncube");
    struct recording *r = recording_new(path);
    cr_assert_eq(recording_open(r, error), 0);
    recording_add_text(r, "something", "else");
    cr_assert_eq(end(r), 0);
    expect_refused(path, "no recording of ncube");
}

Test(recording, a_file_that_is_cut_is_refused_wherever_it_is)
{
    const char *path = in_scratch("run.ncr");
    char *bytes;

    write_all(path);
    size_t n = read_file(path, &bytes);
    for (size_t cut = 1; cut < n; cut += cut < 40 || n - cut < 40 ? 1 : 13) {
        write_file(path, bytes, cut);
        expect_refused(path, "");
    }
    free(bytes);
}

Test(recording, a_file_with_a_wrong_bit_is_refused_wherever_it_is)
{
    const char *path = in_scratch("run.ncr");
    char *bytes, *text;
    struct recording *r;
    size_t same = 0;

    write_all(path);
    size_t n = read_file(path, &bytes);
    for (size_t at = 0; at < n; at += at < 40 ? 1 : 7) {
        bytes[at] ^= 1 << at % 8;
        write_file(path, bytes, n);
        if (recording_read(&r, path, error) == 0) { /* bits that say nothing: in the headers of tar, or of zstd */
            text = json_dumps(recording_end(r), JSON_COMPACT);
            cr_expect_not_null(strstr(text, "\"status\":3"), "byte %zu", at);
            free(text);
            recording_free(r);
            same++;
        }
        bytes[at] ^= 1 << at % 8;
    }
    cr_expect_lt(same, n / 50, "%zu of %zu bytes do not matter", same, n / 7);
    free(bytes);
}

Test(recording, another_version_is_refused)
{
    const char *path = in_scratch("run.ncr");

    cr_assert_eq(end(begin(path, ABOUT("3", THIS_TIMING))), 0);
    expect_refused(path, "a recording of version 3, which this ncube cannot read: it reads versions 1 and 2");
    cr_assert_eq(end(begin(path, ABOUT(THIS_FORMAT, "99"))), 0);
    expect_refused(path, "version 99 of the machine's timing");
    cr_assert_eq(end(begin(path, "{}")), 0);
    expect_refused(path, "no recording of ncube");
}

/* ---- Where writing fails ---- */

/* Moments without acts leave nothing; each input has bytes of its own; a file is kept once. */
Test(recording, gives_again_the_acts_of_each_moment)
{
    const char *path = in_scratch("run.ncr"), *file = in_scratch("program");
    struct recording *r = begin(path, ABOUT_THIS);
    uint64_t cycles;
    char bytes[8], kept[RECORDING_PATH_BYTES];

    write_file(file, "program", 7);
    int fd = open(file, O_RDONLY);
    recording_begin_moment(r, 5);
    recording_begin_moment(r, 1ull << 40);
    recording_note_act(r, json_pack("[s, i]", "kill", 3));
    recording_note_act(r, json_pack("[s]", "stop"));
    recording_begin_moment(r, 1ull << 40);
    recording_note_act(r, json_pack("[s, i]", "kill", 4));
    recorded_input_note(recording_input(r, "input of 1"), "abc", 3);
    recorded_input_note(recording_input(r, "input of 2"), "de", 2);
    recording_keep_file(r, "kept", fd, 7);
    recording_keep_file(r, "kept", fd, 7);
    close(fd);
    cr_assert_eq(end(r), 0, "%s", error);
    cr_assert_eq(recording_read(&r, path, error), 0, "%s", error);
    const json_t *acts = recording_next_moment(r, &cycles);
    cr_expect(cycles == 1ull << 40 && json_array_size(acts) == 2);
    recording_drop_moment(r);
    acts = recording_next_moment(r, &cycles);
    cr_expect(cycles == 1ull << 40 && json_array_size(acts) == 1);
    cr_expect_eq(json_integer_value(json_array_get(json_array_get(acts, 0), 1)), 4);
    recording_drop_moment(r);
    cr_expect_null(recording_next_moment(r, &cycles));
    cr_expect_eq(recorded_input_take(recording_input(r, "input of 2"), bytes, sizeof bytes), 2);
    cr_expect_eq(recorded_input_take(recording_input(r, "input of 1"), bytes, sizeof bytes), 3);
    cr_expect(recording_path(r, "kept", kept));
    recording_free(r);
}

/* ---- Kept in memory ---- */

static void note_all(struct recording *r, int from, int to)
{
    struct recorded_calls *c = recording_calls(r, "calls");
    struct recorded_input *in = recording_input(r, RECORDING_INPUT);

    for (int i = from; i < to; i++) {
        const struct recorded_request q = {(uint32_t)i, 1, 2, 3};

        cr_assert(recorded_calls_are_written(c) && !recording_gives_reply(r));
        recorded_calls_note(c, 10, i == 1 ? -5 : 10, i == 1 ? 7 : 0);
        recorded_input_keep(in, &i, sizeof i);
        recording_note_reply(r, &q, i, &i, sizeof i);
    }
}

static void take_all(struct recording *r, int n)
{
    struct recorded_calls *c = recording_calls(r, "calls");
    uint64_t cycles;

    for (int i = 0; i < n; i++) {
        const struct recorded_request q = {(uint32_t)i, 1, 2, 3};
        int reason, input = -1, reply = -1;
        size_t bytes;

        cr_assert(recorded_calls_are_replayed(c) && recording_gives_reply(r) && recording_is_behind(r, &cycles));
        cr_expect_eq(recorded_calls_take(c, 10, &reason), i == 1 ? -5 : 10);
        cr_expect_eq(reason, i == 1 ? 7 : 0);
        cr_expect_eq(recorded_input_take(recording_input(r, RECORDING_INPUT), &input, sizeof input), sizeof input);
        cr_expect_eq(recording_take_reply(r, &q, &reply, sizeof reply, &bytes), i);
        cr_expect(input == i && reply == i && bytes == sizeof reply);
    }
}

Test(recording, a_kept_one_is_given_again_and_goes_on)
{
    struct recording *r = recording_new_kept(1 << 20);
    uint64_t cycles;
    int32_t why;

    note_all(r, 0, 3);
    recording_repeat(r, 500);
    take_all(r, 2);
    recording_repeat(r, 400);
    cr_expect(recording_is_behind(r, &cycles) && cycles == 500);
    take_all(r, 3);
    cr_expect(!recording_is_behind(r, &cycles));
    note_all(r, 3, 5);
    cr_expect(!recorded_input_has_ended(recording_input(r, RECORDING_INPUT), &why));
    recorded_input_end(recording_input(r, RECORDING_INPUT), -9);
    recording_repeat(r, 900);
    cr_expect(!recorded_input_has_ended(recording_input(r, RECORDING_INPUT), &why));
    take_all(r, 5);
    cr_expect(recorded_input_has_ended(recording_input(r, RECORDING_INPUT), &why) && why == -9);
    cr_expect_null(recording_loss(r));
    recording_free(r);
}

Test(recording, a_kept_one_has_the_programs_that_were_loaded)
{
    const char *path = in_scratch("program");
    struct recording *r = recording_new_kept(1 << 20);
    char *bytes;

    write_file(path, "first", 5);
    int fd = open(path, O_RDWR | O_CLOEXEC);
    recording_note_program(r, fd);
    recording_note_program(r, -1);
    cr_assert_eq(pwrite(fd, "other", 5, 0), 5);
    cr_expect(!recording_gives_program(r));
    recording_repeat(r, 0);
    cr_assert(recording_gives_program(r));
    int copy = recording_take_program(r);
    bytes = calloc(1, 6);
    cr_expect(pread(copy, bytes, 5, 0) == 5 && strcmp(bytes, "first") == 0, "%s", bytes);
    cr_expect_eq(recording_take_program(r), -1);
    free(bytes);
    close(copy);
    close(fd);
    recording_free(r);
}

Test(recording, a_kept_one_takes_no_more_memory_than_it_may)
{
    struct recording *r = recording_new_kept(1 << 20);
    char *bytes = calloc(1, 700000);

    recorded_input_keep(recording_input(r, RECORDING_INPUT), bytes, 700000);
    cr_expect_null(recording_loss(r));
    recorded_input_keep(recording_input(r, RECORDING_INPUT), bytes, 700000);
    cr_expect_str_eq(recording_loss(r),
                     "going back would take more than 1 MB of memory; --gdb-memory=MB gives it more");
    recording_lose(r, "another reason");
    cr_expect_not_null(strstr(recording_loss(r), "1 MB"), "the first reason counts");
    note_all(r, 0, 1);
    free(bytes);
    recording_free(r);
}

Test(recording, on_a_full_disk_there_is_none)
{
    struct recording *r = begin("/dev/full", ABOUT_THIS);

    cr_expect_eq(end(r), -1);
    cr_expect_str_eq(error, "/dev/full: No space left on device; there is no recording");
}

Test(recording, an_older_file_stays_when_writing_fails)
{
    const char *path = in_scratch("run.ncr");
    char *bytes, *noise = malloc(1 << 20);
    const struct rlimit little = {10000, 10000};

    write_file(path, "old", 3);
    signal(SIGXFSZ, SIG_IGN);
    for (size_t i = 0; i < 1 << 20; i++)
        noise[i] = (char)rand();
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &little), 0);
    struct recording *r = begin(path, ABOUT_THIS);
    recorded_input_note(recording_input(r, RECORDING_INPUT), noise, 1 << 20);
    cr_expect_eq(end(r), -1);
    cr_expect_not_null(strstr(error, "File too large; there is no recording"), "%s", error);
    cr_expect_eq(read_file(path, &bytes), 3);
    free(bytes);
    free(noise);
}

Test(recording, a_folder_that_is_missing_is_told_before)
{
    struct recording *r = recording_new("/nowhere/run.ncr");

    cr_expect_eq(recording_open(r, error), -1);
    cr_expect_str_eq(error, "/nowhere/run.ncr: No such file or directory");
    recording_free(r);
}
