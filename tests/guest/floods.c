/*
 * A process gets on whatever arrives: all other nodes send node 0 short messages as fast as they can, and it computes,
 * calls the system, or reads one kind only. Alone it takes a certain time; flooded, at most SLOWER times that, and the
 * messages are all there, in order, afterwards.
 *
 *   floods CASE BYTES COUNT show     COUNT messages of BYTES bytes from each node; "show" prints the times
 */
#include <errno.h>
#include <ntime.h>
#include <stdbool.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check_messages.h"

#define SLOWER 4
#define GO     1
#define FLOOD  2
#define RARELY 3
#define MOST   4096

static int own, nodes;
static long bytes, count;
static bool show;

/* Returns the microseconds that the work takes. */
static long time_of(void (*work)(void))
{
    double begin = amicclk();

    work();
    return (long)(amicclk() - begin);
}

static void flood(void)
{
    static char buf[MOST];

    take(0, GO, 0, GO, 0);
    for (long i = 0; i < count; i++) {
        memcpy(buf, &i, sizeof i);
        check_equal(nwrite(buf, (int)bytes, 0, FLOOD, NULL), 0);
        if (i % 100 == 0)
            send(0, RARELY, i);
    }
}

static void take_flood(void)
{
    static char buf[MOST];
    long next[64] = {0}, i;

    for (long k = 0; k < count * (nodes - 1); k++) {
        int src = -1, type = FLOOD;

        check_equal(nread(buf, (int)bytes, &src, &type, NULL), bytes);
        memcpy(&i, buf, sizeof i);
        check_equal(i, next[src]++);
    }
}

static void compute(void)
{
    volatile long sum = 0;

    for (long i = 0; i < 100000; i++)
        sum += i;
}

static void call(void)
{
    for (int i = 0; i < 2000; i++)
        check(ntest(&(int){-1}, &(int){GO}) < 0, "a message of that type");
}

/* The work of node 0, alone and flooded. */
static void compare(const char *name, void (*work)(void))
{
    if (own != 0) {
        flood();
        return;
    }
    long alone = time_of(work);
    for (int node = 1; node < nodes; node++)
        send(node, GO, 0);
    long flooded = time_of(work);

    if (show)
        printf("%s: %ld us alone, %ld flooded\n", name, alone, flooded);
    check(flooded > alone, "no flood came");
    check(flooded <= SLOWER * alone, "%s: %ld us alone, %ld flooded", name, alone, flooded);
    take_flood();
    for (int node = 1; node < nodes; node++)
        for (long i = 0; i < count; i += 100)
            take(node, RARELY, node, RARELY, i);
}

static void computes(void)
{
    compare("computing", compute);
}

static void calls(void)
{
    compare("calling", call);
}

/* Reads the rare ones while the others come: what node 0 waits for must not wait for a rest. */
static void reads(void)
{
    if (own != 0) {
        flood();
        return;
    }
    for (int node = 1; node < nodes; node++)
        send(node, GO, 0);
    for (int node = 1; node < nodes; node++)
        for (long i = 0; i < count; i += 100)
            take(node, RARELY, node, RARELY, i);
    take_flood();
}

/* Node 0 has two processes: one takes the flood, the other computes. */
static void shares(void)
{
    if (own != 0) {
        flood();
        return;
    }
    long alone = time_of(compute);
    pid_t child = fork();

    check(child >= 0, "fork: %s", strerror(errno));
    if (child == 0) {
        long shared = time_of(compute);

        check(shared <= 2 * SLOWER * alone, "%ld us alone, %ld shared", alone, shared);
        _exit(7);
    }
    for (int node = 1; node < nodes; node++)
        send(node, GO, 0);
    take_flood();
    int status;
    check_equal(wait(&status), child);
    check_equal(WEXITSTATUS(status), 7);
    for (int node = 1; node < nodes; node++)
        for (long i = 0; i < count; i += 100)
            take(node, RARELY, node, RARELY, i);
}

static const struct test_case cases[] = {
    {"computes", computes}, {"calls", calls}, {"reads", reads}, {"shares", shares}, {NULL, NULL}};

int main(int argc, char **argv)
{
    bytes = argc > 2 ? atol(argv[2]) : 8;
    count = argc > 3 ? atol(argv[3]) : 3000;
    show = argc > 4;
    own = own_node();
    nodes = node_count();
    return run_case(cases, argc, argv);
}
