/*
 * The measurements of the thesis on Clusterfile [P3 chapter 8]: the nodes write and then read a matrix of n x n bytes,
 * each its part of it, by one call.
 *
 *   clfbench WAY [n=N] [view=bb|sb|sc|cc|3d] [k=K] [layout=stripe|sb|bs] [servers=Q] [holders=H] [block=BYTES]
 *            [buffer=BYTES] [fresh=1] [managers=M] [cold=1]
 *
 *   WAY        view        servers know the views                     directed    a collective call: disk-directed
 *              list        requests name the places                   two-phase   a collective call: two phases
 *              sieve       reads by data sieving; writes as view       cached      a collective call: cache managers
 *   view       (BLOCK,BLOCK), (*,BLOCK), (*,CYCLIC(k)), (CYCLIC(k),CYCLIC(k)); k=0: n / nodes
 *              3d: (BLOCK,BLOCK,BLOCK) of n x n x n items of 16 bytes, as ROMIO's coll_perf has
 *   layout     stripes of 64 KB over all servers, or (*,BLOCK) or (BLOCK,*), a subfile for each node
 *   servers    how many volumes have it; 0: all
 *   holders, block, buffer    struct clf_method's
 *   fresh=1    the first write is timed, else the second, for which the blocks are there
 *   managers   how many of the job's nodes have cache managers: the last ones, which run another program, pio_cache;
 *              the others run this one
 *   cold=1     the managers drop what they have before the read
 *
 * Views but sb and sc need a square of nodes. A time is from a barrier before the call to one behind it. What has been
 * read is checked. Prints a line for each direction, with the counts of all nodes:
 *
 *   clf op=write way=view n=1024 bytes=1048576 us=... mb_s=... view_us=... calls=... requests=... moved=... lists=...
 *       gathered=... views=... view_bytes=... access_us=...
 *
 * access_us is for how long at most a node that holds blocks in two phases accessed the file, without the exchange.
 * view_us is what a view costs, the greatest of all nodes: the time of setting it, and what the first read by it takes
 * longer than the second, which is the one that is timed. The nodes set the views of a collective file together, and
 * view_us is the time of that.
 * Of cached, the line has as well what the managers have done since they began: hits=... misses=... (blocks of 4 KB)
 * served=... (bytes that the servers have sent them).
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

enum way { VIEW, LIST, SIEVE, DIRECTED, TWO_PHASE, CACHED, WAYS };
static const char *const way_names[WAYS] = {"view", "list", "sieve", "directed", "two-phase", "cached"};
static const enum clf_way methods[WAYS] = {CLF_WAY_VIEW, CLF_WAY_LIST,      CLF_WAY_SIEVE,
                                           CLF_WAY_VIEW, CLF_WAY_TWO_PHASE, CLF_WAY_CACHE};

static struct {
    enum way way;
    int n, k, servers, holders, block, buffer, fresh, managers, cold;
    char view[4], layout[8];
} o = {.n = 256, .view = "bb", .layout = "stripe"};

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
                "clfbench: '%s'; usage: clfbench view|list|sieve|directed|two-phase|cached [n=N] [view=bb|sb|sc|cc|3d] "
                "[k=K] [layout=stripe|sb|bs] [servers=Q] [holders=H] [block=BYTES] [buffer=BYTES] [fresh=1] "
                "[managers=M] [cold=1]\n",
                word);
    exit(2);
}

static void read_word(const char *word)
{
    const struct {
        const char *key;
        int *value;
    } keys[] = {{"n", &o.n},         {"k", &o.k},           {"servers", &o.servers},
                {"block", &o.block}, {"buffer", &o.buffer}, {"holders", &o.holders},
                {"fresh", &o.fresh}, {"cold", &o.cold},     {"managers", &o.managers}};
    const size_t length = strcspn(word, "=");
    size_t i = 0;
    char *end;

    if (sscanf(word, "view=%3s", o.view) == 1 || sscanf(word, "layout=%7s", o.layout) == 1)
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
    if ((side * side != all.size && o.view[0] != 's') || o.n < side)
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

/* NULL: stripes. */
static struct pattern *layout(void)
{
    char text[80];

    if (strcmp(o.layout, "stripe") == 0)
        return NULL;
    if (strcmp(o.layout, "sb") == 0)
        return columns();
    if (strcmp(o.layout, "bs") != 0)
        usage(o.layout);
    sprintf(text, "array %dx%dx1 block,* on %dx1", o.n, o.n, all.size);
    return pattern_of(text);
}

static struct pattern *view(void)
{
    char text[80];

    if (strcmp(o.view, "sb") == 0)
        return columns();
    if (strcmp(o.view, "bb") == 0)
        sprintf(text, "array %dx%dx1 block,block on %dx%d", o.n, o.n, side, side);
    else if (strcmp(o.view, "sc") == 0)
        sprintf(text, "array %dx%dx1 *,cyclic(%d) on 1x%d", o.n, o.n, o.k, all.size);
    else if (strcmp(o.view, "3d") == 0)
        sprintf(text, "array %dx%dx%dx16 block,block,block on %dx%dx%d", o.n, o.n, o.n, side,
                side % 2 == 0 ? side / 2 : side, side % 2 == 0 ? 2 : 1);
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
    struct pattern *of = layout();
    int fd = -1;

