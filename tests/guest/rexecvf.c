/*
 * Programs with descriptors of their own. Node 0 loads this program, from the file "rexecvf" that the front end serves,
 * on the other nodes, whose program ends at once; the first argument of the loaded one is one of the children's cases.
 */
#include <errno.h>
#include <fcntl.h>
#include <n_errno.h>
#include <npara_prt.h>
#include <pattern.h>
#include <rexec.h>
#include <stdbool.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "check.h"

#define SELF "rexecvf"

static char *const *arguments(const char *name, const char *number)
{
    static char *argv[4];

    argv[0] = SELF;
    argv[1] = (char *)name;
    argv[2] = (char *)number;
    return argv;
}

/* ---- The loaded programs ---- */

static void map(int fd)
{
    struct pattern *p;

    if (ncubesize() == 1)
        return;
    check_equal(pattern_stripe(1000, ncubesize(), &p), 0);
    check_equal(ioctl(fd, N_SETMAP, p), 0);
}

/* Every node writes so many bytes to descriptor 1. */
static void child_writes(void)
{
    char buf[500];
    long n = atol(test_argv[0]);

    memset(buf, 'a' + own_node(), sizeof buf);
    map(1);
    for (; n > 0; n -= 500)
        check_equal(write(1, buf, sizeof buf), (long)sizeof buf);
}

/* All nodes together read so many bytes from descriptor 0. */
static void child_reads(void)
{
    char buf[3000];
    int sum = 0;
    ssize_t n;

    map(0);
    while ((n = read(0, buf, sizeof buf)) > 0)
        sum += (int)n;
    check_equal(n, 0);
    check_equal(isumn(sum), atoi(test_argv[0]));
}

static void child_copies(void)
{
    char buf[3000];
    ssize_t n;

    while ((n = read(5, buf, sizeof buf)) > 0)
        check_equal(write(6, buf, (size_t)n), n);
    check_equal(n, 0);
}

static void child_uses_nothing(void)
{
}

static void child_is_numbered(void)
{
    int dim;

    whoami(NULL, NULL, NULL, &dim);
    check_equal(ncubesize(), atoi(test_argv[0]));
    check(own_node() < ncubesize(), "node %d", own_node());
    check(1 << dim >= ncubesize() && 1 << dim < 2 * ncubesize(), "dimension %d", dim);
    check_equal(isumn(1), ncubesize());
    check_equal(nwrite("", 0, ncubesize(), 1, NULL), -N_EINVAL);
    exit(20);
}

/* ---- The parent ---- */

static void await(int first, int nodes, int expected)
{
    for (int i = first; i < first + nodes; i++)
        check_equal(rwait(i), expected);
}

static void make_pipe(int ends[2])
{
    check_equal(pipe(ends), 0);
    await(1, ncubesize() - 1, 0); /* the other nodes */
}

static int load(int first, int nodes, const char *name, const char *number, int fd, int end)
{
    return rexecvf(first, nodes, SELF, arguments(name, number), &(struct rexec_fd){.fd = fd, .end = end}, 1);
}

static void writer_first(void)
{
    int ends[2];

    make_pipe(ends);
    check_equal(load(4, 4, "child writes", "100000", 1, ends[1]), 0);
    check_equal(load(2, 2, "child reads", "400000", 0, ends[0]), 0);
    await(4, 4, 0);
    await(2, 2, 0);
}

static void reader_first(void)
{
    int ends[2];

    make_pipe(ends);
    check_equal(load(4, 3, "child reads", "40000", 0, ends[0]), 0);
    check_equal(load(2, 2, "child writes", "20000", 1, ends[1]), 0);
    await(4, 3, 0);
    await(2, 2, 0);
}

/* The same nodes again and again, with pipes of their own. */
static void many(void)
{
    for (int i = 0; i < 5; i++)
        writer_first();
}

static void in_the_middle(void)
{
    int first[2], second[2];

    make_pipe(first);
    make_pipe(second);
    const struct rexec_fd fds[] = {{.fd = 6, .end = second[1]}, {.fd = 5, .end = first[0]}};
    check_equal(load(4, 4, "child reads", "6000", 0, second[0]), 0);
    check_equal(rexecvf(1, 1, SELF, arguments("child copies", NULL), fds, 2), 0);
    check_equal(load(2, 2, "child writes", "3000", 1, first[1]), 0);
    await(1, 7, 0);
}

