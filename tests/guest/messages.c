/* Messages between the nodes of a program. */
#include <errno.h>
#include <n_errno.h>
#include <nio.h>
#include <ntime.h>

#include "check.h"

#define TYPE_MAX N_TYPE_MAX

static void send_int(int value, int dest, int type)
{
    check_equal(nwrite(&value, sizeof value, dest, type, NULL), 0);
}

static int receive_int(int src, int type)
{
    int value = -1;

    check_equal(nread(&value, sizeof value, &src, &type, NULL), sizeof value);
    return value;
}

/* ---- Numbers of nodes ---- */

static void identity(void)
{
    int node = -1, proc = -1, host = -1, dim = -1;

    whoami(&node, &proc, &host, &dim);
    check_equal(proc, 0);
    check(dim >= 0 && node >= 0 && node < 1 << dim, "node %d, dim %d", node, dim);
    check(host < 0 || host >= 1 << dim, "host %d is a node", host);
    check_equal(npid() & 0xffff, node);
    whoami(NULL, NULL, NULL, NULL);
    send_int(npid(), 0, 1);
    for (int i = 0, previous = -1; node == 0 && i < 1 << dim; i++) {
        int id = receive_int(i, 1);

        check(id != previous, "nodes %d and %d are both %d", i - 1, i, id);
        previous = id;
    }
}

/* ---- Which message a read takes ---- */

static void explicit_source_and_type(void)
{
    int node = own_node(), nodes = node_count();

    for (int type = 0; node != 0 && type < 4; type++)
        send_int(100 * node + type, 0, type);
    for (int type = 3; node == 0 && type >= 0; type--)
        for (int src = nodes - 1; src > 0; src--)
            check_equal(receive_int(src, type), 100 * src + type);
}

static void expect_any(int want_src, int want_type, int src, int type, int value)
{
    int got = -1, n = nread(&got, sizeof got, &want_src, &want_type, NULL);

    check_equal(n, sizeof got);
    check(got == value && want_src == src && want_type == type, "value %d, source %d, type %d, not %d, %d, %d", got,
          want_src, want_type, value, src, type);
}

/* Node 1 sends everything before it tells node 0 to read, so that all messages have arrived. */
static void wildcards_take_the_oldest(void)
{
    static const int types[] = {5, 3, 9, 3, 5, 0, TYPE_MAX};
    int n = sizeof types / sizeof *types;

    for (int i = 0; own_node() == 1 && i < n; i++)
        send_int(i, 0, types[i]);
    check_equal(nsync(77), 0);
    if (own_node() != 0)
        return;
    expect_any(N_ANY, 3, 1, 3, 1);
    expect_any(1, N_ANY, 1, 5, 0);
    expect_any(N_ANY, N_ANY, 1, 9, 2);
    expect_any(1, 5, 1, 5, 4);
    expect_any(N_ANY, N_ANY, 1, 3, 3);
    expect_any(N_ANY, N_ANY, 1, 0, 5);
    expect_any(N_ANY, N_ANY, 1, TYPE_MAX, 6);
    check_equal(ntest(NULL, NULL), -N_EAGAIN);
}

/* NULL stands for any. */
static void null_stands_for_any(void)
{
    int value = -1, flag = 99;

    send_int(17, 0, 4);
    if (own_node() != 0)
        return;
    for (int i = 0; i < node_count(); i++) {
        check_equal(nread(&value, sizeof value, NULL, NULL, &flag), sizeof value);
        check_equal(value, 17);
        check_equal(flag, 99);
    }
}

static void order_is_kept(void)
{
    enum { COUNT = 60, TYPES = 4 };
    int node = own_node(), nodes = node_count();

    for (int i = 0; node != 0 && i < COUNT; i++)
        send_int(i, 0, i % TYPES);
    for (int type = TYPES - 1; node == 0 && type >= 0; type--)
        for (int src = 1; src < nodes; src++)
            for (int i = type; i < COUNT; i += TYPES)
                check_equal(receive_int(src, type), i);
}

