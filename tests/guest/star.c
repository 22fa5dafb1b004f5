/*
 * Parallel files of virtual processors (<cstar.h>). Random programs go beside streams in memory (star_program.h); what
 * they leave is judged on the host. Arguments: the file's name, the number of volumes, then those of the case.
 */
#include <cstar.h>
#include <errno.h>
#include <fcntl.h>
#include <nio.h>
#include <nmon.h>
#include <sys/stat.h>
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

/* A seed, a mode, bytes of a block, whether there is a grid; maybe the way of rows, and rows that are there. */
static void random_program(void)
{
    struct star_program p = {.steps = 50, .o = &options, .name = file_name()};

    p.seed = (uint32_t)number_of(2);
    options.least = (enum cs_mode)number_of(3);
    layout.block_size = (int)number_of(4);
    options.cb_block = 1 + (int)p.seed % 11;
    options.way = test_argc > 6 ? (enum cs_way)number_of(6) : CS_WAY_CHOSEN;
    p.nodes = number_of(5) ? node_count() : 0;
    p.rows = test_argc > 7 ? (int)number_of(7) : 0;
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

/* Every call on it is refused, at those nodes which make it. */
static void refuse_scalar(FILE *f, long vp)
{
    char line[64];

    errno = 0;
    check(fprintf(f, "VP %ld\n", vp) < 0 && errno == EINVAL, "fprintf: %s", strerror(errno));
    errno = 0;
    check(putc('x', f) == EOF && errno == EINVAL, "putc: %s", strerror(errno));
    errno = 0;
    check(fwrite(line, 1, sizeof line, f) == 0 && errno == EINVAL, "fwrite: %s", strerror(errno));
    errno = 0;
    check(fseek(f, 0, SEEK_SET) != 0 && errno == EINVAL, "fseek: %s", strerror(errno));
    errno = 0;
    check(getc(f) == EOF && errno == EINVAL && ferror(f), "getc: %s", strerror(errno));
    check(!fgets(line, sizeof line, f) && !feof(f), "fgets has read");
    check_equal(fread(line, 1, sizeof line, f), 0);
}

/* A FILE that fopen has opened for all nodes is refused in CS_EACH; one of each node serves there. */
static void files_of_fopen(struct cs_shape *s)
{
    FILE *f = fopen("//df00/notes", "w+");
    char line[64], own_name[32];

    snprintf(own_name, sizeof own_name, "//df00/own%d", own_node());
    nlocal();
    FILE *own = fopen(own_name, "w+");
    nglobal();
    check(f && own, "%s", strerror(errno));
    fprintf(f, "line 1\n");
    CS_WITH(s)
    CS_EACH(i)
    {
        check(fprintf(own, "VP %ld\n", cs_number(s, i)) > 0, "%s", strerror(errno));
        if (node_count() > 1 && cs_number(s, i) % 2) /* with one node, there is no difference */
            refuse_scalar(f, cs_number(s, i));
    }
    fprintf(f, "line 2\n");
    rewind(f);
    check(fread(line, 1, sizeof line, f) == 14 && strncmp(line, "line 1\nline 2\n", 14) == 0, "%.14s", line);
    check_equal(fclose(f), 0);
    rewind(own);
    check(fgets(line, sizeof line, own) && atol(line + 3) == cs_number(s, 0), "%s", line);
    check_equal(fclose(own), 0);
}

/* A scalar FILE in CS_EACH, where nodes make different calls, is an error; afterwards it is as it was: with what was
 * in its buffer, and a character that was pushed back. */
static void scalar_in_each(void)
{
    file_name();
    struct cs_shape *s = cs_shape(1, (const long[]){11});
    FILE *f = cs_sfopen("//df00/notes", "w+"), *gone = cs_sfopen("//df00/gone", "w");
    char line[64];

    check(f && gone, "%s", strerror(errno));
    fprintf(f, "line 1\n");
    CS_WITH(s)
    {
        CS_EACH(i)
        if (cs_number(s, i) % 2)
            refuse_scalar(f, cs_number(s, i));
        fprintf(f, "line 2\n");
        rewind(f);
        check(fgets(line, sizeof line, f) && strcmp(line, "line 1\n") == 0, "%s", line);
        check_equal(ungetc('L', f), 'L');
        CS_EACH(i)
        if (cs_number(s, i) == 3) {
            refuse_scalar(f, 3);
            errno = 0;
            check(fclose(gone) == EOF && errno == EINVAL, "%s", strerror(errno));
        }
        check(fgets(line, sizeof line, f) && strcmp(line, "Lline 2\n") == 0, "%s", line);
        check(!fgets(line, sizeof line, f) && feof(f), "%s", line);
    }
    check_equal(fclose(f), 0);
    check(fprintf(gone, "it is not\n") > 0 && fclose(gone) == 0, "%s", strerror(errno));
    f = cs_sfopen("//df00/notes", "r");
    check(f && fread(line, 1, sizeof line, f) == 14, "%s", strerror(errno));
    check_equal(fclose(f), 0);
    files_of_fopen(s);
    cs_shape_free(s);
    nlocal();
}

/* Checks the result of a call, before which errno was 0. */
static void must_be_refused(const char *call, long result)
{
    check(result == -1 && errno == EINVAL, "%s: %ld, %s", call, result, strerror(errno));
    errno = 0;
}

#define REFUSED(call) must_be_refused(#call, (long)(call))

/* Every call on a descriptor that all nodes have opened together; it is there again afterwards, also one that is
 * closed meanwhile. One that a node opens in CS_EACH is its own, as one with a mapping is. */
static void descriptors_in_each(void)
{
    file_name();
    struct cs_shape *s = cs_shape(1, (const long[]){11});
    struct stat st;
    char line[64], name[32];

    int fd = open("//df00/notes", O_RDWR | O_CREAT, 0640), gone = open("//df00/gone", O_RDWR | O_CREAT, 0640);
    check(fd >= 0 && gone >= 0, "%s", strerror(errno));
    check_equal(write(fd, "line 1\n", 7), 7);
    CS_WITH(s)
    CS_EACH(i)
    {
        snprintf(name, sizeof name, "//df00/own%d", own_node());
        int own = open(name, O_RDWR | O_CREAT, 0640);

        check(write(own, name, 10) == 10 && pread(own, line, sizeof line, 0) == 10, "%s", strerror(errno));
        check_equal(close(own), 0);
        if (node_count() == 1 || cs_number(s, i) % 3 == 0) /* with one node, there is no difference */
            continue;
        REFUSED(read(fd, line, sizeof line));
        REFUSED(pread(fd, line, sizeof line, 0));
        REFUSED(write(fd, line, sizeof line));
        REFUSED(pwrite(fd, line, sizeof line, 0));
        REFUSED(lseek(fd, 0, SEEK_SET));
        REFUSED(fstat(fd, &st));
        REFUSED(ftruncate(fd, 0));
        REFUSED(fsync(fd));
        check_equal(readstart(fd, 8), -EINVAL);
        check_equal(writestart(fd, line, 8), -EINVAL);
        if (cs_number(s, i) == 5)
            REFUSED(close(gone));
    }
    check_equal(write(gone, "is not gone", 11), 11);
    check_equal(close(gone), 0);
    check_equal(write(fd, "line 2\n", 7), 7);
    check(lseek(fd, 0, SEEK_SET) == 0 && read(fd, line, sizeof line) == 14 &&
              strncmp(line, "line 1\nline 2\n", 14) == 0,
          "%.14s", line);
    check_equal(close(fd), 0);
    cs_shape_free(s);
    nlocal();
}

/* Phases of the trace, in which the test counts messages; node 0 prints the reductions of each, as the library counts
 * them. No option names a mode. */
static void counted(void)
{
    const char *name = file_name();
    struct cs_shape *s = cs_shape(1, (const long[]){40});
    static const char *const phases[] = {"NB", "CB", "alone", "met", "IB", NULL};
    int64_t before = 0, reductions[5];
    double x[40];

    for (int i = 0; i < 40; i++)
        x[i] = i;
    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen_with(name, "w+", NULL, &options);

        check_equal(cs_fwrite(CS_PAR(s, x), 8, 1, f), 1); /* makes what is made once */
        before = cs_fcounts(f)->reductions;
        for (int k = 0; phases[k]; k++) {
            check_equal(nmark(phases[k]), 0);
            if (k == 2) {
                CS_EACH(i) if (cs_number(s, i) == 11) check(fputs("alone", cs_vp(f)) >= 0, "%s", strerror(errno));
                check_equal(cs_fmode(f), own_node() == 11 / cs_local(s) ? CS_IB : CS_CB);
            } else {
                for (int i = 0; i < (k == 3 ? 1 : 3); i++)
                    check(cs_fwrite(CS_PAR(s, x), k == 0 ? 8 : 4, 1, f) == 1, "%s", strerror(errno));
                check_equal(cs_fmode(f), k > 2 ? CS_IB : k == 1 ? CS_CB : CS_NB);
            }
            reductions[k] = cs_fcounts(f)->reductions - before;
            before = cs_fcounts(f)->reductions;
        }
        nmark(NULL);
        check_equal(cs_fclose(f), 0);
    }
    for (int k = 0; phases[k]; k++)
        printf("%s %d\n", phases[k], (int)reductions[k]);
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

/* ---- The program of [P4 Figure 2] ---- */

struct figure_2 { /* of a VP */
    double y[10];
};

/* The loop of the figure. x is written after each step, which is NB, and two elements of y at the end, which is CB. */
static double run_figure_2(struct cs_shape *S, int *x, struct figure_2 *v, bool *mask, CS_FILE *parFile)
{
    double sum = 0;

    for (int i = 0; i < 10; i++) {
        CS_WITH(S)
        {
            CS_EACH(k) x[k] = (int)(x[k] + v[k].y[i]);
            CS_EACH(k) mask[k] = x[k] > 100;
            CS_WHERE(mask)
            {
                CS_EACH(k) x[k] = x[k] % 100;
            }
            check_equal(cs_fwrite(CS_PAR(S, x), sizeof *x, 1, parFile), 1);
            check_equal(cs_fmode(parFile), CS_NB);
        }
        sum += i / 2.0;
    }
    CS_WITH(S)
    for (int i = 0; i < 10; i += 9) {
        check_equal(cs_fwrite(CS_MEMBER(S, v, y[i]), sizeof v->y[i], 1, parFile), 1);
        check_equal(cs_fmode(parFile), CS_CB);
    }
    return sum;
}

/* With the declarations of the figure; the scalar file has the sum. */
static void figure_2(void)
{
    const char *name = file_name();
    struct cs_shape *S = cs_shape(2, (const long[]){256, 128});
    size_t local = (size_t)cs_local(S) + 1;
    int *x = calloc(local, sizeof *x);
    struct figure_2 *v = calloc(local, sizeof *v);
    bool *mask = calloc(local, sizeof *mask);
    FILE *scalarFile = cs_sfopen("//df00/sum", "w");
    CS_FILE *parFile = NULL;

    check(scalarFile != NULL, "%s", strerror(errno));
    CS_WITH(S)
    {
        parFile = cs_fopen_with(name, "w", NULL, &options);
        check(parFile != NULL, "%s: %s", strerror(errno), pio_failed_path());
        for (int i = 0; i < 10; i++)
            CS_EACH(k) v[k].y[i] = (double)(cs_pcoord(S, k, 0) * (i + 1) % 71 + cs_pcoord(S, k, 1)) + 0.5;
    }
    fprintf(scalarFile, "%g\n", run_figure_2(S, x, v, mask, parFile));
    check_equal(cs_fclose(parFile), 0);
    check_equal(fclose(scalarFile), 0);
    cs_shape_free(S);
    free(x);
    free(v);
    free(mask);
    nlocal();
}

/* ---- As many files as there can be ---- */

#define FILES_MOST 40

static CS_FILE *open_file(const char *type, int k)
{
    char name[32];

    snprintf(name, sizeof name, "%s%d", test_argv[0], k);
    return cs_fopen_with(name, type, NULL, &options);
}

/* Opens files until that fails, which all nodes see: `most` are open then. One that is read may be open twice. */
static void open_most(const char *type, CS_FILE *f[FILES_MOST], int most)
{
    int n = 0;

    while (n < FILES_MOST && (f[n] = open_file(type, type[0] == 'r' && n == most ? 0 : n)))
        n++;
    check(n < FILES_MOST, "there is no end");
    check(errno == EMFILE, "file %d: %s", n, strerror(errno));
    check_equal(n, most);
}

static long write_file(CS_FILE *f, struct cs_shape *s, int k)
{
    long x[11];

    CS_EACH(i) x[i] = 100 * k + cs_number(s, i);
    return cs_fwrite(CS_PAR(s, x), sizeof *x, 1, f);
}

static void read_and_close(CS_FILE *f, struct cs_shape *s, int k)
{
    long x[11];

    check_equal(cs_fread(CS_PAR(s, x), sizeof *x, 1, f), 1);
    CS_EACH(i) check_equal(x[i], 100 * k + cs_number(s, i));
    check_equal(cs_fclose(f), 0);
}

/* Files of NB; what could not be opened is not there. */
static void most_of_nb(struct cs_shape *s, int most)
{
    CS_FILE *f[FILES_MOST];

    open_most("w", f, most);
    for (int k = 0; k < most; k++) {
        check_equal(write_file(f[k], s, k), 1);
        check_equal(cs_fclose(f[k]), 0);
    }
    check(!open_file("r", most) && errno == ENOENT, "%s", strerror(errno));
    open_most("r", f, most);
    for (int k = 0; k < most; k++)
        read_and_close(f[k], s, k);
}

/* A write in IB, which needs a directory, finds no place for that until others are closed. */
static void no_place_for_a_directory(struct cs_shape *s, int most)
{
    CS_FILE *f[FILES_MOST];

    open_most("w", f, most);
    check(write_file(f[0], s, 0) == -1 && errno == EMFILE, "%s", strerror(errno));
    for (int k = 1; k < most; k++)
        check_equal(cs_fclose(f[k]), 0);
    check_equal(write_file(f[0], s, 0), 1);
    check_equal(cs_fclose(f[0]), 0);
}

/* Files that are closed in IB while there is no descriptor for .first; of the second nor for .dir, as a VP has written
 * alone, more than a superblock of entries. */
#define LINES 400

static void no_place_for_the_end(struct cs_shape *s, int most)
{
    CS_FILE *f[FILES_MOST];

    options = (struct cs_options){.layout = &layout, .superblock = 1024, .dir_pointers = 2};
    open_most("w", f, most);
    CS_EACH(i)
    for (int n = 0; n < LINES; n++)
        check(fprintf(cs_vp(f[1]), "VP %ld ", cs_number(s, i)) > 0, "%s", strerror(errno));
    check_equal(cs_fclose(f[1]), 0);
    CS_EACH(i) fprintf(cs_vp(f[0]), "%ld,", cs_number(s, i));
    check_equal(write_file(f[0], s, 7), 1); /* in IB: all hear of it, and .dir gets the last place */
    check_equal(cs_fclose(f[0]), 0);
    for (int k = 2; k < most; k++)
        check_equal(cs_fclose(f[k]), 0);
    for (int k = 0; k < 2; k++) {
        check((f[k] = open_file("r", k)) != NULL, "file %d: %s", k, strerror(errno));
        CS_EACH(i)
        {
            long x, vp = -1;

            for (int n = 0; n < (k == 0 ? 1 : LINES); n++, vp = -1) {
                check(fscanf(cs_vp(f[k]), k == 0 ? "%ld," : "VP %ld ", &vp) == 1, "VP %ld", cs_number(s, i));
                check_equal(vp, cs_number(s, i));
            }
            vp = cs_number(s, i);
            check(k == 1 || (fread(&x, sizeof x, 1, cs_vp(f[k])) == 1 && x == 700 + vp), "VP %ld", vp);
        }
        check_equal(cs_fclose(f[k]), 0);
    }
    options = (struct cs_options){.layout = &layout, .least = CS_IB};
}

/* Files of IB are three PIO files, when they are read. */
static void most_of_ib(struct cs_shape *s, int most)
{
    CS_FILE *f[FILES_MOST];

    for (int k = 0; k < most; k++) {
        f[k] = open_file("w", k);
        check(f[k] && write_file(f[k], s, k) == 1 && cs_fmode(f[k]) == CS_IB, "%s", strerror(errno));
        check_equal(cs_fclose(f[k]), 0);
    }
    open_most("r", f, most);
    for (int k = 0; k < most; k++)
        read_and_close(f[k], s, k);
}

/* Arguments: how many files of NB can be open, and how many of IB. */
static void many_files(void)
{
    file_name();
    struct cs_shape *s = cs_shape(1, (const long[]){11});

    CS_WITH(s)
    {
        most_of_nb(s, (int)number_of(2));
        options.least = CS_IB;
        no_place_for_a_directory(s, (int)number_of(2));
        no_place_for_the_end(s, (int)number_of(2));
        most_of_ib(s, (int)number_of(3));
    }
    cs_shape_free(s);
    nlocal();
}

static const struct test_case cases[] = {
    {"figure 2", figure_2},
    {"many files", many_files},
    {"exact", exact},
    {"scalar file", scalar_file},
    {"scalar in each", scalar_in_each},
    {"descriptors in each", descriptors_in_each},
    {"counted", counted},
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
