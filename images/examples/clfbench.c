/*
 * The measurements of the thesis on Clusterfile [P3 chapter 8]: the nodes write and then read a matrix of n x n bytes,
 * each its part of it, by one call.
 *
 *   clfbench WAY [n=N] [view=bb|sb|cc] [k=K] [layout=stripe|sb] [servers=Q] [holders=H] [block=BYTES] [buffer=BYTES]
 *            [fresh=1]
 *
 *   WAY        view        servers know the views                     directed    a collective call: disk-directed
 *              list        requests name the places                   two-phase   a collective call: two phases
 *              sieve       reads by data sieving; writes as view
 *   view       (BLOCK,BLOCK), (*,BLOCK), (CYCLIC(k),CYCLIC(k)); k=0: n / nodes
 *   layout     stripes of 64 KB over all servers, or (*,BLOCK), a subfile for each node
 *   servers    how many volumes have it; 0: all
 *   holders, block, buffer    struct clf_method's
 *   fresh=1    the first write is timed, else the second, for which the blocks are there
 *
 * The number of nodes is a square. A time is from a barrier before the call to one behind it. What has been read is
 * checked. Prints a line for each direction, with the counts of all nodes:
 *
 *   clf op=write way=view n=1024 bytes=1048576 us=... mb_s=... view_us=... calls=... requests=... moved=... lists=...
 *       gathered=... views=... view_bytes=...
 *
 * view_us is what a view costs, the greatest of all nodes: the time of setting it, and what the first read by it takes
 * longer than the second, which is the one that is timed. The nodes set the views of a collective file together, and
 * view_us is the time of that.
 */
#include <clf.h>
#include <errno.h>
#include <fcntl.h>
#include <group.h>
#include <nself.h>
#include <ntime.h>
#include <pattern.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAME   "/clf/matrix"
#define STRIPE 65536

enum way { VIEW, LIST, SIEVE, DIRECTED, TWO_PHASE, WAYS };
static const char *const way_names[WAYS] = {"view", "list", "sieve", "directed", "two-phase"};
static const enum clf_way methods[WAYS] = {CLF_WAY_VIEW, CLF_WAY_LIST, CLF_WAY_SIEVE, CLF_WAY_VIEW, CLF_WAY_TWO_PHASE};

static struct {
    enum way way;
    int n, k, servers, holders, block, buffer, fresh, by_columns;
    char view[4];
} o = {.n = 256, .view = "bb"};

static struct group all;
static int side; /* of the square of nodes */
static char *data;
static int64_t bytes; /* of this node */

static void fail(const char *what)
{
    fprintf(stderr, "clfbench: node %d: %s: %s; %s\n", all.rank, what, strerror(errno), clf_why());
    exit(1);
}

static void usage(const char *word)
{
    if (all.rank == 0)
        fprintf(stderr,
                "clfbench: '%s'; usage: clfbench view|list|sieve|directed|two-phase [n=N] [view=bb|sb|cc] [k=K] "
                "[layout=stripe|sb] [servers=Q] [holders=H] [block=BYTES] [buffer=BYTES] [fresh=1]\n",
                word);
    exit(2);
}

static void read_word(const char *word)
{
    const struct {
        const char *key;
        int *value;
    } keys[] = {{"n", &o.n},         {"k", &o.k},           {"servers", &o.servers}, {"holders", &o.holders},
                {"block", &o.block}, {"buffer", &o.buffer}, {"fresh", &o.fresh}};
    const size_t length = strcspn(word, "=");
    size_t i = 0;
    char *end;

    o.by_columns |= strcmp(word, "layout=sb") == 0;
    if (strncmp(word, "layout=", 7) == 0 && (o.by_columns || strcmp(word, "layout=stripe") == 0))
        return;
    if (sscanf(word, "view=%3s", o.view) == 1)
        return;
    while (i < sizeof keys / sizeof *keys && (strncmp(word, keys[i].key, length) != 0 || keys[i].key[length]))
        i++;
    if (i == sizeof keys / sizeof *keys || word[length] != '=')
        usage(word);
    *keys[i].value = (int)strtol(word + length + 1, &end, 10);
    if (end == word + length + 1 || *end || *keys[i].value < 0)
        usage(word);
}

static void read_arguments(int argc, char **argv)
{
    while (argc > 1 && o.way < WAYS && strcmp(argv[1], way_names[o.way]) != 0)
        o.way++;
    if (argc < 2 || o.way == WAYS)
        usage(argc > 1 ? argv[1] : "");
    for (int i = 2; i < argc; i++)
        read_word(argv[i]);
    for (side = 1; side * side < all.size; side++)
        ;
    if (side * side != all.size || o.n < side)
        usage("n, or the number of nodes");
    o.k = o.k > 0 ? o.k : o.n / all.size;
}

/* ---- The matrix ---- */

static struct pattern *pattern_of(const char *text)
{
    char why[PATTERN_WHY_BYTES];
    struct pattern *p;

    if (pattern_parse(text, &p, why) == 0)
        return p;
    fprintf(stderr, "clfbench: %s: %s\n", text, why);
    exit(1);
}

static struct pattern *columns(void)
{
    char text[80];

    sprintf(text, "array %dx%dx1 *,block on 1x%d", o.n, o.n, all.size);
    return pattern_of(text);
}

static struct pattern *view(void)
{
    char text[80];

