/*
 * For programs that test the machine from inside. A program has named cases; its first argument says which one
 * runs. A check that fails prints where, on which node and why, and ends the program with status 1. When a case has
 * come to its end, node 0 prints "passed": the test that runs the program expects that, and status 0.
 */
#pragma once

#include <nself.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>

struct test_case {
    const char *name;
    void (*run)(void);
};

/* The program's arguments behind the case's name. */
static int test_argc;
static char **test_argv;

_Noreturn static inline void check_failed(const char *file, int line, const char *text)
{
    int node;

    whoami(&node, NULL, NULL, NULL);
    fprintf(stderr, "%s:%d: node %d: %s\n", file, line, node, text);
    exit(1);
}

#define check(condition, ...)                                     \
    do {                                                          \
        if (!(condition)) {                                       \
            char check_text[400];                                 \
            snprintf(check_text, sizeof check_text, __VA_ARGS__); \
            check_failed(__FILE__, __LINE__, check_text);         \
        }                                                         \
    } while (0)

/* Both are taken as long. */
#define check_equal(actual, expected)                                                                      \
    do {                                                                                                   \
        long check_actual = (long)(actual), check_expected = (long)(expected);                             \
        check(check_actual == check_expected, "%s is %ld, not %s = %ld", #actual, check_actual, #expected, \
              check_expected);                                                                             \
    } while (0)

static inline int own_node(void)
{
    int node;

    whoami(&node, NULL, NULL, NULL);
    return node;
}

static inline int node_count(void)
{
    return ncubesize();
}

/* A small generator: every node can compute what another one draws. */
static inline uint32_t draw(uint64_t *state)
{
    *state = *state * 6364136223846793005ull + 1442695040888963407ull;
    return (uint32_t)(*state >> 33);
}

/* Bytes that depend on their place and on a seed, eight at a time. */
static inline uint64_t pattern_at(size_t i, uint32_t seed)
{
    return (i / 8 + seed) * 0x9e3779b97f4a7c15ull + seed;
}

static inline void fill_pattern(void *buf, size_t n, uint32_t seed)
{
    for (size_t i = 0; i < n; i += 8) {
        uint64_t bytes = pattern_at(i, seed);

        memcpy((char *)buf + i, &bytes, n - i < 8 ? n - i : 8);
    }
}

/* The place of the first eight bytes that are not of the pattern, or n. */
static inline size_t find_wrong_byte(const void *buf, size_t n, uint32_t seed)
{
    for (size_t i = 0; i < n; i += 8) {
        uint64_t bytes = pattern_at(i, seed);

        if (memcmp((const char *)buf + i, &bytes, n - i < 8 ? n - i : 8) != 0)
            return i;
    }
    return n;
}

/* Writes n bytes of a pattern to an open file, by write or pio_write. */
static inline void write_pattern_by(ssize_t (*writer)(int, const void *, size_t), int fd, size_t n, uint32_t seed)
{
    char *buf = malloc(n + 1);

    check(buf != NULL, "no memory");
    fill_pattern(buf, n, seed);
    check_equal(writer(fd, buf, n), n);
    free(buf);
}

/* Reads n bytes, by read or pio_read, which must be those of the pattern. */
static inline void expect_pattern_by(ssize_t (*reader)(int, void *, size_t), int fd, size_t n, uint32_t seed)
{
    char *buf = malloc(n + 1);

    check(buf != NULL, "no memory");
    check_equal(reader(fd, buf, n), n);
    check(find_wrong_byte(buf, n, seed) == n, "pattern %u: wrong at %zu of %zu", (unsigned)seed,
          find_wrong_byte(buf, n, seed), n);
    free(buf);
}

static inline int run_case(const struct test_case *cases, int argc, char **argv)
{
    test_argc = argc - 2;
    test_argv = argv + 2;
    for (const struct test_case *c = cases; argc > 1 && c->name; c++)
        if (strcmp(c->name, argv[1]) == 0) {
            c->run();
            if (npid() == 0)
                printf("passed\n");
            return 0;
        }
    fprintf(stderr, "%s: no case '%s'\n", argv[0], argc > 1 ? argv[1] : "");
    return 2;
}
