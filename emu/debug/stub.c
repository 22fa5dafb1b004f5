/*
 * The debugger's end in ncube (stub.h): the socket, and when the program runs or stands. While it runs, the arrival of
 * bytes rings ncube's doorbell by SIGIO (signals.h).
 */
#define _GNU_SOURCE /* accept4, O_ASYNC */
#include "emu/debug/stub.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/base/signals.h"
#include "emu/debug/commands.h"

#define SEND_LIMIT_S 10 /* of the host's time: a gdb that reads nothing for so long counts as gone */
#define SIGNAL_INT   2

enum stub_state {
    STUB_IDLE,     /* no gdb, or no program */
    STUB_ENTERING, /* the program has not reached its entry */
    STUB_RUNNING,
    STUB_HALTING, /* as soon as nothing moves, gdb is told */
    STUB_STOPPED,
};

struct stub {
    int listener, fd; /* fd: -1: no gdb */
    uint16_t port;
    bool attached, begun;
    enum stub_state state;
    struct target target;
    struct session session;
    struct rsp rsp;
    char frame[RSP_FRAME_BYTES];
    size_t frame_bytes;
    bool awaits; /* gdb waits to be told why the nodes stand */
    bool stuck;  /* and has been told that nothing moves any more */
    const char *program;
    uint64_t fault_pc;
    void (*say)(const char *line);
};

/* ---- Sockets ---- */

static int listen_on(uint16_t *port)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(*port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t bytes = sizeof address;
    int on = 1, fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd < 0)
        return -1;
    setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(fd, (struct sockaddr *)&address, sizeof address) != 0 || listen(fd, 1) != 0 ||
        getsockname(fd, (struct sockaddr *)&address, &bytes) != 0) {
        int reason = errno;

        close(fd);
        errno = reason;
        return -1;
    }
    *port = ntohs(address.sin_port);
    return fd;
}

struct stub *stub_new(uint16_t port, char *error, size_t error_bytes)
{
    struct stub *s = memory_new(1, sizeof *s);

    *s = (struct stub){.fd = -1, .port = port};
    s->listener = listen_on(&s->port);
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
    close(s->listener);
    free(s);
}

uint16_t stub_port(const struct stub *s)
{
    return s->port;
}

/* Has SIGIO sent when something arrives. */
static void notify(int fd)
{
    fcntl(fd, F_SETOWN, getpid());
    fcntl(fd, F_SETFL, fcntl(fd, F_GETFL) | O_ASYNC);
}

static bool is_readable(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};

    return poll(&p, 1, 0) > 0;
}

/* Waits until the descriptor has something to read; false: a signal wants ncube's attention. */
static bool await_input(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    int ready;

    do
        ready = signals_poll(&p, 1, SIGNALS_FOREVER);
    while (ready < 0 && errno == EINTR && !signals_request() && !signals_any());
    return ready > 0;
}

/* ---- The session ---- */

static void gdb_gone(struct stub *s)
{
    if (s->fd >= 0)
        close(s->fd);
    s->fd = -1;
    session_free(&s->session);
    target_release_all(&s->target);
    target_choose_nodes(&s->target, true);
    s->state = STUB_IDLE;
}

/* Returns false if gdb is gone. */
static bool send_all(struct stub *s, const char *bytes, size_t n)
{
    while (n > 0) {
        ssize_t done = send(s->fd, bytes, n, MSG_NOSIGNAL);

        if (done < 0 && errno == EINTR)
            continue;
        if (done <= 0)
            return false;
        bytes += done;
        n -= (size_t)done;
    }
    return true;
}

static void send_answer(void *stub)
{
    struct stub *s = stub;

    s->frame_bytes = rsp_frame(&s->rsp, s->frame);
    if (s->fd >= 0 && !send_all(s, s->frame, s->frame_bytes))
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
    notify(s->fd);
    rsp_init(&s->rsp);
    session_init(&s->session, &s->target, &s->rsp, send_answer, s);
    s->target.kernel = s->awaits = s->stuck = false;
    s->target.area->fault_pc = s->fault_pc;
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
    if (!s->session.no_acks && !send_all(s, &c, 1))
        shutdown(s->fd, SHUT_RDWR);
}

/* ---- While the nodes stand ---- */

static void let_go(struct stub *s)
{
    uint32_t nodes = s->target.ops->nodes(s->target.ctx);

    target_release_ended(&s->target);
    for (uint32_t node = 0; node < nodes; node++)
        target_let_go(&s->target, node, &s->session.go[node]);
    s->awaits = true;
    s->state = STUB_RUNNING;
}

static void kill_program(struct stub *s)
{
    gdb_gone(s);
    s->target.ops->kill(s->target.ctx);
}

