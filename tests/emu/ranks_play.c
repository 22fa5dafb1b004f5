/*
 * The messages of ncube-mpi's processes (emu/rack/ranks.h), by three of them. Prints "right" for each part; exit status
 * 1 if something is not.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/rack/ranks.h"
#include "emu/rack/ranks_sockets.h"

#define LIMIT_MS 60000u
#define RESTS    15u
#define DELAYED  10u
#define DELAY_MS 300u
#define TRIES    20u
#define STOP_MS  4000u
#define AFTER_MS 200u
#define COMES_US 1000000u
#define REST_NS  5000000u /* a process that sleeps although its message has come sleeps 10 ms */

static const size_t sizes[] = {0, 1, 32767, 32768, 32769, 3000000, 8};
#define SIZES (sizeof sizes / sizeof *sizes)

static void must(bool right, const char *what)
{
    if (right)
        return;
    fprintf(stderr, "rank %u: %s\n", ranks_own(), what);
    ranks_abort();
}

static void send_sized(uint32_t to, enum wire_tag tag, size_t n, uint8_t filling)
{
    struct wire w = {0};
    uint8_t *bytes = memory_new(n + 1, 1);

    memset(bytes, filling, n);
    wire_append(&w, bytes, n);
    free(bytes);
    ranks_send(to, tag, &w);
}

static void await_sized(uint32_t from, enum wire_tag tag, size_t n, uint8_t filling)
{
    struct wire w = {0};

    must(ranks_await(from, tag, &w, LIMIT_MS), "no message");
    must(w.n == n, "its length");
    for (size_t k = 0; k < n; k++)
        must(w.bytes[k] == filling, "its bytes");
    wire_free(&w);
}

/* All of both tags are sent at once; those of the second tag are taken first. */
static void play_order(void)
{
    if (ranks_own() > 0)
        for (size_t k = 0; k < SIZES; k++) {
            send_sized(0, WIRE_REPORT, sizes[k], (uint8_t)(ranks_own() * 16 + k));
            send_sized(0, WIRE_ANSWER, sizes[k], (uint8_t)k);
        }
    for (uint32_t from = 2; ranks_own() == 0 && from > 0; from--) {
        for (size_t k = 0; k < SIZES; k++)
            await_sized(from, WIRE_ANSWER, sizes[k], (uint8_t)k);
        for (size_t k = 0; k < SIZES; k++)
            await_sized(from, WIRE_REPORT, sizes[k], (uint8_t)(from * 16 + k));
    }
}

static int compare(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return (x > y) - (x < y);
}

/* What has come while the caller asked for something else: it must not sleep before it has asked again. Either of two
 * messages may be taken in by the look for the other. */
static void play_rest(void)
{
    static uint64_t ns[RESTS];
    struct wire w = {0};

    for (uint32_t k = 0; k < RESTS; k++) {
        uint64_t since_ns = 0, begun_ns;

        if (ranks_own() == 1)
            send_sized(0, WIRE_BYTES, 8, 0);
        if (ranks_own() != 0) {
            await_sized(0, WIRE_COMMANDS, 0, 0);
            continue;
        }
        ranks_sockets_sleep(-1, COMES_US); /* until it has come; it stays in the socket */
        must(!ranks_poll(1, WIRE_LOOK, &w, NULL), "a message that nobody has sent");
        begun_ns = host_ns(CLOCK_MONOTONIC);
        ranks_rest(&since_ns, -1);
        ns[k] = host_ns(CLOCK_MONOTONIC) - begun_ns;
        await_sized(1, WIRE_BYTES, 8, 0);
        send_sized(1, WIRE_COMMANDS, 0, 0);
        send_sized(2, WIRE_COMMANDS, 0, 0);
    }
    qsort(ns, RESTS, sizeof *ns, compare);
    must(ns[RESTS / 2] < REST_NS, "it sleeps although a message has come");
}

/* Messages to rank 1 and back, all of which are late. Returns in rank 0 how long that takes. */
static uint64_t exchange_late(void)
{
    uint64_t begun_ms;

    if (ranks_own() == 1) {
        ranks_delay(DELAY_MS * 1000);
        send_sized(0, WIRE_ANSWER, 0, 0);
    } else if (ranks_own() == 0) {
        await_sized(1, WIRE_ANSWER, 0, 0);
    }
    begun_ms = host_ms();
    for (uint32_t k = 0; k < DELAYED && ranks_own() == 0; k++)
        send_sized(1, WIRE_COMMANDS, k, 3);
    for (uint32_t k = 0; k < DELAYED && ranks_own() == 1; k++) {
        await_sized(0, WIRE_COMMANDS, k, 3);
        send_sized(0, WIRE_REPORT, k, 4);
    }
    for (uint32_t k = 0; k < DELAYED && ranks_own() == 0; k++)
        await_sized(1, WIRE_REPORT, k, 4);
    return host_ms() - begun_ms;
}

/* What rank 0 decides, in rank 1: it does not end before its messages have gone. */
static bool tell(bool what)
{
    struct wire w = {0};

    if (ranks_own() == 0)
        send_sized(1, WIRE_COMMANDS, what, 0);
    if (ranks_own() == 1) {
        must(ranks_await(0, WIRE_COMMANDS, &w, LIMIT_MS), "no word");
        what = w.n > 0;
        wire_free(&w);
    }
    return what && ranks_own() < 2;
}

/* A delay holds all messages at the same time, as a network does: several take no longer than one, but on a host that
 * has no time for them. There, and back. */
static void play_delay(void)
{
    uint64_t ms;
    uint32_t tries = 0;

    do {
        ms = exchange_late();
        must(ranks_own() != 0 || ms >= 2 * DELAY_MS, "too early");
        must(++tries <= TRIES, "one after another");
    } while (tell(ms >= DELAYED * DELAY_MS));
}

static void stop(pid_t process, uint32_t ms)
{
    kill(process, SIGSTOP);
    usleep(ms * 1000);
    kill(process, SIGCONT);
}

/* A process that has been stopped while it waited waits on: the message comes only then. */
static void play_stop(void)
{
    struct wire w = {0};
    pid_t process = getpid();

    if (ranks_own() == 0) {
        wire_append(&w, &process, sizeof process);
        ranks_send(2, WIRE_COMMANDS, &w);
        must(ranks_await(2, WIRE_REPORT, &w, STOP_MS), "a stop counts as a wait");
        wire_free(&w);
    } else if (ranks_own() == 2) {
        must(ranks_await(0, WIRE_COMMANDS, &w, LIMIT_MS) && w.n == sizeof process, "no process");
        memcpy(&process, w.bytes, sizeof process);
        wire_free(&w);
        stop(process, STOP_MS + STOP_MS / 2);
        usleep(AFTER_MS * 1000);
        send_sized(0, WIRE_REPORT, 0, 0);
    }
}

int main(int argc, char **argv)
{
    ranks_begin(&argc, &argv);
    must(ranks_count() == 3, "three processes are needed");
    play_order();
    if (ranks_own() == 0)
        puts("order and lengths: right");
    play_rest();
    if (ranks_own() == 0)
        puts("rests: right");
    play_delay();
    if (ranks_own() == 0)
        puts("delays: right");
    play_stop();
    if (ranks_own() == 0)
        puts("stops: right");
    fflush(stdout);
    ranks_end();
    return 0;
}
