/* gdb's packets for breakpoints and watchpoints (breakpoints.h). */
#include "emu/debug/breakpoints.h"

#include "emu/qemu/breaks.h"
#include "emu/qemu/cost.h"

enum { KIND_BREAK = 0, KIND_HARDWARE_BREAK = 1, KIND_WATCH = 2, KIND_READ_WATCH = 3, KIND_ACCESS_WATCH = 4 };

struct change {
    uint64_t kind, va, n;
    const char *rest; /* of the packet */
};

static bool read_change(const char *text, struct change *c)
{
    bool read = rsp_read_number(&text, &c->kind) && rsp_read_word(&text, ",") && rsp_read_range(&text, &c->va, &c->n);

    c->rest = text;
    return read;
}

static bool change_watch(struct session *s, const struct change *c, bool add)
{
    const struct debug_watch w = {
        .low = c->va, .high = c->va + c->n, .reads = c->kind != KIND_WATCH, .writes = c->kind != KIND_READ_WATCH};

    if (c->n == 0 || w.high < c->va)
        return false;
    return target_change_watch(s->target, &w, add);
}

/* ---- Conditions ---- */

struct list { /* as breaks.h has it: not longer than its packet */
    uint8_t bytes[RSP_PACKET_BYTES];
    size_t n;
};

/* Reads "X" and an expression. */
static bool read_expression(const char **text, struct list *list)
{
    uint8_t *to = list->bytes + list->n;
    uint64_t n;

    if (!rsp_read_word(text, "X") || !rsp_read_number(text, &n) || !rsp_read_word(text, ","))
        return false;
    if (n > RSP_PACKET_BYTES || list->n + 2 + n > sizeof list->bytes || !rsp_read_bytes(text, to + 2, n) ||
        !agent_expression_is_sound(to + 2, n))
        return false;
    to[0] = (uint8_t)(n >> 8);
    to[1] = (uint8_t)n;
    list->n += 2 + n;
    return true;
}

/* Commands that the target would execute are not offered to gdb. */
static bool read_conditions(const char *text, struct list *list)
{
    bool sound = *text == '\0' || rsp_read_word(&text, ";");

    list->n = 0;
    while (sound && *text != '\0')
        sound = read_expression(&text, list);
    return sound;
}

static bool add_break(struct session *s, const struct change *c)
{
    struct list list;

    return read_conditions(c->rest, &list) && target_add_break_if(s->target, c->va, list.bytes, list.n);
}

/* ---- Both packets ---- */

static bool add(struct session *s, const struct change *c)
{
    return c->kind >= KIND_WATCH ? *c->rest == '\0' && change_watch(s, c, true) : add_break(s, c);
}

/* gdb removes what it has set, and what does not exist is gone as well. */
static bool remove_any(struct session *s, const struct change *c)
{
    if (c->kind >= KIND_WATCH)
        change_watch(s, c, false);
    else
        target_remove_break(s->target, c->va);
    return true;
}

static bool change(struct session *s, const char *text, bool (*make)(struct session *s, const struct change *c))
{
    struct change c;

    return read_change(text, &c) && (c.kind > KIND_ACCESS_WATCH || (make(s, &c) && rsp_add_ok(s->rsp)));
}

bool breakpoints_add(struct session *s, const char *text)
{
    return change(s, text, add);
}

bool breakpoints_remove(struct session *s, const char *text)
{
    return change(s, text, remove_any);
}

/* ---- Whether gdb may await a breakpoint that has a condition ---- */

/* Returns the address behind the instruction of a node; 0: it may go elsewhere, or gdb steps over more than that. */
static uint64_t next_of(const struct session *s, uint32_t node)
{
    uint64_t pc = target_registers(s->target, node)->x[0];
    uint16_t low = 0;

    if (target_read(s->target, node, pc, &low, sizeof low) != sizeof low)
        return 0;
    enum cost_class class = cost_class_of(low); /* for which the low half is enough */
    if (class == COST_BRANCH || class == COST_JUMP || class == COST_ATOMIC)
        return 0;
    return pc + ((low & 3) == 3 ? 4 : 2);
}

/* Returns the node that goes on while all others stay; TARGET_NO_SLOT: there are several, or none. */
static uint32_t find_alone(const struct session *s)
{
    uint32_t n = s->target->ops->nodes(s->target->ctx), alone = TARGET_NO_SLOT, going = 0;

    for (uint32_t node = 0; node < n; node++)
        if (s->go[node].how != TARGET_STAY && target_is_alive(s->target, node)) {
            alone = node;
            going++;
        }
    return going == 1 ? alone : TARGET_NO_SLOT;
}

/* Those that gdb has left where they are hold always; but for `kept`, only the one at `awaited`. The others are old
 * from now on. */
static void drop_conditions(struct debug_area *a, bool kept, uint64_t awaited)
{
    for (uint32_t k = 0; k < a->breaks; k++) {
        if (a->condition[k].old && (!kept || a->break_pc[k] == awaited))
            breaks_drop_condition(a, k);
        a->condition[k].old = 1;
    }
}

void breakpoints_go_on(struct session *s)
{
    const struct session_resume *last = &s->resume;
    bool passed = last->how == RESUME_ALONE && last->next != 0 && target_is_alive(s->target, last->node) &&
                  target_registers(s->target, last->node)->x[0] == last->next;
    uint64_t awaited = passed ? next_of(s, last->node) : 0;
    uint32_t alone = find_alone(s);

    drop_conditions(s->target->area, awaited != 0, awaited);
    s->resume = (struct session_resume){.how = RESUME_OTHER};
    if (alone != TARGET_NO_SLOT)
        s->resume = (struct session_resume){RESUME_ALONE, alone, next_of(s, alone)};
}

void breakpoints_go_back(struct session *s, bool step)
{
    drop_conditions(s->target->area, s->resume.how == RESUME_BACK, 0);
    s->resume = (struct session_resume){.how = step ? RESUME_OTHER : RESUME_BACK};
}
