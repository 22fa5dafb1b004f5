/* gdb's connection and commands (serving.h). */
#include "emu/debug/serving.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/signals.h"
#include "emu/debug/breakpoints.h"
#include "emu/debug/sockets.h"
#include "emu/debug/stub_data.h"

#define SEND_LIMIT_S 10 /* of the host's time: a gdb that reads nothing for so long counts as gone */

enum await { AWAIT_INPUT, AWAIT_LATER, AWAIT_SIGNAL };

/* Waits until the descriptor has something to read, it is time to look after others, or a signal wants ncube's
 * attention. */
static enum await await_input(const struct stub *s, int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready;

    do
        ready = signals_poll(&p, 1, s->look_ms);
    while (ready < 0 && errno == EINTR && !signals_request() && !signals_any());
    return ready > 0 ? AWAIT_INPUT : ready == 0 ? AWAIT_LATER : AWAIT_SIGNAL;
}

void serving_end(struct stub *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    session_free(&s->session);
    travel_free(&s->travel);
    trail_free(&s->target.trail);
    s->repeats = false;
    s->travel.pass = TRAVEL_NOT;
    s->travel.from = s->travel.closely = 0;
    target_release_all(&s->target);
    target_choose_nodes(&s->target, true);
    s->state = STUB_IDLE;
}

void serving_send(void *stub)
{
    struct stub *s = stub;

    s->frame_bytes = rsp_frame(&s->rsp, s->frame);
    if (s->fd >= 0 && !socket_send(s->fd, s->frame, s->frame_bytes))
        shutdown(s->fd, SHUT_RDWR); /* the next read finds the end */
}

