/* Parallel files, with nodes that are processes of the host and files in a folder (fake_group.h): what calls do. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/libpio/fake_group.h"
#include "tests/libpio/star_folder.h"
#include "tests/libpio/star_program.h"
#include "tests/libpio/unstar.h"

TestSuite(star, .timeout = 600);

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
    static const int found_most[] = {1, 8, 40, 43, 5}; /* seeds that have found what no other one did */
    const char *seeds = getenv("STAR_SEEDS"), *from = getenv("FIRST");
    int first_seed = from ? atoi(from) : 1, runs = seeds ? atoi(seeds) : 5;

    for (int k = 0; k < runs; k++) {
        int seed = seeds ? first_seed + k : found_most[k];
        unsigned first = 0;

        for (int i = 0; i < 15; i++) {
            struct cs_options o = {.least = (enum cs_mode)(i % 4 % 3),
                                   .cb_block = 1 + seed % 11,
                                   .way = (enum cs_way)(i / 3 % 4), /* no views here: two phases */
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

/* ---- Arrays of others, in another order ---- */

/* Writes the array with which the program begins, and its .meta. */
static void write_array(const struct star_program *p, const char *order)
{
    struct star_program begin = {.seed = p->seed, .rows = p->rows, .only_streams = true};
    char name[80];

    star_program_run(&begin); /* no steps */
    struct unstar u = {.vps = begin.vps, .rank = 2, .extent = {begin.extent[0], begin.extent[1]}};
    unsigned char *row = malloc((size_t)u.vps * 8);
    cr_assert(unstar_places(&u, order), "%s", order);
    snprintf(name, sizeof name, "%s.meta", path);
    FILE *f = fopen(path, "wb"), *meta = fopen(name, "w");
    fprintf(meta, "star 1\nstate closed\nshape %ld %ld\n%s\nnodes 1\nnb 8 %d\ncb 8 0\nend\n", u.extent[0], u.extent[1],
            order, p->rows);
    for (int r = 0; r < p->rows; r++) {
        for (long vp = 0; vp < u.vps; vp++)
            memcpy(row + 8 * u.place[vp], begin.stream[vp].bytes + 8 * r, 8);
        fwrite(row, 8, (size_t)u.vps, f);
    }
    fclose(f);
    fclose(meta);
    free(row);
    unstar_free(&u);
    star_program_free(&begin);
}

/* They are read and updated as others are, in each mode and way; the order stays. */
Test(star, random_programs_on_arrays_of_others_in_each_order, .init = make_folder, .fini = remove_folder)
{
    static const int nodes[] = {1, 2, 3, 5, 7, 8};
    static const char *const orders[] = {"order column",   "order grid 2 2", "order grid 3 1",
                                         "order grid 1 4", "order grid 2 7", "order grid 9 5"};
    const char *seeds = getenv("STAR_SEEDS"), *from = getenv("FIRST");
    int first = from ? atoi(from) : 1, runs = seeds ? atoi(seeds) : 8;

    for (int seed = first; seed < first + runs; seed++)
        for (int i = 0; i < 12; i++) {
            struct cs_options o = {.least = (enum cs_mode)(i / 2 % 3),
                                   .way = (enum cs_way)(seed % 5 == 0 ? 1 + i % 3 : 0),
                                   .ib_block = 16,
                                   .superblock = 1024,
                                   .layout = &(struct pio_layout){.block_size = seed % 3 ? 64 : 1000}};
            struct star_program p = {.seed = (uint32_t)seed, .steps = 40, .name = path, .o = &o, .rows = 1 + seed % 7};
            const char *order = orders[(seed + i) % 6];
            char about[80];

            p.nodes = i >= 6 ? nodes[i % 6] : 0;
            fake_store_is_slow = i % 2 == 0;
            snprintf(about, sizeof about, "seed %d, %d nodes, variant %d, %s", seed, nodes[i % 6], i, order);
            write_array(&p, order);
            cr_assert(fake_nodes_run(nodes[i % 6], run_program, &p), "%s", about);
            compare_streams(&p, about);
        }
}

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

/* Lines of other lengths, some longer than the array, the last without a newline. */
static bool strings(void *none)
{
    struct cs_shape *s = shape_of(VPS);
    char text[VPS][12], line[VPS][12];
    bool odd[VPS];

    (void)none;
    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen(path, "w+");

        MUST(f);
        for (long i = 0; i < cs_local(s); i++) {
            snprintf(text[i], sizeof text[i], "%ld\n", cs_number(s, i) * 1111);
            odd[i] = cs_number(s, i) % 2;
        }
        MUST(cs_fputs(CS_PAR(s, text), f) == 0);
        CS_WHERE(odd) MUST(cs_fputs(CS_PAR(s, text), f) == 0);
        CS_EACH(i) strcpy(text[i], "end");
        MUST(cs_fputs(CS_PAR(s, text), f) == 0 && cs_rewind(f) == 0);
        for (int k = 0; k < 5; k++) {
            MUST(cs_fgets(CS_PAR(s, line), 4, f) == 0);
            CS_EACH(i)
            {
                char wanted[40], *at = wanted;
                long number = cs_number(s, i) * 1111;

                snprintf(wanted, sizeof wanted, odd[i] ? "%ld\n%ld\nend" : "%ld\nend", number, number);
                for (int piece = 0; piece < k; piece++) { /* what the calls before have read */
                    size_t n = strcspn(at, "\n") + 1;
                    at += n > 3 ? 3 : n > strlen(at) ? strlen(at) : n;
                }
                size_t n = strcspn(at, "\n") + 1;
                at[n > 3 ? (strlen(at) < 3 ? strlen(at) : 3) : n > strlen(at) ? strlen(at) : n] = '\0';
                MUST(strcmp(line[i], at) == 0);
            }
        }
        MUST(cs_fgets(CS_PAR(s, line), 1, f) == 0);
        CS_EACH(i) MUST(line[i][0] == '\0');
        MUST_FAIL(cs_fgets(CS_PAR(s, line), 0, f), EINVAL);
        MUST_FAIL(cs_fgets(CS_PAR(s, line), 13, f), EINVAL);
        CS_EACH(i) memset(text[i], 'x', sizeof text[i]);
        MUST(cs_fputs(CS_PAR(s, text), f) == EOF && errno == EINVAL);
        MUST(cs_fclose(f) == 0);
    }
    cs_shape_free(s);
    return true;
}

Test(star, strings_have_lengths_of_their_own, .init = make_folder, .fini = remove_folder)
{
    cr_assert(fake_nodes_run(1, strings, NULL));
    cr_assert(fake_nodes_run(5, strings, NULL));
}
