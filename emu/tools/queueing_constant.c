/*
 * The solver of queueing.h for constant service times: a simulation in which every server takes one message at a time,
 * in order of arrival. Nothing in it is random; ties are broken by the message's number. Times are whole nanoseconds.
 */
#include <math.h>
#include <stdlib.h>
#include <sys/queue.h>

#include "emu/base/memory.h"
#include "emu/tools/queueing.h"
#include "emu/time/eventq.h"

enum { ROUNDS = 400, ROUNDS_BEFORE = 100 };
enum stage { CPU, NETWORK, DISK, STATUS, STAGES };

struct message {
    struct simulation *sim;
    uint32_t number, class;
    enum stage stage;
    uint64_t arrived_ns;
    uint64_t rounds_left;
    STAILQ_ENTRY(message) next;
};

struct server {
    STAILQ_HEAD(, message) waiting; /* the first is served */
    uint64_t idle_from_ns;
};

struct simulation {
    const struct queueing *q;
    const struct queueing_curve *curve; /* NULL: none */
    struct eventq *events;
    struct message *message;
    struct server cpu, *routing, *disk;
    uint64_t service_ns[STAGES];
    uint64_t ended;                /* ways around */
    uint64_t counted_from, last;   /* counting begins with the first of these, and the run ends with the second */
    uint64_t first_ns, last_ns;    /* when they ended */
    uint64_t residence_ns[STAGES]; /* sums */
    uint64_t residences[STAGES];   /* how many are in each sum */
};

static void end_of_service(void *arg, uint64_t now_ns);

/* Returns the queue at which a message is served, or NULL: it does not wait. */
static struct server *server_of(struct simulation *s, const struct message *m)
{
    switch (m->stage) {
    case CPU:
        return &s->cpu;
    case NETWORK:
        return &s->routing[(uint64_t)m->class * s->q->routings / s->q->disks];
    case DISK:
        return &s->disk[m->class];
    default:
        return NULL;
    }
}

/* The service time of an I/O node that was idle for so long (struct queueing_curve). Before the first point the drive
 * turns as behind it; after the last one it is as there. */
static double on_curve(const struct queueing_curve *c, double idle_us)
{
    uint32_t i = 0;

    while (i < c->n && c->idle_us[i] <= idle_us)
        i++;
    if (i == 0)
        return c->service_us[0] + c->idle_us[0] - idle_us;
    if (i == c->n)
        return c->service_us[i - 1];
    double since_us = idle_us - c->idle_us[i - 1], step_us = c->idle_us[i] - c->idle_us[i - 1];
    double rise_us = c->service_us[i] - c->service_us[i - 1];
    return c->service_us[i - 1] + (rise_us > 0 ? -since_us : rise_us * since_us / step_us);
}

static uint64_t service_of(const struct message *m, const struct server *server, uint64_t now_ns)
{
    const struct queueing_curve *curve = m->sim->curve;

    if (m->stage != DISK || !curve)
        return m->sim->service_ns[m->stage];
    double us = on_curve(curve, (double)(now_ns - server->idle_from_ns) / 1e3);
    return us > 0 ? (uint64_t)llround(us * 1e3) : 0;
}

static void begin_service(struct message *m, const struct server *server, uint64_t now_ns)
{
    eventq_add(m->sim->events, now_ns + service_of(m, server, now_ns), m->number, end_of_service, m);
}

static void arrive(struct message *m, enum stage stage, uint64_t now_ns)
{
    m->stage = stage;
    m->arrived_ns = now_ns;
    struct server *server = server_of(m->sim, m);
    bool idle = !server || STAILQ_EMPTY(&server->waiting);
    if (server)
        STAILQ_INSERT_TAIL(&server->waiting, m, next);
    if (idle)
        begin_service(m, server, now_ns);
}

static bool is_counting(const struct simulation *s)
{
    return s->ended >= s->counted_from;
}

/* Counts a message that has gone around once. */
static void count(struct simulation *s, uint64_t now_ns)
{
    if (++s->ended == s->counted_from)
        s->first_ns = now_ns;
    s->last_ns = now_ns;
}

