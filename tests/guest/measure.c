/* Costs of the kernel, in cycles of 50 ns. A second argument prints the figures. */
#include <n_errno.h>
#include <nmon.h>
#include <ntime.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

enum { TYPE = 9, BLOCK_BYTES = 16384, BLOCKS = 24, OWN_MOST_US = 60 };

static char block[BLOCK_BYTES] __attribute__((aligned(64)));
static int show;

static __attribute__((noinline)) long now_cycles(void) /* the same cost wherever it is called */
{
    return (long)(amicclk() * NMON_CYCLES_PER_US + 0.5);
}

/* The time that reading the clock takes. */
static long look_cycles(void)
{
    long first = now_cycles();

    return now_cycles() - first;
}

static void say(const char *what, double value, const char *unit)
{
    if (show)
        printf("%-58s %10.2f %s\n", what, value, unit);
}

static void send_long(int dest, long value)
{
    check_equal(nwrite(&value, sizeof value, dest, TYPE + 1, NULL), 0);
}

static long receive_long(int src)
{
    long value;
    int type = TYPE + 1;

    check_equal(nread(&value, sizeof value, &src, &type, NULL), sizeof value);
    return value;
}

/* The cycles from the call of nwrite to the return of nread, when the reader waits: all of them, and the software's
 * part. The second time, all pages exist. Only node 1 measures; the others return 0. */
struct way {
    long all, software;
};

static struct way send_eight_bytes(void)
{
    struct way way = {0};
    struct nmonitor m;
    long value = 0;
    int src = 0, type = TYPE;

    for (int round = 0; round < 3; round++) {
        long look = look_cycles();

        check_equal(nsync(1), 0);
        if (own_node() == 0) {
            usleep(1000);
            long call = now_cycles();
            check_equal(nwrite(&value, sizeof value, 1, TYPE, NULL), 0);
            long back = now_cycles();
            nmonitor(&m);
            send_long(1, call);
            send_long(1, back);
        } else if (own_node() == 1) {
            int bytes = nread(&value, sizeof value, &src, &type, NULL);
            long read = now_cycles();

            check_equal(bytes, sizeof value);
            nmonitor(&m);
            long call = receive_long(0), back = receive_long(0), all = read - call - look;
            if (round == 2) {
                say("nwrite, to SEND", (double)(m.recv_start_cycles - call) - look / 2, "cycles");
                say("on the wire, 1 hop and 16 bytes", m.recv_done_cycles - m.recv_start_cycles, "cycles");
                say("from the last byte to the return of nread", (double)(read - (long)m.recv_done_cycles) - look / 2,
                    "cycles");
                say("nwrite to nread, 8 bytes between neighbours", all, "cycles");
                say("", all / 20.0, "us");
                say("an nwrite of 8 bytes altogether", back - call - look, "cycles");
            }
            way = (struct way){all, all - (long)(m.recv_done_cycles - m.recv_start_cycles)};
        }
    }
    return way;
}

static void eight_bytes(void)
{
    struct way way = send_eight_bytes();

    check(way.all < OWN_MOST_US * NMON_CYCLES_PER_US, "%ld cycles are more than %d us", way.all, OWN_MOST_US);
}

/* On a machine with timing = "wang-leiss": 160 us within 5 %. */
static void start_up_of_1992(void)
{
    double us = (double)send_eight_bytes().software / NMON_CYCLES_PER_US;

    check(own_node() != 1 || (us >= 0.95 * 160 && us <= 1.05 * 160), "%.1f us", us);
}

/* ---- The iPSC/860 ---- */

/* A request of 32 bytes to that node, and a reply of 4 KB: MB (of 2^20 bytes) of the reply a second. */
static double reply_rate(int to)
{
    enum { ROUNDS = 8, REQUEST_BYTES = 32, REPLY_BYTES = 4096 };
    double start_us = 0;

    check_equal(nsync(3), 0);
    for (int i = 0; i <= ROUNDS; i++) {
        int type = TYPE, src = own_node() == 0 ? to : 0;

        if (i == 1) /* all pages are there */
            start_us = amicclk();
        if (own_node() == 0) {
            check_equal(nwrite(block, REQUEST_BYTES, to, TYPE, NULL), 0);
            check_equal(nread(block, REPLY_BYTES, &src, &type, NULL), REPLY_BYTES);
        } else if (own_node() == to) {
            check_equal(nread(block, REQUEST_BYTES, &src, &type, NULL), REQUEST_BYTES);
            check_equal(nwrite(block, REPLY_BYTES, src, TYPE, NULL), 0);
        }
    }
    double us = amicclk() - start_us;
    check_equal(nsync(3), 0); /* no node ends while others measure: that takes messages, too */
    return ROUNDS * REPLY_BYTES / 1.048576 / us;
}

