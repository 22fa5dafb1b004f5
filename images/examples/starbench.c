/*
 * The benchmark of the paper on Stream* [P4 section 7]: N virtual processors write or read a number of doubles each,
 * one in each call, to a parallel file.
 *
 *   starbench write|read nb|cb|ib|pio [vps=N] [doubles=K] [disks=D] [cb=BYTES] [ib=BYTES] [pointers=2|6|14]
 *             [superblock=BYTES] [buffers=N] [trust=1] [general=1] [order=0|1|2] [grid=1] [view=1] [way=1|2|3]
 *             [phase=I/N]
 *
 *   nb, cb, ib    begins no faster than that (struct cs_options in <cstar.h>); reading, the file was written so
 *   pio           no parallel file: each call is each node's part of the row by pio_pwrite or pio_pread, and a barrier
 *   cb, ib, pointers, superblock, buffers, trust    options of the same names; pointers=2 as in the paper
 *   general=1     the overload with numbers for each virtual processor
 *   order=1, 2    ib: the virtual processors of a node in descending order, or scattered, with calls for each alone
 *   grid=1        a square of virtual processors, over a grid of nodes with two rows (vps is a square, nodes are even)
 *   view=1        pio: a node's runs of a row are one request, by pio_setview
 *   way=1, 2, 3   nb, cb: rows go directly, through views, in two phases (enum cs_way in <cstar.h>)
 *   phase=I/N     begins I / N of a revolution of a disk later
 *
 * The time is that from the first call on until the file is closed, the greatest of all nodes. Data is made before, and
 * checked after it. Prints one line:
 *
 *   star op=write mode=nb vps=65536 doubles=64 disks=4 bytes=33554432 us=... mb_s=... call_us=... calls=...
 *        ib_calls=... reductions=... rows=... requests=... superblocks=... directory=...
 *
 * where a MB has 2^20 bytes, call_us is the time up to the last call's end, and the counts are those of node 0, as
 * cs_fcounts has them, before the file is closed.
 */
#include <cstar.h>
#include <errno.h>
#include <fcntl.h>
#include <group.h>
#include <nself.h>
#include <ntime.h>
#include <pattern.h>
#include <stdlib.h>
#include <string.h>

#define NAME          "/star"
#define REVOLUTION_US 16667 /* of 3600 a minute */

enum kind { NB, CB, IB, PIO, KINDS };
static const char *const kind_names[KINDS] = {"nb", "cb", "ib", "pio"};

static struct {
    enum kind kind;
    int writes, vps, doubles, disks, trust, general, order, grid, view, way, phase, phases;
    struct cs_options options;
} o = {.vps = 65536, .doubles = 64, .phases = 1};

static struct pio_layout layout;
static struct group all;
static double *data; /* row after row: of each call, this node's virtual processors */

static void usage(const char *what)
{
    if (all.rank == 0)
        fprintf(stderr,
                "starbench: '%s'; usage: starbench write|read nb|cb|ib|pio [vps=N] [doubles=K] [disks=D] [cb=BYTES] "
                "[ib=BYTES] [pointers=2|6|14] [superblock=BYTES] [buffers=N] [trust=1] [general=1] [order=0|1|2] "
                "[grid=1] [view=1] [way=1|2|3] [phase=I/N]\n",
                what);
    exit(2);
}

static void fail(const char *what)
{
    cs_perror(what);
    exit(1);
}

static void read_word(const char *word)
{
    const struct {
        const char *key;
        int *value;
    } keys[] = {{"vps", &o.vps},
                {"doubles", &o.doubles},
                {"disks", &o.disks},
                {"trust", &o.trust},
                {"general", &o.general},
                {"order", &o.order},
                {"grid", &o.grid},
                {"view", &o.view},
                {"way", &o.way},
                {"cb", &o.options.cb_block},
                {"ib", &o.options.ib_block},
                {"pointers", &o.options.dir_pointers},
                {"superblock", &o.options.superblock},
                {"buffers", &o.options.read_buffers}};
    size_t n = strcspn(word, "="), k = 0;
    char *end;

    if (sscanf(word, "phase=%d/%d", &o.phase, &o.phases) == 2 && o.phases > 0)
        return;
    while (k < sizeof keys / sizeof *keys && (strncmp(word, keys[k].key, n) != 0 || keys[k].key[n]))
        k++;
    if (k == sizeof keys / sizeof *keys || word[n] != '=')
        usage(word);
    *keys[k].value = (int)strtol(word + n + 1, &end, 10);
    if (end == word + n + 1 || *end || *keys[k].value < 0)
        usage(word);
}