static void ntest_looks_and_leaves(void)
{
    char buf[64];
    int src = N_ANY, type = 6;

    check_equal(ntest(&src, &type), -N_EAGAIN);
    check(src == N_ANY && type == 6, "source %d, type %d", src, type);
    check_equal(nsync(76), 0);
    if (own_node() == 1)
        check_equal(nwrite("0123456789", 10, 0, 6, NULL), 0);
    check_equal(nsync(77), 0);
    if (own_node() != 0)
        return;
    for (int i = 0; i < 2; i++) {
        src = type = N_ANY;
        check_equal(ntest(&src, &type), 10);
        check(src == 1 && type == 6, "source %d, type %d", src, type);
    }
    type = 5;
    check_equal(ntest(&src, &type), -N_EAGAIN);
    type = 6, src = 0;
    check_equal(ntest(&src, &type), -N_EAGAIN);
    src = 1;
    check_equal(nread(buf, sizeof buf, &src, &type, NULL), 10);
    check(memcmp(buf, "0123456789", 10) == 0, "%.10s", buf);
    check_equal(ntest(&src, &type), -N_EAGAIN);
}

static void nrange_limits_wildcards(void)
{
    int src = N_ANY, type = N_ANY;

    for (int t = 0; own_node() == 1 && t < 40; t += 10)
        send_int(t, 0, t);
    check_equal(nsync(TYPE_MAX), 0);
    if (own_node() != 0)
        return;
    check_equal(nrange(10, 20), 0);
    check_equal(ntest(&src, &type), sizeof(int));
    check_equal(type, 10);
    expect_any(N_ANY, N_ANY, 1, 10, 10);
    expect_any(N_ANY, N_ANY, 1, 20, 20);
    check_equal(ntest(NULL, NULL), -N_EAGAIN);
    expect_any(N_ANY, 30, 1, 30, 30);
    check_equal(nrange(20, 10), -N_EINVAL);
    check_equal(nrange(-1, 10), -N_EINVAL);
    check_equal(nrange(0, TYPE_MAX + 1), -N_EINVAL);
    check_equal(ntest(NULL, NULL), -N_EAGAIN);
    check_equal(nrange(0, TYPE_MAX), 0);
    expect_any(N_ANY, N_ANY, 1, 0, 0);
}

/* ---- Lengths and contents ---- */

static void no_bytes(void)
{
    int src = N_ANY, type = N_ANY, next = (own_node() + 1) % node_count();

    check_equal(nwrite(NULL, 0, next, 8, NULL), 0);
    check_equal(nread(NULL, 0, &src, &type, NULL), 0);
    check_equal(src, (own_node() + node_count() - 1) % node_count());
    check_equal(type, 8);
}

#define GUARD 16

/* Sends n bytes from an address, receives them at another, and looks at the bytes around. */
static void carry(uint8_t *room, size_t n, int from, int to, int shift)
{
    uint8_t *buf = room + GUARD + shift;
    int type = 1;

    if (own_node() == from) {
        fill_pattern(buf, n, n);
        check_equal(nwrite(buf, n, to, type, NULL), 0);
        if (from != to)
            memset(buf, 0x55, n); /* it may be used again at once */
    }
    if (own_node() != to)
        return;
    memset(room, 0xee, n + 2 * GUARD + 8);
    check_equal(nread(buf, n, &from, &type, NULL), n);
    check(find_wrong_byte(buf, n, n) == n, "%zu bytes: wrong at %zu", n, find_wrong_byte(buf, n, n));
    for (int i = 0; i < GUARD; i++)
        check(buf[-1 - i] == 0xee && buf[n + i] == 0xee, "%zu bytes: written beside the buffer", n);
}

static const int lengths[] = {0,     1,     2,     7,     8,     9,     63,    64,    500,    1015,   1016,  1017,
                              1023,  1024,  1025,  4095,  4096,  4097,  16375, 16376, 16377,  16383,  16384, 16385,
                              16400, 20479, 20480, 20481, 32768, 65535, 65536, 65537, 131072, 262143, 262144};

static uint8_t *allocate_room(void)
{
    uint8_t *room = malloc((1 << 20) + 2 * GUARD + 8);

    check(room != NULL, "no memory");
    return room;
}

static void every_length(void)
{
    uint8_t *room = allocate_room();

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        carry(room, lengths[i], 0, node_count() - 1, i % 8);
    carry(room, 1 << 20, 0, node_count() - 1, 3);
    free(room);
}