static void nobody_reads(void)
{
    int ends[2];

    make_pipe(ends);
    check_equal(load(2, 2, "child writes", "100000", 1, ends[1]), 0);
    check_equal(close(ends[0]), 0);
    await(2, 2, 141);
    check_equal(pipe(ends), 0); /* closed before */
    check_equal(close(ends[0]), 0);
    check_equal(load(2, 2, "child writes", "100000", 1, ends[1]), 0);
    await(2, 2, 141);
}

static void nobody_writes(void)
{
    int ends[2];

    make_pipe(ends);
    check_equal(load(4, 4, "child reads", "0", 0, ends[0]), 0);
    check_equal(close(ends[1]), 0);
    await(4, 4, 0);
}

/* The parent uses the rest of a pipe: it is the program at that end. */
static void reads_itself(void)
{
    int ends[2], pes;
    char buf[1000];
    long sum = 0;
    ssize_t n;

    make_pipe(ends);
    check_equal(load(4, 4, "child writes", "5000", 1, ends[1]), 0);
    check_equal(ioctl(ends[0], N_PES, &pes), 0);
    check_equal(pes, 4);
    while ((n = read(ends[0], buf, sizeof buf)) > 0) {
        check(buf[0] == 'a' + sum / 1000 % 4, "byte %ld is %c", sum, buf[0]);
        sum += n;
    }
    check_equal(n, 0);
    check_equal(sum, 20000);
    check_equal(close(ends[0]), 0);
    await(4, 4, 0);
    check_equal(pipe(ends), 0); /* and writes */
    check_equal(load(2, 2, "child reads", "10", 0, ends[0]), 0);
    check_equal(load(4, 1, "child writes", "500", 1, ends[0]), -N_EBADF);
    check_equal(write(ends[1], "0123456789", 10), 10);
    check_equal(load(4, 1, "child writes", "500", 1, ends[1]), -N_ENOSTR); /* it is used */
    check_equal(close(ends[1]), 0);
    await(2, 2, 0);
}

/* The parent ends with a rest; nobody waits for ever. */
static void rest_at_the_end(void)
{
    int ends[2];

    make_pipe(ends);
    check_equal(load(4, 4, "child reads", "0", 0, ends[0]), 0);
}

/* A program that does not use its end waits for the other one, and lets it go on. */
static void unused_ends(void)
{
    int ends[2];

    make_pipe(ends);
    check_equal(load(4, 4, "child uses nothing", NULL, 0, ends[0]), 0);
    check_equal(load(2, 2, "child writes", "100000", 1, ends[1]), 0);
    await(4, 4, 0);
    await(2, 2, 141);
}

static void waits_for_a_holder(void)
{
    int ends[2];

    make_pipe(ends);
    check_equal(load(4, 4, "child writes", "1000", 1, ends[1]), 0);
    await(4, 4, 0);
}

static void numbers(void)
{
    make_pipe((int[2]){0});
    check_equal(rexecvf(4, 3, SELF, arguments("child is numbered", "3"), NULL, 0), 0);
    check_equal(rexecvf(2, 2, SELF, arguments("child is numbered", "2"), NULL, 0), 0);
    check_equal(rexecvf(1, 1, SELF, arguments("child is numbered", "1"), NULL, 0), 0);
    await(1, 6, 20);
}

static void files(void)
{
    struct rexec_fd out = {.fd = 1, .end = -1, .path = "/out", .flags = O_WRONLY | O_CREAT | O_TRUNC, .mode = 0666};
    struct stat st;

    make_pipe((int[2]){0});
    check_equal(rexecvf(4, 4, SELF, arguments("child writes", "2000"), &out, 1), 0);
    await(4, 4, 0);
    check_equal(stat("/out", &st), 0);
    check_equal(st.st_size, 8000);
    check_equal(rexecvf(2, 2, SELF, arguments("child reads", "8000"),
                        &(struct rexec_fd){.end = -1, .path = "/out", .flags = O_RDONLY}, 1),
                0);
    await(2, 2, 0);
    out.flags |= O_EXCL;
    check_equal(rexecvf(4, 4, SELF, arguments("child writes", "2000"), &out, 1), -N_EEXIST);
}

static int try(int first, int nodes, const struct rexec_fd *fds, int n)
{
    return rexecvf(first, nodes, SELF, arguments("child uses nothing", NULL), fds, n);
}

