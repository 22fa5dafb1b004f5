/* Parallel files on the host (fake_group.h): damaged directories, files of others, descriptions that do not fit. */
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
#include "tests/libpio/unstar.h"

TestSuite(star_files, .timeout = 600);

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

Test(star_files, a_damaged_directory_gives_right_data_or_an_error, .init = make_folder, .fini = remove_folder)
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

Test(star_files, what_a_node_could_not_write_ends_the_streams_before_it, .init = make_folder, .fini = remove_folder)
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

/* Reads a round of all, so that the piece behind it is being read ahead; a VP writes its block there, and reads it. */
static bool updates_ahead(void *none)
{
    const struct cs_options o = {.least = CS_IB, .ib_block = 4, .superblock = 64, .dir_pointers = 2};
    struct cs_shape *s = shape_of(VPS);
    int x[VPS];
    bool mask[VPS];

    (void)none;
    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen_with(path, "w", NULL, &o);

        MUST(f);
        for (int round = 0; round < 8; round++) {
            CS_EACH(i) x[i] = (int)cs_number(s, i) + round * 1000;
            MUST(cs_fwrite(CS_PAR(s, x), 4, 1, f) == 1);
        }
        MUST(cs_fclose(f) == 0);
        for (int vp = 0; vp < VPS; vp++) {
            f = cs_fopen_with(path, "r+", NULL, &o);
            MUST(f && cs_fread(CS_PAR(s, x), 4, 1, f) == 1);
            for (long i = 0; i < cs_local(s); i++)
                mask[i] = cs_number(s, i) == vp;
            CS_WHERE(mask)
            {
                CS_EACH(i) x[i] = -vp;
                MUST(cs_fseek(f, 0, SEEK_CUR) == 0 && cs_fwrite(CS_PAR(s, x), 4, 1, f) == 1);
                CS_EACH(i) x[i] = 0;
                MUST(cs_fseek(f, 4, SEEK_SET) == 0 && cs_fread(CS_PAR(s, x), 4, 1, f) == 1);
                CS_EACH(i) MUST(x[i] == -vp);
            }
            MUST(cs_fclose(f) == 0);
        }
    }
    cs_shape_free(s);
    return true;
}

Test(star_files, what_was_read_ahead_is_not_what_is_written_then, .init = make_folder, .fini = remove_folder)
{
    fake_store_is_slow = true;
    cr_assert(fake_nodes_run(1, updates_ahead, NULL));
    cr_assert(fake_nodes_run(3, updates_ahead, NULL));
}

/* One VP has a hole in its last entry, which is full, while another one makes the node link all. Then the hole gets its
 * block; the other one keeps its own. */
static bool fills_a_hole(void *none)
{
    const struct cs_options o = {.least = CS_IB, .ib_block = 4, .superblock = 64, .dir_pointers = 2};
    struct cs_shape *s = shape_of(2);
    unsigned char x[2][24];
    struct cs_par at_16 = {(char *)&x[0][16], sizeof *x, s}, at_20 = {(char *)&x[0][20], sizeof *x, s};
    bool first[2] = {false}, second[2] = {false};

    (void)none;
    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen_with(path, "w+", NULL, &o);

        MUST(f);
        for (long i = 0; i < cs_local(s); i++) {
            first[i] = cs_number(s, i) == 0;
            second[i] = !first[i];
            for (int k = 0; k < 24; k++)
                x[i][k] = (unsigned char)(k + 1);
        }
        MUST(cs_fwrite(CS_PAR(s, x), 16, 1, f) == 1 && cs_fseek(f, 20, SEEK_SET) == 0);
        MUST(cs_fwrite(at_20, 4, 1, f) == 1);
        CS_WHERE(second) MUST(cs_fseek(f, 0, SEEK_SET) == 0 && cs_fread(CS_PAR(s, x), 4, 1, f) == 1);
        CS_WHERE(first) MUST(cs_fseek(f, 16, SEEK_SET) == 0 && cs_fwrite(at_16, 4, 1, f) == 1);
        MUST(cs_fclose(f) == 0);
    }
    cs_shape_free(s);
    return true;
}

Test(star_files, an_entry_whose_hole_is_filled_after_it_was_linked_stays_the_last, .init = make_folder,
     .fini = remove_folder)
{
    for (int nodes = 1; nodes <= 3; nodes++) {
        struct unstar u;

        cr_assert(fake_nodes_run(nodes, fills_a_hole, NULL));
        cr_assert(unstar_read(path, &u), "%d nodes: %s", nodes, u.why);
        for (long vp = 0; vp < 2; vp++) {
            cr_assert_eq(u.length[vp], 24, "VP %ld: %ld bytes", vp, u.length[vp]);
            for (int k = 0; k < 24; k++)
                cr_assert_eq(u.stream[vp][k], (vp > 0 && k / 4 == 4 ? 0 : k + 1), "VP %ld, byte %d", vp, k);
        }
        unstar_free(&u);
    }
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
    }
    cs_shape_free(s);
    return true;
}

Test(star_files, an_array_of_others_is_read, .init = make_folder, .fini = remove_folder)
{
    FILE *f = fopen(path, "wb");

    for (int i = 0; i < 3 * VPS; i++)
        fwrite(&i, sizeof i, 1, f);
    fclose(f);
    cr_assert(fake_nodes_run(3, reads_external, NULL));
    cr_assert(fake_nodes_run(1, reads_external, NULL));
}

static int byte_at(long offset)
{
    return (int)(offset * 7 % 251);
}

