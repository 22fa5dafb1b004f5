/* Parallel files on the host (fake_group.h): bad input, and what fails. */
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/libpio/fake_group.h"
#include "tests/libpio/star_folder.h"
#include "tests/libpio/unstar.h"

TestSuite(star_failures, .timeout = 600);

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

Test(star_failures, bad_input_is_refused_and_changes_nothing, .init = make_folder, .fini = remove_folder)
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

Test(star_failures, there_are_192_files_and_exit_closes_them, .init = make_folder, .fini = remove_folder)
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

Test(star_failures, nodes_in_different_calls_all_learn_it, .init = make_folder, .fini = remove_folder)
{
    cr_assert(fake_nodes_run(3, different_calls, NULL));
    cr_assert(fake_nodes_run(3, opens_unclosed, NULL));
}

/* A node has closed the file, and the others have not, when all end. */
static bool closes_alone(void *none)
{
    struct cs_shape *s = shape_of(3);
    double x[1] = {0};

    (void)none;
    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen(path, "w");

        MUST(f);
        if (own_rank(s) == 1)
            MUST_FAIL(cs_fclose(f), EPROTO);
        else
            MUST_FAIL(cs_fwrite(CS_PAR(s, x), 8, 1, f), EPROTO);
    }
    return true;
}

Test(star_failures, nobody_waits_in_exit_for_a_file_that_one_has_closed, .init = make_folder, .fini = remove_folder)
{
    cr_assert(fake_nodes_run(3, closes_alone, NULL));
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

Test(star_failures, a_full_volume_is_everybodys_next_result, .init = make_folder, .fini = remove_folder)
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

/* ---- Memory ---- */

/* Lets this process have so many bytes more; -1: as many as there are. */
static void limit_memory(long more)
{
    struct rlimit limit;
    long pages = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (!f || fscanf(f, "%ld", &pages) != 1)
        abort();
    fclose(f);
    getrlimit(RLIMIT_AS, &limit);
    limit.rlim_cur = more < 0 ? limit.rlim_max : (rlim_t)(pages * sysconf(_SC_PAGESIZE) + more);
    setrlimit(RLIMIT_AS, &limit);
    while (more >= 0 && malloc(1 << 16)) /* what it has had, and has not used */
        continue;
}

/* What is more than a node has. */
static const struct starving {
    const char *name;
    bool is_ib;
    struct cs_options options;
} starving[] = {
    {"the buffers of CB", false, {.cb_block = 65536, .least = CS_CB}},
    {"the buffers of IB", true, {.superblock = 1 << 20}},
    {"a row of NB in two phases", false, {.way = CS_TWO_PHASES}},
    {"a row of CB in two phases", false, {.way = CS_TWO_PHASES, .least = CS_CB}},
};

static bool no_memory(void *arg)
{
    const struct starving *a = arg;
    bool is_ib = a->is_ib, odd[VPS], is_hit;
    const struct cs_options o = a->options;
    struct cs_shape *s = shape_of(VPS);
    double x[VPS] = {0};
    long at[VPS];

    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen_with(path, "w+", NULL, &o);

        MUST(f && cs_fwrite(CS_PAR(s, x), 8, 0, f) == 0);
        is_hit = cs_local(s) > 0 && cs_number(s, 0) == 13;
        for (long i = 0; i < cs_local(s); i++)
            odd[i] = !is_ib || cs_number(s, i) % 2;
        if (is_hit)
            limit_memory(100000);
        CS_WHERE(odd) MUST_FAIL(cs_fwrite(CS_PAR(s, x), 8, 1, f), ENOMEM);
        if (is_hit)
            limit_memory(-1);
        cs_ftell(f, at);
        CS_EACH(i) MUST(at[i] == 0);
        CS_EACH(i) x[i] = (double)cs_number(s, i);
        CS_WHERE(odd) MUST(cs_fwrite(CS_PAR(s, x), 8, 1, f) == 1);
        cs_ftell(f, at);
        CS_EACH(i) MUST(at[i] == (odd[i] ? 8 : 0));
        if (is_hit) /* what it has is enough for more of them */
            limit_memory(0);
        CS_WHERE(odd) MUST(cs_fwrite(CS_PAR(s, x), 8, 1, f) == 1);
        CS_WHERE(odd) MUST(cs_fwrite(CS_PAR(s, x), 8, 1, f) == 1);
        if (is_hit)
            limit_memory(-1);
        MUST(cs_fclose(f) == 0);
    }
    cs_shape_free(s);
    return true;
}

