/*
 * A recording: bytes are read as its file; and, since a wrong byte is noticed there, as what a sound file says: its
 * first entry, its last one, a table of replies, their data, with lines "--" between them.
 */
#define _GNU_SOURCE /* memfd_create, memmem */
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/record/recording.h"
#include "tests/fuzz/fuzz.h"

#define PARTS  4
#define ROUNDS 50
#define MARK   "\n--\n"
#define ROOM   4096

static int file(void)
{
    static int fd = -1;

    if (fd < 0)
        fd = memfd_create("recording", MFD_CLOEXEC);
    if (ftruncate(fd, 0) != 0 || lseek(fd, 0, SEEK_SET) != 0)
        abort();
    return fd;
}

/* What a replay asks for. */
static void use(struct recording *r)
{
    struct recorded_calls *c = recording_calls(r, "program writes");
    struct recorded_request q = {0};
    char bytes[ROOM];
    int reason, fd;
    size_t n;

    while (recorded_input_take(recording_input(r, RECORDING_INPUT), bytes, sizeof bytes) > 0)
        ;
    for (uint64_t cycles; recording_next_moment(r, &cycles);)
        recording_drop_moment(r);
    for (int i = 0; i < ROUNDS; i++) {
        recorded_calls_take(c, i, &reason);
        recording_take_reply(r, &q, bytes, sizeof bytes, &n);
        if (n > sizeof bytes)
            abort();
        if ((fd = recording_take_program(r)) >= 0)
            close(fd);
        if (recording_next_signal(r))
            recording_drop_signal(r);
    }
}

static void read_back(int fd)
{
    char path[40], error[ERROR_LINE_BYTES] = "";
    struct recording *r;

    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    if (recording_read(&r, path, error) == 0)
        use(r);
    else if (r || error[0] == '\0' || strchr(error, '\n'))
        abort();
    recording_free(r);
}

/* Returns the next part, whose end it moves `*bytes` behind. */
static char *next_part(const uint8_t **bytes, size_t *n)
{
    const uint8_t *mark = *n > 0 ? memmem(*bytes, *n, MARK, strlen(MARK)) : NULL;
    size_t part = mark ? (size_t)(mark - *bytes) : *n, used = mark ? part + strlen(MARK) : part;
    char *text = memory_new(part + 1, 1);

    memcpy(text, *bytes, part);
    *bytes += used;
    *n -= used;
    return text;
}

static void take_parts(const uint8_t *bytes, size_t n)
{
    static const char *const entry[PARTS] = {"recording.json", NULL, "replies/000000.json", "replies/000000.data"};
    char *part[PARTS], error[ERROR_LINE_BYTES];
    struct container *c;
    int fd = file();

    for (size_t i = 0; i < PARTS; i++)
        part[i] = next_part(&bytes, &n);
    if (container_begin(&c, fd, error) < 0)
        abort();
    for (size_t i = 0; i < PARTS; i++)
        if (entry[i] && container_add(c, entry[i], part[i], strlen(part[i]), error) < 0)
            abort();
    if (container_add(c, "input", "some", 4, error) < 0 || container_end(c, part[1][0] ? part[1] : "{}", error) < 0)
        abort();
    for (size_t i = 0; i < PARTS; i++)
        free(part[i]);
    read_back(fd);
}

static void take(const uint8_t *bytes, size_t n)
{
    int fd = file();

    if (write(fd, bytes, n) != (ssize_t)n)
        abort();
    read_back(fd);
    take_parts(bytes, n);
}

static const char *const words[] = {"\"format\": 1",
                                    "\"timing\": 1",
                                    "\"calls\": {",
                                    "\"program writes\": [[3, -32, 0]]",
                                    "\"signals\": [[0, 917318, 15, false]]",
                                    "\"served\": [null]",
                                    "\"replies\": 2",
                                    "[0, 1, 32801, 7, 0, 10, 0]",
                                    MARK,
                                    "[",
                                    "]",
                                    "{",
                                    "}",
                                    ", ",
                                    "-1",
                                    "4294967296",
                                    "9223372036854775807",
                                    "null",
                                    NULL};

const struct fuzz_target fuzz_recording = {"recording", .take = take, .words = words, .short_runs = 300};