static void to_itself(void)
{
    uint8_t *room = allocate_room();

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++)
        carry(room, lengths[i], own_node(), own_node(), i % 8);
    free(room);
}

static void to_everybody(void)
{
    static uint8_t buf[20000];
    int nodes = node_count();
    size_t n = sizeof buf;

    fill_pattern(buf, n, own_node());
    check_equal(nwrite(buf, n, N_DEST_ALL, 3, NULL), 0);
    for (int src = nodes - 1; src >= 0; src--) {
        int from = src, type = 3;

        check_equal(nread(buf, n, &from, &type, NULL), n);
        check(find_wrong_byte(buf, n, src) == n, "from %d: wrong at %zu", src, find_wrong_byte(buf, n, src));
    }
    check_equal(nsync(4), 0);
    check_equal(ntest(NULL, NULL), -N_EAGAIN);
}

static void too_small_a_buffer(void)
{
    char buf[100] = {0};
    int src = N_ANY, type = N_ANY, flag = 0;

    if (own_node() == 1) {
        check_equal(nwrite("the first", 10, 0, 2, NULL), 0);
        check_equal(nwrite("2nd", 4, 0, 2, NULL), 0);
    }
    if (own_node() != 0)
        return;
    check_equal(nread(buf, 9, &src, &type, &flag), -N_EMSGSIZE);
    check_equal(flag, 0);
    check_equal(buf[0], 0);
    src = type = N_ANY;
    check_equal(nread(buf, 0, &src, &type, NULL), -N_EMSGSIZE);
    src = type = N_ANY;
    check_equal(nread(buf, 10, &src, &type, NULL), 10);
    check(strcmp(buf, "the first") == 0, "%s", buf);
    check_equal(nread(buf, sizeof buf, &src, &type, NULL), 4);
    check(strcmp(buf, "2nd") == 0, "%s", buf);
}

/* ---- Errors ---- */

static const char constant[] = "in a read-only page";

#define KERNEL_TEXT ((void *)0x80000000ul)
#define KERNEL_DATA ((void *)0xc0001000ul)
#define STACK_END   ((char *)0x70000000ul)

static void *const bad_buffers[] = {
    NULL,        (void *)8,           (void *)0x1000, KERNEL_TEXT, KERNEL_DATA,
    (void *)-1l, (void *)(1ul << 38), STACK_END - 4,  STACK_END,   (void *)0x8000000000000000ul,
};
#define BAD_BUFFERS (sizeof bad_buffers / sizeof *bad_buffers)

static void check_told(int error, const char *expected)
{
    check_equal(errno, error);
    check(strcmp(nfailed(), expected) == 0, "nfailed says \"%s\", not \"%s\"", nfailed(), expected);
    errno = 0;
}

static void failures_are_told(void)
{
    int value = 1, src = N_ANY, type = 1;

    check_equal(nwrite(&value, 4, node_count(), 1, NULL), -N_EINVAL);
    check_told(EINVAL, "nwrite: invalid argument");
    check_equal(ntest(NULL, NULL), -N_EAGAIN);
    check_told(0, "nwrite: invalid argument");
    check_equal(nwrite(&value, 4, own_node(), 1, NULL), 0);
    check_equal(ntest(NULL, (int[]){-2}), -N_EINVAL);
    check_told(EINVAL, "ntest: invalid argument");
    check_equal(nread(&value, 3, &src, &type, NULL), -N_EMSGSIZE);
    check_told(EMSGSIZE, "nread: message does not fit");
    check_equal(nreadp((char **)8, 3, NULL, NULL, NULL), -N_EMSGSIZE);
    check_told(EMSGSIZE, "nreadp: message does not fit");
    check_equal(nread(&value, 4, &src, &type, NULL), 4);
    check_told(0, "nreadp: message does not fit");
    check_equal(nwritep((char *)8, 3, own_node(), 1, NULL), -N_EFAULT);
    check_told(EFAULT, "nwritep: bad address");
    check_equal(nrelp((char *)8), -N_EFAULT);
    check_told(EFAULT, "nrelp: bad address");
    check_equal(nrange(5, 4), -N_EINVAL);
    check_told(EINVAL, "nrange: invalid argument");
    check(ngetp(-1) == NULL, "a buffer of -1 bytes");
    check_told(EINVAL, "ngetp: invalid argument");
    check_equal(nsync(-1), -N_EINVAL);
    check_told(EINVAL, "nsync: invalid argument");
}

