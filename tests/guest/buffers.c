/* Messages that pass without a copy, and those that land where nread waits. */
#include <n_errno.h>
#include <nmon.h>
#include <ntime.h>
#include <unistd.h>

#include "check.h"

enum { TYPE = 7, READY = 8, LONG_BYTES = 300000 };

static char memory[LONG_BYTES + 64] __attribute__((aligned(64)));

static void expect_pattern(const void *buf, size_t n, uint32_t seed, const char *what)
{
    size_t wrong = find_wrong_byte(buf, n, seed);

    check(wrong == n, "%s of %zu bytes, seed %u: wrong at %zu", what, n, seed, wrong);
}

/* Round the ring, in every way that a message can be sent and read. */
static void every_way(void)
{
    static const int lengths[] = {0, 1, 8, 100, 1272, 1280, 1281, 4096, 16384, 65537, LONG_BYTES};
    int node = own_node(), nodes = node_count(), next = (node + 1) % nodes, previous = (node + nodes - 1) % nodes;

    for (size_t i = 0; i < 4 * sizeof lengths / sizeof *lengths; i++) {
        int n = lengths[i / 4], src = previous, type = (int)i;
        char *out = ngetp(n), *in = NULL;

        check(out != NULL, "ngetp(%d)", n);
        fill_pattern(out, n, node);
        if (i & 1) {
            check_equal(nwritep(out, n, next, type, NULL), 0);
        } else {
            check_equal(nwrite(out, n, next, type, NULL), 0);
            check_equal(nrelp(out), 0);
        }
        if (i & 2) {
            check_equal(nreadp(&in, LONG_BYTES, &src, &type, NULL), n);
            expect_pattern(in, n, previous, "a buffer");
            memset(in, 0, n);
            check_equal(nrelp(in), 0);
        } else {
            check_equal(nread(memory + i % 3, n, &src, &type, NULL), n);
            expect_pattern(memory + i % 3, n, previous, "a message");
        }
        check(src == previous && type == (int)i, "from %d, type %d", src, type);
    }
}

/* The reader reports that it is about to wait, so that the result does not depend on a compiler's cycles. */
static void lands_where_nread_waits(void)
{
    int node = own_node(), any = N_ANY, type = TYPE;
    struct nmonitor before, after;

    check_equal(nmonitor(&before), 0);
    for (int round = 0; round < 6; round++) {
        int n = 20481 + 9000 * round; /* longer than any standard buffer */

        if (node == 1) {
            any = 0, type = READY;
            fill_pattern(memory, n, round);
            check_equal(nread(NULL, 0, &any, &type, NULL), 0);
            usleep(20000);
            check_equal(nwrite(memory, n, 0, TYPE, NULL), 0);
        } else if (node == 0) {
            any = 1, type = TYPE;
            memset(memory, 0x55, n + 8);
            check_equal(nwrite(NULL, 0, 1, READY, NULL), 0);
            check_equal(nread(memory, n, &any, &type, NULL), n);
            expect_pattern(memory, n, round, "what landed");
            check(memory[n] == 0x55, "nothing beyond");
        }
    }
    check_equal(nmonitor(&after), 0);
    if (node == 0) {
        check_equal(after.landed - before.landed, 6);
        check_equal(after.copied - before.copied, 0);
    }
}

/* One message lands while others arrive: nread returns the one that is landing, and the others stay queued. */
static void others_come_meanwhile(void)
{
    int node = own_node(), nodes = node_count(), src, type, seen = 0;

    if (node > 0) {
        usleep(node == 1 ? 0 : 40000 + 1000 * node); /* a long one is on its way for 135 ms */
        fill_pattern(memory, LONG_BYTES, node);
        check_equal(nwrite(memory, node == 1 ? LONG_BYTES : 8, 0, TYPE, NULL), 0);
        return;
    }
    src = N_ANY, type = N_ANY;
    check_equal(nread(memory, sizeof memory, &src, &type, NULL), LONG_BYTES);
    check_equal(src, 1);
    expect_pattern(memory, LONG_BYTES, 1, "the long one");
    for (int i = 2; i < nodes; i++) {
        src = type = N_ANY;
        check_equal(nread(memory, 8, &src, &type, NULL), 8);
        seen |= 1 << src;
    }
    check_equal(seen, (1 << nodes) - 4);
}

