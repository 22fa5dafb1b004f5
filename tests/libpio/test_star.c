/* Parallel files, with nodes that are processes of the host and files in a folder (fake_group.h). */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/libpio/fake_group.h"
#include "tests/libpio/star_program.h"
#include "tests/libpio/unstar.h"

TestSuite(star, .timeout = 600);

static char folder[] = "/tmp/star.XXXXXX", path[64];

static void make_folder(void)
{
    cr_assert_not_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/x", folder);
}

static void remove_folder(void)
{
    char command[80];

    snprintf(command, sizeof command, "rm -r %s", folder);
    cr_assert_eq(system(command), 0);
}

/* ---- Random programs ---- */

static bool run_program(void *arg)
{
    struct star_program *p = arg;
    bool passes = star_program_run(p);

    if (!passes)
        fprintf(stderr, "%s\n", p->why);
    star_program_free(p);
    return passes;
}

static bool run_prints(void *arg)
{
    struct star_program *p = arg;
    bool passes = star_program_prints(p);

    if (!passes)
        fprintf(stderr, "%s\n", p->why);
    return passes;
}

Test(star, one_vp_prints_and_all_hear_of_it, .init = make_folder, .fini = remove_folder)
{
    const struct cs_options o = {.layout = &(struct pio_layout){.block_size = 1}};
    struct star_program p = {.name = path, .o = &o};

    for (int nodes = 1; nodes <= 13; nodes += 3)
        cr_assert(fake_nodes_run(nodes, run_prints, &p), "%d nodes", nodes);
}

/* What is in the files is what the streams have. */
static void compare_streams(struct star_program *p, const char *about)
{
    struct unstar u;

    p->only_streams = true;
    star_program_run(p);
    bool readable = unstar_read(path, &u);
    cr_assert(readable, "%s: %s", about, u.why);
    cr_assert_eq(u.vps, p->vps, "%s", about);
    for (long vp = 0; vp < p->vps; vp++) {
        cr_assert_eq(u.length[vp], p->stream[vp].length, "%s: VP %ld has %ld bytes, not %ld", about, vp, u.length[vp],
                     p->stream[vp].length);
        cr_assert(memcmp(u.stream[vp], p->stream[vp].bytes, (size_t)u.length[vp]) == 0, "%s: VP %ld", about, vp);
    }
    unstar_free(&u);
    star_program_free(p);
}

static unsigned sum_of_file(void)
{
    unsigned sum = 1;
    FILE *f = fopen(path, "rb");

    for (int c; (c = getc(f)) != EOF;)
        sum = (sum ^ (unsigned)c) * 16777619u;
    fclose(f);
    return sum;
}

Test(star, random_programs_are_like_one_file_for_each_vp, .init = make_folder, .fini = remove_folder)
{
    static const int nodes[] = {1, 2, 3, 8, 7};
    const char *seeds = getenv("STAR_SEEDS");
    int most = seeds ? atoi(seeds) : 5;

    for (int seed = getenv("FIRST") ? atoi(getenv("FIRST")) : 1; seed <= most; seed++) {
        unsigned first = 0;

        for (int i = 0; i < 15; i++) {
            struct cs_options o = {.least = (enum cs_mode)(i % 4 % 3),
                                   .cb_block = 1 + seed % 11,
                                   .ib_block = seed % 5 ? 8 << seed % 4 : 0,
                                   .dir_pointers = (int[]){0, 2, 6, 14}[seed % 4],
                                   .read_buffers = seed % 3,
                                   .superblock = i % 2 ? 0 : 1024,
                                   .layout = &(struct pio_layout){.block_size = i % 3 ? 64 : 1000}};
            struct star_program p = {.seed = (uint32_t)seed, .steps = 60, .name = path, .o = &o};
            char about[80];

            p.nodes = i >= 10 ? nodes[i % 5] : 0;
            fake_store_is_slow = i % 2 == 0;
            snprintf(about, sizeof about, "seed %d, %d nodes, variant %d", seed, nodes[i % 5], i);
            cr_assert(fake_nodes_run(nodes[i % 5], run_program, &p), "%s", about);
            compare_streams(&p, about);
            bool has_one_sum = o.least == CS_NB && seed % 2; /* without an IB segment */
            if (has_one_sum)
                first = first ? first : sum_of_file();
            cr_assert(!has_one_sum || first == sum_of_file(), "%s: other bytes than on one node", about);
        }
    }
}