static void send_errors(void)
{
    int nodes = node_count(), value = 1, flag = 7;
    int bad_dest[] = {-1, -2, nodes, 0x10000, 0x4000, 0x7fffffff, (int)0x80000000};
    int bad_type[] = {-1, TYPE_MAX + 1, 0x18021, 0x80009, 0x100009, (int)0x80000000};

    for (size_t i = 0; i < sizeof bad_dest / sizeof *bad_dest; i++)
        check(nwrite(&value, 4, bad_dest[i], 1, NULL) == -N_EINVAL, "destination %d", bad_dest[i]);
    for (size_t i = 0; i < sizeof bad_type / sizeof *bad_type; i++)
        check(nwrite(&value, 4, 0, bad_type[i], NULL) == -N_EINVAL, "type %d", bad_type[i]);
    check_equal(nwrite(&value, -1, 0, 1, &flag), -N_EINVAL);
    check_equal(flag, 7);
    check_equal(nwrite(&value, -1, 0, 1, (int *)8), -N_EINVAL);
    check_equal(nwrite(&value, (int)0x80000000, 0, 1, NULL), -N_EINVAL);
    for (size_t i = 0; i < BAD_BUFFERS; i++)
        check(nwrite(bad_buffers[i], 100, 0, 1, NULL) == -N_EFAULT, "buffer %p", bad_buffers[i]);
    check(nwrite(&value, 0x7fffffff, 0, 1, NULL) < 0, "two gigabytes");
    check_equal(nsync(2), 0);
    check_equal(ntest(NULL, NULL), -N_EAGAIN);
    check_equal(nwrite(constant, sizeof constant, own_node(), 1, NULL), 0);
}

static void read_errors(void)
{
    int value = 0, bad_src[] = {-2, node_count(), 0x4000, 0x7fff, 0x8001, 0xffff, 0x10000, (int)0x80000000};
    int bad_type[] = {-2, TYPE_MAX + 1, 0x18021, 0x80001, 0x100001, (int)0x80000000};

    send_int(5, own_node(), 1);
    for (size_t i = 0; i < sizeof bad_src / sizeof *bad_src; i++) {
        int src = bad_src[i], type = N_ANY;
        int result = ntest(&src, &type);

        check(result == -N_EINVAL, "ntest, source %d: %d", bad_src[i], result);
        result = nread(&value, 4, &src, &type, NULL);
        check(result == -N_EINVAL, "nread, source %d: %d", bad_src[i], result);
    }
    for (size_t i = 0; i < sizeof bad_type / sizeof *bad_type; i++) {
        int src = N_ANY, type = bad_type[i];
        int result = ntest(&src, &type);

        check(result == -N_EINVAL, "ntest, type %d: %d", bad_type[i], result);
        result = nread(&value, 4, &src, &type, NULL);
        check(result == -N_EINVAL, "nread, type %d: %d", bad_type[i], result);
    }
    check_equal(nread(&value, -1, NULL, NULL, NULL), -N_EINVAL);
    check_equal(receive_int(own_node(), 1), 5);
}

static void buffers_that_cannot_be_read_into(void)
{
    static char buf[100];
    int src = N_ANY, type = N_ANY;

    check_equal(nwrite(constant, sizeof constant, own_node(), 1, NULL), 0);
    for (size_t i = 0; i < BAD_BUFFERS; i++) {
        src = type = N_ANY;
        check(nread(bad_buffers[i], 100, &src, &type, NULL) == -N_EFAULT, "buffer %p", bad_buffers[i]);
    }
    src = type = N_ANY;
    check_equal(nread((void *)constant, sizeof constant, &src, &type, NULL), -N_EFAULT);
    src = type = N_ANY;
    check_equal(nread((void *)(uintptr_t)buffers_that_cannot_be_read_into, 100, &src, &type, NULL), -N_EFAULT);
    src = type = N_ANY;
    check_equal(nread(buf, sizeof buf, &src, &type, NULL), sizeof constant);
    check(strcmp(buf, constant) == 0, "%s", buf);
}