Test(star_failures, a_node_without_memory_is_everybodys_error_before_anything_moves, .init = make_folder,
     .fini = remove_folder)
{
#ifdef __SANITIZE_ADDRESS__
    cr_skip("the sanitizer takes more memory than it is given");
#endif
    for (size_t i = 0; i < sizeof starving / sizeof *starving; i++) {
        struct unstar u;

        cr_assert(fake_nodes_run(3, no_memory, (void *)&starving[i]), "%s", starving[i].name);
        cr_assert(unstar_read(path, &u), "%s: %s", starving[i].name, u.why);
        for (long vp = 0; vp < VPS; vp++) {
            const double x[3] = {(double)vp, (double)vp, (double)vp};

            cr_assert_eq(u.length[vp], starving[i].is_ib && vp % 2 == 0 ? 0 : sizeof x, "%s", starving[i].name);
            cr_assert(memcmp(u.stream[vp], x, (size_t)u.length[vp]) == 0, "%s: VP %ld", starving[i].name, vp);
        }
        unstar_free(&u);
    }
}

/* Strings are measured in memory of the library's own. */
static bool no_memory_for_strings(void *none)
{
    enum { MANY = 300000 };
    struct cs_shape *s = shape_of(MANY);
    char(*text)[2] = calloc((size_t)cs_local(s) + 1, sizeof *text);

    (void)none;
    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen(path, "w");

        MUST(f && text);
        bool is_hit = cs_number(s, 0) == 0;
        if (is_hit)
            limit_memory(100000);
        MUST_FAIL(cs_fputs(CS_PAR(s, text), f), ENOMEM);
        if (is_hit)
            limit_memory(-1);
        CS_EACH(i) text[i][0] = 'x';
        MUST(cs_fputs(CS_PAR(s, text), f) == 0 && cs_fclose(f) == 0);
    }
    cs_shape_free(s);
    free(text);
    return true;
}

Test(star_failures, a_node_without_memory_for_strings_is_everybodys_error, .init = make_folder, .fini = remove_folder)
{
#ifdef __SANITIZE_ADDRESS__
    cr_skip("the sanitizer takes more memory than it is given");
#endif
    cr_assert(fake_nodes_run(3, no_memory_for_strings, NULL));
}

/* A VP has gone to IB alone, and a node has no memory to follow: its part of the collective buffer is written all the
 * same. *closes: the file is closed then, which cannot be; else all go back. */
static bool no_memory_to_follow(void *closes)
{
    const struct cs_options o = {.least = CS_CB, .cb_block = 16, .superblock = 1 << 20, .way = CS_TWO_PHASES};
    struct cs_shape *s = shape_of(VPS);
    double x[VPS] = {0};
    int result = 0;

    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen_with(path, "w+", NULL, &o);

        CS_EACH(i) x[i] = (double)cs_number(s, i);
        MUST(f && cs_fwrite(CS_PAR(s, x), 8, 1, f) == 1);
        CS_EACH(i) if (cs_number(s, i) == 0) MUST(fputs("alone", cs_vp(f)) >= 0);
        bool is_hit = cs_number(s, 0) == 13;
        if (is_hit)
            limit_memory(100000);
        if (*(bool *)closes)
            MUST_FAIL(cs_fclose(f), ENOMEM);
        else
            result = cs_fseek(f, 0, SEEK_SET);
        if (is_hit)
            limit_memory(-1);
        if (*(bool *)closes)
            MUST_NULL(cs_fopen(path, "r"), EBUSY);
        if (*(bool *)closes)
            continue;
        MUST(result == 0 && cs_fread(CS_PAR(s, x), 8, 1, f) == 1);
        CS_EACH(i) MUST(x[i] == (double)cs_number(s, i));
        MUST(cs_fclose(f) == 0);
    }
    cs_shape_free(s);
    return true;
}