/* MB (of 2^20 bytes) a second. */
static double fill_rate(void)
{
    static char memory[1 << 20];

    memset(memory, 1, sizeof memory); /* its pages are there */
    double start_us = amicclk();
    memset(memory, 2, sizeof memory);
    return 1e6 / (amicclk() - start_us);
}

/* Table 2 of [P2], on a 7-cube with timing = "ipsc-860": within 10 %. */
static void table_2(void)
{
    const struct {
        const char *what;
        double rate, published;
    } rows[] = {
        {"memset", fill_rate(), 48.7},
        {"4 KB, requested from a neighbour", reply_rate(1), 2.2},
        {"4 KB, requested across the machine", reply_rate(node_count() - 1), 2.0},
    };

    for (size_t i = 0; own_node() == 0 && i < sizeof rows / sizeof *rows; i++) {
        say(rows[i].what, rows[i].rate, "MB/s");
        check(rows[i].rate >= 0.9 * rows[i].published && rows[i].rate <= 1.1 * rows[i].published, "%s: %.2f MB/s",
              rows[i].what, rows[i].rate);
    }
}

/* ---- Streams ---- */

/* A stream of blocks to a neighbour: payload bytes per second of the whole. */
static double stream_rate(int from_nodes, int to)
{
    int node = own_node(), type = TYPE, src;
    double start_us;

    check_equal(nsync(2), 0);
    check_equal(nsync(2), 0);
    start_us = amicclk();
    for (int i = 0; node != to && (from_nodes >> node & 1) && i < BLOCKS; i++)
        check_equal(nwrite(block, BLOCK_BYTES, to, TYPE, NULL), 0);
    for (int i = 0, n = BLOCKS * __builtin_popcount(from_nodes); node == to && i < n; i++) {
        src = N_ANY, type = TYPE;
        check_equal(nread(block, BLOCK_BYTES, &src, &type, NULL), BLOCK_BYTES);
    }
    return (double)BLOCKS * BLOCK_BYTES * __builtin_popcount(from_nodes) / (amicclk() - start_us);
}

static void streams(void)
{
    stream_rate(2, 0); /* all pages are there after this one */
    double one = stream_rate(2, 0), wire = 20.0 / 9;

    if (own_node() == 0) {
        say("16 KB blocks from one neighbour", one, "MB/s");
        say("of the channel's 2.22 MB/s", 100 * one / wire, "%");
        check(one >= 0.95 * wire, "%.3f MB/s", one);
    }
    if (node_count() < 16)
        return;
    double four = stream_rate(1 << 1 | 1 << 2 | 1 << 4 | 1 << 8, 0);
    if (own_node() == 0) {
        say("from four neighbours at once", four, "MB/s");
        say("of four channels", 100 * four / (4 * wire), "%");
        check(four >= 0.95 * 4 * wire, "%.3f MB/s", four);
    }
}

/* First accesses to pages take the same time, but for those at which Vertex fences for the host's TLB (vm.h): from one
 * of them to the next there are twice as many pages as before. */
static void fences(void)
{
    enum { PAGES = 2048, PAGE_BYTES = 4096 };
    static char pages[PAGES][PAGE_BYTES];
    static long cycles[PAGES];
    int at[4] = {0}, n = 0;

    memset(cycles, 1, sizeof cycles); /* its pages are there */
    for (int i = 0; i < PAGES; i++) {
        long start = now_cycles();
        *(volatile char *)pages[i] = 1;
        cycles[i] = now_cycles() - start;
    }
    for (int i = 1; i < PAGES - 1 && n < 4; i++)
        if (cycles[i] > cycles[i - 1] && cycles[i] > cycles[i + 1])
            at[n++] = i;
    check_equal(n, 3);
    check(at[0] > 0 && at[0] < 192, "page %d is the first", at[0]);
    check_equal(at[1] - at[0], 2 * 192);
    check_equal(at[2] - at[1], 4 * 192);
}

static const struct test_case cases[] = {
    {"fences", fences},   {"eight bytes", eight_bytes}, {"start-up of 1992", start_up_of_1992},
    {"streams", streams}, {"table 2", table_2},         {NULL, NULL},
};

int main(int argc, char **argv)
{
    show = argc > 2;
    return run_case(cases, argc, argv);
}
