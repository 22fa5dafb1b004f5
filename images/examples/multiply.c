/*
 * Multiplies two matrices that lie in PIO files: C = A B. Each node has a band of rows of A and C. It reads B band by
 * band, so that no node needs room for a whole matrix of B; each begins with another band, so that not all ask the same
 * volumes.
 *
 *     ncube run -d 3 -m sandia --images disks examples/multiply
 *
 * The program makes A and B itself, of numbers by which it can check C.
 */
#include <errno.h>
#include <fcntl.h>
#include <group.h>
#include <nmon.h>
#include <nself.h>
#include <ntime.h>
#include <pio.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SIDE      128
#define NODES_MAX SIDE

typedef double row[SIDE];

static struct group all;
static int band; /* rows of each node */

static void fail(const char *what)
{
    fprintf(stderr, "multiply: node %d: %s: %s\n", all.rank, what, strerror(errno));
    exit(1);
}

static void *room(size_t bytes)
{
    void *p = malloc(bytes);

    if (!p)
        fail("memory");
    return p;
}

static void seek(int file, int first_row)
{
    if (pio_lseek(file, (off_t)first_row * (off_t)sizeof(row), SEEK_SET) < 0)
        fail("pio_lseek");
}

static void write_band(const char *path, const row *rows)
{
    size_t bytes = (size_t)band * sizeof(row);
    int file = pio_open(path, O_WRONLY | O_CREAT, 0644);

    if (file < 0)
        fail(path);
    seek(file, all.rank * band);
    if (pio_write(file, rows, bytes) != (ssize_t)bytes || pio_close(file) < 0)
        fail(path);
}

static void read_band(int file, int which, row *rows)
{
    size_t bytes = (size_t)band * sizeof(row);

    seek(file, which * band);
    if (pio_read(file, rows, bytes) != (ssize_t)bytes)
        fail("pio_read");
}

/* A[i][k] = i + k, B[k][j] = k - j */
static void make(row *rows, int sign)
{
    for (int i = 0; i < band; i++)
        for (int j = 0; j < SIDE; j++)
            rows[i][j] = sign > 0 ? all.rank * band + i + j : all.rank * band + i - j;
}

/* C += A's columns that meet the band of B, times the band */
static void add_product(row *c, const row *a, const row *b, int which)
{
    for (int i = 0; i < band; i++)
        for (int k = 0; k < band; k++)
            for (int j = 0; j < SIDE; j++)
                c[i][j] += a[i][which * band + k] * b[k][j];
}

/* Returns how many numbers of the band are wrong. */
static int count_wrong(const row *c)
{
    int wrong = 0;

    for (int i = 0; i < band; i++)
        for (int j = 0; j < SIDE; j += 13) {
            double right = 0;

            for (int k = 0; k < SIDE; k++)
                right += (all.rank * band + i + k) * (double)(k - j);
            wrong += c[i][j] != right;
        }
    return wrong;
}

int main(void)
{
    if (group_make(&all, NULL, 0) < 0 || all.size > NODES_MAX) {
        fprintf(stderr, "multiply: at most %d nodes\n", NODES_MAX);
        return 2;
    }
    band = SIDE / all.size;
    row *a = room((size_t)band * sizeof(row)), *b = room((size_t)band * sizeof(row));
    row *c = calloc((size_t)band, sizeof(row));
    if (!c)
        fail("memory");
    nmark("make");
    make(b, -1);
    write_band("/b", (const row *)b);
    make(a, 1);
    write_band("/a", (const row *)a);
    group_barrier(&all);
    nmark("multiply");
    double start_us = amicclk();
    int file = pio_open("/b", O_RDONLY, 0);
    if (file < 0)
        fail("/b");
    for (int n = 0; n < all.size; n++) {
        int which = (all.rank + n) % all.size;

        read_band(file, which, b);
        add_product(c, (const row *)a, (const row *)b, which);
    }
    pio_close(file);
    nmark("write");
    write_band("/c", (const row *)c);
    int wrong = count_wrong((const row *)c);
    group_all_reduce(&all, &wrong, 1, GROUP_INT, GROUP_SUM);
    if (all.rank == 0)
        printf("%d x %d on %d nodes: %d numbers are wrong, %.0f us\n", SIDE, SIDE, all.size, wrong,
               amicclk() - start_us);
    return wrong != 0;
}
