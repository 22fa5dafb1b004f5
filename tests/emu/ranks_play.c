/*
 * The messages of ncube-mpi's processes (emu/rack/ranks.h), by three of them. Prints "right" for each part; exit status
 * 1 if something is not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/rack/ranks.h"
#include "emu/rack/ranks_sockets.h"

#define LIMIT_MS 60000u
#define RESTS    15u
#define DELAYED  10u
#define DELAY_MS 300u
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

/* A delay holds all messages at the same time, as a network does: several take no longer than one. There, and back. */
static void play_delay(void)
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
    if (ranks_own() == 1)
        await_sized(0, WIRE_COMMANDS, 0, 0); /* it does not end before its messages have gone */
    if (ranks_own() != 0)
        return;
    send_sized(1, WIRE_COMMANDS, 0, 0);
    must(host_ms() >= begun_ms + 2 * DELAY_MS, "too early");
    must(host_ms() < begun_ms + DELAYED * DELAY_MS, "one after another");
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
    fflush(stdout);
    ranks_end();
    return 0;
}