/* ---- Programs for all nodes: each returns whether it has found what it expects ---- */

#define MUST(condition)                                                                   \
    do                                                                                    \
        if (!(condition)) {                                                               \
            fprintf(stderr, "line %d: %s (%s)\n", __LINE__, #condition, strerror(errno)); \
            return false;                                                                 \
        }                                                                                 \
    while (0)
#define MUST_FAIL(call, with) MUST((errno = 0, (call) == -1 && errno == (with)))
#define MUST_NULL(call, with) MUST((errno = 0, (call) == NULL && errno == (with)))

static struct cs_shape *shape_of(long n)
{
    return cs_shape(1, &n);
}

#define VPS 37

static bool figure_3(void *none)
{
    const struct cs_options o = {.cb_block = 10, .least = CS_CB};
    struct cs_shape *s = shape_of(3);
    char text[3][16];

    (void)none;
    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen_with(path, "w", NULL, &o);

        MUST(f);
        CS_EACH(i) memset(text[i], (int)('a' + cs_number(s, i)), 8);
        MUST(cs_fwrite(CS_PAR(s, text), 8, 1, f) == 1);
        MUST(cs_fcounts(f)->rows[1] == 0);
        CS_EACH(i) memset(text[i], (int)('A' + cs_number(s, i)), 8);
        MUST(cs_fwrite(CS_PAR(s, text), 8, 1, f) == 1);
        MUST(cs_fcounts(f)->rows[1] == 1);
        MUST(cs_fclose(f) == 0);
    }
    cs_shape_free(s);
    return true;
}

/* [P4 Figure 3]: two values of 8 bytes in blocks of 10: one row is written, 6 bytes of each VP are left. */
Test(star, figure_3_to_the_byte, .init = make_folder, .fini = remove_folder)
{
    static const char wanted[] = "aaaaaaaaAAbbbbbbbbBBccccccccCC"
                                 "AAAAAA\0\0\0\0BBBBBB\0\0\0\0CCCCCC\0\0\0\0";
    char meta[80], bytes[100], text[200] = "";

    snprintf(meta, sizeof meta, "%s.meta", path);
    for (int nodes = 1; nodes <= 4; nodes++) {
        cr_assert(fake_nodes_run(nodes, figure_3, NULL));
        FILE *f = fopen(path, "rb"), *m = fopen(meta, "rb");
        cr_assert_eq(fread(bytes, 1, sizeof bytes, f), 60, "%d nodes", nodes);
        cr_assert(memcmp(bytes, wanted, 60) == 0, "%d nodes", nodes);
        char line[160];
        snprintf(line, sizeof line, "star 1\nstate closed\nshape 3\norder row\nnodes %d\ncb 10 16\nend\n", nodes);
        text[fread(text, 1, sizeof text - 1, m)] = '\0';
        cr_assert_str_eq(text, line);
        fclose(f);
        fclose(m);
    }
}

