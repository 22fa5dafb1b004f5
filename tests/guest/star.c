/*
 * Parallel files of virtual processors (<cstar.h>). Random programs go beside streams in memory (star_program.h); what
 * they leave is judged on the host. Arguments: the file's name, the number of volumes, then those of the case.
 */
#include <cstar.h>
#include <errno.h>
#include <unistd.h>

#include "check.h"
#include "tests/libpio/star_program.h"

static struct pio_layout layout;
static struct cs_options options;

/* The arguments of every case. */
static const char *file_name(void)
{
    check(test_argc >= 2, "no name");
    layout = (struct pio_layout){.disks = atoi(test_argv[1])};
    options.layout = &layout;
    check_equal(cs_init(0, 0), 0);
    return test_argv[0];
}

static long number_of(int argument)
{
    check(test_argc > argument, "no argument %d", argument);
    return atol(test_argv[argument]);
}

/* A seed, a mode, bytes of a block, whether there is a grid. */
static void random_program(void)
{
    struct star_program p = {.steps = 50, .o = &options, .name = file_name()};

    p.seed = (uint32_t)number_of(2);
    options.least = (enum cs_mode)number_of(3);
    layout.block_size = (int)number_of(4);
    options.cb_block = 1 + (int)p.seed % 11;
    p.nodes = number_of(5) ? node_count() : 0;
    check(star_program_run(&p), "%s", p.why);
    star_program_free(&p);
    nlocal(); /* run_case prints at one node */
}

/* For tests/machine/test_exact.c: a seed, the number of volumes. */
static void exact(void)
{
    struct star_program p = {.steps = 30, .o = &options, .name = "/x", .seed = (uint32_t)number_of(0)};

    layout = (struct pio_layout){.disks = (int)number_of(1), .block_size = p.seed % 4 ? 256 : 1000};
    options.layout = &layout;
    options.least = p.seed % 5 == 4 ? CS_IB : CS_NB;
    p.nodes = p.seed % 3 ? 0 : node_count();
    check_equal(cs_init(0, 0), 0);
    check(star_program_run(&p), "%s", p.why);
    star_program_free(&p);
    nlocal();
}

#define VPS   65536
#define ITEMS 16

/* What a node must count: requests of whole rows, one reduction for each call. */
static void expect_counts(const struct cs_counts *c, int calls, bool writes)
{
    check_equal(c->calls[CS_NB], calls);
    check_equal(c->reductions, calls);
    check_equal(c->rows[writes], ITEMS);
    check_equal(c->requests[writes], ITEMS);
    check_equal(c->exchanged_rows, 0);
}

static double value_of(long vp, int k)
{
    return (double)vp + k * (double)VPS;
}

/* 65,536 VPs write and read doubles. */
static void doubles(void)
{
    const char *name = file_name();
    struct cs_shape *s = cs_shape(2, (const long[]){256, 256});
    double *x = malloc(((size_t)cs_local(s) + 1) * sizeof *x);

    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen_with(name, "w", NULL, &options);

        check(f != NULL, "%s: %s", strerror(errno), pio_failed_path());
        for (int k = 0; k < ITEMS; k++) {
            CS_EACH(i) x[i] = value_of(cs_number(s, i), k);
            check_equal(cs_fwrite(CS_PAR(s, x), sizeof *x, 1, f), 1);
        }
        expect_counts(cs_fcounts(f), ITEMS, true);
        check_equal(cs_fclose(f), 0);
        f = cs_fopen(name, "r");
        check(f != NULL, "%s: %s", strerror(errno), pio_failed_path());
        for (int k = 0; k < ITEMS; k++) {
            check_equal(cs_fread(CS_PAR(s, x), sizeof *x, 1, f), 1);
            CS_EACH(i) check(x[i] == value_of(cs_number(s, i), k), "VP %ld, item %d", cs_number(s, i), k);
        }
        expect_counts(cs_fcounts(f), ITEMS, false);
        check_equal(cs_fread(CS_PAR(s, x), sizeof *x, 1, f), 0);
        check_equal(cs_fmode(f), CS_NB);
        check_equal(cs_fclose(f), 0);
    }
    cs_shape_free(s);
    free(x);
    nlocal();
}

