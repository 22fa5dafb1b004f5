/* The debugger's end in ncube (stub.h): when the program runs or stands. While it runs, the arrival of bytes rings
 * ncube's doorbell by SIGIO (signals.h). */
#include "emu/debug/stub.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/base/signals.h"
#include "emu/debug/stub_passes.h"
#include "emu/debug/serving.h"
#include "emu/debug/sockets.h"
#include "emu/debug/stub_data.h"

struct stub *stub_new(uint16_t port, int look_ms, char *error, size_t error_bytes)
{
    struct stub *s = memory_new(1, sizeof *s);

    *s = (struct stub){.fd = -1, .port = port, .look_ms = look_ms > 0 ? look_ms : SIGNALS_FOREVER};
    s->listener = socket_listen(&s->port);
    if (s->listener >= 0)
        return s;
    snprintf(error, error_bytes, "cannot wait for gdb on port %u: %s; give another port, or --gdb alone for a free one",
             port, strerror(errno));
    free(s);
    return NULL;
}

void stub_free(struct stub *s)
{
    if (s->fd >= 0)
        close(s->fd);
    session_free(&s->session);
    travel_free(&s->travel);
    trail_free(&s->target.trail);
    close(s->listener);
    free(s);
}

void stub_describe(const struct stub *s, const char *program, char *line, size_t bytes)
{
    snprintf(line, bytes, "gdb-multiarch %s -ex 'target remote :%u'", program, s->port);
}

size_t stub_poll(const struct stub *s, struct pollfd *p)
{
    p[0] = (struct pollfd){.fd = s->fd < 0 ? s->listener : s->fd, .events = POLLIN};
    return s->fd >= 0 || s->begun || !s->expects;
}

static bool is_broken_off(struct stub *s)
{
    enum rsp_item item;

    while ((item = rsp_next(&s->rsp)) != RSP_NOTHING)
        if (item == RSP_BREAK)
            return true;
    return false;
}

/* There is no program for gdb. */
static void turn_away(const struct stub *s)
{
    int fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);

    if (fd >= 0)
        close(fd);
}

/* Looks whether gdb has something to say while the program runs: its interrupt, or its end. Returns true if the nodes'
 * state has changed. */
static bool listen_to_gdb(struct stub *s)
{
    if (s->fd < 0 && !s->begun && !s->expects && socket_is_readable(s->listener))
        turn_away(s);
    if (s->fd < 0 && s->begun && s->state == STUB_IDLE && socket_is_readable(s->listener) && serving_begin(s)) {
        s->state = STUB_HALTING;
        target_hold_all(&s->target);
        return true;
    }
    bool ahead = s->state == STUB_FORWARD && s->travel.pass == TRAVEL_AHEAD,
         runs = s->state == STUB_RUNNING || s->state == STUB_SEEKING || ahead;

    if (s->fd < 0 || !runs || !socket_is_readable(s->fd))
        return false;
    if (!serving_receive(s)) {
        serving_end(s);
        return true;
    }
    if (!is_broken_off(s))
        return false;
    if (ahead) {
        travel_stay(&s->travel, &s->target);
        serving_leave(s);
        return true;
    }
    s->travel.pass = TRAVEL_NOT;
    s->state = STUB_HALTING;
    target_end_seek(&s->target);
    target_hold_all(&s->target);
    return true;
}

/* Nothing moves any more: tells gdb why. While nothing runs at all, it is told only what it has asked for: there may be
 * something to come from outside. */
static bool stand(struct stub *s, uint32_t running)
{
    struct target_event e;

    if (s->state == STUB_ENTERING)
        return passes_stand_at_entry(s);
    if (s->state == STUB_SEEKING)
        return passes_stand(s);
    if (target_take_event(&s->target, &e))
        session_stopped(&s->session, &e);
    else if (target_release_ended(&s->target))
        return true;
    else if (s->state == STUB_HALTING)
        passes_stop(s, NULL);
    else if (running > 0)
        passes_stop(s, "ncube: nothing more can happen while other nodes are held");
    else
        return false;
    passes_tell_stop(s);
    return true;
}