static bool finds_modes(void *none)
{
    struct cs_shape *s = shape_of(VPS);
    struct {
        double x, y[3];
    } v[VPS] = {{0}};
    double x[VPS] = {0};
    bool none_of_them[VPS] = {false}, one_of_them[VPS] = {false}, ended[VPS];
    int size[VPS], one[VPS];

    const struct cs_options o = {.layout = &(struct pio_layout){.block_size = 1}}; /* every part is large */

    (void)none;
    for (int i = 0; i < VPS; i++)
        size[i] = 8, one[i] = 1;
    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen_with(path, "w+", NULL, &o);

        MUST(f && cs_fmode(f) == CS_NB && cs_fileno(f) == 64);
        MUST(cs_fwrite(CS_PAR(s, x), 8, 1, f) == 1 && cs_fmode(f) == CS_NB);
        MUST(cs_fwrite_par(CS_PAR(s, x), size, one, f, NULL) == 0 && cs_fmode(f) == CS_NB);
        MUST(cs_fwrite(CS_PAR(s, x), 8, 0, f) == 0 && cs_fwrite(CS_PAR(s, x), 0, 1, f) == 0 && cs_fmode(f) == CS_NB);
        MUST(cs_fcounts(f)->reductions == 4 && cs_fcounts(f)->calls[CS_NB] == 2); /* one for each call */
        CS_WHERE(none_of_them)
        {
            MUST(cs_fwrite(CS_PAR(s, x), 8, 1, f) == 1 && cs_fmode(f) == CS_NB); /* nothing moves */
            CS_EVERYWHERE MUST(cs_fwrite(CS_PAR(s, x), 8, 1, f) == 1 && cs_fmode(f) == CS_NB);
        }
        MUST(cs_fwrite(CS_MEMBER(s, v, x), 8, 1, f) == 1 && cs_fmode(f) == CS_CB); /* a stride */
        MUST(cs_fwrite(CS_PAR(s, x), 8, 1, f) == 1 && cs_fmode(f) == CS_CB);       /* for good */
        MUST(cs_fseek(f, 16, SEEK_SET) == 0 && cs_fmode(f) == CS_NB);
        MUST(cs_fread(CS_PAR(s, x), 8, 1, f) == 1 && cs_fmode(f) == CS_NB);
        MUST(cs_fread(CS_PAR(s, x), 8, 1, f) == 1 && cs_fmode(f) == CS_CB); /* the NB segment is exhausted */
        MUST(cs_rewind(f) == 0 && cs_fmode(f) == CS_NB);
        MUST(cs_fread(CS_MEMBER(s, v, y[1]), 8, 1, f) == 1 && cs_fmode(f) == CS_CB);
        MUST(cs_fseek(f, 4, SEEK_SET) == 0 && cs_fmode(f) == CS_CB);
        MUST(cs_fseek(f, 0, SEEK_END) == 0 && cs_fmode(f) == CS_CB);
        MUST(cs_fread(CS_PAR(s, x), 8, 1, f) == 0);
        cs_feof(f, ended);
        CS_EACH(i) MUST(ended[i]);
        one_of_them[0] = cs_local(s) > 0 && cs_number(s, 0) == 0;
        CS_WHERE(one_of_them) MUST(cs_fwrite(CS_PAR(s, x), 8, 1, f) == 1 && cs_fmode(f) == CS_IB); /* on all nodes */
        MUST(cs_fread(CS_PAR(s, x), 8, 1, f) == (one_of_them[0] || cs_local(s) ? 0 : 1) && cs_fmode(f) == CS_IB);
        MUST(cs_fseek(f, 0, SEEK_END) == 0 && cs_fmode(f) == CS_IB); /* not one place */
        MUST(cs_fseek(f, 8, SEEK_SET) == 0 && cs_fmode(f) == CS_NB);
        MUST(cs_fwrite(CS_PAR(s, x), 8, 1, f) == 1 && cs_fmode(f) == CS_NB);
        MUST(cs_fseek(f, 48, SEEK_SET) == 0 && cs_fmode(f) == CS_IB); /* the IB segment begins there */
        MUST(cs_fclose(f) == 0);
        f = cs_fopen(path, "a");
        MUST(f && cs_fmode(f) == CS_IB && cs_fclose(f) == 0);
        f = cs_fopen(path, "r");
        MUST(f && cs_fmode(f) == CS_NB && cs_fclose(f) == 0);
    }
    cs_shape_free(s);
    return true;
}

Test(star, modes_are_found_by_the_calls, .init = make_folder, .fini = remove_folder)
{
    static const int nodes[] = {1, 2, 5, 8};

    for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
        cr_assert(fake_nodes_run(nodes[i], finds_modes, NULL), "%d nodes", nodes[i]);
}

