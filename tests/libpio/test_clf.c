/*
 * The client of Clusterfile with its servers: what a view shows never depends on the layout. Judged by the definition
 * of the distributions, byte by byte (clf_world.h), and e2fsck.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/libpio/clf_world.h"
#include "tests/libpio/random_pattern.h"
#include "vertex/contract/errors.h"

TestSuite(clf, .timeout = 120);

#define NODES     6
#define FILE_MOST 20000

static uint64_t seed = 1;

static struct pattern *parse(const char *text)
{
    struct pattern *p = NULL;
    char why[PATTERN_WHY_BYTES];

    cr_assert_eq(pattern_parse(text, &p, why), 0, "%s: %s", text, why);
    return p;
}

static struct pattern *pattern_of(const struct clf_matrix *m)
{
    char text[128];

    clf_matrix_text(m, text);
    return parse(text);
}

static struct clf_open *open_as(int node, const char *name, uint32_t flags, const struct clf_layout *layout)
{
    struct clf_open *f = NULL;

    clf_node = node;
    int error = clf_file_open(name, flags, 0640, layout, &f);
    cr_assert_eq(error, 0, "%s: error %d", name, error);
    return f;
}

static void close_as(int node, struct clf_open *f)
{
    clf_node = node;
    clf_file_close(f);
}

static void set_view(struct clf_open *f, const struct pattern *p, int element)
{
    uint8_t packed[65536];
    struct pattern *view;
    int64_t n = pattern_pack(p, element, packed, sizeof packed);

    cr_assert(n > 0 && n <= (int64_t)sizeof packed);
    cr_assert_eq(pattern_unpack(packed, (size_t)n, &view), 0);
    int error = clf_view_set(f, view);
    cr_assert_eq(error, 0, "view: error %d", error);
}

static void fill(uint8_t *bytes, int n)
{
    for (int i = 0; i < n; i++)
        bytes[i] = (uint8_t)random_below(&seed, 256);
}

/* ---- Pairs ---- */

struct pair {
    struct clf_matrix view, layout;
    int stripe, servers;
    uint8_t file[FILE_MOST];
    int bytes;
    char name[16];
};

static void describe(const struct pair *p, char text[300])
{
    char view[128], layout[128];

    clf_matrix_text(&p->view, view);
    clf_matrix_text(&p->layout, layout);
    sprintf(text, "view %s, layout %s, stripe %d, servers %d", view, layout, p->stripe, p->servers);
}

static struct clf_layout *layout_of(const struct pair *p)
{
    struct pattern *pattern = pattern_of(&p->layout);
    const struct clf_place place = {NULL, p->servers, p->stripe};
    struct clf_layout *l = NULL;

    cr_assert_eq(clf_layout_make(pattern, &place, &l), 0, "%s", clf_why());
    pattern_free(pattern);
    return l;
}

/* Every node moves all of its view, in pieces of random lengths, in one of the ways that a node alone has. */
static void move_by_views(struct pair *p, bool write, const char *what)
{
    struct pattern *pattern = pattern_of(&p->view);
    static uint8_t want[FILE_MOST], got[FILE_MOST];

    for (int node = 0; node < clf_matrix_elements(&p->view); node++) {
        int n = clf_matrix_part(&p->view, node, p->file, want);
        struct clf_open *f = open_as(10 + node, p->name, N_O_RDWR, NULL);

        if (n == 0) { /* an element without bytes is no view */
            close_as(10 + node, f);
            continue;
        }
        static const enum clf_way ways[] = {CLF_WAY_VIEW, CLF_WAY_LIST, CLF_WAY_SIEVE};
        const struct clf_method way = {.way = ways[random_below(&seed, 3)], .buffer = 1 + random_below(&seed, 2000)};
        cr_assert_eq(clf_way_set(f, &way), 0, "way %d: %s", way.way, clf_why());
        set_view(f, pattern, node);
        for (int at = 0; at < n;) {
            int bytes = 1 + (int)random_below(&seed, (uint32_t)(n - at));
            int64_t moved = clf_way_move(f, write, write ? want + at : got + at, (uint64_t)bytes, at);

            cr_assert_eq(moved, bytes, "%s: node %d moved %d of %d bytes from %d on", what, node, (int)moved, bytes,
                         at);
            at += bytes;
        }
        if (!write)
            cr_assert_arr_eq(got, want, (size_t)n, "%s: node %d reads other bytes", what, node);
        clf_way_end(f, false);
        close_as(10 + node, f);
    }
    pattern_free(pattern);
}

