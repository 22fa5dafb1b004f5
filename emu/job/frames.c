#include "emu/job/frames.h"

#include <dwarf.h>
#include <elfutils/libdw.h>
#include <stdbool.h>
#include <stdlib.h>

#include "emu/base/memory.h"

enum { RA = 1, SP = 2, FP = 8 }; /* of x; functions with arrays of variable size find their frame by x8 */

/* What is known in one frame. */
struct frame {
    uint64_t pc, sp, fp;
    bool fp_known;
};

struct frames {
    Dwarf *dwarf;
    Dwarf_CFI *cfi;
};

/* The canonical frame address: sp before the call. */
static bool find_cfa(Dwarf_Frame *rules, const struct frame *f, uint64_t *cfa)
{
    Dwarf_Op *ops;
    size_t n;

    if (dwarf_frame_cfa(rules, &ops, &n) != 0 || n != 1)
        return false;
    bool named = ops->atom == DW_OP_bregx;
    uint64_t reg = named ? ops->number : (uint64_t)ops->atom - DW_OP_breg0;
    *cfa = (reg == SP ? f->sp : f->fp) + (named ? ops->number2 : ops->number);
    return reg == SP || (reg == FP && f->fp_known);
}

/* How far from the frame address a frame has put a register of its caller. False: it is still in the register. */
static bool is_saved(Dwarf_Frame *rules, int reg, uint64_t *offset)
{
    Dwarf_Op space[3], *ops;
    size_t n;

    if (dwarf_frame_register(rules, reg, space, &ops, &n) != 0 || n == 0 || ops[0].atom != DW_OP_call_frame_cfa)
        return false;
    *offset = n > 1 && ops[1].atom == DW_OP_plus_uconst ? ops[1].number : 0;
    return true;
}

/* Finds the address to return to that a frame has saved. Where a called function has put away x8 and used it for
 * something else, the frame address is unknown, and the next address to return to above sp counts. */
static bool find_saved(const struct frames_from *w, Dwarf_Frame *rules, struct frame *f, uint64_t offset, uint64_t *to)
{
    uint64_t cfa;
    bool known = find_cfa(rules, f, &cfa);

    if (known && w->read) {
        f->sp = cfa;
        return w->read(w->ctx, cfa + offset, to);
    }
    for (uint32_t i = 0; i < w->n; i++) {
        const struct exit_return *r = &w->returns[i];

        if (known ? r->at == cfa + offset : r->at >= f->sp) {
            *to = r->to;
            f->sp = r->at - offset;
            return true;
        }
    }
    return false;
}

/* x8 is the caller's own, unless the frame has saved that. */
static void restore_fp(const struct frames_from *w, Dwarf_Frame *rules, struct frame *f)
{
    uint64_t offset;

    if (is_saved(rules, FP, &offset)) /* f->sp is the frame address now */
        f->fp_known = w->read && w->read(w->ctx, f->sp + offset, &f->fp);
}

/* Goes from a frame to its caller's. Only the first one can have its address to return to in a register. */
static bool go_up(const struct frames *in, const struct frames_from *w, struct frame *f, bool first)
{
    Dwarf_Frame *rules = NULL;
    uint64_t offset, to = w->ra;
    bool found = first;

    if (in->cfi && dwarf_cfi_addrframe(in->cfi, f->pc, &rules) == 0) {
        if (is_saved(rules, RA, &offset))
            found = find_saved(w, rules, f, offset, &to);
        else
            found = first && find_cfa(rules, f, &f->sp);
        restore_fp(w, rules, f);
    }
    free(rules);
    f->pc = to - 1;
    return found;
}

unsigned frames_walk(struct frames *in, const struct frames_from *from, struct frame_at *at, unsigned most)
{
    struct frame f = {.pc = from->pc, .sp = from->sp, .fp = from->fp, .fp_known = true};
    unsigned n = 0;

    do
        at[n++] = (struct frame_at){f.pc, f.sp};
    while (n < most && go_up(in, from, &f, n == 1));
    return n;
}

struct frames *frames_open(int fd)
{
    struct frames *f = memory_new(1, sizeof *f);

    f->dwarf = dwarf_begin(fd, DWARF_C_READ);
    f->cfi = f->dwarf ? dwarf_getcfi(f->dwarf) : NULL;
    return f;
}

void frames_close(struct frames *f)
{
    if (f && f->dwarf)
        dwarf_end(f->dwarf);
    free(f);
}
