/* The stub in a copy of the process: what it has learned since the copy was made, and what it seeks there (stub.h). All
 * that the process had before is in the same places in the copy, so pointers to that stay. */
#include <stdlib.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/debug/serving.h"
#include "emu/debug/sockets.h"
#include "emu/debug/stub_data.h"
#include "emu/debug/stub_passes.h"

void stub_be_copied(struct stub *s)
{
    s->copied = true;
}

void stub_be_behind(struct stub *s)
{
    s->behind = true;
}

/* Where a place is sought, nothing that moves means that it has been found. */
bool stub_may_pause(const struct stub *s)
{
    return s->begun && !s->session.changed && (s->state == STUB_FORWARD || (s->state == STUB_RUNNING && s->runs_all));
}

bool stub_may_be_copied(const struct stub *s)
{
    return stub_may_pause(s) && target_stopped(&s->target) == 0;
}

bool stub_can_resume(const struct stub *s, uint64_t latest_cycles, bool *best)
{
    uint64_t base;

    *best = travel_wants_base(&s->travel, &base) && base == latest_cycles;
    return latest_cycles <= travel_earliest(&s->travel);
}

int stub_connection(const struct stub *s)
{
    return s->fd;
}

/* ---- Arrays that it has ---- */

struct array {
    void **at;
    size_t bytes;
};

#define ARRAYS 5

static void list_arrays(struct stub *s, struct array list[ARRAYS])
{
    struct travel *v = &s->travel;

    list[0] = (struct array){(void **)&v->hit, v->hits * sizeof *v->hit};
    list[1] = (struct array){(void **)&v->held, sizeof *v->held};
    list[2] = (struct array){(void **)&v->breaks, sizeof *v->breaks};
    list[3] = (struct array){(void **)&s->session.go, s->session.goes * sizeof *s->session.go};
    list[4] = (struct array){(void **)&s->session.document, s->session.document_bytes};
}

bool stub_give(const struct stub *s, FILE *to)
{
    struct array list[ARRAYS];
    bool given = fwrite(s, sizeof *s, 1, to) == 1;

    list_arrays((struct stub *)s, list);
    for (size_t i = 0; i < ARRAYS && given; i++)
        if (*list[i].at && list[i].bytes > 0)
            given = fwrite(*list[i].at, list[i].bytes, 1, to) == 1;
    return given;
}

static bool take_arrays(struct stub *s, FILE *from)
{
    struct array list[ARRAYS];
    bool taken = true;

    list_arrays(s, list);
    for (size_t i = 0; i < ARRAYS; i++) {
        bool has = *list[i].at != NULL;

        *list[i].at = has ? memory_new(list[i].bytes + 1, 1) : NULL;
        if (has && list[i].bytes > 0)
            taken = taken && fread(*list[i].at, list[i].bytes, 1, from) == 1;
    }
    return taken;
}

/* The nodes are those of this machine. */
bool stub_take(struct stub *s, int fd, FILE *from)
{
    struct target target = s->target;
    bool behind = s->behind;

    if (s->fd >= 0)
        close(s->fd);
    session_free(&s->session);
    travel_free(&s->travel);
    bool taken = fread(s, sizeof *s, 1, from) == 1;
    target.kernel = s->target.kernel;
    s->target = target;
    s->fd = fd;
    s->behind = behind;
    if (!taken || !take_arrays(s, from))
        return false;
    trail_clear(&s->target.trail);
    return true;
}

void stub_be_notified(const struct stub *s)
{
    socket_notify(s->listener);
    if (s->fd >= 0)
        socket_notify(s->fd);
}

void stub_resume(struct stub *s, uint64_t latest_cycles)
{
    s->stuck = false;
    s->ran_ns = 0;
    s->let_go_ns = host_ns(CLOCK_MONOTONIC);
    s->travel.base = latest_cycles;
    target_reset(&s->target);
    passes_begin(s);
}

bool stub_goes_beyond(const struct stub *s, uint64_t cycles)
{
    const struct travel *v = &s->travel;

    return v->pass == TRAVEL_AHEAD || (v->pass == TRAVEL_ALL && v->place.cycles > cycles);
}

bool stub_runs(const struct stub *s)
{
    return s->state == STUB_RUNNING || s->state == STUB_IDLE;
}

struct stub_stop stub_last_stop(const struct stub *s)
{
    struct stub_stop stop = {s->session.why, s->session.stopped, ""};

    snprintf(stop.packet, sizeof stop.packet, "%s", s->session.stop);
    return stop;
}

void stub_arrive(struct stub *s, const struct stub_stop *stop)
{
    if (s->state == STUB_LEAVING)
        return;
    if (s->fd < 0) {
        serving_end(s);
        return;
    }
    target_copy_breaks(&s->target, s->travel.breaks);
    if (!target_still_stops(&s->target, stop->node, stop->why)) {
        serving_let_go(s);
        return;
    }
    session_again(&s->session, stop->node, stop->why, stop->packet);
    s->state = STUB_RUNNING;
    passes_tell_stop(s);
}