bool stub_turn(struct stub *s, uint32_t running)
{
    if (listen_to_gdb(s))
        return true;
    switch (s->state) {
    case STUB_IDLE:
    case STUB_LEAVING:
        return false;
    case STUB_FORWARD:
        return s->travel.pass == TRAVEL_AHEAD && passes_have_come(s, target_stopped(&s->target) > 0);
    case STUB_WAITING:
        serving_await_gdb(s);
        return true;
    case STUB_STOPPED:
        serving_serve(s);
        return true;
    case STUB_RUNNING:
        if (passes_go_ahead(s))
            return true; /* fall through */
    default:
        return target_stopped(&s->target) == running && stand(s, running);
    }
}

void stub_goes_back(struct stub *s, const struct stub_way_back *way)
{
    s->goes_back = true;
    s->travel.freely = !way->closely;
    s->travel.kept = way->kept;
    s->travel.pass = way->from_end ? TRAVEL_END : TRAVEL_NOT;
    if (way->from_end)
        travel_to_end(&s->travel, way->end_cycles);
}

uint64_t stub_forward(const struct stub *s)
{
    return s->state == STUB_IDLE || s->state == STUB_LEAVING || s->state == STUB_FORWARD ? travel_stage(&s->travel) : 0;
}

void stub_look(struct stub *s, uint64_t latest_cycles)
{
    if (s->state != STUB_FORWARD)
        return;
    if (travel_is_beyond(&s->travel, latest_cycles))
        passes_miss(s);
    else if (s->travel.pass == TRAVEL_ON)
        passes_go_on(s);
    else if (travel_next_stage(&s->travel, &s->target))
        passes_seek(s);
}

bool stub_travels(const struct stub *s)
{
    return s->state == STUB_LEAVING;
}

bool stub_stuck(struct stub *s)
{
    if (s->state == STUB_FORWARD && s->travel.pass == TRAVEL_AHEAD)
        return passes_have_come(s, true);
    if (s->state == STUB_FORWARD) {
        passes_miss(s);
        return true;
    }
    if (s->state == STUB_SEEKING)
        return passes_stand(s);
    if (s->state != STUB_RUNNING || s->stuck)
        return false;
    s->stuck = true;
    passes_stop(s, "ncube: deadlock: nothing more can happen; see monitor nodes");
    passes_tell_stop(s);
    return true;
}

void stub_attach(struct stub *s, struct debug_area *area, uint32_t slots, const struct target_ops *ops, void *ctx)
{
    s->target = (struct target){.area = area,
                                .slots = slots,
                                .ops = ops,
                                .ctx = ctx,
                                .kernel = s->target.kernel,
                                .ahead = true,
                                .trail = s->target.trail};
    trail_clear(&s->target.trail);
    socket_notify(s->listener);
}

void stub_expect(struct stub *s)
{
    s->begun = false;
    s->expects = true;
}

void stub_choose(struct stub *s, uint64_t fault_pc)
{
    s->begun = true;
    s->expects = false;
    s->fault_pc = fault_pc;
}

void stub_begin(struct stub *s, const uint64_t *entry, uint32_t n, uint64_t fault_pc, void (*say)(void *ctx), void *ctx)
{
    stub_choose(s, fault_pc);
    s->entered_say = say;
    s->ctx = ctx;
    s->stuck = false;
    s->ran_ns = 0;
    s->let_go_ns = host_ns(CLOCK_MONOTONIC);
    s->travel.base = 0;
    if (passes_begin(s))
        return;
    s->state = STUB_ENTERING;
    for (uint32_t i = 0; i < n; i++)
        target_add_break(&s->target, entry[i]);
}

bool stub_is_busy(const struct stub *s)
{
    return s->fd >= 0;
}

void stub_drop(struct stub *s)
{
    if (s->state != STUB_IDLE)
        serving_end(s);
}

void stub_end(struct stub *s, int status)
{
    s->begun = false;
    if (s->state == STUB_FORWARD && s->travel.pass == TRAVEL_AHEAD) {
        passes_have_come(s, true);
        return;
    }
    if (s->state == STUB_FORWARD) {
        passes_miss(s);
        return;
    }
    if (s->state == STUB_SEEKING && s->travel.pass == TRAVEL_FIND) {
        passes_arrive(s, NULL);
        return;
    }
    if (s->fd >= 0) {
        session_ended(&s->session, status);
        serving_send(s);
    }
    serving_end(s);
}
