/* Short messages, for which the kernel has a way of its own, and some longer ones: into any buffer, and among processes
 * and signals. -Nprocs 3, of which process 0 alone reads in the case of buffers. */
#include <n_errno.h>
#include <ntime.h>
#include <signal.h>
#include <sysn.h>
#include <unistd.h>

#include "check.h"

/* ---- Buffers ---- */

enum { PAGE = 4096, DATA = 7, GO = 8, MOST_BYTES = 8000, LENGTHS = 19 };

static const int lengths[LENGTHS] = {0,  1,  2,   7,   8,   9,   15,  16,   63,        64,
                                     65, 72, 120, 127, 128, 129, 136, 1500, MOST_BYTES};
static char pages[3 * PAGE] __attribute__((aligned(PAGE)));
static char untouched[2][2 * LENGTHS * PAGE] __attribute__((aligned(PAGE))); /* each page boundary is read to once */
static const char constant[256] = "text";
static uint32_t seed;

static void send_one(int n, int waits)
{
    char out[MOST_BYTES];
    int src = 0, type = GO;

    fill_pattern(out, n, seed);
    check_equal(nread(NULL, 0, &src, &type, NULL), 0);
    if (waits)
        usleep(300);
    check_equal(nwrite(out, n, 0, DATA, NULL), 0);
}

static int read_one(char *to, int n)
{
    int src = 1, type = DATA;

    return nread(to, n, &src, &type, NULL);
}

/* One message of n bytes to that address. What can't be read there stays, and can be read elsewhere. `waits`: the
 * reader, for the message, else the other way round. */
static void pass(char *to, int n, int fails, int waits)
{
    char kept[MOST_BYTES];

    seed++;
    if (own_node() == 1) {
        send_one(n, waits);
        return;
    }
    check_equal(nwrite(NULL, 0, 1, GO, NULL), 0);
    if (!waits)
        usleep(n < 1000 ? 800 : 6000);
    int result = read_one(to, n);
    check(result == (fails ? -N_EFAULT : n), "%d bytes to %p, waits %d: %d", n, to, waits, result);
    if (fails) {
        to = kept;
        check_equal(read_one(to, n), n);
    }
    check(find_wrong_byte(to, n, seed) == (size_t)n, "%d bytes to %p, waits %d: wrong", n, to, waits);
}

static char *end_of_heap(void)
{
    char *now = sbrk(0);
    uintptr_t end = ((uintptr_t)now + 4 * PAGE - 1) / PAGE * PAGE;

    sbrk(end - (uintptr_t)now);
    return (char *)end;
}

static void pass_to_good(int i, char *end, int waits)
{
    int n = lengths[i];

    for (int skew = -9; skew <= 1; skew++) {
        pass(pages + PAGE + skew, n, 0, waits);
        pass(pages + 2 * PAGE - n + skew, n, 0, waits);
    }
    pass(untouched[waits] + (2 * i + 1) * PAGE - n / 2, n, 0, waits);
    pass(end - n, n, 0, waits);
}

static void pass_to_bad(int i, char *end, int waits)
{
    int n = lengths[i];
    char *const bad[] = {end,
                         end - n / 2,
                         end - n + (n > 0),
                         (char *)constant,
                         (char *)(uintptr_t)read_one,
                         NULL,
                         (char *)0x70000000,
                         (char *)0x80000000 - n / 2,
                         (char *)0x80000000 - 200,
                         (char *)0x80001000,
                         (char *)0xc0001000,
                         (char *)-8l,
                         (char *)((1l << 38) - 8)};

    for (size_t k = 0; k < sizeof bad / sizeof *bad; k++)
        pass(bad[k], n, n > 0, waits);
}

static void into_any_buffer(void)
{
    char *end = end_of_heap();

    if (npid() > 1)
        return;
    for (int i = 0; i < LENGTHS; i++)
        for (int waits = 0; waits <= 1; waits++) {
            pass_to_good(i, end, waits);
            pass_to_bad(i, end, waits);
        }
}

/* ---- Processes and signals ---- */

enum {
    PROCS = 3,
    NODES_MOST = 4,
    ALL_MOST = PROCS * NODES_MOST,
    TYPES = 3,
    MESSAGES = 60,
    LONG_BYTES = 30000,
    SYNC = 1000
};

static int expected[ALL_MOST][TYPES], taken[ALL_MOST][TYPES]; /* by sender */
static int sent[ALL_MOST][TYPES];
static volatile int signals, arrivals;

static void on_signal(int number)
{
    if (number == SIGUSR1)
        signals++;
    else
        arrivals++;
}

static int index_of(int name)
{
    return (name & 0xffff) * PROCS + (name >> 16);
}

static int name_of(int index)
{
    return N_PROCESS(index / PROCS, index % PROCS);
}

struct plan {
    int dest, type, bytes, steps, signals;
};

static struct plan draw_plan(uint64_t *state)
{
    struct plan p = {.dest = draw(state) % (PROCS * node_count()), .type = draw(state) % TYPES};
    uint32_t kind = draw(state) % 10;

