/* Checkpoints: copies of the process that wait (checkpoints.h). */
#include "emu/machine/checkpoints.h"

#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/base/memory_file.h"
#include "emu/base/signals.h"
#include "emu/debug/stub.h"
#include "emu/qemu/futex.h"
#include "emu/qemu/inside.h"
#include "emu/qemu/process_copy.h"
#include "emu/watch/debugger.h"

#define INTERVAL_NS (200 * HOST_NS_PER_MS) /* of processor time, between two checkpoints */
#define STEP_LEAST  20000u                 /* cycles between two looks */
#define STEP_MOST   (1ull << 40)
#define TRANSFER_S  10 /* of the host: another process that says nothing for so long has failed */

struct checkpoints {
    int near, far; /* a pair of sockets: of the process that runs the machine, and of the copies */
    uint64_t next_cycles, step_cycles;
    uint64_t way_ns;   /* processor time from the start of the run to the last look, */
    uint64_t clock_ns; /* when this thread's clock was this, */
    uint64_t made_ns;  /* and to the checkpoint before it */
    uint64_t most_bytes;
    bool off; /* no more can be made */
};

static struct inside_copy *copy_at(uint32_t i)
{
    return &inside.page->copy[i];
}

static bool waits(const struct inside_copy *c)
{
    return __atomic_load_n(&c->pid, __ATOMIC_SEQ_CST) > 0 && !c->ended;
}

/* ---- The memory of a copy ---- */

/* What the processes share. */
struct shared {
    struct memory_file ram, control;
};

static int find_shared(const struct machine *m, struct shared *s)
{
    int error = memory_file_find(&s->ram, m->cabinet[0].ram_fd);

    return error != 0 ? error : memory_file_find(&s->control, m->harts.fd);
}

static int own_images(const struct machine *m)
{
    int error = 0;

    for (uint32_t i = 0; i < m->config.topo.n_io * DRIVE_MAX && error == 0; i++)
        if (m->disk[i])
            error = memory_file_own(&(struct memory_file){.fd = disk_image(m->disk[i])});
    return error;
}

/* Returns 0 or an errno. */
static int own(struct machine *m, const struct shared *s)
{
    int error = memory_file_own(&s->ram);

    if (error == 0)
        error = memory_file_own(&s->control);
    if (error == 0)
        error = own_images(m);
    signals_keep_to(gettid());
    m->cabinet[0].pid = getpid();
    return error;
}

static uint64_t own_bytes(const struct machine *m)
{
    uint64_t bytes = memory_file_bytes(m->cabinet[0].ram_fd) + memory_file_bytes(m->harts.fd);

    for (uint32_t i = 0; i < m->config.topo.n_io * DRIVE_MAX; i++)
        if (m->disk[i])
            bytes += memory_file_bytes(disk_image(m->disk[i]));
    return bytes;
}

/* ---- Between the processes ---- */

static void answer(const struct checkpoints *c, int32_t what)
{
    if (send(c->far, &what, sizeof what, MSG_NOSIGNAL) != sizeof what)
        _exit(EXIT_FAILURE);
}

/* Returns what a copy of that process, or of its own, answers, or -1 if it has ended. */
static int32_t await_answer(const struct checkpoints *c, pid_t pid)
{
    struct pollfd p[2] = {{.fd = c->near, .events = POLLIN}, {.fd = pidfd_open(pid, 0), .events = POLLIN}};
    int32_t what = -1;

    while (p[1].fd >= 0 && poll(p, 2, -1) < 0 && errno == EINTR)
        ;
    if (!(p[0].revents & POLLIN) || recv(c->near, &what, sizeof what, MSG_DONTWAIT) != sizeof what)
        what = -1;
    if (p[1].fd >= 0)
        close(p[1].fd);
    return what;
}

