/* The debugger's end in ncube (stub.h): the socket, and when the program runs or stands. While it runs, the arrival of
 * bytes rings ncube's doorbell by SIGIO (signals.h). */
#include "emu/debug/stub.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/base/signals.h"
#include "emu/debug/commands.h"
#include "emu/debug/sockets.h"
#include "emu/debug/travel.h"

#define SEND_LIMIT_S 10 /* of the host's time: a gdb that reads nothing for so long counts as gone */
#define SIGNAL_INT   2

enum stub_state {
    STUB_IDLE,     /* no gdb, or no program */
    STUB_ENTERING, /* the program has not reached its entry */
    STUB_WAITING,  /* it has; gdb has not come */
    STUB_RUNNING,
    STUB_HALTING, /* as soon as nothing moves, gdb is told */
    STUB_STOPPED,
    STUB_LEAVING, /* another machine takes this one's place */
    STUB_FORWARD, /* nobody looks at the nodes yet (travel.h) */
    STUB_SEEKING, /* on it, the nodes are on their way to a place */
};

struct stub {
    int listener, fd; /* fd: -1: no gdb */
    uint16_t port;
    int look_ms;         /* or SIGNALS_FOREVER */
    bool expects, begun; /* a program will begin, or has */
    enum stub_state state;
    struct target target;
    struct session session;
    struct travel travel;
    bool goes_back;
    struct rsp rsp;
    char frame[RSP_FRAME_BYTES];
    size_t frame_bytes;
    bool repeats;                /* COMMAND_LEAVE_VIEW: the packet is still to be executed */
    bool awaits;                 /* gdb waits to be told why the nodes stand */
    bool stuck;                  /* and has been told that nothing moves any more */
    struct target_event entered; /* STUB_WAITING: the stop at the entry */
    uint64_t fault_pc;
    uint64_t let_go_ns, ran_ns; /* by the host's clock: when the nodes last went on, and how long they had run before */
    bool runs_all;              /* then no node was held, nor made a step */
    void (*entered_say)(void *ctx);
    void *ctx;
};

/* ---- Sockets ---- */

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

/* ---- The session ---- */

static void gdb_gone(struct stub *s)
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

static void send_answer(void *stub)
{
    struct stub *s = stub;

    s->frame_bytes = rsp_frame(&s->rsp, s->frame);
    if (s->fd >= 0 && !socket_send(s->fd, s->frame, s->frame_bytes))
        shutdown(s->fd, SHUT_RDWR); /* the next read finds the end */
}

static bool accept_gdb(struct stub *s)
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
    session_init(&s->session, &s->target, &s->rsp, send_answer, s);
    s->session.travel = s->goes_back ? &s->travel : NULL;
    s->target.kernel = s->awaits = s->stuck = false;
    target_watch_faults(&s->target, s->fault_pc);
    target_choose_nodes(&s->target, false);
    return true;
}

/* Reads what has arrived; false: gdb is gone. */
static bool receive(struct stub *s)
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

/* ---- While the nodes stand ---- */