static void execute_packet(struct stub *s)
{
    acknowledge(s, '+');
    enum command_result result = command_execute(&s->session);

    if (result == COMMAND_ANSWERED || result == COMMAND_DETACHED)
        send_answer(s);
    if (result == COMMAND_GO)
        let_go(s);
    else if (result == COMMAND_DETACHED)
        gdb_gone(s);
    else if (result == COMMAND_KILLED)
        kill_program(s);
}

/* Executes what has arrived, until the nodes go on. */
static void execute_all(struct stub *s)
{
    enum rsp_item item;

    while (s->state == STUB_STOPPED && (item = rsp_next(&s->rsp)) != RSP_NOTHING)
        if (item == RSP_PACKET)
            execute_packet(s);
        else if (item == RSP_BAD)
            acknowledge(s, '-');
        else if (item == RSP_RESEND && !s->session.no_acks && !send_all(s, s->frame, s->frame_bytes))
            shutdown(s->fd, SHUT_RDWR);
}

/* Serves gdb until the nodes go on, or it leaves, or a signal comes. */
static void serve(struct stub *s)
{
    while (s->state == STUB_STOPPED) {
        execute_all(s);
        if (s->state != STUB_STOPPED)
            return;
        if (!await_input(s->fd) || !receive(s))
            gdb_gone(s);
    }
}

/* gdb asks itself why the nodes stand, with its first packets. */
static void wait_for_gdb(struct stub *s)
{
    char line[4608];

    snprintf(line, sizeof line, "waiting for gdb: gdb-multiarch %s -ex 'target remote :%u'", s->program, s->port);
    s->say(line);
    while (!is_readable(s->listener))
        if (!await_input(s->listener)) {
            gdb_gone(s);
            return;
        }
    if (!accept_gdb(s)) {
        gdb_gone(s);
        return;
    }
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

/* Looks whether gdb has something to say while the program runs: its interrupt, or its end. Returns true if the nodes'
 * state has changed. */
static bool listen_to_gdb(struct stub *s)
{
    if (s->fd < 0 && s->begun && s->state == STUB_IDLE && is_readable(s->listener) && accept_gdb(s)) {
        s->state = STUB_HALTING;
        target_hold_all(&s->target);
        return true;
    }
    if (s->fd < 0 || s->state != STUB_RUNNING || !is_readable(s->fd))
        return false;
    if (!receive(s)) {
        gdb_gone(s);
        return true;
    }
    if (!is_broken_off(s))
        return false;
    s->state = STUB_HALTING;
    target_hold_all(&s->target);
    return true;
}

/* Nothing moves, and no node has stopped for an event. */
static void say_stuck(struct stub *s, uint32_t running)
{
    if (s->state == STUB_RUNNING)
        session_print(&s->session, running > 0 ? "ncube: nothing more can happen while other nodes are held"
                                               : "ncube: deadlock: nothing more can happen; see monitor nodes");
    s->stuck = running == 0;
    session_interrupted(&s->session, SIGNAL_INT);
}

/* Nothing moves any more: tells gdb why, and serves it. */
static bool stand(struct stub *s, uint32_t running)
{
    struct target_event e;
    bool event = target_take_event(&s->target, &e);

    if (s->state == STUB_ENTERING) {
        if (!event)
            return false;
        target_clear(&s->target);
        wait_for_gdb(s);
        if (s->state == STUB_STOPPED)
            session_stopped(&s->session, &e);
    } else {
        if (!event && target_release_ended(&s->target))
            return true;
        if (!event && s->state == STUB_RUNNING && running == 0 && s->stuck)
            return false;
        if (event)
            session_stopped(&s->session, &e);
        else
            say_stuck(s, running);
        s->state = STUB_STOPPED;
        if (s->awaits)
            send_answer(s);
    }
    s->awaits = false;
    serve(s);
    return true;
}

bool stub_turn(struct stub *s, uint32_t running)
{
    if (listen_to_gdb(s))
        return true;
    if (s->state == STUB_IDLE || target_stopped(&s->target) != running)
        return false;
    return stand(s, running);
}

/* ---- The program's life ---- */

void stub_attach(struct stub *s, struct debug_area *area, uint32_t slots, const struct target_ops *ops, void *ctx)
{
    s->target = (struct target){.area = area, .slots = slots, .ops = ops, .ctx = ctx};
    s->attached = true;
    notify(s->listener);
}

void stub_begin(struct stub *s, const uint64_t *entry, uint32_t n, uint64_t fault_pc, const char *program,
                void (*say)(const char *line))
{
    s->begun = true;
    s->program = program;
    s->fault_pc = fault_pc;
    s->say = say;
    s->state = STUB_ENTERING;
    target_choose_nodes(&s->target, false);
    for (uint32_t i = 0; i < n; i++)
        target_add_break(&s->target, entry[i]);
}

void stub_end(struct stub *s, int status)
{
    s->begun = false;
    if (s->fd >= 0) {
        session_ended(&s->session, status);
        send_answer(s);
    }
    gdb_gone(s);
}