static bool scopes(void *none)
{
    const long extent[] = {5, 7};
    struct cs_shape *s = cs_shape(2, extent);
    bool odd[35], low[35];
    long n = cs_local(s), seen = 0, left = 0;

    (void)none;
    MUST(!CS__everywhere && !cs_active(0) && cs_rankof(s) == 2 && cs_dimof(s, 1) == 7 && cs_dimof(s, 2) == -1);
    for (long i = 0; i < n; i++) {
        odd[i] = cs_number(s, i) % 2;
        low[i] = cs_number(s, i) < 20;
        MUST(cs_pcoord(s, i, 0) * 7 + cs_pcoord(s, i, 1) == cs_number(s, i));
    }
    CS_WITH(s)
    {
        MUST(CS__everywhere);
        CS_WHERE(odd) CS_WHERE_NOT(low)
        {
            MUST(!CS__everywhere);
            CS_EACH(i)
            {
                MUST(odd[i] && !low[i] && cs_active(i));
                seen++;
            }
            CS_EVERYWHERE
            {
                MUST(CS__everywhere);
                CS_EACH(i) if (++left == 3) break;
            }
            MUST(!CS__everywhere);
        }
        MUST(CS__everywhere && left == (n < 3 ? n : 3));
        for (long i = 0; i < n; i++)
            seen -= odd[i] && !low[i];
        MUST(seen == 0);
    }
    MUST(!CS__everywhere);
    cs_shape_free(s);
    return true;
}

Test(star, with_and_where_nest_and_are_left_by_break)
{
    cr_assert(fake_nodes_run(1, scopes, NULL));
    cr_assert(fake_nodes_run(6, scopes, NULL));
}

/* ---- Bad input and failures ---- */

static bool bad_input(void *none)
{
    const long zero = 0, many[] = {65536, 65536}, n = VPS;
    struct cs_shape *s = shape_of(VPS), *other = shape_of(VPS + 1), *got = NULL;
    struct cs_options o = {.cb_block = -1};
    double x[VPS + 1] = {0};
    char name[80];

    (void)none;
    MUST_NULL(cs_shape(0, &n), EINVAL);
    MUST_NULL(cs_shape(32, &n), EINVAL);
    MUST_NULL(cs_shape(1, &zero), EINVAL);
    MUST_NULL(cs_shape(2, many), EINVAL);
    MUST_NULL(cs_shape_grid(1, &n, (const int[]){2}), EINVAL); /* three nodes */
    MUST_FAIL(cs_init(0, 0), EINVAL);
    MUST_NULL(cs_fopen(path, "w"), EINVAL); /* no CS_WITH */
    CS_WITH(s)
    {
        MUST_NULL(cs_fopen(path, "r"), ENOENT);
        MUST_NULL(cs_fopen(path, "r+"), ENOENT);
        MUST_NULL(cs_fopen_shape(path, "r", &got), ENOENT);
        MUST_NULL(cs_fopen_shape(path, "r", NULL), EINVAL);
        MUST_NULL(cs_fopen(path, "x"), EINVAL);
        MUST_NULL(cs_fopen(path, "w++"), EINVAL);
        MUST_NULL(cs_fopen(path, ""), EINVAL);
        MUST_NULL(cs_fopen_with(path, "w", NULL, &o), EINVAL);
        o = (struct cs_options){.least = (enum cs_mode)7};
        MUST_NULL(cs_fopen_with(path, "w", NULL, &o), EINVAL);
        const struct cs_options bad[] = {{.ib_block = 48, .superblock = 1024},
                                         {.dir_pointers = 3},
                                         {.superblock = 100},
                                         {.superblock = 2 << 20},
                                         {.ib_block = -1},
                                         {.read_buffers = -1}};
        for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
            MUST_NULL(cs_fopen_with(path, "w", NULL, &bad[k]), EINVAL);
        for (int k = 0; k < 4; k++) {
            snprintf(name, sizeof name, "%s%s", path, (const char *[]){".meta", ".meta.new", ".first", ".dir"}[k]);
            MUST_NULL(cs_fopen(name, "w"), EINVAL);
            MUST_FAIL(cs_remove(name), EINVAL);
        }
        MUST_FAIL(cs_remove(path), ENOENT);
        CS_FILE *f = cs_fopen(path, "w");
        MUST(f);
        MUST_NULL(cs_fopen(path, "r"), EBUSY);
        MUST_FAIL(cs_fwrite(CS_PAR(s, x), -1, 1, f), EINVAL);
        MUST_FAIL(cs_fwrite(CS_PAR(s, x), 65536, 65536, f), EINVAL);
        MUST_FAIL(cs_fwrite(CS_PAR(other, x), 8, 1, f), EINVAL);
        CS_WITH(other) MUST_FAIL(cs_fwrite(CS_PAR(other, x), 8, 1, f), EINVAL);
        MUST_FAIL(cs_fread(CS_PAR(s, x), 8, 1, f), EBADF);
        MUST_FAIL(cs_fseek(f, -1, SEEK_SET), EINVAL);
        MUST_FAIL(cs_fseek(f, 0, 9), EINVAL);
        CS_EACH(i)
        {
            MUST_FAIL(cs_fwrite(CS_PAR(s, x), 8, 1, f), EINVAL);
            MUST_FAIL(cs_fseek(f, 0, SEEK_SET), EINVAL);
            MUST_FAIL(cs_fclose(f), EINVAL);
            MUST_NULL(cs_fopen(path, "r"), EINVAL);
        }
        MUST(cs_fwrite(CS_PAR(s, x), 8, 1, f) == 1);
        MUST(cs_fseek(f, (long)1 << 58, SEEK_SET) == 0);
        MUST_FAIL(cs_fwrite(CS_PAR(s, x), 8, 1, f), EFBIG);
        MUST(cs_fclose(f) == 0);
        MUST_FAIL(cs_fwrite(CS_PAR(s, x), 8, 1, f), EBADF);
        MUST_FAIL(cs_fclose(f), EBADF);
        MUST_FAIL(cs_fclose(NULL), EBADF);
        CS_WITH(other) MUST_NULL(cs_fopen(path, "r"), EINVAL);
        CS_WITH(other) MUST_NULL(cs_fopen(path, "r+"), EINVAL);
        f = cs_fopen_shape(path, "r", &got);
        MUST(f && cs_positionsof(got) == VPS);
        MUST_FAIL(cs_fwrite(CS_PAR(s, x), 8, 1, f), EBADF);
        MUST(cs_fclose(f) == 0 && cs_remove(path) == 0);
    }
    cs_shape_free(got);
    cs_shape_free(s);
    cs_shape_free(other);
    return true;
}

