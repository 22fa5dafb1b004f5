/* gdb's "monitor" (monitor.h). */
#include "emu/debug/monitor.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vertex/contract/machine.h"

static void say_help(struct session *s)
{
    session_print(s, "monitor time         the virtual time, and the current node's clock");
    session_print(s, "monitor nodes        what each node does or waits for");
    session_print(s, "monitor queues       messages and drive commands under way");
    session_print(s, "monitor kernel on    show Vertex's registers where a node is in the kernel");
    session_print(s, "monitor kernel off   show the program's, as it was left (default)");
    if (!s->travel)
        return;
    session_print(s, "monitor when         each time that a breakpoint or watchpoint was hit so far");
    session_print(s, "monitor goto TIME    then `continue` goes to that virtual time, in seconds, either way");
    session_print(s, "monitor origin       then `continue` goes to where the message was sent that the node read last");
}

static void set_kernel(struct session *s, bool on)
{
    s->target->kernel = on;
    session_print(s, on ? "nodes in the kernel show Vertex; type 'maint flush register-cache'"
                        : "nodes in the kernel show their program; type 'maint flush register-cache'");
}

/* The clock of the node that has stopped is ahead of what has taken effect in the machine. */
static void say_clock(struct session *s)
{
    char line[96];
    uint64_t cycles;

    if (!target_clock(s->target, s->current, &cycles))
        return;
    snprintf(line, sizeof line, "node %u stands at %.6f s (%llu cycles)", s->current, (double)cycles / CLOCK_HZ,
             (unsigned long long)cycles);
    session_print(s, line);
}

static void wish(struct session *s, enum travel_wish what, uint32_t node, uint64_t cycles)
{
    char line[128];

    s->travel->wish = what;
    s->travel->wished = (struct target_place){cycles, node};
    snprintf(line, sizeof line, "`continue` goes to %.6f s", (double)cycles / CLOCK_HZ);
    session_print(s, line);
}

static void wish_time(struct session *s, const char *text)
{
    char *end;
    double seconds = strtod(text, &end);

    if (end == text || *end != '\0' || !(seconds >= 0) || seconds > 1e9)
        session_print(s, "give a virtual time in seconds, as: monitor goto 0.0125");
    else
        wish(s, WISH_TIME, 0, (uint64_t)(seconds * CLOCK_HZ + 0.5) + 1);
}

static void wish_origin(struct session *s)
{
    uint32_t sender;
    uint64_t cycles;

    if (s->target->ops->origin(s->target->ctx, s->current, &sender, &cycles, session_print, s))
        wish(s, WISH_CALL, sender, cycles);
}

static void say_when(struct session *s)
{
    const struct travel *v = s->travel;
    struct target_place present;
    char line[160];

    travel_knows_hits(v, s->target, s->stopped, &present);
    if (v->lost.cycles > 0)
        session_print(s, "earlier ones are not kept");
    for (size_t i = 0; i < v->hits && target_is_before(&v->hit[i].place, &present); i++) {
        const struct target_hit *h = &v->hit[i];
        bool watch = h->why == DEBUG_WATCH;

        snprintf(line, sizeof line, "%.6f s (%llu cycles) node %u: %s 0x%llx", (double)h->place.cycles / CLOCK_HZ,
                 (unsigned long long)h->place.cycles, h->place.node, watch ? "access to" : "breakpoint at",
                 (unsigned long long)(watch ? h->watch : h->pc));
        session_print(s, line);
    }
}

/* What needs a run that can be repeated. Returns false if the word is none of these. */
static bool monitor_travel(struct session *s, const char *words)
{
    bool goes = strncmp(words, "goto ", 5) == 0,
         any = goes || strcmp(words, "origin") == 0 || strcmp(words, "when") == 0;

    if (any && !session_goes_back(s))
        return true;
    if (goes)
        wish_time(s, words + 5);
    else if (strcmp(words, "origin") == 0)
        wish_origin(s);
    else if (any)
        say_when(s);
    return any;
}

void monitor_execute(struct session *s, const char *words)
{
    char line[320];

    if (monitor_travel(s, words))
        return;
    if (strcmp(words, "help") == 0 || words[0] == '\0') {
        say_help(s);
    } else if (strcmp(words, "kernel on") == 0 || strcmp(words, "kernel off") == 0) {
        set_kernel(s, strcmp(words, "kernel on") == 0);
    } else if (!s->target->ops->monitor(s->target->ctx, words, session_print, s)) {
        snprintf(line, sizeof line, "no monitor command '%s'; try: monitor help", words);
        session_print(s, line);
    }
    if (strcmp(words, "time") == 0)
        say_clock(s);
}
