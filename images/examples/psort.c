/*
 * A parallel sort as a filter: numbers of 4 bytes from the standard input go sorted to the standard output [P1 section
 * 2.1]. Each node reads its part, every so many blocks; the nodes exchange numbers, so that each has a range of them;
 * and each writes its range where it belongs. The two mappings are all that the program knows of its neighbours.
 */
#include <group.h>
#include <nself.h>
#include <pattern.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#define BLOCK_BYTES 4096
#define NODES_MAX   256
#define SAMPLES     32 /* of each node, from which the ranges are chosen */

static struct group all;

static void fail(const char *what)
{
    perror(what);
    exit(1);
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

/* Reads this node's part. Returns how many numbers it has. */
static int read_part(uint32_t **numbers)
{
    struct pattern *map;
    size_t room = 1 << 16, n = 0;
    ssize_t got;

    *numbers = NULL;
    if (pattern_stripe(BLOCK_BYTES, all.size, &map) < 0 || ioctl(STDIN_FILENO, N_SETMAP, map) < 0)
        fail("psort: the standard input");
    do {
        *numbers = realloc(*numbers, room *= 2);
        if (!*numbers)
            fail("psort");
        got = read(STDIN_FILENO, (char *)*numbers + n, room - n);
        n += got > 0 ? (size_t)got : 0;
    } while (got > 0);
    if (got < 0)
        fail("psort: read");
    return (int)(n / sizeof **numbers);
}

/* Sets limit[k] to the first number that is not of node k's range or of those before it, by a sample of all numbers. */
static void choose_ranges(const uint32_t *sorted, int n, uint32_t *limit)
{
    uint32_t own[SAMPLES], *sample = malloc(sizeof own * (size_t)all.size);
    int bytes[NODES_MAX];

    if (!sample)
        fail("psort");
    for (int i = 0; i < SAMPLES; i++)
        own[i] = n > 0 ? sorted[(long)n * i / SAMPLES] : UINT32_MAX;
    for (int k = 0; k < all.size; k++)
        bytes[k] = sizeof own;
    if (group_gather(&all, own, sample, bytes, 0) < 0 ||
        (qsort(sample, (size_t)all.size * SAMPLES, sizeof *sample, compare),
         group_broadcast(&all, sample, (int)sizeof own * all.size, 0)) < 0)
        fail("psort: samples");
    for (int k = 0; k < all.size - 1; k++)
        limit[k] = sample[(k + 1) * SAMPLES];
    free(sample);
}

/* Exchanges numbers, so that each node gets those of its range. Returns how many those are. */
static int exchange(uint32_t **numbers, int n)
{
    uint32_t limit[NODES_MAX];
    int to[NODES_MAX] = {0}, from[NODES_MAX], one[NODES_MAX], got = 0, k = 0;

    choose_ranges(*numbers, n, limit);
    for (int i = 0; i < n; i++) {
        while (k < all.size - 1 && (*numbers)[i] >= limit[k])
            k++;
        to[k] += sizeof **numbers;
    }
    for (int i = 0; i < all.size; i++)
        one[i] = sizeof *to;
    if (group_exchange(&all, to, one, from, one) < 0)
        fail("psort: exchange");
    for (int i = 0; i < all.size; i++)
        got += from[i];
    uint32_t *range = malloc((size_t)got + 1);
    if (!range || group_exchange(&all, *numbers, to, range, from) < 0)
        fail("psort: exchange");
    free(*numbers);
    *numbers = range;
    return got / (int)sizeof **numbers;
}

/* Makes the mapping of the output: node k has the bytes behind those of all nodes before it. */
static struct pattern *map_ranges(int n)
{
    int own = n * (int)sizeof(uint32_t), bytes[NODES_MAX], size[NODES_MAX];
    char *text = malloc(64 * (size_t)all.size + 16), why[PATTERN_WHY_BYTES];
    struct pattern *map;
    long at = 0;

    for (int k = 0; k < all.size; k++)
        size[k] = sizeof own;
    if (!text || group_gather(&all, &own, bytes, size, 0) < 0 ||
        group_broadcast(&all, bytes, (int)sizeof own * all.size, 0) < 0)
        fail("psort: sizes");
    char *end = stpcpy(text, "falls");
    for (int k = 0; k < all.size; at += bytes[k++])
        if (bytes[k] > 0)
            end += sprintf(end, " (%ld,%ld,-,1)@%d", at, at + bytes[k] - 1, k);
    if (at == 0)
        exit(0); /* no number at all */
    if (pattern_parse(text, &map, why) < 0) {
        fprintf(stderr, "psort: %s\n", why);
        exit(1);
    }
    free(text);
    return map;
}

int main(void)
{
    uint32_t *numbers;

    if (group_make(&all, NULL, 0) < 0 || all.size > NODES_MAX)
        fail("psort: group");
    int n = read_part(&numbers);
    qsort(numbers, (size_t)n, sizeof *numbers, compare);
    n = exchange(&numbers, n);
    qsort(numbers, (size_t)n, sizeof *numbers, compare);
    if (ioctl(STDOUT_FILENO, N_SETMAP, map_ranges(n)) < 0 ||
        (n > 0 && write(STDOUT_FILENO, numbers, (size_t)n * sizeof *numbers) < 0))
        fail("psort: the standard output");
    return 0;
}
