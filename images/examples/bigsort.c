/*
 * Sorts a PIO file that is larger than the memory of all nodes together. The nodes count how many numbers begin with
 * which bits, and cut the numbers into ranges, each of which fits into a node. In a pass, all nodes read their parts of
 * the file, and each gets the numbers of one range, sorts them and writes them where they belong. There are as many
 * passes as it takes.
 *
 *     ncube run -d 2 -m sandia --images disks examples/bigsort 500000
 *
 * makes the file /unsorted of so many numbers, sorts it into /sorted, and checks that.
 */
#include <errno.h>
#include <fcntl.h>
#include <group.h>
#include <nmon.h>
#include <pio.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NODES_MAX  64
#define CHUNK      8192  /* numbers that are read at a time */
#define RANGE      32768 /* numbers that a node sorts at a time */
#define SLOT_BITS  12
#define SLOTS      (1 << SLOT_BITS)
#define SLOT_OF(x) ((x) >> (32 - SLOT_BITS))
#define RANGES_MAX SLOTS

static struct group all;
static long total, first, share;      /* numbers in the file; of this node's part: where it begins, how many it has */
static int range_of[SLOTS];           /* by the first bits of a number */
static long begin_of[RANGES_MAX + 1]; /* where each range begins in the sorted file */
static int ranges;
static uint32_t chunk[CHUNK], outgoing[CHUNK], range[RANGE];

static void fail(const char *what)
{
    fprintf(stderr, "bigsort: node %d: %s: %s\n", all.rank, what, strerror(errno));
    exit(1);
}

