/*
 * A checkpoint through all modes, which a test stops at any time (tests/machine/test_star_kills.c). Arguments: the
 * case, how many volumes.
 *
 *     before   writes /kept
 *     call     writes /x: rows of NB, then of CB, then blocks of IB, and closes it
 *     after    /kept is whole; /x is whole, or nobody can open it; it can be written again
 *     reads    reads /kept, and gives up as an ordinary program would
 *     failed   the same after a run that has said that it could not write /x: this may have been cut
 */
#include <cstar.h>
#include <errno.h>

#include "check.h"

#define VPS    101
#define NB     3 /* items in each mode */
#define CB     4
#define IB     20
#define ITEMS  (NB + CB + IB)
#define PADDED 3 /* the items of CB and IB lie in structures */

static struct pio_layout layout;
static const struct cs_options options = {
    .cb_block = 24, .ib_block = 16, .dir_pointers = 2, .superblock = 1024, .layout = &layout};

static bool takes_part(long vp, int item)
{
    return item < NB + CB || (vp + item) % 5 != 0;
}

static double value_of(long vp, int item)
{
    return (double)(vp * 1000 + item + 1);
}

/* Ends the program as an ordinary one would end. */
static void give_up(const char *what)
{
    cs_perror(what);
    exit(1);
}

static void write_items(const struct cs_shape *s, CS_FILE *f)
{
    static double x[VPS], y[VPS][PADDED];
    static bool mask[VPS];

    for (int item = 0; item < ITEMS; item++) {
        long done;

        for (long i = 0; i < cs_local(s); i++) {
            x[i] = y[i][1] = value_of(cs_number(s, i), item);
            mask[i] = takes_part(cs_number(s, i), item);
        }
        if (item < NB + CB)
            done = cs_fwrite(item < NB ? CS_PAR(s, x) : (struct cs_par){(char *)&y[0][1], sizeof y[0], s}, 8, 1, f);
        else
            CS_WHERE(mask) done = cs_fwrite(CS_PAR(s, x), 8, 1, f);
        if (done < 0)
            give_up("write");
    }
}

static void write_file(const char *name)
{
    struct cs_shape *s = cs_shape(1, (const long[]){VPS});

    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen_with(name, "w", NULL, &options);

        if (!f)
            give_up("open");
        write_items(s, f);
        if (cs_fclose(f) < 0)
            give_up("close");
    }
    cs_shape_free(s);
}

/* True: it is whole, or has the first items if it may be short; false: it is not there, or was not closed. */
static bool read_file(const char *name, bool may_be_short)
{
    struct cs_shape *s = cs_shape(1, (const long[]){VPS});
    double x[VPS];
    bool mask[VPS], is_there = false;

    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen(name, "r");

        is_there = f != NULL;
        check(f || errno == EBUSY || errno == ENOENT, "%s: %s", name, strerror(errno));
        for (int item = 0; f && item < ITEMS; item++) {
            for (long i = 0; i < cs_local(s); i++)
                mask[i] = takes_part(cs_number(s, i), item);
            CS_WHERE(mask)
            {
                long done = cs_fread(CS_PAR(s, x), 8, 1, f);

                check(done == 1 || (done == 0 && may_be_short), "%s, item %d: %ld, %s", name, item, done,
                      strerror(errno));
                CS_EACH(i)
                check(done == 0 || x[i] == value_of(cs_number(s, i), item), "%s: VP %ld, item %d", name, i, item);
            }
        }
        check(!f || cs_fclose(f) == 0, "%s: %s", name, strerror(errno));
    }
    cs_shape_free(s);
    return is_there;
}

static void begin(void)
{
    layout = (struct pio_layout){.disks = atoi(test_argv[0]), .block_size = 256};
    check(cs_init(0, 0) == 0, "cs_init");
}

static void before(void)
{
    begin();
    write_file("/kept");
    nlocal();
}

static void call(void)
{
    begin();
    write_file("/x");
    nlocal();
}

static void reads(void)
{
    begin();
    struct cs_shape *s = cs_shape(1, (const long[]){VPS});
    double x[VPS];

    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen("/kept", "r");

        if (!f)
            give_up("open");
        for (int item = 0; item < ITEMS; item++)
            if (cs_fread(CS_PAR(s, x), 8, 1, f) < 0)
                give_up("read");
        if (cs_fclose(f) < 0)
            give_up("close");
    }
    cs_shape_free(s);
    nlocal();
}

static void find(bool may_be_short)
{
    begin();
    check(read_file("/kept", false), "/kept is not there");
    read_file("/x", may_be_short);
    write_file("/x");
    check(read_file("/x", false), "/x is not there");
    nlocal();
}

static void after(void)
{
    find(false);
}

static void failed(void)
{
    find(true);
}

static const struct test_case cases[] = {{"before", before}, {"call", call},   {"after", after},
                                         {"failed", failed}, {"reads", reads}, {NULL, NULL}};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