Test(star_failures, a_node_without_memory_loses_nothing_where_another_one_is_in_ib, .init = make_folder,
     .fini = remove_folder)
{
    bool closes = false;
    struct unstar u;

#ifdef __SANITIZE_ADDRESS__
    cr_skip("the sanitizer takes more memory than it is given");
#endif
    cr_assert(fake_nodes_run(3, no_memory_to_follow, &closes));
    cr_assert(unstar_read(path, &u), "%s", u.why);
    for (long vp = 0; vp < VPS; vp++) {
        double x;

        cr_assert_eq(u.length[vp], vp == 0 ? 13 : 8, "VP %ld: %ld", vp, u.length[vp]);
        memcpy(&x, u.stream[vp], sizeof x);
        cr_assert_eq(x, (double)vp);
    }
    unstar_free(&u);
    closes = true;
    cr_assert(fake_nodes_run(3, no_memory_to_follow, &closes));
}

/* ---- Descriptors ---- */

/* Lets this process open so many files more; -1: as many as there are. */
static void limit_files(int more)
{
    struct rlimit limit;
    int lowest = dup(0);

    close(lowest);
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur = more < 0 ? limit.rlim_max : (rlim_t)(lowest + more);
    setrlimit(RLIMIT_NOFILE, &limit);
}

/* One node has too few descriptors for what it wants to update; *type is what it asks for then. */
static bool no_descriptors(void *type)
{
    struct cs_shape *s = shape_of(VPS);
    int x[VPS], is_empty = *(char *)type == 'w';
    bool is_hit = cs_number(s, 0) == 13;
    const struct cs_options o = {.least = CS_IB};

    CS_WITH(s)
    {
        CS_EACH(i) x[i] = (int)cs_number(s, i);
        CS_FILE *f = cs_fopen_with(path, "w", NULL, &o);
        MUST(f && cs_fwrite(CS_PAR(s, x), sizeof *x, 1, f) == 1 && cs_fclose(f) == 0);
        if (is_hit)
            limit_files(is_empty ? 0 : 2); /* three parts */
        MUST_NULL(cs_fopen(path, type), EMFILE);
        if (is_hit)
            limit_files(-1);
        f = cs_fopen(path, "r");
        MUST(f && cs_fread(CS_PAR(s, x), sizeof *x, 1, f) == !is_empty && cs_fclose(f) == 0);
        CS_EACH(i) MUST(x[i] == cs_number(s, i));
        MUST(cs_remove(path) == 0);
    }
    cs_shape_free(s);
    return true;
}

Test(star_failures, a_file_that_one_node_cannot_open_stays_as_it_was, .init = make_folder, .fini = remove_folder)
{
    cr_assert(fake_nodes_run(3, no_descriptors, "r+"));
    cr_assert(fake_nodes_run(3, no_descriptors, "a"));
    cr_assert(fake_nodes_run(3, no_descriptors, "w")); /* its data are gone */
}

/* VPs write alone, until superblocks of the directory are full, where a node can open nothing more. */
static bool no_descriptor_for_the_directory(void *none)
{
    const struct cs_options o = {.ib_block = 4, .dir_pointers = 2, .superblock = 64};
    struct cs_shape *s = shape_of(VPS);
    int x[VPS];

    (void)none;
    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen_with(path, "w", NULL, &o);

        CS_EACH(i) x[i] = (int)cs_number(s, i);
        MUST(f && cs_fwrite(CS_PAR(s, x), sizeof *x, 1, f) == 1);
        if (cs_number(s, 0) == 13)
            limit_files(0);
        CS_EACH(i)
        for (int k = 0; k < 50; k++)
            MUST(fprintf(cs_vp(f), "%3ld", (cs_number(s, i) + k) % 1000) == 3);
        MUST(cs_fclose(f) == 0);
        limit_files(-1);
    }
    cs_shape_free(s);
    return true;
}

