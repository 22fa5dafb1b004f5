/* A session with gdb: its stops (session.h). */
#include "emu/debug/session.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/debug/core.h"

#define SIGNAL_BUS 10 /* gdb's number; its others are those of Linux */

void session_init(struct session *s, struct target *t, struct rsp *rsp, void (*send)(void *ctx), void *ctx)
{
    *s = (struct session){.target = t, .rsp = rsp, .send = send, .ctx = ctx, .chosen = TARGET_NO_SLOT};
    s->goes = t->ops->nodes(t->ctx) + 1;
    s->go = memory_new(s->goes, sizeof *s->go);
}

void session_free(struct session *s)
{
    free(s->go);
    free(s->document);
    *s = (struct session){.target = NULL};
}

static uint32_t nodes(const struct session *s)
{
    return s->target->ops->nodes(s->target->ctx);
}

/* ---- Stops ---- */

/* As gdb numbers it. */
static int signal_of_fault(uint64_t scause)
{
    int signal = core_signal_of(scause);

    return signal == SIGBUS ? SIGNAL_BUS : signal;
}

static void say_stop(struct session *s, uint32_t node, int signal, const char *more)
{
    s->current = s->stopped = node;
    snprintf(s->stop, sizeof s->stop, "T%02xthread:%x;%s", signal, node + 1, more);
    rsp_begin(s->rsp);
    rsp_add(s->rsp, "%s", s->stop);
}

void session_stopped(struct session *s, const struct target_event *e)
{
    char more[40] = "";

    s->why = e->why;
    if (e->why == DEBUG_WATCH)
        snprintf(more, sizeof more, "watch:%llx;", (unsigned long long)e->watch);
    say_stop(s, e->node, e->why == DEBUG_FAULT ? signal_of_fault(e->scause) : SIGTRAP, more);
}

void session_at_begin(struct session *s, uint32_t node)
{
    say_stop(s, node, SIGTRAP, "replaylog:begin;");
}

void session_interrupted(struct session *s, int signal)
{
    uint32_t node = s->current;

    s->why = DEBUG_NOT;
    for (uint32_t i = 0; !target_is_alive(s->target, node) && i < nodes(s); i++)
        node = i;
    say_stop(s, node, signal, "");
}

void session_again(struct session *s, uint32_t node, enum debug_why why, const char *stop)
{
    s->current = s->stopped = node;
    s->why = why;
    snprintf(s->stop, sizeof s->stop, "%s", stop);
    rsp_begin(s->rsp);
    rsp_add(s->rsp, "%s", s->stop);
}

void session_ended(struct session *s, int status)
{
    rsp_begin(s->rsp);
    rsp_add(s->rsp, "W%02x", (unsigned)status & 0xff);
}

void session_print(void *session, const char *line)
{
    struct session *s = session;

    rsp_begin(s->rsp);
    rsp_add(s->rsp, "O");
    rsp_add_hex(s->rsp, line, strlen(line));
    rsp_add_hex(s->rsp, "\n", 1);
    s->send(s->ctx);
}

bool session_is_another_run(const struct session *s)
{
    return s->changed && s->travel && s->travel->kept;
}

bool session_goes_back(struct session *s)
{
    const char *loss = s->target->ops->no_return ? s->target->ops->no_return(s->target->ctx) : NULL;
    char line[320];

    if (s->travel && !session_is_another_run(s) && !loss)
        return true;
    if (loss)
        snprintf(line, sizeof line, "ncube: there is no way back: %s", loss);
    else if (session_is_another_run(s))
        snprintf(line, sizeof line, "ncube: there is no way back: gdb has written to memory, which no run repeats");
    else
        snprintf(line, sizeof line,
                 "ncube: this run is not recorded, so there is no way back; ncube run --record=FILE "
                 "..., then ncube replay --gdb FILE");
    session_print(s, line);
    return false;
}