Test(star, bad_input_is_refused_and_changes_nothing, .init = make_folder, .fini = remove_folder)
{
    cr_assert(fake_nodes_run(3, bad_input, NULL));
    cr_assert(access(path, F_OK) < 0);
}

static bool all_files(void *none)
{
    CS_FILE *f[192];
    struct cs_shape *s = shape_of(3);
    char name[80];

    (void)none;
    CS_WITH(s)
    {
        for (int k = 0; k < 192; k++) {
            snprintf(name, sizeof name, "%s%d", path, k);
            f[k] = cs_fopen(name, "w");
            MUST(f[k] && cs_fileno(f[k]) == 64 + k);
        }
        MUST_NULL(cs_fopen(path, "w"), EMFILE);
    }
    return true; /* exit() closes them, and they need the shape */
}

Test(star, there_are_192_files_and_exit_closes_them, .init = make_folder, .fini = remove_folder)
{
    char last[80];
    struct unstar u;

    cr_assert(fake_nodes_run(2, all_files, NULL));
    snprintf(last, sizeof last, "%s191", path);
    cr_assert(unstar_read(last, &u), "%s", u.why);
    unstar_free(&u);
}

static int own_rank(struct cs_shape *s) /* of a shape with as many VPs as nodes */
{
    return (int)cs_number(s, 0);
}

static bool different_calls(void *none)
{
    struct cs_shape *s = shape_of(3);
    double x[1] = {0};

    (void)none;
    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen(path, "w+"), *g = cs_fopen(path, own_rank(s) == 1 ? "r" : "w");

        MUST(f && !g && errno == EPROTO);
        MUST_FAIL(own_rank(s) == 0 ? cs_fread(CS_PAR(s, x), 8, 1, f) : cs_fwrite(CS_PAR(s, x), 8, 1, f), EPROTO);
        MUST(cs_fwrite(CS_PAR(s, x), 8, 1, f) == 1); /* they have come together again */
        if (own_rank(s) == 2)
            exit(0);
        MUST_FAIL(cs_fwrite(CS_PAR(s, x), 8, 1, f), EPROTO);
        MUST_FAIL(cs_fwrite(CS_PAR(s, x), 8, 1, f), EPROTO); /* without a message: it would wait for ever */
        MUST_FAIL(cs_fclose(f), EPROTO);
    }
    cs_shape_free(s);
    return true;
}

