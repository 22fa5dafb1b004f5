/*
 * gdb's packets, against three nodes in this process's memory: first the bytes as they come, in pieces, as from a
 * socket; then each of their lines as a packet with a right checksum.
 */
#include <stdlib.h>
#include <string.h>

#include "emu/debug/breakpoints.h"
#include "tests/emu/gdb_target.h"
#include "tests/fuzz/fuzz.h"

static char frame[RSP_FRAME_BYTES];

static void expect_sound(const struct gdb_target *g)
{
    target_still_stops(&g->target, 0, DEBUG_BREAK); /* evaluates a condition */
    if (rsp_frame(&g->packets, frame) > RSP_FRAME_BYTES || g->target.area->breaks > DEBUG_BREAKS ||
        g->target.area->watches > DEBUG_WATCHES || g->target.area->list_bytes > DEBUG_LISTS ||
        g->session.current >= GDB_TARGET_NODES)
        abort();
}

static void execute_all(struct gdb_target *g)
{
    for (enum rsp_item item; (item = rsp_next(&g->packets)) != RSP_NOTHING;)
        if (item == RSP_PACKET) {
            if (command_execute(&g->session) == COMMAND_GO)
                breakpoints_go_on(&g->session);
            expect_sound(g);
        }
}

static void feed(struct gdb_target *g, const uint8_t *bytes, size_t n)
{
    while (n > 0) {
        size_t room;
        uint8_t *to = rsp_room(&g->packets, &room);

        if (room == 0)
            abort();
        room = room < n ? room : n;
        memcpy(to, bytes, room);
        g->packets.filled += room;
        bytes += room;
        n -= room;
        execute_all(g);
    }
}

static void feed_packet(struct gdb_target *g, const uint8_t *bytes, size_t n)
{
    static struct rsp maker;

    rsp_begin(&maker);
    rsp_add_binary(&maker, bytes, n);
    n = rsp_frame(&maker, frame);
    feed(g, (const uint8_t *)memcpy(maker.packet, frame, n < sizeof maker.packet ? n : sizeof maker.packet),
         n < sizeof maker.packet ? n : sizeof maker.packet);
}

static void take(const uint8_t *bytes, size_t n)
{
    static struct gdb_target g;

    gdb_target_make(&g);
    feed(&g, bytes, n);
    gdb_target_free(&g);
    gdb_target_make(&g);
    for (size_t at = 0, end; at < n; at = end + 1) {
        const uint8_t *newline = memchr(bytes + at, '\n', n - at);

        end = newline ? (size_t)(newline - bytes) : n;
        feed_packet(&g, bytes + at, end - at);
    }
    gdb_target_free(&g);
}

static const char *const words[] = {"$",
                                    "#",
                                    "}",
                                    "\x03",
                                    "+",
                                    "-",
                                    "\n",
                                    "m10000,4",
                                    "M11000,2:0aff",
                                    "X11000,2:",
                                    "p20",
                                    "P20=",
                                    "g",
                                    "G",
                                    "Z0,10000,4",
                                    "Z0,10000,4;X8,26000a2312341327",
                                    ";X3,220027",
                                    "X9,2264220103282000",
                                    "z0,",
                                    "Z2,11000,8",
                                    "Z3,",
                                    "Z4,",
                                    "vCont;c",
                                    "vCont;s:1",
                                    "vCont;r10000,10010:2",
                                    "vCont?",
                                    "Hg2",
                                    "Hc-1",
                                    "T1",
                                    "qRcmd,68656c70",
                                    "qXfer:threads:read::0,fff",
                                    "qXfer:features:read:target.xml:0,100",
                                    "qfThreadInfo",
                                    "qsThreadInfo",
                                    "qThreadExtraInfo,1",
                                    "qSupported:",
                                    "qAttached",
                                    "QStartNoAckMode",
                                    "c",
                                    "s",
                                    "k",
                                    "D",
                                    "?",
                                    "ffffffffffffffff",
                                    "vMustReplyEmpty",
                                    "vKill",
                                    "$g#67",
                                    NULL};

const struct fuzz_target fuzz_gdb = {"gdb", .take = take, .words = words, .short_runs = 5000};