static void move_plainly(struct pair *p, bool write, const char *what)
{
    static uint8_t got[FILE_MOST + 100];
    struct clf_open *f = open_as(5, p->name, N_O_RDWR, NULL);
    int64_t size = -1;
    int64_t n = clf_move(f, write, write ? p->file : got, (uint64_t)p->bytes + (write ? 0 : 100), 0);

    cr_assert_eq(n, p->bytes, "%s: %d bytes moved plainly, not %d", what, (int)n, p->bytes);
    if (!write)
        cr_assert_arr_eq(got, p->file, (size_t)p->bytes, "%s: a plain read has other bytes", what);
    cr_assert_eq(clf_file_size(f, &size), 0);
    cr_assert_eq(size, p->bytes, "%s: the size is %d", what, (int)size);
    close_as(5, f);
}

/* What each volume has, by the layout's definition. */
static void look_at_parts(struct pair *p, const char *what)
{
    const int n = clf_matrix_elements(&p->layout), q = p->servers;
    static uint8_t subfile[FILE_MOST], part[FILE_MOST], got[FILE_MOST];
    struct clf_open *f = open_as(6, p->name, N_O_RDWR, NULL);

    for (uint32_t k = 0; k < f->layout->parts; k++)
        f->part[k].wanted = true;
    cr_assert_eq(clf_parts_attach(f), 0);
    for (int i = 0; i < n; i++) {
        const int bytes = clf_matrix_part(&p->layout, i, p->file, subfile);
        const int first = n >= q ? i % q : i * q / n, end = n >= q ? i % q + 1 : (i + 1) * q / n;

        for (int s = first; s < end; s++) {
            uint32_t k = 0;
            int m = 0;

            for (int at = 0; at < bytes; at++)
                if (end - first == 1 || at / p->stripe % (end - first) == s - first)
                    part[m++] = subfile[at];
            while (k < f->layout->parts &&
                   (f->layout->part[k].subfile != (uint32_t)i || f->layout->part[k].volume != (uint32_t)s))
                k++;
            cr_assert_lt(k, f->layout->parts, "%s: no part %d.%d", what, i, s);
            struct clf_question a = clf_part_question(f, k, N_CLF_READ);
            a.r.bytes = FILE_MOST;
            long status = clf_end(clf_start(a.volume, a.type, a.r, NULL, 0), NULL, 0, got, sizeof got);
            cr_assert_eq(status, m, "%s: part %d.%d has %ld bytes, not %d", what, i, s, status, m);
            cr_assert_arr_eq(got, part, (size_t)m, "%s: part %d.%d has other bytes", what, i, s);
        }
    }
    close_as(6, f);
}

static void try_pair(struct pair *p, const char *view, const char *layout)
{
    static const int procs[] = {1, 3, 4, 5, 6};
    char what[300];
    int rows = 3 + (int)random_below(&seed, 19), columns = 3 + (int)random_below(&seed, 17);
    int item = 1 + (int)random_below(&seed, 9);

    p->view = clf_matrix_draw(&seed, view, procs[random_below(&seed, 5)], rows, columns, item);
    p->layout = clf_matrix_draw(&seed, layout, procs[random_below(&seed, 5)], rows, columns, item);
    p->stripe = 1 + (int)random_below(&seed, 100);
    p->servers = 1 + (int)random_below(&seed, 3);
    p->bytes = clf_matrix_bytes(&p->view);
    describe(p, what);
    struct clf_layout *l = layout_of(p);
    for (int way = 0; way < 2; way++) {
        fill(p->file, p->bytes);
        close_as(3, open_as(3, p->name, N_O_RDWR | N_O_CREAT | N_O_EXCL, l));
        if (way == 0)
            move_by_views(p, true, what);
        else
            move_plainly(p, true, what);
        look_at_parts(p, what);
        if (way == 0)
            move_plainly(p, false, what);
        else
            move_by_views(p, false, what);
        clf_node = 4;
        cr_assert_eq(clf_name_unlink(p->name), 0);
    }
    clf_layout_free(l);
}