static bool opens_unclosed(void *none)
{
    struct cs_shape *s = shape_of(3);

    (void)none;
    CS_WITH(s)
    {
        MUST_NULL(cs_fopen(path, "r"), EBUSY);
        MUST_NULL(cs_fopen(path, "a"), EBUSY);
    }
    cs_shape_free(s);
    return true;
}

Test(star, nodes_in_different_calls_all_learn_it, .init = make_folder, .fini = remove_folder)
{
    cr_assert(fake_nodes_run(3, different_calls, NULL));
    cr_assert(fake_nodes_run(3, opens_unclosed, NULL));
}

/* One node's writes fail from some request on. */
static bool failing_store(void *arg)
{
    const struct cs_options o = {
        .least = *(enum cs_mode *)arg, .cb_block = 16, .layout = &(struct pio_layout){.block_size = 8}};
    struct cs_shape *s = shape_of(VPS);
    double x[VPS];
    bool failed[VPS];

    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen_with(path, "w", NULL, &o);
        bool is_hit = cs_local(s) > 0 && cs_number(s, 0) == 13;

        MUST(f);
        for (int k = 0; k < 6; k++) {
            if (k == 4 && is_hit)
                fake_store_fail(1, 100, ENOSPC);
            CS_EACH(i) x[i] = (double)cs_number(s, i) + k;
            long done = cs_fwrite(CS_PAR(s, x), 8, 1, f);
            /* A row of CB is two values: the fifth fills no buffer. */
            int bad = o.least == CS_NB ? 4 : 5;
            if (k < bad)
                MUST(done == 1);
            else if (k == bad)
                MUST(done == !is_hit);
            else
                MUST(done == -1 && errno == ENOSPC);
        }
        cs_ferror(f, failed);
        CS_EACH(i) MUST(failed[i] == is_hit);
        MUST_FAIL(cs_fclose(f), ENOSPC);
    }
    cs_shape_free(s);
    return true;
}

Test(star, a_full_volume_is_everybodys_next_result, .init = make_folder, .fini = remove_folder)
{
    for (enum cs_mode mode = CS_NB; mode <= CS_CB; mode++) {
        struct unstar u;

        cr_assert(fake_nodes_run(3, failing_store, &mode));
        cr_assert(unstar_read(path, &u), "%s", u.why);
        for (long vp = 0; vp < VPS; vp++) {
            double x[4];

            cr_assert_eq(u.length[vp], sizeof x, "%ld", u.length[vp]);
            memcpy(x, u.stream[vp], sizeof x);
            for (int k = 0; k < 4; k++)
                cr_assert_eq(x[k], (double)vp + k);
        }
        unstar_free(&u);
    }
}

/* ---- Independent buffers ---- */

#define ROUNDS 20

static bool is_in_round(long vp, int round)
{
    return (vp * 7 + round) % 3 > 0;
}

/* What VP vp has written by a round: one byte of each of its rounds. */
static unsigned char byte_of_round(long vp, int round)
{
    return (unsigned char)(vp * 31 + round + 1);
}

static const struct cs_options small_blocks = {
    .ib_block = 4, .dir_pointers = 2, .superblock = 64, .layout = &(struct pio_layout){.block_size = 64}};

/* From some request on, node 0's writes fail, if *arg is not 0. */
static bool writes_rounds(void *arg)
{
    struct cs_shape *s = shape_of(VPS);
    unsigned char x[VPS];
    bool mask[VPS], fails = *(int *)arg > 0;

    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen_with(path, "w", NULL, &small_blocks);

        MUST(f);
        if (fails && cs_number(s, 0) == 0)
            fake_store_fail(*(int *)arg, 1, ENOSPC);
        for (int round = 0; round < ROUNDS; round++) {
            for (long i = 0; i < cs_local(s); i++) {
                mask[i] = is_in_round(cs_number(s, i), round);
                x[i] = byte_of_round(cs_number(s, i), round);
            }
            CS_WHERE(mask)
            {
                long done = cs_fwrite(CS_PAR(s, x), 1, 1, f);
                MUST(done == 1 || (fails && (done == 0 || errno == ENOSPC)));
            }
        }
        MUST(fails || cs_fmode(f) == CS_IB);
        if (fails)
            MUST_FAIL(cs_fclose(f), ENOSPC);
        else
            MUST(cs_fclose(f) == 0);
    }
    cs_shape_free(s);
    return true;
}