    if (strcmp(o.view, "sb") == 0)
        return columns();
    if (strcmp(o.view, "bb") == 0)
        sprintf(text, "array %dx%dx1 block,block on %dx%d", o.n, o.n, side, side);
    else if (strcmp(o.view, "cc") == 0)
        sprintf(text, "array %dx%dx1 cyclic(%d),cyclic(%d) on %dx%d", o.n, o.n, o.k, o.k, side, side);
    else
        usage(o.view);
    return pattern_of(text);
}

static char byte_of(int64_t at)
{
    return (char)(all.rank * 31 + at * 7 + at / 509);
}

static int make_file(void)
{
    const struct clf_place place = {.servers = o.servers, .stripe = STRIPE};
    struct pattern *layout = o.by_columns ? columns() : NULL;
    int fd = -1;

    if (all.rank == 0 && (fd = clf_create(NAME, O_RDWR, 0644, layout, &place)) < 0)
        fail("clf_create");
    pattern_free(layout);
    group_barrier(&all);
    if (all.rank > 0 && (fd = clf_open(NAME, O_RDWR)) < 0)
        fail("clf_open");
    return fd;
}

/* ---- Measuring ---- */

static double greatest(double x)
{
    group_all_reduce(&all, &x, 1, GROUP_DOUBLE, GROUP_GREATEST);
    return x;
}

static void choose_way(int fd)
{
    struct clf_method method = {.way = methods[o.way], .holders = o.holders, .block = o.block, .buffer = o.buffer};

    if (o.way >= DIRECTED && clf_fcntl(fd, CLF_F_COLLECTIVE, &all) < 0)
        fail("CLF_F_COLLECTIVE");
    if (clf_fcntl(fd, CLF_F_METHOD, &method) < 0)
        fail("CLF_F_METHOD");
}

static double set_view(int fd)
{
    struct pattern *p = view();

    group_barrier(&all);
    const double begin = amicclk();
    if (clf_setpattern(fd, p, all.rank) < 0)
        fail("clf_setpattern");
    const double us = greatest(amicclk() - begin);
    bytes = p->element[all.rank].bytes;
    pattern_free(p);
    return us;
}

static double move(int fd, bool writes)
{
    if (clf_lseek(fd, 0, SEEK_SET) < 0 || (o.way >= DIRECTED && clf_fcntl(fd, CLF_F_NEXT_COLLECTIVE) < 0))
        fail("clf_lseek");
    group_barrier(&all);
    const double begin = amicclk();
    const ssize_t n = writes ? clf_write(fd, data, (size_t)bytes) : clf_read(fd, data, (size_t)bytes);
    if (n != bytes)
        fail(writes ? "clf_write" : "clf_read");
    group_barrier(&all);
    return amicclk() - begin;
}

static void print_line(const char *op, double us, double view_us, const struct clf_counts *a,
                       const struct clf_counts *b)
{
    const double size = (double)o.n * o.n;
    int64_t count[] = {(int64_t)(b->calls - a->calls),
                       (int64_t)(b->requests - a->requests),
                       (int64_t)(b->bytes - a->bytes),
                       (int64_t)(b->list_bytes - a->list_bytes),
                       (int64_t)(b->gathered - a->gathered),
                       (int64_t)b->views,
                       (int64_t)b->view_bytes};

    group_all_reduce(&all, count, sizeof count / sizeof *count, GROUP_INT64, GROUP_SUM);
    us = greatest(us);
    if (all.rank > 0)
        return;
    printf("clf op=%s way=%s n=%d bytes=%.0f us=%.1f mb_s=%.4f view_us=%.1f calls=%lld requests=%lld moved=%lld "
           "lists=%lld gathered=%lld views=%lld view_bytes=%lld\n",
           op, way_names[o.way], o.n, size, us, size / 1048576 / (us / 1e6), view_us, (long long)count[0],
           (long long)count[1], (long long)count[2], (long long)count[3], (long long)count[4], (long long)count[5],
           (long long)count[6]);
}

static void check_data(void)
{
    for (int64_t i = 0; i < bytes; i++)
        if (data[i] != byte_of(i)) {
            fprintf(stderr, "clfbench: node %d: byte %lld of the view is wrong\n", all.rank, (long long)i);
            exit(1);
        }
}

/* The second of two moves, but of a fresh write. Returns its time; *more: how much longer the first took. */
static double timed_move(int fd, bool writes, double *more, struct clf_counts counts[2])
{
    const double first = writes && o.fresh ? 0 : greatest(move(fd, writes));

    clf_count(&counts[0]);
    const double us = move(fd, writes);
    clf_count(&counts[1]);
    *more = first - greatest(us);
    return us;
}

static void measure(int fd)
{
    struct clf_counts counts[2][2];
    double view_us, us[2], more;

    choose_way(fd);
    view_us = set_view(fd);
    data = malloc((size_t)bytes);
    if (!data)
        fail("malloc");
    for (int64_t i = 0; i < bytes; i++)
        data[i] = byte_of(i);
    us[0] = timed_move(fd, true, &more, counts[0]);
    if (o.way < DIRECTED)
        view_us = set_view(fd);
    memset(data, 0, (size_t)bytes);
    us[1] = timed_move(fd, false, &more, counts[1]);
    if (o.way < DIRECTED && more > 0)
        view_us += more;
    check_data();
    print_line("write", us[0], view_us, &counts[0][0], &counts[0][1]);
    print_line("read", us[1], view_us, &counts[1][0], &counts[1][1]);
}

int main(int argc, char **argv)
{
    if (group_make(&all, NULL, ncubesize()) < 0)
        fail("group_make");
    read_arguments(argc, argv);
    int fd = make_file();
    measure(fd);
    group_barrier(&all);
    if (clf_close(fd) < 0)
        fail("clf_close");
    return 0;
}
