/* Messages to all nodes of the subcube: their times of arrival, their order, and that storms of them drain. */
#include <n_errno.h>
#include <nmon.h>
#include <ntime.h>

#include "check.h"

#define TYPE 9

static void wait_us(double us)
{
    double end = amicclk() + us;

    while (amicclk() < end)
        ;
}

/* A hop and a header per dimension, then the bytes. */
static void times(void)
{
    static const int sizes[] = {0, 1, 100, 1000};
    static char buf[1000];
    struct nmonitor m;

    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
        int root = (int)i * 3 % node_count(), src = root, type = TYPE;

        check_equal(nsync(TYPE + 1), 0);
        if (own_node() == root) {
            wait_us(5000);
            check_equal(nwrite(buf, sizes[i], N_DEST_ALL, TYPE, NULL), 0);
        }
        check_equal(nread(buf, sizeof buf, &src, &type, NULL), sizes[i]);
        check_equal(nmonitor(&m), 0);
        long hops = __builtin_popcount((unsigned)(own_node() ^ root));
        long cycles = hops > 0 ? hops * (45 + 72) : 72;
        check_equal(m.recv_done_cycles - m.recv_start_cycles, cycles + 9 * sizes[i]);
    }
}

/* Every node writes to all and to each, again and again; messages of one source arrive in the order of sending. */
static void order(void)
{
    static char buf[40000];
    const int nodes = node_count(), me = own_node(), rounds = 6;
    int type = TYPE;

    for (int k = 0; k < rounds; k++) {
        int bytes = k % 3 == 2 ? 30000 : 8 + 400 * k;

        fill_pattern(buf, (size_t)bytes, (uint32_t)(me * 100 + k));
        if (k % 2 == 0) {
            check_equal(nwrite(buf, bytes, N_DEST_ALL, TYPE, NULL), 0);
            continue;
        }
        for (int to = 0; to < nodes; to++)
            check_equal(nwrite(buf, bytes, to, TYPE, NULL), 0);
    }
    for (int src = nodes - 1; src >= 0; src--)
        for (int k = 0; k < rounds; k++) {
            int from = src, n = nread(buf, sizeof buf, &from, &type, NULL);

            check_equal(n, k % 3 == 2 ? 30000 : 8 + 400 * k);
            check(find_wrong_byte(buf, (size_t)n, (uint32_t)(src * 100 + k)) == (size_t)n, "message %d of %d", k, src);
        }
    check_equal(nsync(TYPE + 1), 0);
    check_equal(ntest(NULL, NULL), -N_EAGAIN);
}

int main(int argc, char **argv)
{
    static const struct test_case cases[] = {{"times", times}, {"order", order}, {0}};

    return run_case(cases, argc, argv);
}