Test(star_failures, a_node_without_a_descriptor_for_the_directory_takes_that_of_the_data, .init = make_folder,
     .fini = remove_folder)
{
    for (int slow = 0; slow < 2; slow++) {
        struct unstar u;

        fake_store_is_slow = slow;
        cr_assert(fake_nodes_run(3, no_descriptor_for_the_directory, NULL));
        cr_assert(unstar_read(path, &u), "%s", u.why);
        for (long vp = 0; vp < VPS; vp++) {
            char text[8];

            cr_assert_eq(u.length[vp], 4 + 150, "VP %ld: %ld", vp, u.length[vp]);
            for (int k = 0; k < 50; k++) {
                snprintf(text, sizeof text, "%3ld", vp + k);
                cr_assert(memcmp(u.stream[vp] + 4 + 3 * k, text, 3) == 0, "VP %ld, %d", vp, k);
            }
        }
        unstar_free(&u);
    }
}

/* ---- The program ends at any change ---- */

struct ending {
    int at;       /* before which change it ends; 0: it does not */
    int version;  /* of the file: what is in it */
    bool removes; /* it does not write */
};

/* Rows of NB and CB, then blocks of IB. */
static bool writes_version(void *arg)
{
    const struct ending *e = arg;
    const struct cs_options o = {.ib_block = 8, .dir_pointers = 2, .superblock = 64};
    struct cs_shape *s = shape_of(e->version == 1 ? VPS : 13);
    double x[VPS], y[VPS][2];
    bool odd[VPS];

    if (e->at > 0)
        fake_store_end_at(e->at);
    for (long i = 0; i < cs_local(s); i++) {
        x[i] = y[i][1] = e->version * 1000 + (double)i;
        odd[i] = i % 2;
    }
    CS_WITH(s)
    {
        if (e->removes) {
            MUST(cs_remove(path) == 0);
        } else {
            CS_FILE *f = cs_fopen_with(path, "w", NULL, &o);

            MUST(f && cs_fwrite(CS_PAR(s, x), 8, 1, f) == 1);
            MUST(cs_fwrite(CS_PAR(s, x), 8, 1, f) == 1);
            MUST(cs_fwrite((struct cs_par){(char *)&y[0][1], sizeof y[0], s}, 8, 1, f) == 1);
            CS_WHERE(odd) MUST(cs_fwrite(CS_PAR(s, x), 8, 1, f) == 1);
            MUST(cs_fclose(f) == 0);
        }
    }
    cs_shape_free(s);
    return !e->at || (fprintf(stderr, "ended too late\n"), _exit(2), false);
}

/* It is version 1 or 2, whole; or there is none; or nobody can open it. */
static bool is_a_version_or_refused(void *none)
{
    struct cs_shape *s = NULL;
    double x[VPS];

    (void)none;
    CS_FILE *f = cs_fopen_shape(path, "r", &s); /* without a .meta: ENOENT */
    MUST(f || errno == EBUSY || errno == ENOENT || errno == EPROTO);
    if (!f) {
        s = shape_of(VPS);
        CS_WITH(s) MUST(!cs_fopen(path, "r")); /* nor as an array of others */
        cs_shape_free(s);
        return true;
    }
    int version = cs_positionsof(s) == VPS ? 1 : 2;
    CS_WITH(s)
    {
        bool odd[VPS];

        for (int k = 0; k < 4; k++) {
            CS_EACH(i) odd[i] = k < 3 || i % 2, x[i] = 0;
            CS_WHERE(odd)
            {
                MUST(cs_fread(CS_PAR(s, x), 8, 1, f) == 1);
                CS_EACH(i) MUST(x[i] == version * 1000 + (double)i);
            }
        }
        MUST(cs_fclose(f) == 0);
    }
    cs_shape_free(s);
    return true;
}

static void ends_at_each_change(struct ending e, bool is_there)
{
    struct ending old = {.version = 1};
    bool ended = true;

    for (e.at = 1; ended; e.at++) {
        remove_folder();
        cr_assert_eq(mkdir(folder, 0777), 0);
        if (is_there)
            cr_assert(fake_nodes_run(1, writes_version, &old));
        ended = fake_nodes_run(1, writes_version, &e);
        cr_assert(fake_nodes_run(1, is_a_version_or_refused, NULL), "before change %d", e.at);
        cr_assert(fake_nodes_run(1, writes_version, &old), "again, after change %d", e.at);
        cr_assert(fake_nodes_run(1, is_a_version_or_refused, NULL), "again, after change %d", e.at);
        cr_assert_lt(e.at, 100);
    }
    cr_assert_gt(e.at, 3);
}