static void errors(void)
{
    int ends[2];

    make_pipe(ends);
    struct rexec_fd in = {.fd = 0, .end = ends[0]}, out = {.fd = 1, .end = ends[1]}, file = {.fd = 3, .end = -1};
    const struct rexec_fd both[] = {in, out}, twice[] = {in, {.fd = 0, .end = -1, .path = "/x", .flags = O_RDONLY}};

    check_equal(try(1, 2, NULL, 0), -N_EINVAL); /* no subcube begins there */
    check_equal(try(0, 1, NULL, 0), -N_EBUSY);
    check_equal(try(8, 1, NULL, 0), -N_EINVAL);
    check_equal(try(4, 0, NULL, 0), -N_EINVAL);
    check_equal(try(4, 4, both, 2), -N_EINVAL);
    check_equal(try(4, 4, twice, 2), -N_EINVAL);
    check_equal(try(4, 4, &file, 1), -N_EINVAL);
    file.path = "/none/x";
    check_equal(try(4, 4, &file, 1), -N_ENOENT);
    file.end = 99;
    check_equal(try(4, 4, &file, 1), -N_EBADF);
    file.end = 2;
    check_equal(try(4, 4, &file, 1), -N_ENOSTR);
    in.fd = 256;
    check_equal(try(4, 4, &in, 1), -N_EBADF);
    check_equal(rexecvf(4, 4, "none", arguments("x", NULL), &out, 1), -N_ENOENT);
    check_equal(rexecvf(4, 4, "/", arguments("x", NULL), &out, 1), -N_EACCES);
    check_equal(load(4, 4, "child writes", "1000", 1, ends[1]), 0); /* the ends are still good */
    check_equal(try(4, 4, NULL, 0), -N_EBUSY);
    check_equal(load(2, 2, "child reads", "4000", 0, ends[0]), 0);
    check_equal(close(ends[1]), -1);
    await(4, 4, 0);
    await(2, 2, 0);
}

/* ---- A program that is loaded loads others ---- */

static void child_loads(void)
{
    int ends[2];

    if (own_node() > 0)
        exit(0);
    make_pipe(ends);
    check_equal(load(1, 1, "child writes", "1000", 1, ends[1]), 0);
    check_equal(load(2, 2, "child reads", "1000", 0, ends[0]), 0);
    await(1, 3, 0);
    check_equal(rexecv(1, 1, SELF, arguments("child belongs", NULL)), 0);
    await(1, 1, 40);
}

/* By rexecv it has the numbers of its parent's program. */
static void child_belongs(void)
{
    check_equal(own_node(), 1);
    check_equal(ncubesize(), 4);
    exit(40);
}

static void loads_loaders(void)
{
    make_pipe((int[2]){0});
    check_equal(rexecvf(4, 4, SELF, arguments("child loads", NULL), NULL, 0), 0);
    await(4, 1, 0);
}

/* ---- In a pipeline of the front end ---- */

static void stage(void)
{
    char byte = 'x';

    if (own_node() > 0)
        exit(0);
    child_loads();
    check_equal(write(1, &byte, 1), -1); /* several nodes, and no mapping */
    check_equal(errno, EDESTADDRREQ);
    check_equal(execv(SELF, arguments("child uses nothing", NULL)), -1);
    check_equal(errno, ENOTSUP);
    exit(0);
}

static const struct test_case cases[] = {
    {"child writes", child_writes},
    {"child reads", child_reads},
    {"child copies", child_copies},
    {"child uses nothing", child_uses_nothing},
    {"child is numbered", child_is_numbered},
    {"child loads", child_loads},
    {"child belongs", child_belongs},
    {"writer first", writer_first},
    {"reader first", reader_first},
    {"many", many},
    {"in the middle", in_the_middle},
    {"nobody reads", nobody_reads},
    {"nobody writes", nobody_writes},
    {"rest at the end", rest_at_the_end},
    {"reads itself", reads_itself},
    {"unused ends", unused_ends},
    {"waits for a holder", waits_for_a_holder},
    {"numbers", numbers},
    {"files", files},
    {"errors", errors},
    {"loads loaders", loads_loaders},
    {"stage", stage},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    bool is_child = argc > 1 && strncmp(argv[1], "child", 5) == 0, is_stage = argc > 1 && strcmp(argv[1], "stage") == 0;

    if (!is_child && !is_stage && own_node() > 0)
        return 0;
    if (is_child) { /* says nothing */
        test_argc = argc - 2;
        test_argv = argv + 2;
        for (const struct test_case *c = cases; c->name; c++)
            if (strcmp(c->name, argv[1]) == 0)
                c->run();
        return 0;
    }
    return run_case(cases, argc, argv);
}