static int compare(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static int open_file(const char *path, int flags)
{
    int file = pio_open(path, flags, 0644);

    if (file < 0)
        fail(path);
    return file;
}

static void transfer(int file, long at, uint32_t *numbers, long n, int writes)
{
    size_t bytes = (size_t)n * sizeof *numbers;

    if (pio_lseek(file, (off_t)at * (off_t)sizeof *numbers, SEEK_SET) < 0 ||
        (writes ? pio_write(file, numbers, bytes) : pio_read(file, numbers, bytes)) != (ssize_t)bytes)
        fail(writes ? "pio_write" : "pio_read");
}

/* Returns how many numbers of this node's part are in its i-th chunk, which may be none. */
static long chunk_numbers(long i)
{
    long left = share - i * CHUNK;

    return left < 0 ? 0 : left < CHUNK ? left : CHUNK;
}

static void make_file(void)
{
    int file = open_file("/unsorted", O_WRONLY | O_CREAT);

    for (long i = 0, n; (n = chunk_numbers(i)) > 0; i++) {
        for (long k = 0; k < n; k++)
            chunk[k] = (uint32_t)(((uint64_t)(first + i * CHUNK + k) * 0x9e3779b97f4a7c15ull) >> 32);
        transfer(file, first + i * CHUNK, chunk, n, 1);
    }
    pio_close(file);
    group_barrier(&all);
}

/* Counts the numbers of all nodes by their first bits, and puts neighbouring slots into ranges. */
static void choose_ranges(int file)
{
    static int count[SLOTS];
    long in_range = 0, before = 0;

    for (long i = 0, n; (n = chunk_numbers(i)) > 0; i++) {
        transfer(file, first + i * CHUNK, chunk, n, 0);
        for (long k = 0; k < n; k++)
            count[SLOT_OF(chunk[k])]++;
    }
    if (group_all_reduce(&all, count, SLOTS, GROUP_INT, GROUP_SUM) < 0)
        fail("counting");
    for (int s = 0; s < SLOTS; s++) {
        if (count[s] > RANGE) {
            fprintf(stderr, "bigsort: %d numbers begin with the same %d bits, and a node sorts %d\n", count[s],
                    SLOT_BITS, RANGE);
            exit(1);
        }
        if (in_range + count[s] > RANGE) {
            begin_of[++ranges] = before;
            in_range = 0;
        }
        range_of[s] = ranges;
        in_range += count[s];
        before += count[s];
    }
    begin_of[++ranges] = before;
}

/* Puts the chunk's n numbers that belong to this pass into `outgoing`, by their node; to[k]: bytes for node k. */
static void sort_out(long n, int pass, int *to)
{
    int at[NODES_MAX + 1] = {0};

    memset(to, 0, sizeof *to * (size_t)all.size);
    for (long k = 0; k < n; k++) {
        int node = range_of[SLOT_OF(chunk[k])] - pass * all.size;

        if (node >= 0 && node < all.size)
            to[node]++;
    }
    for (int k = 0; k < all.size; k++)
        at[k + 1] = at[k] + to[k];
    for (long k = 0; k < n; k++) {
        int node = range_of[SLOT_OF(chunk[k])] - pass * all.size;

        if (node >= 0 && node < all.size)
            outgoing[at[node]++] = chunk[k];
    }
    for (int k = 0; k < all.size; k++)
        to[k] *= (int)sizeof *outgoing;
}

/* Exchanges what has been sorted out, and puts what comes behind the n numbers of this node's range. Returns n. */
static long exchange(const int *to, long n)
{
    int from[NODES_MAX], one[NODES_MAX];

    for (int k = 0; k < all.size; k++)
        one[k] = sizeof *to;
    if (group_exchange(&all, to, one, from, one) < 0 || group_exchange(&all, outgoing, to, range + n, from) < 0)
        fail("exchange");
    for (int k = 0; k < all.size; k++)
        n += from[k] / (int)sizeof *range;
    return n;
}

static void sort_pass(int from, int to, int pass)
{
    long rounds = (total / all.size + 1 + CHUNK - 1) / CHUNK, n = 0; /* as many on all nodes */
    int own = pass * all.size + all.rank, bytes[NODES_MAX];

    nmark("exchange");
    for (long i = 0; i < rounds; i++) {
        if (chunk_numbers(i) > 0)
            transfer(from, first + i * CHUNK, chunk, chunk_numbers(i), 0);
        sort_out(chunk_numbers(i), pass, bytes);
        n = exchange(bytes, n);
    }
    nmark("sort");
    qsort(range, (size_t)n, sizeof *range, compare);
    nmark("write");
    if (own < ranges && n > 0)
        transfer(to, begin_of[own], range, n, 1);
}

/* Returns how many numbers of this node's part of the sorted file are less than the one before. */
static int count_wrong(int file)
{
    uint32_t last = 0;
    int wrong = 0;

    if (first > 0)
        transfer(file, first - 1, &last, 1, 0);
    for (long i = 0, n; (n = chunk_numbers(i)) > 0; i++) {
        transfer(file, first + i * CHUNK, chunk, n, 0);
        for (long k = 0; k < n; last = chunk[k++])
            wrong += chunk[k] < last;
    }
    return wrong;
}

int main(int argc, char **argv)
{
    total = argc == 2 ? atol(argv[1]) : 0;
    if (total < 1 || total > INT32_MAX || group_make(&all, NULL, 0) < 0 || all.size > NODES_MAX) {
        fprintf(stderr, "usage: bigsort NUMBERS, on at most %d nodes\n", NODES_MAX);
        return 2;
    }
    first = total * all.rank / all.size;
    share = total * (all.rank + 1) / all.size - first;
    nmark("make");
    make_file();
    nmark("count");
    int from = open_file("/unsorted", O_RDONLY), to = open_file("/sorted", O_RDWR | O_CREAT), pass = 0;
    choose_ranges(from);
    for (; pass * all.size < ranges; pass++)
        sort_pass(from, to, pass);
    group_barrier(&all);
    nmark("check");
    int wrong = count_wrong(to);
    group_all_reduce(&all, &wrong, 1, GROUP_INT, GROUP_SUM);
    if (all.rank == 0)
        printf("%ld numbers in %d passes: %d are out of order\n", total, pass, wrong);
    pio_close(from);
    pio_close(to);
    return wrong != 0;
}
