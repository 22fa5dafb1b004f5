/* The network cycle by cycle and flit by flit (reference.h), as the judge of emu/network/net.c. */
#include "tests/emu/reference.h"

#include <stdlib.h>
#include <string.h>

enum { OWN = 99 };

struct train {
    struct reference_message *message;
    uint32_t way[REFERENCE_DIM_MAX]; /* channels: node * 16 + dimension */
    uint32_t hops;
    uint32_t owned, released; /* of the way */
    uint64_t head, flits;
    bool waits; /* in the queue of channel way[owned] */
    bool readable, accepted, done;
    uint64_t readable_cycles;
};

static uint32_t channel_flits, byte_flits, header_flits;
static struct train train[REFERENCE_MESSAGES_MAX];
static struct train *owner[16 << REFERENCE_DIM_MAX];
static struct train *queue[REFERENCE_MESSAGES_MAX]; /* all waiting trains, in order of arrival */
static uint32_t waiting;

static void train_make(struct train *t, struct reference_message *m, uint32_t dim)
{
    uint32_t at = m->from;

    *t = (struct train){.message = m, .flits = header_flits + byte_flits * m->payload_bytes};
    for (uint32_t d = 0; d < dim; d++)
        if ((at ^ m->to) >> d & 1) {
            t->way[t->hops++] = at * 16 + d;
            at ^= 1u << d;
        }
}

static uint64_t header_end(const struct train *t)
{
    return channel_flits * (uint64_t)t->hops + header_flits;
}

static bool is_under_way(const struct train *t, uint64_t now)
{
    return !t->done && t->message->start_cycles <= now;
}

/* The head is at the entrance of a channel that it does not own. */
static bool asks(const struct train *t)
{
    return t->owned < t->hops && t->head == channel_flits * (uint64_t)t->owned;
}

static void read_header(struct train *t, uint64_t now)
{
    if (t->readable || t->head < header_end(t))
        return;
    t->readable = true;
    t->readable_cycles = now;
}

static void accept_and_end(struct train *t, uint64_t now)
{
    read_header(t, now);
    if (t->readable && now >= t->readable_cycles + t->message->accept_after_cycles)
        t->accepted = true;
    if (t->accepted && t->head == channel_flits * (uint64_t)t->hops + t->flits) {
        t->done = true;
        t->message->done_cycles = now;
    }
}

static void release_channels(struct train *t, enum reference_release release)
{
    if (release == RELEASE_WHEN_ACCEPTED && !t->accepted)
        return;
    while (t->released < t->owned && t->head >= t->flits + channel_flits * (uint64_t)(t->released + 1))
        owner[t->way[t->released++]] = NULL;
}

/* Returns the number of the channel by which the head reached its place. */
static uint32_t came_by(const struct train *t)
{
    return t->owned > 0 ? t->way[t->owned - 1] % 16 : OWN;
}

static void queue_newcomers(uint32_t n, uint64_t now)
{
    for (uint32_t channel = 0; channel <= OWN; channel++)
        for (uint32_t i = 0; i < n; i++)
            if (is_under_way(&train[i], now) && asks(&train[i]) && !train[i].waits && came_by(&train[i]) == channel) {
                train[i].waits = true;
                queue[waiting++] = &train[i];
            }
}

static void serve_queue(void)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < waiting; i++) {
        struct train *t = queue[i];

        if (owner[t->way[t->owned]]) {
            queue[left++] = t;
            continue;
        }
        owner[t->way[t->owned++]] = t;
        t->waits = false;
    }
    waiting = left;
}

static bool stands(const struct train *t)
{
    return t->waits || (t->head == header_end(t) && !t->accepted);
}

static bool any_newcomer(uint32_t n, uint64_t now)
{
    for (uint32_t i = 0; i < n; i++)
        if (is_under_way(&train[i], now) && asks(&train[i]) && !train[i].waits)
            return true;
    return false;
}

/* Advances all trains by one cycle. Returns how many have not arrived. */
static uint32_t step(uint32_t n, uint64_t now, enum reference_release release)
{
    uint32_t left = 0;

    for (uint32_t i = 0; i < n; i++)
        if (is_under_way(&train[i], now)) {
            accept_and_end(&train[i], now);
            release_channels(&train[i], release);
        }
    if (any_newcomer(n, now))
        queue_newcomers(n, now);
    serve_queue();
    for (uint32_t i = 0; i < n; i++) {
        if (is_under_way(&train[i], now) && !stands(&train[i]))
            train[i].head++;
        left += !train[i].done;
    }
    return left;
}

bool reference_run(const struct reference_times *times, uint32_t dim, struct reference_message *message, uint32_t n,
                   enum reference_release release, uint64_t limit_cycles)
{
    channel_flits = times->channel_flits;
    byte_flits = times->byte_flits;
    header_flits = times->byte_flits * times->header_bytes;
    memset(owner, 0, sizeof owner);
    waiting = 0;
    for (uint32_t i = 0; i < n; i++)
        train_make(&train[i], &message[i], dim);
    for (uint64_t now = 0; now <= limit_cycles; now++)
        if (step(n, now, release) == 0)
            return true;
    return false;
}