    if (all.rank == 0 && (fd = clf_create(NAME, O_RDWR, 0644, of, &place)) < 0)
        fail("clf_create");
    pattern_free(of);
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

static void set_method(int fd, enum clf_way way)
{
    const struct clf_method method = {
        .way = way, .holders = o.holders, .block = o.block, .buffer = o.buffer, .managers = o.managers};

    if (clf_fcntl(fd, CLF_F_METHOD, &method) < 0)
        fail("CLF_F_METHOD");
}

static void choose_way(int fd)
{
    if (o.way >= DIRECTED && clf_fcntl(fd, CLF_F_COLLECTIVE, &all) < 0)
        fail("CLF_F_COLLECTIVE");
    set_method(fd, methods[o.way]);
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

struct measured {
    double us;
    struct clf_counts before, after;
    struct clf_manager_counts managers;
};

/* What all managers have done, as rank 0 knows. */
static struct clf_manager_counts ask_managers(int fd)
{
    struct clf_manager_counts c, sum = {0};

    for (int i = 0; i < o.managers && o.way == CACHED && all.rank == 0; i++) {
        if (clf_manager_count(fd, i, &c) < 0)
            fail("clf_manager_count");
        sum.hits += c.hits;
        sum.misses += c.misses;
        sum.read += c.read;
    }
    group_barrier(&all);
    return sum;
}

static void print_line(const char *op, const struct measured *m, double view_us)
{
    const struct clf_counts *a = &m->before, *b = &m->after;
    const double size = strcmp(o.view, "3d") == 0 ? 16.0 * o.n * o.n * o.n : (double)o.n * o.n, us = greatest(m->us);
    const double access_us = greatest((double)(b->access_cycles - a->access_cycles) / 20);
    int64_t count[] = {(int64_t)(b->calls - a->calls),
                       (int64_t)(b->requests - a->requests),
                       (int64_t)(b->bytes - a->bytes),
                       (int64_t)(b->list_bytes - a->list_bytes),
                       (int64_t)(b->gathered - a->gathered),
                       (int64_t)b->views,
                       (int64_t)b->view_bytes};

    group_all_reduce(&all, count, sizeof count / sizeof *count, GROUP_INT64, GROUP_SUM);
    if (all.rank > 0)
        return;
    printf("clf op=%s way=%s n=%d bytes=%.0f us=%.1f mb_s=%.4f view_us=%.1f calls=%lld requests=%lld moved=%lld "
           "lists=%lld gathered=%lld views=%lld view_bytes=%lld access_us=%.0f",
           op, way_names[o.way], o.n, size, us, size / 1048576 / (us / 1e6), view_us, (long long)count[0],
           (long long)count[1], (long long)count[2], (long long)count[3], (long long)count[4], (long long)count[5],
           (long long)count[6], access_us);
    if (o.way == CACHED)
        printf(" hits=%lld misses=%lld served=%lld", (long long)m->managers.hits, (long long)m->managers.misses,
               (long long)m->managers.read);
    printf("\n");
}

static void check_data(void)
{
    for (int64_t i = 0; i < bytes; i++)
        if (data[i] != byte_of(i)) {
            fprintf(stderr, "clfbench: node %d: byte %lld of the view is wrong\n", all.rank, (long long)i);
            exit(1);
        }
}

/* The second of two moves, but of a fresh write and of a cold read. *more: how much longer the first took. */
static struct measured timed_move(int fd, bool writes, double *more)
{
    const double first = (writes ? o.fresh : o.cold) ? 0 : greatest(move(fd, writes));
    struct measured m;

    clf_count(&m.before);
    m.us = move(fd, writes);
    clf_count(&m.after);
    m.managers = ask_managers(fd);
    *more = first - greatest(m.us);
    return m;
}

/* The managers forget the file. */
static void cool(int fd)
{
    set_method(fd, CLF_WAY_VIEW);
    set_method(fd, methods[o.way]);
}

static void measure(int fd)
{
    double view_us, more;

    choose_way(fd);
    view_us = set_view(fd);
    data = malloc((size_t)bytes);
    if (!data)
        fail("malloc");
    for (int64_t i = 0; i < bytes; i++)
        data[i] = byte_of(i);
    const struct measured written = timed_move(fd, true, &more);
    if (o.way < DIRECTED)
        view_us = set_view(fd);
    memset(data, 0, (size_t)bytes);
    if (o.cold)
        cool(fd);
    const struct measured read = timed_move(fd, false, &more);
    if (o.way < DIRECTED && more > 0)
        view_us += more;
    check_data();
    print_line("write", &written, view_us);
    print_line("read", &read, view_us);
}

/* Of the nodes without managers, which come first. */
static void make_group(int argc, char **argv)
{
    int managers = 0;

    for (int i = 2; i < argc; i++)
        sscanf(argv[i], "managers=%d", &managers);
    const int size = ncubesize() - managers;
    int *member = size > 0 ? malloc((size_t)size * sizeof *member) : NULL;
    for (int r = 0; member && r < size; r++)
        member[r] = r;
    if (group_make(&all, managers == 0 ? NULL : member, size) < 0)
        fail("group_make");
    free(member);
}

int main(int argc, char **argv)
{
    make_group(argc, argv);
    read_arguments(argc, argv);
    int fd = make_file();
    measure(fd);
    group_barrier(&all);
    if (clf_close(fd) < 0)
        fail("clf_close");
    return 0;
}