Test(star_failures, a_program_that_ends_at_any_change_leaves_a_whole_file_or_a_refused_one, .init = make_folder,
     .fini = remove_folder)
{
    ends_at_each_change((struct ending){.version = 2}, false);
    ends_at_each_change((struct ending){.version = 2}, true);
    ends_at_each_change((struct ending){.removes = true}, true);
}

/* ---- What comes after an error, and what comes short ---- */

static bool rewinds(void *none)
{
    struct cs_shape *s = shape_of(VPS);
    double x[VPS] = {0};

    (void)none;
    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen(path, "w+");

        MUST(f);
        if (cs_number(s, 0) == 0)
            fake_store_fail(1, 1, EIO);
        MUST(cs_fwrite(CS_PAR(s, x), 8, 1, f) == (cs_number(s, 0) == 0 ? 0 : 1));
        MUST_FAIL(cs_fwrite(CS_PAR(s, x), 8, 1, f), EIO);
        MUST_FAIL(cs_fseek(f, 0, SEEK_SET), EIO);
        MUST(cs_rewind(f) == 0 && cs_fwrite(CS_PAR(s, x), 8, 1, f) == 1);
        cs_fclose(f);
    }
    cs_shape_free(s);
    return true;
}

Test(star_failures, an_error_stays_until_the_file_is_rewound, .init = make_folder, .fini = remove_folder)
{
    cr_assert(fake_nodes_run(1, rewinds, NULL));
    cr_assert(fake_nodes_run(3, rewinds, NULL));
}

/* Rows of one byte: of each, the write behind has moved nothing when it ends. */
static bool writes_bytes(void *none)
{
    const struct cs_options o = {.least = CS_CB, .cb_block = 1};
    struct cs_shape *s = shape_of(1);

    (void)none;
    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen_with(path, "w", NULL, &o);

        MUST(f);
        for (const char *c = "abcde"; *c; c++)
            MUST(cs_fwrite(CS_PAR(s, (char *)c), 1, 1, f) == 1);
        MUST(cs_fclose(f) == 0);
    }
    cs_shape_free(s);
    return true;
}

Test(star_failures, a_write_that_has_moved_nothing_is_repeated, .init = make_folder, .fini = remove_folder)
{
    char text[10] = "";
    struct stat st;

    fake_store_is_slow = true;
    umask(022);
    cr_assert(fake_nodes_run(1, writes_bytes, NULL));
    FILE *f = fopen(path, "rb");
    cr_assert_eq(fread(text, 1, sizeof text, f), 5);
    fclose(f);
    cr_assert_str_eq(text, "abcde");
    cr_assert(stat(path, &st) == 0 && (st.st_mode & 07777) == 0644, "mode %o", st.st_mode);
}

/* What IB has in memory is the same after few blocks and after many, written and read. */
static bool memory_is_bounded(void *none)
{
    const struct cs_options o = {.least = CS_IB, .ib_block = 8, .superblock = 1024, .dir_pointers = 2};
    struct cs_shape *s = shape_of(VPS);
    double x[VPS] = {0};
    size_t few = 0;

    (void)none;
    CS_WITH(s)
    {
        CS_FILE *f = cs_fopen_with(path, "w+", NULL, &o);

        MUST(f);
        for (int k = 0; k < 3000; k++) {
            MUST(cs_fwrite(CS_PAR(s, x), 8, 1, f) == 1);
            few = k == 100 ? mallinfo2().uordblks : few;
        }
        MUST(mallinfo2().uordblks == few && cs_rewind(f) == 0);
        for (int k = 0; k < 3000; k++)
            MUST(cs_fread(CS_PAR(s, x), 8, 1, f) == 1);
        MUST(mallinfo2().uordblks == few);
        MUST(cs_fclose(f) == 0);
    }
    cs_shape_free(s);
    return true;
}

Test(star_failures, memory_does_not_grow_with_the_file, .init = make_folder, .fini = remove_folder)
{
    cr_assert(fake_nodes_run(3, memory_is_bounded, NULL));
}