/* In CS_EACH every node prints, outside of it one does. */
static void prints(void)
{
    file_name();
    struct cs_shape *s = cs_shape(1, (const long[]){3});

    printf("once\n");
    CS_WITH(s)
    CS_EACH(i) printf("VP %ld\n", cs_number(s, i));
    printf("again\n");
    cs_shape_free(s);
    nlocal();
}

/* A scalar file is written once, by calls of all nodes, and read by all; lines of VPs lie beside it. */
static void scalar_file(void)
{
    const char *name = file_name();
    struct cs_shape *s = cs_shape(1, (const long[]){11});
    char text[11][16], line[16];
    FILE *f = cs_sfopen("//df00/notes", "w");

    check(f != NULL, "%s", strerror(errno));
    for (int k = 0; k < 3; k++)
        fprintf(f, "line %d\n", k);
    check_equal(fclose(f), 0);
    f = cs_sfopen("//df00/notes", "r");
    check(f != NULL, "%s", strerror(errno));
    for (int k = 0; k < 3; k++)
        check(fgets(line, sizeof line, f) && atoi(line + 5) == k, "line %d: %s", k, line);
    check(!fgets(line, sizeof line, f), "more than was written: %s", line);
    check_equal(fclose(f), 0);
    check(!cs_sfopen("//df00/none", "r") && errno == ENOENT, "%s", strerror(errno));
    CS_WITH(s)
    {
        CS_FILE *g = cs_fopen_with(name, "w+", NULL, &options);

        check(g != NULL, "%s", strerror(errno));
        CS_EACH(i) check(!cs_sfopen("//df00/notes", "r") && errno == EINVAL, "%s", strerror(errno));
        CS_EACH(i) snprintf(text[i], sizeof text[i], "VP %ld\nend", cs_number(s, i) * cs_number(s, i));
        check_equal(cs_fputs(CS_PAR(s, text), g), 0);
        check_equal(cs_rewind(g), 0);
        check_equal(cs_fgets(CS_PAR(s, text), 16, g), 0);
        CS_EACH(i)
        check(atol(text[i] + 3) == cs_number(s, i) * cs_number(s, i) && strchr(text[i], '\n'), "%s", text[i]);
        check_equal(cs_fclose(g), 0);
    }
    cs_shape_free(s);
    nlocal();
}

/* Some nodes only: the others do something else. */
static void part_of_the_nodes(void)
{
    int first = 1, nodes = node_count() - 2;
    long n = 10;
    int x[10];

    layout = (struct pio_layout){.disks = atoi(test_argv[1])};
    options.layout = &layout;
    int node = own_node(), result = cs_init(first, nodes); /* which numbers the nodes anew */
    check_equal(result, node < first || node >= first + nodes);
    if (result == 0) {
        struct cs_shape *s = cs_shape(1, &n);

        CS_WITH(s)
        {
            CS_FILE *f = cs_fopen_with(test_argv[0], "w+", NULL, &options);

            check(f != NULL, "%s: %s", strerror(errno), pio_failed_path());
            CS_EACH(i) x[i] = (int)cs_number(s, i);
            check_equal(cs_fwrite(CS_PAR(s, x), sizeof *x, 1, f), 1);
            check_equal(cs_rewind(f), 0);
            check_equal(cs_fread(CS_PAR(s, x), sizeof *x, 1, f), 1);
            CS_EACH(i) check_equal(x[i], cs_number(s, i));
            check_equal(cs_fclose(f), 0);
        }
        cs_shape_free(s);
        if (node == first)
            fprintf(stderr, "%d of the nodes\n", nodes);
    }
    nlocal();
}