static void too_short_for_what_comes(void)
{
    int src = N_ANY, type = TYPE;

    if (own_node() == 1) {
        usleep(5000);
        fill_pattern(memory, 50000, 3);
        check_equal(nwrite(memory, 50000, 0, TYPE, NULL), 0);
        return;
    }
    check_equal(nread(memory, 49999, &src, &type, NULL), -N_EMSGSIZE);
    check_equal(nread((char *)1, 50000, &src, &type, NULL), -N_EFAULT);
    check_equal(nread(memory, 50000, &src, &type, NULL), 50000);
    expect_pattern(memory, 50000, 3, "it stayed");
}

static void errors(void)
{
    char *buf = ngetp(100), *other = NULL;
    int flag = 1;

    check(ngetp(-1) == NULL && ngetp(0x7fffffff) == NULL, "impossible lengths");
    for (int i = 0; i < 100; i++)
        check(buf[i] == 0, "byte %d is not zero", i);
    check_equal(nwritep(buf + 8, 8, 0, TYPE, &flag), -N_EFAULT);
    check_equal(flag, 1);
    check_equal(nwritep(memory, 8, 0, TYPE, NULL), -N_EFAULT);
    check_equal(nwritep(NULL, 8, 0, TYPE, NULL), -N_EFAULT);
    check_equal(nwritep(buf, 101, 0, TYPE, NULL), -N_EINVAL);
    check_equal(nwritep(buf, -1, 0, TYPE, NULL), -N_EINVAL);
    check_equal(nwritep(buf, 8, 99, TYPE, NULL), -N_EINVAL);
    check_equal(nwritep(buf, 8, 0, 0x18021, NULL), -N_EINVAL);
    check_equal(nrelp(memory), -N_EFAULT);
    strcpy(buf, "still mine");
    check_equal(nwritep(buf, 11, own_node(), TYPE, NULL), 0);
    check_equal(nwritep(buf, 11, own_node(), TYPE, NULL), -N_EFAULT);
    check_equal(nreadp(&other, 10, NULL, NULL, NULL), -N_EMSGSIZE);
    check_equal(nreadp(&other, 11, NULL, NULL, NULL), 11);
    check(strcmp(other, "still mine") == 0, "%s", other);
    check_equal(nrelp(other), 0);
    check_equal(nrelp(other), -N_EFAULT);
    check(nglobal() == 0 && nglobal() == 1 && nlocal() == 1 && nlocal() == 0, "modes");
}

/* When memory is used up a call returns an error, and freed memory can be used again. */
static void all_memory(void)
{
    enum { MOST = 1000 };
    static char *buf[MOST];
    int n = 0;

    for (int round = 0; round < 2; round++) {
        int had = n;

        for (n = 0; n < MOST && (buf[n] = ngetp(100000)); n++)
            ;
        check(n > 10 && n < MOST && (round == 0 || n == had), "%d buffers, then %d", had, n);
        for (int i = 0; i < n; i++)
            check_equal(nrelp(buf[i]), 0);
    }
    check(ngetp(500000) != NULL, "one that is left to the end of the program");
}

static void to_everybody(void)
{
    char *buf = ngetp(5000);

    fill_pattern(buf, 5000, own_node());
    check_equal(nwritep(buf, 5000, N_DEST_ALL, TYPE, NULL), 0);
    for (int i = 0; i < node_count(); i++) {
        int src = i, type = TYPE;

        check_equal(nreadp(&buf, 5000, &src, &type, NULL), 5000);
        expect_pattern(buf, 5000, i, "one of all");
        check_equal(nrelp(buf), 0);
    }
}

static void gone_after_nwritep(void)
{
    volatile char *buf = ngetp(10);

    check_equal(nwritep((char *)buf, 10, own_node(), TYPE, NULL), 0);
    buf[0] = 1;
}

static const struct test_case cases[] = {
    {"every way", every_way},
    {"lands where nread waits", lands_where_nread_waits},
    {"others come meanwhile", others_come_meanwhile},
    {"too short", too_short_for_what_comes},
    {"errors", errors},
    {"all memory", all_memory},
    {"to everybody", to_everybody},
    {"gone after nwritep", gone_after_nwritep},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