static void let_go(struct stub *s)
{
    uint32_t nodes = s->target.ops->nodes(s->target.ctx);

    trail_clear(&s->target.trail);
    s->travel.made = TRAVEL_NOT;
    travel_note_breaks(&s->travel, &s->target);
    if (s->travel.kept) {
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

/* How long the nodes have taken to where they go on now. */
static void note_way(struct stub *s)
{
    uint64_t now_ns = host_ns(CLOCK_MONOTONIC);

    s->ran_ns += now_ns - s->let_go_ns;
    s->let_go_ns = now_ns;
}

static void leave(struct stub *s)
{
    s->awaits = !s->repeats;
    s->state = STUB_LEAVING;
}

static void kill_program(struct stub *s)
{
    gdb_gone(s);
    s->target.ops->kill(s->target.ctx);
}

static void step_back(struct stub *s)
{
    struct trail *trail = &s->target.trail;

    if (trail->n > 0 && trail->node == s->session.back && trail->view > 0) {
        trail->view--;
        session_stopped(&s->session, &(struct target_event){.why = DEBUG_STEP, .node = trail->node});
        send_answer(s);
        return;
    }
    travel_step(&s->travel, &s->target, s->session.back);
    leave(s);
}

static void go_back(struct stub *s)
{
    travel_back(&s->travel, &s->target, s->session.stopped, s->session.back, s->session.back_alone);
    leave(s);
}

static void go_to_wish(struct stub *s)
{
    travel_to_wish(&s->travel, &s->target);
    leave(s);
}

/* The command stays where it is, in s->rsp.packet, until the machine is there. */
static void leave_and_repeat(struct stub *s)
{
    s->repeats = true;
    leave(s);
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

static void execute(struct stub *s)
{
    enum command_result result = command_execute(&s->session);

    if (looks_closer(s, result))
        return;
    if (result == COMMAND_ANSWERED || result == COMMAND_DETACHED)
        send_answer(s);
    if (s->travel.wish != WISH_NONE && (result == COMMAND_GO || result == COMMAND_GO_BACK))
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
        let_go(s);
    else if (result == COMMAND_DETACHED)
        gdb_gone(s);
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
static void serve(struct stub *s)
{
    while (s->state == STUB_STOPPED) {
        execute_all(s);
        if (s->state != STUB_STOPPED)
            return;
        enum await what = await_input(s, s->fd);
        if (what == AWAIT_LATER)
            return;
        if (what == AWAIT_SIGNAL || !receive(s))
            gdb_gone(s);
    }
}

/* gdb asks by itself why the nodes stand. */
static void wait_for_gdb(struct stub *s)
{
    enum await what = await_input(s, s->listener);

    if (what == AWAIT_LATER)
        return;
    if (what == AWAIT_SIGNAL || !accept_gdb(s)) {
        gdb_gone(s);
        return;
    }
    if (s->entered.why == DEBUG_NOT)
        session_interrupted(&s->session, SIGNAL_INT);
    else
        session_stopped(&s->session, &s->entered);
    s->state = STUB_STOPPED;
}

/* ---- While they run ---- */

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
    if (s->fd < 0 && s->begun && s->state == STUB_IDLE && socket_is_readable(s->listener) && accept_gdb(s)) {
        s->state = STUB_HALTING;
        target_hold_all(&s->target);
        return true;
    }
    bool ahead = s->state == STUB_FORWARD && s->travel.pass == TRAVEL_AHEAD,
         runs = s->state == STUB_RUNNING || s->state == STUB_SEEKING || ahead;

    if (s->fd < 0 || !runs || !socket_is_readable(s->fd))
        return false;
    if (!receive(s)) {
        gdb_gone(s);
        return true;
    }
    if (!is_broken_off(s))
        return false;
    if (ahead) {
        travel_stay(&s->travel, &s->target);
        leave(s);
        return true;
    }
    s->travel.pass = TRAVEL_NOT;
    s->state = STUB_HALTING;
    target_end_seek(&s->target);
    target_hold_all(&s->target);
    return true;
}

/* Tells gdb, which awaits that, that the nodes stand for another reason than an event. */
static void stop_without_event(struct stub *s, const char *why)
{
    if (why)
        session_print(&s->session, why);
    session_interrupted(&s->session, SIGNAL_INT);
}

static void tell_stop(struct stub *s)
{
    if (s->state == STUB_RUNNING)
        note_way(s);
    s->state = STUB_STOPPED;
    s->target.ops->note(s->target.ctx);
    if (s->travel.kept && s->target.ahead) /* interrupts that are handled later have come before */
        target_forget_places(&s->target, NULL);
    if (s->awaits)
        send_answer(s);
    s->awaits = false;
}

/* A pass is over: another one follows, or the nodes are where gdb wanted them. */
static bool arrive(struct stub *s, const struct target_event *e)
{
    if (travel_goes_on(&s->travel, &s->target)) {
        leave(s);
        return true;
    }
    target_end_seek(&s->target);
    if (s->travel.at_begin)
        session_at_begin(&s->session, e->node);
    else if (!s->repeats)
        session_stopped(&s->session, &s->travel.event);
    tell_stop(s);
    return true;
}

static bool await_gdb(struct stub *s)
{
    s->target.ops->note(s->target.ctx);
    s->state = STUB_WAITING;
    s->entered_say(s->ctx);
    return true;
}

static bool stand_at_entry(struct stub *s)
{
    if (!target_take_event(&s->target, &s->entered))
        return false;
    target_clear(&s->target);
    if (s->travel.pass == TRAVEL_BEGIN)
        return arrive(s, &s->entered);
    return await_gdb(s);
}

/* At the end of the run, gdb is awaited. */
static bool stand_at_end(struct stub *s)
{
    if (!target_take_event(&s->target, &s->entered))
        s->entered = (struct target_event){.why = DEBUG_NOT};
    s->travel.made = s->travel.pass;
    s->travel.pass = TRAVEL_NOT;
    s->stuck = s->entered.why == DEBUG_NOT;
    if (s->repeats) { /* gdb is there already */
        travel_set_breaks(&s->travel, &s->target);
        tell_stop(s);
        return true;
    }
    return await_gdb(s);
}

/* A node that leaves a trail stops at each instruction. */
static bool follow(struct stub *s, const struct target_event *e)
{
    struct target_place here = target_place(&s->target, e->node);

    if (s->travel.pass == TRAVEL_ALL) {
        s->travel.event = *e;
        return arrive(s, e);
    }
    if (s->travel.pass == TRAVEL_TO)
        target_add_to_trail(&s->target, e->node);
    if (!target_is_before(&here, &s->travel.place))
        return arrive(s, e);
    target_let_go(&s->target, e->node, &(struct target_go){.how = TARGET_RUN});
    return true;
}

/* All that has been sought is found, or cannot come any more. */
static bool stand_in_pass(struct stub *s)
{
    struct target_event e;

    if (s->travel.pass == TRAVEL_END)
        return stand_at_end(s);
    if (s->travel.pass == TRAVEL_FIND)
        return arrive(s, NULL);
    if (target_take_event(&s->target, &e))
        return follow(s, &e);
    if (target_release_ended(&s->target))
        return true;
    s->travel.pass = TRAVEL_NOT;
    stop_without_event(s, "ncube: the place is not reached again; please report this");
    tell_stop(s);
    return true;
}

/* Nothing moves any more: tells gdb why. While nothing runs at all, it is told only what it has asked for: there may be
 * something to come from outside. */
static bool stand(struct stub *s, uint32_t running)
{
    struct target_event e;

    if (s->state == STUB_ENTERING)
        return stand_at_entry(s);
    if (s->state == STUB_SEEKING)
        return stand_in_pass(s);
    if (target_take_event(&s->target, &e))
        session_stopped(&s->session, &e);
    else if (target_release_ended(&s->target))
        return true;
    else if (s->state == STUB_HALTING)
        stop_without_event(s, NULL);
    else if (running > 0)
        stop_without_event(s, "ncube: nothing more can happen while other nodes are held");
    else
        return false;
    tell_stop(s);
    return true;
}

/* ---- Far ahead ---- */

#define AHEAD_NS 4000000000u /* of the host's time without user code that runs ahead, until it pays to begin anew */

/* Breakpoints keep user code from running ahead. If none stops a node for as long as it takes to come here, another
 * machine runs ahead to the next hit. */
static bool goes_ahead(struct stub *s)
{
    const struct debug_area *a = s->target.area;
    uint64_t stretch_ns = host_ns(CLOCK_MONOTONIC) - s->let_go_ns;

    if (!s->goes_back || s->travel.always || s->session.changed || !s->runs_all || a->breaks == 0 || a->watches > 0 ||
        target_stopped(&s->target) > 0 || stretch_ns < AHEAD_NS + s->ran_ns)
        return false;
    if (s->target.ops->no_return && s->target.ops->no_return(s->target.ctx))
        return false;
    travel_ahead(&s->travel, &s->target);
    leave(s);
    return true;
}

/* The machine that has run ahead is at the next hit, or where none comes any more. */
static bool has_come(struct stub *s, bool ends)
{
    if (!travel_has_come(&s->travel, &s->target, ends))
        return false;
    leave(s);
    return true;
}

/* Shortly before it: as after `continue`. */
static void go_on(struct stub *s)
{
    target_look_closely(&s->target, !s->travel.kept);
    target_watch_faults(&s->target, s->fault_pc);
    travel_start(&s->travel, &s->target);
    target_pace(&s->target, s->session.go);
    note_way(s);
    s->awaits = true;
    s->state = STUB_RUNNING;
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
        return s->travel.pass == TRAVEL_AHEAD && has_come(s, target_stopped(&s->target) > 0);
    case STUB_WAITING:
        wait_for_gdb(s);
        return true;
    case STUB_STOPPED:
        serve(s);
        return true;
    case STUB_RUNNING:
        if (goes_ahead(s))
            return true; /* fall through */
    default:
        return target_stopped(&s->target) == running && stand(s, running);
    }
}

void stub_goes_back(struct stub *s, const struct stub_way_back *way)
{
    s->goes_back = true;
    s->travel.always = way->closely;
    s->travel.kept = way->kept && !way->closely;
    s->travel.pass = way->from_end ? TRAVEL_END : TRAVEL_NOT;
    if (way->from_end)
        travel_to_end(&s->travel, way->end_cycles);
}

bool stub_is_kept(const struct stub *s)
{
    return s->travel.kept;
}

uint64_t stub_forward(const struct stub *s)
{
    return s->state == STUB_IDLE || s->state == STUB_LEAVING || s->state == STUB_FORWARD ? travel_stage(&s->travel) : 0;
}

static void seek(struct stub *s)
{
    s->state = STUB_SEEKING;
    note_way(s);
    target_look_closely(&s->target, true);
    target_pace(&s->target, NULL);
    target_watch_faults(&s->target, s->fault_pc);
    travel_start(&s->travel, &s->target);
}

/* The nodes have run too far: once more, with a look at all. */
static void miss(struct stub *s)
{
    bool repeats = s->repeats;

    travel_miss(&s->travel);
    leave(s);
    s->awaits = !repeats;
}

void stub_look(struct stub *s, uint64_t latest_cycles)
{
    if (s->state != STUB_FORWARD)
        return;
    if (travel_is_beyond(&s->travel, latest_cycles))
        miss(s);
    else if (s->travel.pass == TRAVEL_ON)
        go_on(s);
    else if (travel_next_stage(&s->travel, &s->target))
        seek(s);
}

bool stub_travels(const struct stub *s)
{
    return s->state == STUB_LEAVING;
}

bool stub_stuck(struct stub *s)
{
    if (s->state == STUB_FORWARD && s->travel.pass == TRAVEL_AHEAD)
        return has_come(s, true);
    if (s->state == STUB_FORWARD) {
        miss(s);
        return true;
    }
    if (s->state == STUB_SEEKING)
        return stand_in_pass(s);
    if (s->state != STUB_RUNNING || s->stuck)
        return false;
    s->stuck = true;
    stop_without_event(s, "ncube: deadlock: nothing more can happen; see monitor nodes");
    tell_stop(s);
    return true;
}

/* ---- The program's life ---- */

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
    if (s->travel.pass == TRAVEL_AHEAD)
        target_watch_faults(&s->target, fault_pc);
    target_await_program(&s->target);
    if (s->travel.closely > 0 || s->travel.pass == TRAVEL_AHEAD) {
        s->state = STUB_FORWARD;
        travel_prepare(&s->travel, &s->target);
        return;
    }
    if (s->travel.pass == TRAVEL_ON) {
        go_on(s);
        return;
    }
    target_pace(&s->target, NULL);
    if (s->travel.pass != TRAVEL_NOT && s->travel.pass != TRAVEL_BEGIN) {
        seek(s);
        return;
    }
    s->state = STUB_ENTERING;
    for (uint32_t i = 0; i < n; i++)
        target_change_break(&s->target, entry[i], true);
}

bool stub_is_busy(const struct stub *s)
{
    return s->fd >= 0;
}

void stub_drop(struct stub *s)
{
    if (s->state != STUB_IDLE)
        gdb_gone(s);
}

void stub_end(struct stub *s, int status)
{
    s->begun = false;
    if (s->state == STUB_FORWARD && s->travel.pass == TRAVEL_AHEAD) {
        has_come(s, true);
        return;
    }
    if (s->state == STUB_FORWARD) {
        miss(s);
        return;
    }
    if (s->state == STUB_SEEKING && s->travel.pass == TRAVEL_FIND) {
        arrive(s, NULL);
        return;
    }
    if (s->fd >= 0) {
        session_ended(&s->session, status);
        send_answer(s);
    }
    gdb_gone(s);
}