/* ---- All at once ---- */

/* No node leaves a barrier before all have arrived; all nodes have the same clock. */
static void barrier(void)
{
    enum { ROUNDS = 20, ARRIVED = 1, LEFT = 2, SYNC = 3 };
    uint64_t state = own_node() + 1;
    double arrived[ROUNDS], left[ROUNDS], other;
    int nodes = node_count();

    for (int r = 0; r < ROUNDS; r++) {
        double start = amicclk(), wait_us = draw(&state) % 3000;

        while (amicclk() - start < wait_us)
            ;
        arrived[r] = amicclk();
        check_equal(nsync(SYNC), 0);
        left[r] = amicclk();
    }
    check_equal(nwrite(arrived, sizeof arrived, N_DEST_ALL, ARRIVED, NULL), 0);
    for (int src = 0; src < nodes; src++) {
        int from = src, type = ARRIVED;

        check_equal(nread(arrived, sizeof arrived, &from, &type, NULL), sizeof arrived);
        for (int r = 0; r < ROUNDS; r++) {
            other = arrived[r];
            check(left[r] >= other, "round %d: left at %f, node %d came at %f", r, left[r], src, other);
        }
    }
    check_equal(nsync(TYPE_MAX), 0);
    check_equal(nsync(-1), -N_EINVAL);
    check_equal(nsync(TYPE_MAX + 1), -N_EINVAL);
}

#define TORTURE_MESSAGES  40
#define TORTURE_TYPES     5
#define TORTURE_MAX_BYTES 4000
#define TORTURE_NODES     16

struct plan {
    int dest, type, bytes;
};

static int expected[TORTURE_NODES][TORTURE_TYPES], taken[TORTURE_NODES][TORTURE_TYPES];

static struct plan draw_plan(uint64_t *state)
{
    struct plan p = {.dest = draw(state) % node_count(), .type = draw(state) % TORTURE_TYPES};
    uint32_t kind = draw(state) % 8;

    p.bytes = 4 + draw(state) % (kind == 0 ? TORTURE_MAX_BYTES : kind < 4 ? 1100 : 40);
    return p;
}

static void take_one(int src, int type)
{
    static uint32_t buf[TORTURE_MAX_BYTES / 4 + 2];
    int n = nread(buf, sizeof buf, &src, &type, NULL);

    check(n >= 4, "nread: %d", n);
    check(taken[src][type] < expected[src][type], "one too many from %d, type %d", src, type);
    check(buf[0] == (uint32_t)taken[src][type], "number %u from %d, type %d, not %d", buf[0], src, type,
          taken[src][type]);
    uint32_t seed = src * 1000 + type * 100000 + buf[0];
    check(find_wrong_byte(buf + 1, n - 4, seed) == (size_t)n - 4, "content from %d, type %d", src, type);
    taken[src][type]++;
}

static int expect_all(uint64_t seed)
{
    int total = 0;

    for (int src = 0; src < node_count(); src++) {
        uint64_t state = seed + src;

        for (int i = 0; i < TORTURE_MESSAGES; i++) {
            struct plan p = draw_plan(&state);

            expected[src][p.type] += p.dest == own_node();
            total += p.dest == own_node();
        }
    }
    return total;
}

static int take_if_there(void)
{
    int src = N_ANY, type = N_ANY;

    if (ntest(&src, &type) < 0)
        return 0;
    take_one(src, type);
    return 1;
}

/* Reads a message when all have been sent, in one of three ways. */
static void take_any_way(uint64_t *state)
{
    uint32_t at = draw(state) % (TORTURE_NODES * TORTURE_TYPES), way = draw(state) % 3;

    while (at++, taken[at / TORTURE_TYPES % TORTURE_NODES][at % TORTURE_TYPES] ==
                     expected[at / TORTURE_TYPES % TORTURE_NODES][at % TORTURE_TYPES])
        ;
    int src = at / TORTURE_TYPES % TORTURE_NODES, type = at % TORTURE_TYPES;
    take_one(way == 0 ? N_ANY : src, way == 1 ? N_ANY : type);
}