/* Each VP reads right bytes, or gets an error; *arg: no errors are expected. */
static bool reads_rounds(void *arg)
{
    struct cs_shape *s = shape_of(VPS);
    unsigned char x[VPS];
    bool mask[VPS], failed[VPS], bad = false;

    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen(path, "r");

        MUST(f || (!*(int *)arg && errno == EPROTO));
        for (int round = 0; f && round < ROUNDS && !bad; round++) {
            for (long i = 0; i < cs_local(s); i++) {
                mask[i] = is_in_round(cs_number(s, i), round);
                x[i] = 0;
            }
            CS_WHERE(mask)
            {
                long done = cs_fread(CS_PAR(s, x), 1, 1, f);

                bad = done == -1; /* a node has met an error before */
                MUST(!bad || (!*(int *)arg && errno == EIO));
            }
            cs_ferror(f, failed);
            for (long i = 0; i < cs_local(s) && !bad; i++)
                if (mask[i])
                    MUST(x[i] == byte_of_round(cs_number(s, i), round) || (!*(int *)arg && x[i] == 0) || failed[i]);
        }
        MUST(!f || cs_fclose(f) == 0 || (!*(int *)arg && errno == EIO));
    }
    cs_shape_free(s);
    return true;
}

static void change_file(const char *suffix, long at, int value)
{
    char name[80];

    snprintf(name, sizeof name, "%s%s", path, suffix);
    int fd = open(name, O_RDWR);
    unsigned char byte;
    cr_assert_eq(pread(fd, &byte, 1, at), 1);
    byte = (unsigned char)(byte ^ value);
    cr_assert_eq(pwrite(fd, &byte, 1, at), 1);
    close(fd);
}

static long size_of_file(const char *suffix)
{
    char name[80];
    struct stat st;

    snprintf(name, sizeof name, "%s%s", path, suffix);
    cr_assert_eq(stat(name, &st), 0);
    return (long)st.st_size;
}

Test(star, a_damaged_directory_gives_right_data_or_an_error, .init = make_folder, .fini = remove_folder)
{
    int none = 0, yes = 1, no = 0;
    unsigned state = 1;

    cr_assert(fake_nodes_run(3, writes_rounds, &none));
    cr_assert(fake_nodes_run(2, reads_rounds, &yes));
    for (int round = 0; round < 300; round++) {
        const char *suffix = round % 3 ? ".dir" : ".first";

        state = state * 1103515245 + 12345;
        /* Blocks that change places are not noticed: only the number's high bytes are changed, or what chains them. */
        long entries = size_of_file(suffix) / 16, at = (long)(state >> 8) % entries * 16 + (long)(state >> 20) % 16;
        if (strcmp(suffix, ".dir") == 0 && at % 16 >= 8)
            at |= 3;
        int value = 1 << (state >> 28) % 8;
        if (strcmp(suffix, ".first") == 0 && at % 16 >= 8)
            at = at / 16 * 16 + 12; /* fewer bytes are an earlier end */
        change_file(suffix, at, value);
        cr_assert(fake_nodes_run(1 + round % 3, reads_rounds, &no), "%s: byte %ld ^ %d", suffix, at, value);
        change_file(suffix, at, value);
    }
    cr_assert(fake_nodes_run(5, reads_rounds, &yes));
}

Test(star, what_a_node_could_not_write_ends_the_streams_before_it, .init = make_folder, .fini = remove_folder)
{
    int closed = 0;

    for (int n = 1; n < 14; n++) {
        struct unstar u;
        long lost = 0;

        fake_store_is_slow = n > 7;

        cr_assert(fake_nodes_run(3, writes_rounds, &n));
        if (!unstar_read(path, &u)) { /* the directory could not be written: the file stays unclosed */
            cr_assert_str_eq(u.why, "not closed: state writing", "%d: %s", n, u.why);
            continue;
        }
        for (long vp = 0; vp < VPS; vp++) {
            long length = 0;

            for (int round = 0; round < ROUNDS; round++)
                if (is_in_round(vp, round) && length++ < u.length[vp])
                    cr_assert_eq(u.stream[vp][length - 1], byte_of_round(vp, round), "%d: VP %ld", n, vp);
            lost += length - u.length[vp];
        }
        cr_assert_gt(lost, 0, "%d", n);
        closed++;
        unstar_free(&u);
    }
    cr_assert_gt(closed, 1);
}