/* With a descriptor, or -1. */
static bool send_descriptor(int socket, int fd)
{
    char control[CMSG_SPACE(sizeof fd)] = {0}, byte = fd >= 0;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

    if (fd >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        *CMSG_FIRSTHDR(&message) =
            (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &fd, sizeof fd);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

static bool receive_descriptor(int socket, int *fd)
{
    char control[CMSG_SPACE(sizeof *fd)] = {0}, byte = 0;
    struct iovec data = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};

    *fd = -1;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
        return false;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (byte && head && head->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(head), sizeof *fd);
    return !byte || *fd >= 0;
}

/* What has been learned in places that the copy has not come to. */
static bool send_state(const struct machine *m)
{
    FILE *f = fdopen(m->checkpoints->near, "w");
    bool sent = f && send_descriptor(m->checkpoints->near, stub_connection(m->stub)) && stub_give(m->stub, f) &&
                recording_give(m->options->recording, f);

    return sent && fflush(f) == 0;
}

static bool receive_state(const struct machine *m)
{
    int fd = -1, end = dup(m->checkpoints->far);
    FILE *f = end >= 0 ? fdopen(end, "r") : NULL;
    bool received = f && receive_descriptor(end, &fd);

    if (f)
        setvbuf(f, NULL, _IONBF, 0); /* nothing of what a later process gets */
    received = received && stub_take(m->stub, fd, f) && recording_take(m->options->recording, f);
    if (f)
        fclose(f);
    return received;
}

/* ---- Time ---- */

static void begin_clock(struct checkpoints *c)
{
    c->clock_ns = host_ns(CLOCK_THREAD_CPUTIME_ID);
}

static uint64_t go_clock(struct checkpoints *c)
{
    uint64_t now_ns = host_ns(CLOCK_THREAD_CPUTIME_ID), ran_ns = now_ns - c->clock_ns;

    c->way_ns += ran_ns;
    c->clock_ns = now_ns;
    return ran_ns;
}

/* ---- A copy ---- */

static void fail(const char *what, int error)
{
    fprintf(stderr, "ncube: cannot go back: %s: %s\n", what, strerror(error));
    fflush(stderr);
    inside.page->ended = 1 + (uint32_t)EXIT_FAILURE;
    _exit(EXIT_FAILURE);
}

/* It runs the machine from now on. */
static void go_on(struct machine *m, struct inside_copy *self, const struct shared *s)
{
    int error = own(m, s);

    if (error != 0)
        fail("no memory for a checkpoint", error);
    inside_go_on();
    answer(m->checkpoints, getpid());
    heartbeat_go_on(m->options->heartbeat_s);
    begin_clock(m->checkpoints);
    m->checkpoints->way_ns = m->checkpoints->made_ns = self->way_ns;
    if (!receive_state(m))
        fail("the process before it has failed", EPIPE);
    debugger_resume(m, self->latest_cycles);
}

/* Waits, and returns in each copy that goes on. */
static void be_checkpoint(struct machine *m, struct inside_copy *self, const struct shared *s)
{
    struct shared of_copy;
    uint32_t asleep, calls = 0;
    int error = own(m, s);

    answer(m->checkpoints, -error);
    if (error != 0 || find_shared(m, &of_copy) != 0)
        _exit(EXIT_FAILURE);
    for (;; calls++) {
        futex_await_change(&self->calls, calls, &asleep);
        pid_t pid = process_copy();

        if (pid == 0) {
            go_on(m, self, &of_copy);
            return;
        }
        if (pid < 0)
            answer(m->checkpoints, pid);
    }
}

/* ---- Which are kept ---- */

static void drop(struct inside_copy *c)
{
    c->ended = 1;
    kill(c->pid, SIGKILL);
}

/* Returns the one whose neighbours are closest to each other, compared with how far back it is; not the first, and not
 * the last before the present one. NULL: there are no more. */
static struct inside_copy *find_closest(uint64_t now_ns)
{
    struct inside_copy *closest = NULL;
    double least = 0;

    for (uint32_t i = 0; i < INSIDE_COPIES; i++) {
        struct inside_copy *c = copy_at(i);
        uint64_t before_ns = 0, after_ns = now_ns;

        if (!waits(c) || c->cycles == 0)
            continue;
        for (uint32_t k = 0; k < INSIDE_COPIES; k++) {
            const struct inside_copy *other = copy_at(k);

            if (k == i || !waits(other))
                continue;
            if (other->way_ns <= c->way_ns && other->way_ns > before_ns)
                before_ns = other->way_ns;
            if (other->way_ns > c->way_ns && (other->way_ns < after_ns || after_ns == now_ns))
                after_ns = other->way_ns;
        }
        uint64_t back_ns = now_ns > c->way_ns ? now_ns - c->way_ns : c->way_ns - now_ns;
        double measure = (double)(after_ns - before_ns) / ((double)back_ns + INTERVAL_NS);
        if (!closest || measure < least) {
            closest = c;
            least = measure;
        }
    }
    return closest;
}

static uint64_t taken_bytes(void)
{
    uint64_t bytes = 0;

    for (uint32_t i = 0; i < INSIDE_COPIES; i++)
        bytes += waits(copy_at(i)) ? copy_at(i)->bytes : 0;
    return bytes;
}

/* Those that have been given up are free when the guard has taken their ends. */
static struct inside_copy *find_free(void)
{
    for (uint32_t i = 0; i < INSIDE_COPIES; i++)
        if (__atomic_load_n(&copy_at(i)->pid, __ATOMIC_SEQ_CST) == 0)
            return copy_at(i);
    return NULL;
}

/* Returns where another one may be, or NULL. */
static struct inside_copy *make_room(const struct checkpoints *c, uint64_t bytes)
{
    struct inside_copy *closest, *free = find_free();
    bool full = !free, fits;

    while (!(fits = taken_bytes() + bytes <= c->most_bytes) || full) {
        closest = find_closest(c->way_ns);
        if (!closest)
            break;
        drop(closest);
        full = false;
    }
    return fits ? free : NULL;
}

/* ---- Making ---- */

static void turn_off(struct checkpoints *c)
{
    c->off = true;
}

static void make(struct machine *m, uint64_t cycles)
{
    struct checkpoints *c = m->checkpoints;
    uint64_t bytes = own_bytes(m);
    struct inside_copy *place = make_room(c, bytes);
    struct shared shared;

    if (!place)
        return;
    if (process_await_rest() != 0 || find_shared(m, &shared) != 0) {
        turn_off(c);
        return;
    }
    *place = (struct inside_copy){.cycles = cycles,
                                  .latest_cycles = cycles == 0 ? 0 : sched_latest_clock(m->sched),
                                  .way_ns = c->way_ns,
                                  .bytes = bytes};
    fflush(NULL);
    pid_t pid = process_copy();
    if (pid == 0) {
        be_checkpoint(m, place, &shared);
        return;
    }
    if (pid < 0) {
        turn_off(c);
        return;
    }
    __atomic_store_n(&place->pid, pid, __ATOMIC_SEQ_CST);
    if (await_answer(c, pid) != 0) {
        drop(place);
        turn_off(c);
        return;
    }
    c->made_ns = c->way_ns;
}

/* What is written as the run goes on, and has no end, is not gone back in. */
static bool can_have(const struct machine *m)
{
    return inside_is() && m->stub && m->options->gdb_goes_back && !m->trace &&
           recording_is_replayed(m->options->recording) && !m->options->strict;
}

void checkpoints_begin(struct machine *m)
{
    const struct timeval limit = {.tv_sec = TRANSFER_S};
    int pair[2];

    if (!can_have(m) || socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return;
    setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    setsockopt(pair[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    m->checkpoints = memory_new(1, sizeof *m->checkpoints);
    *m->checkpoints = (struct checkpoints){.near = pair[0],
                                           .far = pair[1],
                                           .next_cycles = STEP_LEAST,
                                           .step_cycles = STEP_LEAST,
                                           .most_bytes = (uint64_t)m->options->gdb_memory << 20};
    begin_clock(m->checkpoints);
    make(m, 0);
}

void checkpoints_end(struct machine *m)
{
    struct checkpoints *c = m->checkpoints;

    if (!c)
        return;
    close(c->near);
    close(c->far);
    free(c);
    m->checkpoints = NULL;
}

uint64_t checkpoints_next(const struct machine *m)
{
    const struct checkpoints *c = m->checkpoints;

    return c && !c->off && stub_may_pause(m->stub) ? c->next_cycles : UINT64_MAX;
}

/* Another machine has been here, and left one. */
static bool is_known(uint64_t cycles, uint64_t from_ns, uint64_t to_ns)
{
    bool known = false;

    for (uint32_t i = 0; i < INSIDE_COPIES; i++) {
        const struct inside_copy *c = copy_at(i);

        known = known || (waits(c) && c->cycles <= cycles && c->way_ns > from_ns && c->way_ns <= to_ns);
    }
    return known;
}

void checkpoints_look(struct machine *m)
{
    struct checkpoints *c = m->checkpoints;
    uint64_t ran_ns = go_clock(c), cycles = sched_now(m->sched);

    if (ran_ns < INTERVAL_NS / 8 && c->step_cycles < STEP_MOST)
        c->step_cycles *= 2;
    else if (ran_ns > INTERVAL_NS / 4 && c->step_cycles > STEP_LEAST)
        c->step_cycles /= 2;
    c->next_cycles = cycles + c->step_cycles;
    if (c->way_ns < c->made_ns + INTERVAL_NS || !stub_may_be_copied(m->stub))
        return;
    if (is_known(cycles, c->way_ns - INTERVAL_NS, c->way_ns))
        c->made_ns = c->way_ns;
    else
        make(m, cycles);
}

/* ---- Going on from one ---- */

/* The latest one that will do. */
static struct inside_copy *choose(const struct stub *s)
{
    struct inside_copy *latest = NULL;
    bool best;

    for (uint32_t i = 0; i < INSIDE_COPIES; i++) {
        struct inside_copy *c = copy_at(i);

        if (!waits(c) || !stub_can_resume(s, c->latest_cycles, &best))
            continue;
        if (best)
            return c;
        if (!latest || c->cycles > latest->cycles)
            latest = c;
    }
    return latest;
}

void checkpoints_wake(struct machine *m)
{
    struct inside_copy *c = m->checkpoints && signals_asked() == 0 ? choose(m->stub) : NULL;

    if (!c)
        return;
    fflush(NULL);
    __atomic_add_fetch(&c->calls, 1, __ATOMIC_SEQ_CST);
    futex_wake(&c->calls);
    if (await_answer(m->checkpoints, c->pid) <= 0)
        return;
    send_state(m);
    _exit(EXIT_SUCCESS);
}