static void torture(void)
{
    static uint32_t buf[TORTURE_MAX_BYTES / 4 + 2];
    static uint32_t sent[TORTURE_NODES][TORTURE_TYPES];
    uint64_t seed = test_argc > 0 ? strtoul(test_argv[0], NULL, 10) : 1;
    uint64_t state = seed + own_node(), own = seed ^ 0x5555;
    int left = expect_all(seed);

    for (int i = 0; i < TORTURE_MESSAGES; i++) {
        struct plan p = draw_plan(&state);

        buf[0] = sent[p.dest][p.type]++;
        fill_pattern(buf + 1, p.bytes - 4, own_node() * 1000 + p.type * 100000 + buf[0]);
        check_equal(nwrite(buf, p.bytes, p.dest, p.type, NULL), 0);
        if (draw(&own) % 2)
            left -= take_if_there();
    }
    while (left-- > 0)
        take_any_way(&own);
    check_equal(nsync(TYPE_MAX), 0);
    check_equal(ntest(NULL, NULL), -N_EAGAIN);
}

/* Several times the memory of a node of 1 MB; the rest must wait outside. */
static void more_than_fits_in_memory(void)
{
    enum { COUNT = 14, BYTES = 60000 };
    static char buf[BYTES];
    int node = own_node(), nodes = node_count(), next[8] = {0};

    for (int i = 0; node != 0 && i < COUNT; i++) {
        fill_pattern(buf, BYTES, node * 1000 + i);
        check_equal(nwrite(buf, BYTES, 0, 1, NULL), 0);
    }
    double start = amicclk();
    while (node == 0 && amicclk() - start < 3e5)
        ;
    for (int left = node == 0 ? COUNT * (nodes - 1) : 0; left > 0; left--) {
        int src = N_ANY, type = 1;

        check_equal(nread(buf, BYTES, &src, &type, NULL), BYTES);
        uint32_t seed = src * 1000 + next[src]++;
        check(find_wrong_byte(buf, BYTES, seed) == BYTES, "from %d, number %d", src, next[src] - 1);
    }
}

/* The program is interrupted again and again; its registers must not change. */
static double compute(int steps)
{
    uint64_t state = 12345;
    double x = 0.5;

    for (int i = 0; i < steps; i++)
        x = x * 3.7 * (1.0 - x) + (draw(&state) & 1) * 1e-12;
    return x + (double)(state & 0xff);
}

static void interrupts_leave_registers_alone(void)
{
    enum { STEPS = 60000, COUNT = 150 };

    if (own_node() == 0) {
        double result = compute(STEPS), there;
        int src = 1, type = 2;

        check_equal(nread(&there, sizeof there, &src, &type, NULL), sizeof there);
        check(result == there, "%.17g here, %.17g there", result, there);
        for (int i = 0; i < COUNT; i++)
            check_equal(receive_int(1, 1), i);
        return;
    }
    if (own_node() != 1)
        return;
    for (int i = 0; i < COUNT; i++)
        send_int(i, 0, 1);
    double result = compute(STEPS);
    check_equal(nwrite(&result, sizeof result, 0, 2, NULL), 0);
}

static const struct test_case cases[] = {
    {"identity", identity},
    {"explicit source and type", explicit_source_and_type},
    {"wildcards take the oldest", wildcards_take_the_oldest},
    {"NULL stands for any", null_stands_for_any},
    {"order is kept", order_is_kept},
    {"ntest looks and leaves", ntest_looks_and_leaves},
    {"nrange limits wildcards", nrange_limits_wildcards},
    {"no bytes", no_bytes},
    {"every length", every_length},
    {"to itself", to_itself},
    {"to everybody", to_everybody},
    {"too small a buffer", too_small_a_buffer},
    {"send errors", send_errors},
    {"failures are told", failures_are_told},
    {"read errors", read_errors},
    {"bad buffers", buffers_that_cannot_be_read_into},
    {"barrier", barrier},
    {"torture", torture},
    {"more than memory", more_than_fits_in_memory},
    {"interrupts", interrupts_leave_registers_alone},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