    p.bytes = 4 + draw(state) % (kind == 0 ? LONG_BYTES : kind < 3 ? 1200 : kind < 5 ? 200 : 50);
    p.steps = draw(state) % 4 ? 0 : draw(state) % 3000;
    p.signals = draw(state) % 16 == 0;
    return p;
}

/* Returns how many messages this process will get, and sets *signals_due to the number of signals. */
static int expect_all(uint64_t first, int *signals_due)
{
    int total = 0;

    for (int from = 0; from < PROCS * node_count(); from++) {
        uint64_t state = first + from;

        for (int i = 0; i < MESSAGES; i++) {
            struct plan p = draw_plan(&state);

            if (p.dest != index_of(npid()))
                continue;
            expected[from][p.type]++;
            *signals_due += p.signals;
            total++;
        }
    }
    return total;
}

/* Now and then the buffer is too short for it: it stays the next. */
static int read_with_any_buffer(char *buf, int *src, int *type, uint64_t *own)
{
    int from = *src, of = *type, first = draw(own) % 3 ? LONG_BYTES + 4 : 4 + draw(own) % 100;
    int n = nread(buf, first, src, type, NULL);

    if (n != -N_EMSGSIZE)
        return n;
    *src = from, *type = of;
    int waiting = ntest(src, type);
    check(waiting > first, "%d bytes are not too many for %d", waiting, first);
    check_equal(nread(buf, LONG_BYTES + 4, src, type, NULL), waiting);
    return waiting;
}

static void take_one(int src, int type, uint64_t *own)
{
    static char memory[LONG_BYTES + 16];
    char *buf = memory + draw(own) % 9;
    uint32_t number;
    int n = read_with_any_buffer(buf, &src, &type, own), from = index_of(src);

    check(n >= 4, "nread: %d", n);
    memcpy(&number, buf, 4);
    check(number == (uint32_t)taken[from][type], "number %u from %d, type %d, not %d", number, from, type,
          taken[from][type]);
    check(find_wrong_byte(buf + 4, n - 4, from * 1000 + type * 100000 + number) == (size_t)n - 4, "content from %d",
          from);
    taken[from][type]++;
}

static int take_if_there(uint64_t *own)
{
    int src = N_ANY, type = N_ANY;

    if (ntest(&src, &type) < 0)
        return 0;
    take_one(draw(own) % 2 ? N_ANY : src, draw(own) % 2 ? N_ANY : type, own);
    return 1;
}

static void take_one_that_must_come(uint64_t *own)
{
    uint32_t at = draw(own), way = draw(own) % 3;

    do
        at = (at + 1) % (PROCS * node_count() * TYPES);
    while (taken[at / TYPES][at % TYPES] == expected[at / TYPES][at % TYPES]);
    take_one(way == 0 ? N_ANY : name_of(at / TYPES), way == 1 ? N_ANY : (int)at % TYPES, own);
}

static void compute(int steps)
{
    for (volatile int i = 0; i < steps; i++)
        ;
}

static void send_planned(const struct plan *p)
{
    static uint32_t buf[LONG_BYTES / 4 + 4];
    int self = index_of(npid());

    buf[0] = sent[p->dest][p->type]++;
    fill_pattern(buf + 1, p->bytes - 4, self * 1000 + p->type * 100000 + buf[0]);
    check_equal(nwrite(buf, p->bytes, name_of(p->dest), p->type, NULL), 0);
    if (p->signals)
        check_equal(kill(name_of(p->dest) + 1, SIGUSR1), 0);
    compute(p->steps);
}

static void catch_signals(void)
{
    signal(SIGUSR1, on_signal);
    if (own_node() % 2)
        signal(SIGMSGS, on_signal);
}

/* Random messages of random processes, some with a signal behind them. */
static void among_others(void)
{
    uint64_t first = 1000 * (test_argc > 0 ? strtoul(test_argv[0], NULL, 10) : 1), state = first + index_of(npid()),
             own = ~state;
    int signals_due = 0, left = expect_all(first, &signals_due);

    catch_signals();
    check_equal(nsync(SYNC), 0);
    check_equal(nrange(0, TYPES - 1), 0);
    for (int i = 0; i < MESSAGES; i++) {
        struct plan p = draw_plan(&state);

        send_planned(&p);
        if (draw(&own) % 9 == 0)
            usleep(draw(&own) % 2000);
        if (left > 0 && draw(&own) % 2)
            left -= take_if_there(&own);
    }
    while (left-- > 0)
        take_one_that_must_come(&own);
    check_equal(nsync(SYNC), 0);
    usleep(10000); /* the last signal of another node's process is no faster than its message */
    check(signals <= signals_due && (signals > 0) == (signals_due > 0), "%d signals of %d", signals, signals_due);
    check_equal(nsync(SYNC), 0);
}

static const struct test_case cases[] = {
    {"any buffer", into_any_buffer},
    {"among others", among_others},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
