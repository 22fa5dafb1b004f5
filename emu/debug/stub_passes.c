/* Passes, and where they lead (stub_passes.h). */
#include "emu/debug/stub_passes.h"

#include <stdlib.h>

#include "emu/base/host.h"
#include "emu/debug/serving.h"
#include "emu/debug/stub_data.h"

/* Of the host's time without user code that runs ahead, until it pays to begin anew; and the part of it until this
 * machine runs ahead itself. */
#define AHEAD_NS        4000000000u
#define AHEAD_HERE_PART 8u

/* How long the nodes have taken to where they go on now. */
static void note_way(struct stub *s)
{
    uint64_t now_ns = host_ns(CLOCK_MONOTONIC);

    s->ran_ns += now_ns - s->let_go_ns;
    s->let_go_ns = now_ns;
}

/* Tells gdb, which awaits that, that the nodes stand for another reason than an event. */
void passes_stop(struct stub *s, const char *why)
{
    if (why)
        session_print(&s->session, why);
    session_interrupted(&s->session, SIGNAL_INT);
}

void passes_tell_stop(struct stub *s)
{
    if (s->state == STUB_RUNNING)
        note_way(s);
    s->state = STUB_STOPPED;
    s->target.ops->note(s->target.ctx);
    if (s->travel.freely && s->target.ahead) /* interrupts that are handled later have come before */
        target_forget_places(&s->target, NULL);
    if (s->awaits)
        serving_send(s);
    s->awaits = false;
}

/* A pass is over: another one follows, or the nodes are where gdb wanted them. */
bool passes_arrive(struct stub *s, const struct target_event *e)
{
    if (travel_goes_on(&s->travel, &s->target)) {
        serving_leave(s);
        return true;
    }
    target_end_seek(&s->target);
    if (s->travel.at_begin)
        session_at_begin(&s->session, e->node);
    else if (!s->repeats)
        session_stopped(&s->session, &s->travel.event);
    passes_tell_stop(s);
    return true;
}

static bool await_gdb(struct stub *s)
{
    s->target.ops->note(s->target.ctx);
    s->state = STUB_WAITING;
    s->entered_say(s->ctx);
    return true;
}

bool passes_stand_at_entry(struct stub *s)
{
    if (!target_take_event(&s->target, &s->entered))
        return false;
    target_clear(&s->target);
    if (s->travel.pass == TRAVEL_BEGIN)
        return passes_arrive(s, &s->entered);
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
        passes_tell_stop(s);
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
        return passes_arrive(s, e);
    }
    if (s->travel.pass == TRAVEL_TO)
        target_add_to_trail(&s->target, e->node);
    if (!target_is_before(&here, &s->travel.place))
        return passes_arrive(s, e);
    target_let_go(&s->target, e->node, &(struct target_go){.how = TARGET_RUN});
    return true;
}

/* All that has been sought is found, or cannot come any more. */
bool passes_stand(struct stub *s)
{
    struct target_event e;

    if (s->travel.pass == TRAVEL_END)
        return stand_at_end(s);
    if (s->travel.pass == TRAVEL_FIND)
        return passes_arrive(s, NULL);
    if (target_take_event(&s->target, &e))
        return follow(s, &e);
    if (target_release_ended(&s->target))
        return true;
    s->travel.pass = TRAVEL_NOT;
    passes_stop(s, "ncube: the place is not reached again; please report this");
    passes_tell_stop(s);
    return true;
}

/* For tests: NCUBE_AHEAD_MS. */
static uint64_t ahead_ns(void)
{
    const char *text = getenv("NCUBE_AHEAD_MS");

    return text ? strtoull(text, NULL, 10) * HOST_NS_PER_MS : AHEAD_NS;
}

/* For so long the nodes may run without user code that runs ahead: as long as another machine takes to come here; this
 * one goes ahead sooner. */
static uint64_t patience_ns(const struct stub *s)
{
    return s->copied ? ahead_ns() / AHEAD_HERE_PART : ahead_ns() + s->ran_ns;
}

/* Breakpoints keep user code from running ahead. If none stops a node for long, this machine runs ahead to the next
 * hit, if others go on from before that; else another one does. */
bool passes_go_ahead(struct stub *s)
{
    const struct debug_area *a = s->target.area;
    uint64_t stretch_ns = host_ns(CLOCK_MONOTONIC) - s->let_go_ns;

    if (!s->travel.freely || s->behind || s->session.changed || !s->runs_all || a->breaks == 0 || a->watches > 0 ||
        target_stopped(&s->target) > 0 || stretch_ns < patience_ns(s))
        return false;
    if (s->target.ops->no_return && s->target.ops->no_return(s->target.ctx))
        return false;
    travel_ahead(&s->travel, &s->target);
    if (s->copied) {
        target_reset(&s->target);
        return passes_begin(s);
    }
    serving_leave(s);
    return true;
}

/* The machine that has run ahead is at the next hit, or where none comes any more. */
bool passes_have_come(struct stub *s, bool ends)
{
    if (!travel_has_come(&s->travel, &s->target, ends))
        return false;
    serving_leave(s);
    return true;
}

/* Shortly before it: as after `continue`. */
void passes_go_on(struct stub *s)
{
    target_look_closely(&s->target, !s->travel.freely);
    target_watch_faults(&s->target, s->fault_pc);
    travel_start(&s->travel, &s->target);
    target_pace(&s->target, s->session.go);
    note_way(s);
    s->awaits = true;
    s->state = STUB_RUNNING;
}

void passes_seek(struct stub *s)
{
    s->state = STUB_SEEKING;
    note_way(s);
    target_look_closely(&s->target, true);
    target_pace(&s->target, NULL);
    target_watch_faults(&s->target, s->fault_pc);
    travel_start(&s->travel, &s->target);
}

/* The nodes have run too far: once more, with a look at all. */
void passes_miss(struct stub *s)
{
    bool repeats = s->repeats;

    travel_miss(&s->travel);
    serving_leave(s);
    s->awaits = !repeats;
}

bool passes_begin(struct stub *s)
{
    s->session.changed = false;
    if (s->travel.pass == TRAVEL_AHEAD)
        target_watch_faults(&s->target, s->fault_pc);
    target_await_program(&s->target);
    if (s->travel.closely > 0 || s->travel.pass == TRAVEL_AHEAD) {
        s->state = STUB_FORWARD;
        travel_prepare(&s->travel, &s->target);
        return true;
    }
    if (s->travel.pass == TRAVEL_ON) {
        passes_go_on(s);
        return true;
    }
    target_pace(&s->target, NULL);
    if (s->travel.pass == TRAVEL_NOT || s->travel.pass == TRAVEL_BEGIN)
        return false;
    passes_seek(s);
    return true;
}