static void read_arguments(int argc, char **argv)
{
    o.options.dir_pointers = 2;
    if (argc < 3 || (strcmp(argv[1], "write") != 0 && strcmp(argv[1], "read") != 0))
        usage(argc > 1 ? argv[1] : "");
    o.writes = argv[1][0] == 'w';
    while (o.kind < KINDS && strcmp(argv[2], kind_names[o.kind]) != 0)
        o.kind++;
    if (o.kind == KINDS)
        usage(argv[2]);
    for (int i = 3; i < argc; i++)
        read_word(argv[i]);
    if (o.vps < 1 || o.doubles < 1 || (o.order > 0 && o.kind != IB))
        usage("vps, doubles, order");
    layout = (struct pio_layout){.disks = o.disks, .block_size = 32768};
    o.options.layout = &layout;
    o.options.least = o.kind < PIO ? (enum cs_mode)o.kind : CS_NB;
    o.options.trust = o.trust;
    o.options.way = (enum cs_way)o.way;
}

static int side_of_square(void)
{
    int side = 1;

    while (side * side < o.vps)
        side++;
    return side;
}

static struct cs_shape *make_shape(void)
{
    int side = side_of_square();

    if (!o.grid)
        return cs_shape(1, (const long[]){o.vps});
    if (side * side != o.vps || all.size % 2)
        usage("grid, vps");
    return cs_shape_grid(2, (const long[]){side, side}, (const int[]){2, all.size / 2});
}

/* ---- What is moved ---- */

static double value_of(long vp, int k)
{
    return (double)k * 1e6 + (double)vp;
}

static void make_data(const struct cs_shape *s)
{
    long n = cs_local(s);

    data = calloc((size_t)n * (size_t)o.doubles + 1, sizeof *data);
    if (!data)
        fail("starbench: no memory");
    for (int k = 0; o.writes && k < o.doubles; k++)
        for (long i = 0; i < n; i++)
            data[k * n + i] = value_of(cs_number(s, i), k);
}

static void check_data(const struct cs_shape *s)
{
    long n = cs_local(s);

    for (int k = 0; !o.writes && k < o.doubles; k++)
        for (long i = 0; i < n; i++)
            if (data[k * n + i] != value_of(cs_number(s, i), k)) {
                fprintf(stderr, "starbench: virtual processor %ld: double %d is wrong\n", cs_number(s, i), k);
                exit(1);
            }
}

/* ---- The calls ---- */

static void await_phase(void)
{
    double end = amicclk() + (double)REVOLUTION_US * o.phase / o.phases;

    while (amicclk() < end)
        continue;
}

/* Double after double of all virtual processors, in one call. */
static void call_all(const struct cs_shape *s, CS_FILE *f)
{
    long n = cs_local(s);
    int *one = o.general ? calloc((size_t)n + 1, sizeof *one) : NULL;
    int *size = o.general ? calloc((size_t)n + 1, sizeof *size) : NULL;

    for (long i = 0; o.general && i < n; i++)
        one[i] = 1, size[i] = sizeof *data;
    for (int k = 0; k < o.doubles; k++) {
        struct cs_par row = CS_PAR(s, data + k * n);
        long done = o.general
                        ? (o.writes ? cs_fwrite_par(row, size, one, f, NULL) : cs_fread_par(row, size, one, f, NULL))
                    : o.writes ? cs_fwrite(row, sizeof *data, 1, f)
                               : cs_fread(row, sizeof *data, 1, f);
        if (done < 0)
            fail("starbench");
    }
    free(one);
    free(size);
}

/* A number of order 2 that shares no divisor with n: turn * it mod n is every number once. */
static long scatter_of(long n)
{
    long step = n * 5 / 8 + 1, a = step, b = n;

    for (; n > 1; a = ++step, b = n) {
        while (b > 0) {
            long rest = a % b;

            a = b;
            b = rest;
        }
        if (a == 1)
            break;
    }
    return step;
}

/* The virtual processors of a node one after the other, each for itself: an order that the superblocks do not have. */
static void call_each(const struct cs_shape *s, CS_FILE *f)
{
    long n = cs_local(s), scatter = scatter_of(n), turns = (o.vps + all.size - 1) / all.size; /* of all nodes */
    bool *mask = calloc((size_t)n + 1, sizeof *mask);

    for (long turn = 0; turn < turns; turn++) {
        long i = turn >= n ? n : o.order == 2 ? turn * scatter % n : n - 1 - turn;

        mask[i] = true;
        CS_WHERE(mask)
        for (int k = 0; k < o.doubles; k++) {
            struct cs_par row = CS_PAR(s, data + k * n);

            if ((o.writes ? cs_fwrite(row, sizeof *data, 1, f) : cs_fread(row, sizeof *data, 1, f)) < 0)
                fail("starbench");
        }
        mask[i] = false;
    }
    free(mask);
}

struct times {
    double calls_us, us;
};

static struct times run_star(const struct cs_shape *s, struct cs_counts *counts)
{
    CS_FILE *f = cs_fopen_with(NAME, o.writes ? "w" : "r", NULL, &o.options);
    struct times t;

    if (!f)
        fail("starbench");
    await_phase();
    group_barrier(&all);
    double begin = amicclk();
    if (o.order)
        call_each(s, f);
    else
        call_all(s, f);
    t.calls_us = amicclk() - begin;
    *counts = *cs_fcounts(f);
    if (cs_fclose(f) < 0)
        fail("starbench");
    t.us = amicclk() - begin;
    return t;
}

