/* What a program sees of a number of nodes that is no power of two. */
#include <group.h>
#include <n_errno.h>
#include <rexec.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sysn.h>

#include "check.h"
#include "vertex/contract/traps.h"

static void numbers(void)
{
    struct ninfo info;
    int dim, nodes = ncubesize();

    whoami(NULL, NULL, NULL, &dim);
    check(nodes > 1 << (dim - 1) && nodes < 1 << dim, "%d nodes in a subcube of dimension %d", nodes, dim);
    check(own_node() < nodes, "a node of %d", nodes);
    check_equal(ioctl(nself, N_INFO, &info), 0);
    check_equal(info.pes, nodes);
    check_equal(info.dim, dim);
    check_equal(ioctl(nself, N_PES, &info.pes), 0);
    check_equal(info.pes, nodes);
}

static void messages_to_all(void)
{
    int nodes = ncubesize(), from[16] = {0}, value;

    check_equal(nwrite(&(int){own_node()}, sizeof value, N_DEST_ALL, 3, NULL), 0);
    for (int i = 0; i < nodes; i++) {
        int src = -1, type = 3;

        check_equal(nread(&value, sizeof value, &src, &type, NULL), (long)sizeof value);
        check_equal(value, src);
        check_equal(from[src]++, 0);
    }
    nsync(1);
    check_equal(ntest(&(int){-1}, &(int){-1}), -N_EAGAIN);
}

static void nobody_behind(void)
{
    int nodes = ncubesize(), src = nodes, type = 1;

    check_equal(nwrite(&src, sizeof src, nodes, 1, NULL), -N_EINVAL);
    check_equal(nread(&src, sizeof src, &src, &type, NULL), -N_EINVAL);
    check_equal(rwait(nodes), -N_EINVAL);
    check_equal(trap_kill(nodes, SIGTERM), -N_ESRCH);
}

static void counts(void)
{
    nsync(1);
    if (own_node() == 0)
        printf("%d nodes\n", ncubesize());
}

static const struct test_case cases[] = {
    {"numbers", numbers},
    {"messages to all", messages_to_all},
    {"nobody behind", nobody_behind},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    if (argc == 2 && strcmp(argv[1], "counts") == 0) {
        counts();
        return 0;
    }
    return run_case(cases, argc, argv);
}