/* The volumes are full before all is written: one node meets it, all hear of it. */
static void full_volume(void)
{
    const char *name = file_name();
    struct cs_shape *s = cs_shape(1, (const long[]){VPS});
    double *x = calloc((size_t)cs_local(s) + 1, sizeof *x);
    int good = 0;
    long done = 1;

    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen_with(name, "w", NULL, &options), *g;

        check(f != NULL, "%s: %s", strerror(errno), pio_failed_path());
        while (done >= 0) {
            CS_EACH(i) x[i] = value_of(cs_number(s, i), good);
            done = cs_fwrite(CS_PAR(s, x), sizeof *x, 1, f);
            good += done >= 0;
            check(good < 1000, "there is no end");
        }
        check_equal(errno, ENOSPC);
        check_equal(cs_fclose(f), -1);
        check_equal(errno, ENOSPC);
        g = cs_fopen(name, "r"); /* what all have written is there */
        check(g != NULL, "%s: %s", strerror(errno), pio_failed_path());
        for (int k = 0; k < good - 1; k++) {
            check_equal(cs_fread(CS_PAR(s, x), sizeof *x, 1, g), 1);
            CS_EACH(i) check(x[i] == value_of(cs_number(s, i), k), "VP %ld, item %d", cs_number(s, i), k);
        }
        check_equal(cs_fread(CS_PAR(s, x), sizeof *x, 1, g), 0);
        check_equal(cs_fclose(g), 0);
        check_equal(cs_remove(name), 0);
        check(cs_fopen(name, "r") == NULL && errno == ENOENT, "it is still there");
    }
    cs_shape_free(s);
    free(x);
    nlocal();
}

/* Node 1 ends while the others write. */
static void one_exits(void)
{
    const char *name = file_name();
    struct cs_shape *s = cs_shape(1, (const long[]){1000});
    char x[1000] = {0};

    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen_with(name, "w", NULL, &options);

        check(f != NULL, "%s: %s", strerror(errno), pio_failed_path());
        if (own_node() == 1)
            exit(0);
        for (int k = 0; k < 3; k++)
            check(cs_fwrite(CS_PAR(s, x), 1, 1, f) == -1 && errno == EPROTO, "%s", strerror(errno));
    }
    nlocal();
}

/* One VP prints. */
static void elemental(void)
{
    struct star_program p = {.o = &options, .name = file_name()};

    check(star_program_prints(&p), "%s", p.why);
    nlocal();
}

/* What an earlier run of the machine has left. */
static void finds_doubles(void)
{
    const char *name = file_name();
    struct cs_shape *s = NULL;
    double x;
    CS_FILE *f = cs_fopen_shape(name, "r", &s);

    check(f != NULL, "%s: %s", strerror(errno), pio_failed_path());
    check_equal(cs_positionsof(s), VPS);
    check_equal(cs_rankof(s), 2);
    double *all = malloc(((size_t)cs_local(s) + 1) * sizeof *all);
    CS_WITH(s)
    for (int k = 0; k < ITEMS; k++) {
        check_equal(cs_fread(CS_PAR(s, all), sizeof x, 1, f), 1);
        for (long i = 0; i < cs_local(s); i++)
            check(all[i] == value_of(cs_number(s, i), k), "VP %ld, item %d", cs_number(s, i), k);
    }
    check_equal(cs_fclose(f), 0);
    cs_shape_free(s);
    free(all);
    nlocal();
}

static const struct test_case cases[] = {
    {"exact", exact},
    {"scalar file", scalar_file},
    {"random program", random_program},
    {"doubles", doubles},
    {"finds doubles", finds_doubles},
    {"elemental", elemental},
    {"prints", prints},
    {"part of the nodes", part_of_the_nodes},
    {"full volume", full_volume},
    {"one exits", one_exits},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