static void end_of_service(void *arg, uint64_t now_ns)
{
    struct message *m = arg, *next;
    struct simulation *s = m->sim;
    struct server *server = server_of(s, m);

    if (is_counting(s)) {
        s->residence_ns[m->stage] += now_ns - m->arrived_ns;
        s->residences[m->stage]++;
    }
    if (server) {
        STAILQ_REMOVE_HEAD(&server->waiting, next);
        next = STAILQ_FIRST(&server->waiting);
        server->idle_from_ns = now_ns;
        if (next)
            begin_service(next, server, now_ns);
    }
    if (m->stage != STATUS) {
        arrive(m, m->stage + 1, now_ns);
        return;
    }
    count(s, now_ns);
    if (--m->rounds_left > 0)
        arrive(m, CPU, now_ns);
}

static struct simulation start(const struct queueing *q)
{
    struct simulation s = {
        .q = q,
        .events = eventq_new(),
        .message = memory_new((size_t)q->disks * q->buffers, sizeof *s.message),
        .routing = memory_new(q->routings, sizeof *s.routing),
        .disk = memory_new(q->disks, sizeof *s.disk),
        .service_ns = {[CPU] = (uint64_t)llround(q->cpu_us * 1e3),
                       [NETWORK] = (uint64_t)llround(q->network_us * 1e3),
                       [DISK] = (uint64_t)llround(q->disk_us * 1e3),
                       [STATUS] = (uint64_t)llround(q->status_us * 1e3)},
    };

    return s;
}

/* Message i is of class i mod D: the first of every class start before the second ones, as libpio sends blocks. Message
 * i goes around `rounds` times, the first `more` once more; the run ends when none is left or s->last have ended. */
static void run(struct simulation *s, uint64_t rounds, uint64_t more)
{
    uint32_t messages = s->q->disks * s->q->buffers;

    STAILQ_INIT(&s->cpu.waiting);
    for (uint32_t i = 0; i < s->q->routings; i++)
        STAILQ_INIT(&s->routing[i].waiting);
    for (uint32_t i = 0; i < s->q->disks; i++)
        STAILQ_INIT(&s->disk[i].waiting);
    for (uint32_t i = 0; i < messages; i++) {
        s->message[i] =
            (struct message){.sim = s, .number = i, .class = i % s->q->disks, .rounds_left = rounds + (i < more)};
        if (s->message[i].rounds_left > 0)
            arrive(&s->message[i], CPU, 0);
    }
    while (eventq_next(s->events) != EVENTQ_NEVER && s->ended < s->last)
        eventq_run_one(s->events);
    eventq_free(s->events);
    free(s->message);
    free(s->routing);
    free(s->disk);
}

static double mean_us(const struct simulation *s, enum stage stage)
{
    return (double)s->residence_ns[stage] / 1e3 / (double)s->residences[stage];
}

struct queueing_means queueing_constant(const struct queueing *q)
{
    struct simulation s = start(q);
    uint32_t messages = q->disks * q->buffers;

    s.counted_from = (uint64_t)messages * ROUNDS_BEFORE;
    s.last = (uint64_t)messages * ROUNDS;
    run(&s, UINT64_MAX, 0);
    double each_us = (double)(s.last_ns - s.first_ns) / 1e3 / (double)(s.last - s.counted_from);
    double network_us = mean_us(&s, NETWORK);
    return (struct queueing_means){
        .response_us = messages * each_us,
        .cpu_us = mean_us(&s, CPU),
        .network_us = network_us,
        .disk_us = mean_us(&s, DISK),
        .network_messages = network_us / each_us,
        .disk_use = q->disk_us / each_us / q->disks,
        .per_s = 1e6 / each_us,
    };
}

double queueing_turning_us(const struct queueing *q, const struct queueing_curve *curve, uint64_t blocks)
{
    struct simulation s = start(q);
    uint64_t messages = (uint64_t)q->disks * q->buffers;

    s.curve = curve;
    s.last = blocks;
    run(&s, blocks / messages, blocks % messages);
    return (double)s.last_ns / 1e3;
}

double queueing_constant_us(const struct queueing *q, uint64_t blocks)
{
    return queueing_turning_us(q, NULL, blocks);
}

bool queueing_is_sound(const struct queueing *q)
{
    const double time[] = {q->cpu_us, q->network_us, q->disk_us, q->status_us};
    const double longest_us = 1e9;

    for (int i = 0; i < 4; i++)
        if (!(time[i] >= (i < 3 ? 1e-3 : 0) && time[i] <= longest_us))
            return false;
    return q->disks > 0 && q->buffers > 0 && q->routings > 0 && q->routings <= q->disks &&
           (uint64_t)q->disks * q->buffers <= QUEUEING_MESSAGES_MAX;
}