static void fail_pio(const char *what)
{
    fprintf(stderr, "starbench: node %d: %s: %s\n", all.rank, what, strerror(errno));
    exit(1);
}

/* How many virtual processors of a node follow each other, in each of its runs. */
static long length_of_run(const struct cs_shape *s)
{
    long n = 1;

    while (n < cs_local(s) && cs_number(s, n) == cs_number(s, 0) + n)
        n++;
    return n;
}

/* A node's part of row k, run by run. */
static bool move_runs(int fd, const struct cs_shape *s, int k, long n)
{
    size_t bytes = (size_t)n * sizeof *data;

    for (long i = 0; i < cs_local(s); i += n) {
        off_t at = ((off_t)k * o.vps + cs_number(s, i)) * (off_t)sizeof *data;
        double *run = data + k * cs_local(s) + i;

        if ((o.writes ? pio_pwrite(fd, run, bytes, at) : pio_pread(fd, run, bytes, at)) != (ssize_t)bytes)
            return false;
    }
    return true;
}

/* A node sees its own virtual processors' items alone. */
static void set_view(int fd)
{
    struct pattern *p = NULL;
    int side = side_of_square();
    struct pattern_dimension d[2] = {{side, 'b', 0, 2}, {side, 'b', 0, all.size / 2}};
    struct pattern_dimension line = {o.vps, 'b', 0, all.size};
    int error = o.grid ? pattern_array(2, d, sizeof *data, &p) : pattern_array(1, &line, sizeof *data, &p);

    int64_t bytes = error < 0 ? 0 : pattern_pack(p, all.rank, NULL, 0);
    char *packed = malloc((size_t)bytes + 1);
    if (error < 0 || !packed || pattern_pack(p, all.rank, packed, (size_t)bytes) < 0 ||
        pio_setview(fd, packed, (size_t)bytes) < 0)
        fail_pio("pio_setview");
    free(packed);
    pattern_free(p);
}

/* The rows as a program of PIO alone would move them. */
static struct times run_pio(const struct cs_shape *s)
{
    ssize_t part = cs_local(s) * (long)sizeof *data;
    long run = length_of_run(s);
    struct times t;

    nlocal();
    if (o.writes && all.rank == 0) {
        int fd = pio_open_layout(NAME, O_RDWR | O_CREAT | O_TRUNC, 0666, &layout);

        if (fd < 0 || pio_close(fd) < 0)
            fail_pio("making the file");
    }
    group_barrier(&all);
    int fd = pio_open(NAME, O_RDWR);
    if (fd < 0)
        fail_pio("pio_open");
    if (o.view)
        set_view(fd);
    await_phase();
    group_barrier(&all);
    double begin = amicclk();
    for (int k = 0; k < o.doubles; k++) {
        double *row = data + k * cs_local(s);
        off_t at = k * (off_t)part;
        bool is_moved = !o.view    ? move_runs(fd, s, k, run)
                        : o.writes ? pio_pwrite(fd, row, (size_t)part, at) == part
                                   : pio_pread(fd, row, (size_t)part, at) == part;

        if (!is_moved)
            fail_pio("moving a row");
        group_barrier(&all);
    }
    t.calls_us = amicclk() - begin;
    if (o.writes && all.rank == 0 && pio_fsync(fd) < 0)
        fail_pio("pio_fsync");
    if (pio_close(fd) < 0)
        fail_pio("pio_close");
    group_barrier(&all);
    t.us = amicclk() - begin;
    nglobal();
    return t;
}

static void print_line(const struct times *t, const struct cs_counts *c)
{
    double bytes = (double)o.vps * o.doubles * (double)sizeof *data;

    printf("star op=%s mode=%s vps=%d doubles=%d disks=%d bytes=%.0f us=%.1f mb_s=%.4f call_us=%.1f calls=%ld "
           "ib_calls=%ld "
           "reductions=%ld rows=%ld requests=%ld superblocks=%ld directory=%ld\n",
           o.writes ? "write" : "read", kind_names[o.kind], o.vps, o.doubles, o.disks, bytes, t->us,
           bytes / 1048576 / (t->us / 1e6), t->calls_us, c->calls[CS_NB] + c->calls[CS_CB], c->calls[CS_IB],
           c->reductions, c->rows[0] + c->rows[1], c->requests[0] + c->requests[1],
           c->superblocks[0] + c->superblocks[1], c->directory_superblocks);
}

int main(int argc, char **argv)
{
    struct cs_counts counts = {.reductions = 0};
    struct times t = {0, 0};

    if (cs_init(0, 0) < 0 || group_make(&all, NULL, 0) < 0)
        fail("starbench: cs_init");
    read_arguments(argc, argv);
    struct cs_shape *s = make_shape();
    if (!s)
        fail("starbench: cs_shape");
    make_data(s);
    group_barrier(&all);
    CS_WITH(s) t = o.kind == PIO ? run_pio(s) : run_star(s, &counts);
    group_all_reduce(&all, &t, 2, GROUP_DOUBLE, GROUP_GREATEST);
    check_data(s);
    print_line(&t, &counts);
    return 0;
}