static void all_pairs(struct lab *lab)
{
    static const char *const kinds[] = {"bb", "bc", "b*", "cb", "cc", "c*", "*b", "*c", "**"};
    static struct pair p;

    (void)lab;
    for (int i = 0; i < 9; i++)
        for (int j = 0; j < 9; j++) {
            sprintf(p.name, "/m%d%d", i, j);
            try_pair(&p, kinds[i], kinds[j]);
        }
}

static void run(void (*script)(struct lab *lab), uint32_t cache_kb)
{
    lab_make(&clf_lab, 8192, cache_kb);
    cr_assert(lab_run(&clf_lab, script), "%s", clf_lab.log);
    cr_expect_eq(lab_fsck(&clf_lab, "-fn"), 0);
    lab_free(&clf_lab);
}

Test(clf, every_pair_of_view_and_layout_shows_the_same_bytes)
{
    run(all_pairs, 0);
    seed = 77;
    run(all_pairs, 12 * 8); /* a cache of three groups */
    cr_expect_gt(clf_counts.list_bytes, 0, "no request has named places");
    cr_expect_gt(clf_counts.views, 0, "no server has been told a view");
}

/* ---- What the ways cost ---- */

#define SIDE 128

/* The counts of 16 nodes that read a (CYCLIC(n/p), CYCLIC(n/p)) matrix. */
static struct clf_counts count_reads(enum clf_way way)
{
    static uint8_t got[SIDE * SIDE / 16];
    struct pattern *views = parse("array 128x128x1 cyclic(8),cyclic(8) on 4x4");
    const struct clf_method method = {.way = way};
    struct clf_counts sum = {0};

    for (int node = 0; node < 16; node++) {
        struct clf_open *f = open_as(10 + node, "/ways", N_O_RDONLY, NULL);
        const struct clf_counts before = clf_counts;

        cr_assert_eq(clf_way_set(f, &method), 0);
        set_view(f, views, node);
        cr_assert_eq(clf_way_move(f, false, got, sizeof got, 0), (int64_t)sizeof got);
        sum.calls += clf_counts.calls - before.calls;
        sum.bytes += clf_counts.bytes - before.bytes;
        sum.list_bytes += clf_counts.list_bytes - before.list_bytes;
        clf_way_end(f, false);
        close_as(10 + node, f);
    }
    pattern_free(views);
    return sum;
}

/* Tables 8.1 to 8.3: a node's part is n places of n/16 bytes; from the first to the last of them are 13/16 of the rows
 * and of the columns. */
static void count_ways(struct lab *lab)
{
    const uint64_t n = SIDE, part = 13 * n / 16;
    static uint8_t bytes[SIDE * SIDE];
    struct clf_open *f = open_as(10, "/ways", N_O_RDWR | N_O_CREAT, NULL);

    (void)lab;
    cr_assert_eq(clf_move(f, true, bytes, sizeof bytes, 0), (int64_t)sizeof bytes);
    close_as(10, f);
    cr_expect_eq(count_reads(CLF_WAY_VIEW).calls, 16);
    const struct clf_counts lists = count_reads(CLF_WAY_LIST), sieved = count_reads(CLF_WAY_SIEVE);
    cr_expect_eq(lists.calls, 16 * ((n + 10) / 11), "%d calls", (int)lists.calls);
    cr_expect_eq(lists.list_bytes, 192 * n, "%d bytes of lists", (int)lists.list_bytes);
    cr_expect_eq(sieved.bytes, 16 * ((part - 1) * n + part), "%d bytes", (int)sieved.bytes);
}

Test(clf, ways_cost_what_the_tables_of_the_thesis_say)
{
    run(count_ways, 0);
}