/* Whether these are n bytes of a VP's stream from `from` on, which has blocks of the file, VPS in a row. */
static bool is_stream(const char *bytes, long n, long vp, long block, long from)
{
    long k = 0;

    while (k < n && (unsigned char)bytes[k] == byte_at(((from + k) / block * VPS + vp) * block + (from + k) % block))
        k++;
    return k == n;
}

struct cut {
    long size, block;
};

static long rows_of(const struct cut *c)
{
    return c->size / (c->block * VPS);
}

static long end_of(const struct cut *c, long vp)
{
    long left = c->size % (c->block * VPS) - vp * c->block;

    return rows_of(c) * c->block + (left < 0 ? 0 : left < c->block ? left : c->block);
}

/* All read a row, without a buffer where all of it is there. */
static bool reads_row(CS_FILE *f, struct cs_shape *s, const struct cut *c, long row)
{
    char x[VPS * 16];
    long at[VPS], least = c->block;
    bool ended[VPS], is_whole = row < rows_of(c);

    CS_EACH(i)
    {
        long n = end_of(c, cs_number(s, i)) - row * c->block;

        least = n < least ? n : least;
    }
    MUST(cs_fread((struct cs_par){x, c->block, s}, 1, (int)c->block, f) == least);
    MUST(cs_fmode(f) == (is_whole ? CS_NB : CS_IB));
    cs_feof(f, ended);
    cs_ftell(f, at);
    CS_EACH(i)
    {
        long end = end_of(c, cs_number(s, i)), to = is_whole ? (row + 1) * c->block : end;

        MUST(at[i] == to && ended[i] == (end < (row + 1) * c->block));
        MUST(is_stream(x + i * c->block, to - row * c->block, cs_number(s, i), c->block, row * c->block));
    }
    return true;
}

/* Each reads all that it has from an offset on, and meets its own end. */
static bool reads_rest(CS_FILE *f, struct cs_shape *s, const struct cut *c, long from)
{
    char x[VPS][64];
    int size[VPS], most[VPS], items[VPS];
    long at[VPS];

    CS_EACH(i) size[i] = 1, most[i] = 64;
    MUST(cs_fseek(f, from, SEEK_SET) == 0 && cs_fread_par(CS_PAR(s, x), size, most, f, items) == 0);
    CS_EACH(i)
    {
        MUST(items[i] == end_of(c, cs_number(s, i)) - from);
        MUST(is_stream(x[i], items[i], cs_number(s, i), c->block, from));
    }
    MUST(cs_fseek(f, 0, SEEK_END) == 0);
    cs_ftell(f, at);
    CS_EACH(i) MUST(at[i] == end_of(c, cs_number(s, i)));
    return true;
}

static bool reads_cut(void *arg)
{
    const struct cut *c = arg;
    struct cs_shape *s = shape_of(VPS);
    long rows = rows_of(c);

    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen(path, "r");

        MUST(f);
        for (long row = 0; row <= rows; row++)
            MUST(reads_row(f, s, c, row));
        MUST(reads_rest(f, s, c, rows > 0 ? rows * c->block - 1 : 0));
        MUST(cs_fseek(f, 0, SEEK_SET) == 0 && reads_row(f, s, c, 0)); /* without a buffer again */
        MUST(cs_fclose(f) == 0);
        if (rows > 0) { /* the ends are known before anybody is there */
            long at[VPS];

            MUST((f = cs_fopen(path, "r")) && reads_row(f, s, c, 0) && cs_fseek(f, -1, SEEK_END) == 0);
            cs_ftell(f, at);
            CS_EACH(i) MUST(at[i] == end_of(c, cs_number(s, i)) - 1);
            MUST(cs_fclose(f) == 0);
        }
    }
    cs_shape_free(s);
    return true;
}

Test(star_files, a_last_row_that_is_cut_gives_each_vp_what_is_there, .init = make_folder, .fini = remove_folder)
{
    static const int nodes[] = {1, 2, 3, 7, 8};
    static const struct cut cuts[] = {{3 * 4 * VPS + 1, 4}, {4 * VPS - 1, 4}, {2 * 5 * VPS + 5 * 14 + 4, 5}, {7, 8},
                                      {5000, 13},           {VPS * 8 + 16, 8}};

    for (size_t k = 0; k < sizeof cuts / sizeof *cuts; k++) {
        FILE *f = fopen(path, "wb");
        struct cut c = cuts[k];

        for (long i = 0; i < c.size; i++)
            fputc(byte_at(i), f);
        fclose(f);
        for (size_t i = 0; i < sizeof nodes / sizeof *nodes; i++)
            cr_assert(fake_nodes_run(nodes[i], reads_cut, &c), "%ld bytes, %d nodes", c.size, nodes[i]);
    }
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

Test(star_files, a_meta_that_does_not_fit_is_refused, .init = make_folder, .fini = remove_folder)
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
    must_open("star 1\nstate closed\nshape 3\norder column\nnodes 8\nnb 5 1\ncb 8 0\nend\n", 0);
    must_open("star 1\nstate closed\nshape 3\norder grid 2\nnodes 8\nnb 5 1\ncb 8 0\nend\n", 0);
    must_open("star 1\nstate closed\nshape 3\norder grid 0\nnodes 8\nnb 5 1\ncb 8 0\nend\n", EPROTO);
    must_open("star 1\nstate closed\nshape 3\norder grid 2 2\nnodes 8\nnb 5 1\ncb 8 0\nend\n", EPROTO);
    must_open("star 1\nstate closed\nshape 3\norder grid\nnodes 8\nnb 5 1\ncb 8 0\nend\n", EPROTO);
    must_open(HEAD "nb 2 1\ncb 3 0\nib 4 2 16 16\nsuperblocks 1 1\nend\n", EPROTO); /* no .first */
}