bool serving_begin(struct stub *s)
{
    const struct timeval limit = {.tv_sec = SEND_LIMIT_S};
    int on = 1;

    s->fd = accept4(s->listener, NULL, NULL, SOCK_CLOEXEC);
    if (s->fd < 0)
        return false;
    setsockopt(s->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    setsockopt(s->fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    socket_notify(s->fd);
    rsp_init(&s->rsp);
    session_init(&s->session, &s->target, &s->rsp, serving_send, s);
    s->session.travel = s->goes_back ? &s->travel : NULL;
    s->target.kernel = s->awaits = s->stuck = false;
    target_watch_faults(&s->target, s->fault_pc);
    target_choose_nodes(&s->target, false);
    return true;
}

/* Reads what has arrived; false: gdb is gone. */
bool serving_receive(struct stub *s)
{
    size_t room;
    uint8_t *to = rsp_room(&s->rsp, &room);
    ssize_t n = recv(s->fd, to, room, MSG_DONTWAIT);

    if (n > 0)
        s->rsp.filled += (size_t)n;
    return n > 0 || (n < 0 && (errno == EAGAIN || errno == EINTR));
}

static void acknowledge(struct stub *s, char c)
{
    if (!s->session.no_acks && !socket_send(s->fd, &c, 1))
        shutdown(s->fd, SHUT_RDWR);
}

void serving_let_go(struct stub *s)
{
    uint32_t nodes = s->target.ops->nodes(s->target.ctx);

    trail_clear(&s->target.trail);
    s->travel.made = TRAVEL_NOT;
    travel_note_breaks(&s->travel, &s->target);
    if (s->travel.freely) {
        target_look_closely(&s->target, false);
        target_forget_places(&s->target, s->session.go);
    }
    target_release_ended(&s->target);
    target_pace(&s->target, s->session.go);
    s->runs_all = true;
    for (uint32_t node = 0; node < nodes; node++) {
        target_let_go(&s->target, node, &s->session.go[node]);
        s->runs_all = s->runs_all && s->session.go[node].how == TARGET_RUN;
    }
    s->awaits = true;
    s->state = STUB_RUNNING;
    s->let_go_ns = host_ns(CLOCK_MONOTONIC);
}

void serving_leave(struct stub *s)
{
    s->awaits = !s->repeats;
    s->state = STUB_LEAVING;
}

static void kill_program(struct stub *s)
{
    serving_end(s);
    s->target.ops->kill(s->target.ctx);
}

static void step_back(struct stub *s)
{
    struct trail *trail = &s->target.trail;

    if (trail->n > 0 && trail->node == s->session.back && trail->view > 0) {
        trail->view--;
        session_stopped(&s->session, &(struct target_event){.why = DEBUG_STEP, .node = trail->node});
        serving_send(s);
        return;
    }
    travel_step(&s->travel, &s->target, s->session.back);
    serving_leave(s);
}

static void go_back(struct stub *s)
{
    travel_back(&s->travel, &s->target, s->session.stopped, s->session.back, s->session.back_alone);
    serving_leave(s);
}

static void go_to_wish(struct stub *s)
{
    travel_to_wish(&s->travel, &s->target);
    serving_leave(s);
}

/* The command stays where it is, in s->rsp.packet, until the machine is there. */
static void leave_and_repeat(struct stub *s)
{
    s->repeats = true;
    serving_leave(s);
}

static void leave_view(struct stub *s)
{
    travel_to_view(&s->travel, &s->target);
    leave_and_repeat(s);
}

static void find_hits(struct stub *s)
{
    travel_find(&s->travel, &s->target, s->session.stopped);
    leave_and_repeat(s);
}

/* Which node's place a command needs to know. */
static uint32_t node_of_result(const struct stub *s, enum command_result result)
{
    return result == COMMAND_STEP_BACK ? s->session.back : s->session.stopped;
}

/* Goes to the same place by a pass that has looked at all, if the command needs that. */
static bool looks_closer(struct stub *s, enum command_result result)
{
    if (result != COMMAND_STEP_BACK && result != COMMAND_GO_BACK && result != COMMAND_FIND_HITS)
        return false;
    if (s->travel.wish != WISH_NONE || travel_sees(&s->travel, &s->target, node_of_result(s, result)))
        return false;
    travel_look_closer(&s->travel, &s->target, s->session.stopped, s->stuck || s->session.why == DEBUG_FAULT);
    leave_and_repeat(s);
    return true;
}

/* Before gdb continues from a breakpoint, it lets the node alone execute its instruction; a stop of another node would
 * not be the end of that. */
static bool all_run(const struct stub *s)
{
    uint32_t nodes = s->target.ops->nodes(s->target.ctx);

    for (uint32_t node = 0; node < nodes; node++)
        if (s->session.go[node].how != TARGET_RUN)
            return false;
    return true;
}

static void note_resume(struct stub *s, enum command_result result)
{
    if (result == COMMAND_GO)
        breakpoints_go_on(&s->session);
    else if (result == COMMAND_STEP_BACK || result == COMMAND_GO_BACK)
        breakpoints_go_back(&s->session, result == COMMAND_STEP_BACK);
}

static void execute(struct stub *s)
{
    enum command_result result = command_execute(&s->session);
    bool goes = (result == COMMAND_GO && all_run(s)) || result == COMMAND_GO_BACK;

    if (looks_closer(s, result))
        return;
    note_resume(s, result);
    if (result == COMMAND_ANSWERED || result == COMMAND_DETACHED)
        serving_send(s);
    if (s->travel.wish != WISH_NONE && goes)
        go_to_wish(s);
    else if (result == COMMAND_FIND_HITS)
        find_hits(s);
    else if (result == COMMAND_STEP_BACK)
        step_back(s);
    else if (result == COMMAND_GO_BACK)
        go_back(s);
    else if (result == COMMAND_LEAVE_VIEW)
        leave_view(s);
    else if (result == COMMAND_GO)
        serving_let_go(s);
    else if (result == COMMAND_DETACHED)
        serving_end(s);
    else if (result == COMMAND_KILLED)
        kill_program(s);
}

static void execute_packet(struct stub *s)
{
    acknowledge(s, '+');
    execute(s);
}

/* Executes what has arrived, until the nodes go on. */
static void execute_all(struct stub *s)
{
    enum rsp_item item;

    if (s->repeats) {
        s->repeats = false;
        execute(s);
    }
    while (s->state == STUB_STOPPED && (item = rsp_next(&s->rsp)) != RSP_NOTHING)
        if (item == RSP_PACKET)
            execute_packet(s);
        else if (item == RSP_BAD)
            acknowledge(s, '-');
        else if (item == RSP_RESEND && !s->session.no_acks && !socket_send(s->fd, s->frame, s->frame_bytes))
            shutdown(s->fd, SHUT_RDWR);
}

/* Serves gdb until the nodes go on, or it leaves, or a signal comes, or it is time to look after others. */
void serving_serve(struct stub *s)
{
    while (s->state == STUB_STOPPED) {
        execute_all(s);
        if (s->state != STUB_STOPPED)
            return;
        enum await what = await_input(s, s->fd);
        if (what == AWAIT_LATER)
            return;
        if (what == AWAIT_SIGNAL || !serving_receive(s))
            serving_end(s);
    }
}

/* gdb asks by itself why the nodes stand. */
void serving_await_gdb(struct stub *s)
{
    enum await what = await_input(s, s->listener);

    if (what == AWAIT_LATER)
        return;
    if (what == AWAIT_SIGNAL || !serving_begin(s)) {
        serving_end(s);
        return;
    }
    if (s->entered.why == DEBUG_NOT)
        session_interrupted(&s->session, SIGNAL_INT);
    else
        session_stopped(&s->session, &s->entered);
    s->state = STUB_STOPPED;
}