/* ---- Files of others ---- */

static bool reads_external(void *none)
{
    struct cs_shape *s = shape_of(VPS);
    int x[VPS + 2];
    struct {
        int before, x;
    } v[VPS];

    (void)none;
    CS_WITH(s)
    {
        MUST_NULL(cs_fopen(path, "r+"), EINVAL);
        MUST_NULL(cs_fopen(path, "a"), EINVAL);
        CS_FILE *f = cs_fopen(path, "r");
        MUST(f);
        for (int k = 0; k < 3; k++) {
            MUST(cs_fread(CS_PAR(s, x), sizeof *x, 1, f) == 1 && cs_fmode(f) == CS_NB);
            CS_EACH(i) MUST(x[i] == cs_number(s, i) + k * VPS);
        }
        MUST(cs_fread(CS_PAR(s, x), sizeof *x, 1, f) == 0);
        MUST(cs_fclose(f) == 0);
        f = cs_fopen(path, "r");
        MUST(cs_fread(CS_MEMBER(s, v, x), sizeof *x, 1, f) == 1 && cs_fmode(f) == CS_CB);
        CS_EACH(i) MUST(v[i].x == cs_number(s, i));
        MUST(cs_fclose(f) == 0);
        f = cs_fopen(path, "r");
        MUST_FAIL(cs_fread(CS_PAR(s, x), 1, 5, f), EPROTO); /* no whole rows */
        MUST(cs_fclose(f) == 0);
    }
    cs_shape_free(s);
    return true;
}

Test(star, an_array_of_others_is_read, .init = make_folder, .fini = remove_folder)
{
    FILE *f = fopen(path, "wb");

    for (int i = 0; i < 3 * VPS; i++)
        fwrite(&i, sizeof i, 1, f);
    fclose(f);
    cr_assert(fake_nodes_run(3, reads_external, NULL));
    cr_assert(fake_nodes_run(1, reads_external, NULL));
}

static bool opens_damaged(void *arg)
{
    struct cs_shape *s = shape_of(3);

    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen(path, "r");
        int wanted = *(int *)arg;

        MUST(wanted ? !f && errno == wanted : f && cs_fclose(f) == 0);
    }
    cs_shape_free(s);
    return true;
}

static void must_open(const char *meta, int error)
{
    char name[80];

    snprintf(name, sizeof name, "%s.meta", path);
    FILE *f = fopen(name, "wb");
    fputs(meta, f);
    fclose(f);
    cr_assert(fake_nodes_run(2, opens_damaged, &error), "%s", meta);
}

#define HEAD "star 1\nstate closed\nshape 3\norder row\nnodes 8\n"

Test(star, a_meta_that_does_not_fit_is_refused, .init = make_folder, .fini = remove_folder)
{
    FILE *f = fopen(path, "wb");

    fwrite("abcdefghijklmnop", 1, 15, f);
    fclose(f);
    must_open(HEAD "nb 5 1\ncb 8 0\nend\n", 0);
    must_open(HEAD "nb 2 1\ncb 3 2\nend\n", 0);
    must_open(HEAD "nb 2 1\ncb 3 2\nreason cs_fwrite of 3 bytes\nend\n", 0);
    must_open(HEAD "nb 5 2\ncb 8 0\nend\n", EPROTO);
    must_open(HEAD "nb 2 2\ncb 8 0\nend\n", EPROTO);
    must_open("", EPROTO);
    must_open("star 1\nstate writing\nshape 3\norder row\nnodes 8\ncb 8 0\nend\n", EBUSY);
    must_open("star 1\nstate closed\nshape 3\norder column\nnodes 8\nnb 5 1\ncb 8 0\nend\n", ENOTSUP);
    must_open(HEAD "nb 2 1\ncb 3 0\nib 4 2 16 16\nsuperblocks 1 1\nend\n", EPROTO); /* no .first */
}
