/*
 * The plugin's part of the debugger (plugin_debug.h). All of it runs in the threads of the harts. Registers are read
 * only where somebody may want to see them: at stops, and when a program is left for the kernel.
 *
 * A place is known where the hart has looked, and after calls of the kernel, at which it looks if anywhere. Elsewhere
 * it is forgotten, unless the hart looks at all.
 */
#include "emu/plugin/plugin_debug.h"

#include "emu/qemu/breaks.h"
#include "emu/qemu/futex.h"
#include "emu/plugin/plugin_breaks.h"
#include "emu/plugin/plugin_looks.h"
#include "emu/plugin/plugin_registers.h"
#include "emu/plugin/plugin_turns.h"
#include "vertex/contract/machine.h"

static struct {
    struct debug_area *area;
    struct debug_hart *hart; /* of hart 0 */
    const struct plugin_debug_ops *ops;
    enum slot_debug where;
    bool takes_turns;
    uint32_t harts;
} debug;

static __thread uint64_t looked_at; /* pc of the last instruction that this thread's hart has looked at */
static __thread bool watch_hit;
static __thread bool joined; /* the next instruction follows the one that the hart has looked at last */

void plugin_debug_move(uint64_t first)
{
    if (debug.area)
        debug.hart = &debug.area->hart[first];
}

void plugin_debug_init(struct control *c, uint64_t first, uint32_t harts, const struct plugin_debug_ops *ops)
{
    struct debug_area *area = debug_area_of(c);

    debug.area = area;
    debug.where = (enum slot_debug)c->debug;
    debug.harts = harts;
    debug.takes_turns = c->processors > 0;
    debug.hart = &area->hart[first];
    debug.ops = ops;
    looks_init(area);
}

/* The first instruction of the kernel after user code finds all registers as that left them. The reset vector, which
 * looks like user code, has no page table. */
static void leave_program(struct debug_hart *d)
{
    if (registers_satp() == 0)
        return;
    registers_read_integers(&d->program, registers_trap_pc());
    d->has_program = 1;
}

/* The kernel leaves the others as the program had them. */
static void read_now(struct debug_hart *d, uint64_t pc)
{
    registers_read_integers(&d->now, pc);
    registers_read_floats(&d->now.floats);
    if (!d->in_user)
        d->program.floats = d->now.floats;
}

static bool is_break(uint64_t pc)
{
    return breaks_find(debug.area, pc) != BREAKS_NONE;
}

static bool ends_step(struct debug_hart *d, uint64_t pc, bool user)
{
    if (d->step == DEBUG_GO || (d->step == DEBUG_STEP_USER && !user))
        return false;
    if (user && d->skip) {
        d->skip = 0;
        return false;
    }
    return pc < d->step_low || pc >= d->step_high;
}

/* What the kernel writes for its program is told when that goes on: gdb then executes one more instruction alone, which
 * would not come to its end in a call that waits for another node. */
static bool watch_is_told(const struct debug_hart *d, bool user)
{
    return user || d->watch >= CABINET_RAM_BASE;
}

static void note_hit(struct debug_hart *d, enum debug_why why, uint64_t watch)
{
    d->hit[d->hits % DEBUG_HITS] = (struct debug_hit){.cycles = d->at, .watch = watch, .pc = d->at_pc, .why = why};
    d->hit_breaks += why == DEBUG_BREAK;
    if (d->first_hit == 0 && d->at >= d->awaited)
        __atomic_store_n(&d->first_hit, d->at, __ATOMIC_SEQ_CST);
    __atomic_store_n(&d->hits, d->hits + 1, __ATOMIC_SEQ_CST);
}

/* The kernel works for the last instruction of user code, whatever its own clock says. */
static bool seeks(const struct debug_hart *d)
{
    return d->at < d->seek;
}

static enum debug_why reason_to_stop(struct debug_hart *d, uint64_t pc, bool user)
{
    if (__atomic_load_n(&d->hold, __ATOMIC_RELAXED))
        return DEBUG_HELD;
    if (!d->watched)
        return DEBUG_NOT;
    if (seeks(d)) {
        if (user && plugin_breaks_hold(debug.area, pc, debug.area->placed))
            note_hit(d, DEBUG_BREAK, 0);
        return d->seek_stops == SEEK_FAULTS && !user && pc == debug.area->fault_pc ? DEBUG_FAULT : DEBUG_NOT;
    }
    if (d->seek > 0 && d->seek_stops != SEEK_PASSES)
        return DEBUG_SOUGHT;
    d->seek = 0;
    if (watch_hit && watch_is_told(d, user))
        return DEBUG_WATCH;
    if (plugin_breaks_hold(debug.area, pc, false))
        return DEBUG_BREAK;
    if (!user && pc == debug.area->fault_pc)
        return DEBUG_FAULT;
    return ends_step(d, pc, user) ? DEBUG_STEP : DEBUG_NOT;
}

static enum looks looks_asked(const struct debug_hart *d)
{
    const struct debug_area *a = debug.area;

    if (__atomic_load_n(&a->closely, __ATOMIC_RELAXED) || __atomic_load_n(&d->hold, __ATOMIC_RELAXED))
        return LOOKS_ALL;
    if (!d->watched)
        return LOOKS_NONE;
    if (watch_hit || d->step != DEBUG_GO || (d->seek > 0 && !a->placed))
        return LOOKS_ALL;
    return a->breaks > 0 || a->watches > 0 ? LOOKS_SOME : LOOKS_NONE;
}

void plugin_debug_ask(unsigned hart)
{
    if (debug.where != SLOT_DEBUG_ASKED)
        return;
    enum looks asked = looks_asked(&debug.hart[hart]);
    joined = joined && asked == LOOKS_ALL;
    looks_choose(hart, asked);
}

static void stop(unsigned hart, struct debug_hart *d, uint64_t pc, enum debug_why why, uint64_t now_cycles)
{
    uint32_t last = __atomic_load_n(&d->go, __ATOMIC_SEQ_CST);

    read_now(d, pc);
    d->why = why;
    d->cycles = now_cycles;
    watch_hit = false;
    __atomic_store_n(&d->stopped, 1, __ATOMIC_SEQ_CST);
    __atomic_add_fetch(&debug.area->stopped, 1, __ATOMIC_SEQ_CST);
    debug.ops->stands(hart, d->in_user);
    if (debug.takes_turns)
        turns_stand(hart);
    else
        futex_await_change(&d->go, last, &d->asleep);
    debug.ops->await_returns(hart, d->returns);
    if (d->recall)
        debug.ops->recall(hart);
    d->recall = 0;
}

/* A hart that does not look at all instructions is no longer where it has looked last. What it notes while it seeks
 * has rough places. */
static void forget_place(struct debug_hart *d)
{
    if (!joined && d->seek == 0)
        d->at = d->before = d->at_pc = 0;
}

/* The call was looked at. */
static void forget_place_before_trap(struct debug_hart *d)
{
    if (d->program.scause != SCAUSE_ECALL || d->program.x[0] != d->at_pc)
        forget_place(d);
}

/* An instruction that the kernel has made possible, as by a page for its access, is executed again: it is the same
 * step. */
static void note_place(struct debug_hart *d, uint64_t pc, uint64_t now_cycles)
{
    if (d->in_user || d->at_pc != pc)
        d->before = joined ? d->at : 0;
    d->at = now_cycles;
    d->at_pc = pc;
    d->in_front = 0;
}

static inline void look(unsigned hart, uint64_t pc, bool user, uint32_t rest_cycles)
{
    struct debug_hart *d = &debug.hart[hart];
    uint64_t now_cycles = debug.ops->cycles(hart) - (user ? rest_cycles : 0);

    if (user) {
        note_place(d, pc, now_cycles);
        joined = looks_chosen() == LOOKS_ALL;
    } else if (d->in_user) {
        leave_program(d);
        forget_place_before_trap(d);
    }
    d->traps += d->in_user && !user;
    d->in_user = user;
    looked_at = pc & ~(uint64_t)DEBUG_ALWAYS;
    if (__atomic_load_n(&debug.area->attention, __ATOMIC_RELAXED) == 0)
        return;
    enum debug_why why = reason_to_stop(d, pc, user);
    if (why != DEBUG_NOT)
        stop(hart, d, looked_at, why, now_cycles);
    plugin_debug_ask(hart);
}

/* What the looks are told: an address, below 4 GB as all code, and what its block costs from there on. */
static void *pack(uint64_t pc, uint32_t rest_cycles)
{
    return (void *)(uintptr_t)((uint64_t)rest_cycles << 32 | (uint32_t)pc);
}

static uint64_t packed_pc(const void *what)
{
    return (uint32_t)(uintptr_t)what;
}

static uint32_t packed_rest(const void *what)
{
    return (uint32_t)((uintptr_t)what >> 32);
}

/* The instruction has its word by chance. */
static bool is_beside(uint64_t pc)
{
    return looks_chosen() == LOOKS_SOME && !is_break(pc);
}

static void look_in_user(unsigned hart, void *what)
{
    look(hart, packed_pc(what), true, packed_rest(what));
}

static void look_in_kernel(unsigned hart, void *what)
{
    look(hart, packed_pc(what), false, packed_rest(what));
}

static void look_in_user_if_asked(unsigned hart, void *what)
{
    if (!is_beside(packed_pc(what)))
        look_in_user(hart, what);
}

static void look_in_kernel_if_asked(unsigned hart, void *what)
{
    if (!is_beside(packed_pc(what)))
        look_in_kernel(hart, what);
}

/* Where user code has just been left, whether the hart has looked at that or not. */
static void look_at_trap(unsigned hart, void *what)
{
    debug.hart[hart].in_user = true;
    look_in_kernel(hart, what);
}

/* With SLOT_DEBUG_KERNEL, the places in user code are those to which calls come back, with an error in a0 or
 * without. */
static void look_at_error(unsigned hart, void *what)
{
    uint64_t a0;

    if (registers_read_result(&a0) && (int64_t)a0 < 0)
        look_in_user(hart, what);
}

void plugin_debug_at_return(unsigned hart, void *pc)
{
    struct debug_hart *d = &debug.hart[hart];
    uint32_t i = 0;

    while (i < d->returns && d->return_pc[i] != (uintptr_t)pc)
        i++;
    if (i == d->returns || !d->watched)
        return;
    d->in_user = true;
    looked_at = (uintptr_t)pc;
    stop(hart, d, (uintptr_t)pc, DEBUG_RETURN, debug.ops->cycles(hart));
}

static bool is_watched(const struct debug_watch *w, uint64_t address, uint64_t bytes, bool store)
{
    return (store ? w->writes : w->reads) && address < w->high && address + bytes > w->low;
}

/* By an instruction of user code, or by what the kernel does for one. */
static void note_access(unsigned hart, struct debug_hart *d, uint64_t address)
{
    if (seeks(d)) {
        note_hit(d, DEBUG_WATCH, address);
        return;
    }
    d->watch = address;
    watch_hit = joined = true;
    plugin_debug_ask(hart);
}

/* Of an instruction of user code that has not been looked at. */
static void note_unseen_place(unsigned hart, struct debug_hart *d, const void *what)
{
    uint64_t at = debug.ops->cycles(hart) - packed_rest(what);

    if (d->at == at)
        return;
    note_place(d, packed_pc(what), at);
}

/* what: of user code. */
static void accessed(unsigned hart, qemu_plugin_meminfo_t info, uint64_t address, void *what)
{
    struct debug_hart *d = &debug.hart[hart];

    if (debug.area->watches == 0 || !d->watched)
        return;
    uint64_t bytes = 1ull << qemu_plugin_mem_size_shift(info);
    for (uint32_t k = 0; k < debug.area->watches; k++) {
        const struct debug_watch *w = &debug.area->watch[k];

        if (!is_watched(w, address, bytes, qemu_plugin_mem_is_store(info)))
            continue;
        if (what)
            note_unseen_place(hart, d, what);
        note_access(hart, d, address > w->low ? address : w->low);
    }
}

/* Without a look at each instruction, only this one tells that user code has been left. */
static void enter_kernel(unsigned hart, void *userdata)
{
    struct debug_hart *d = &debug.hart[hart];
    (void)userdata;

    leave_program(d);
    d->in_user = false;
}

/* With SLOT_DEBUG_KERNEL. */
static void translate_few(struct qemu_plugin_insn *insn, bool kernel, uint32_t rest_cycles)
{
    uint64_t pc = qemu_plugin_insn_vaddr(insn);
    void *what = pack(pc, rest_cycles);

    if (kernel && pc == debug.area->trap_pc)
        qemu_plugin_register_vcpu_insn_exec_cb(insn, enter_kernel, QEMU_PLUGIN_CB_R_REGS, NULL);
    if (kernel && is_break(pc))
        qemu_plugin_register_vcpu_insn_exec_cb(insn, look_in_kernel, QEMU_PLUGIN_CB_R_REGS, what);
    if (!kernel && is_break(pc | DEBUG_ALWAYS))
        qemu_plugin_register_vcpu_insn_exec_cb(insn, look_in_user, QEMU_PLUGIN_CB_R_REGS,
                                               pack(pc | DEBUG_ALWAYS, rest_cycles));
    else if (!kernel && is_break(pc))
        qemu_plugin_register_vcpu_insn_exec_cb(insn, look_at_error, QEMU_PLUGIN_CB_R_REGS, what);
}

/* Where user code calls the kernel, which may access what is watched for it. */
static bool is_system_call(const struct qemu_plugin_insn *insn)
{
    uint32_t bits = 0;

    return qemu_plugin_insn_data(insn, &bits, sizeof bits) == sizeof bits && bits == 0x73;
}

/* With SLOT_DEBUG_ASKED; what a hart shows while it waits must be known always, and a fault is the program's end. */
static void translate_asked(struct qemu_plugin_insn *insn, bool kernel, bool waits, void *what)
{
    uint64_t pc = qemu_plugin_insn_vaddr(insn);
    bool is_call = !kernel && is_system_call(insn);

    if (kernel && pc == debug.area->trap_pc)
        qemu_plugin_register_vcpu_insn_exec_cb(insn, look_at_trap, QEMU_PLUGIN_CB_R_REGS, what);
    else if (waits || (kernel && pc == debug.area->end_pc))
        qemu_plugin_register_vcpu_insn_exec_cb(insn, look_in_kernel, QEMU_PLUGIN_CB_R_REGS, what);
    else if (is_call)
        looks_translate(insn, true, look_in_user, what);
    else
        looks_translate(insn, false, kernel ? look_in_kernel_if_asked : look_in_user_if_asked, what);
}

void plugin_debug_translate(struct qemu_plugin_insn *insn, bool kernel, bool waits, uint32_t rest_cycles)
{
    void *what = pack(qemu_plugin_insn_vaddr(insn), rest_cycles);

    if (debug.where == SLOT_DEBUG_KERNEL) {
        translate_few(insn, kernel, rest_cycles);
        return;
    }
    translate_asked(insn, kernel, waits, what);
    qemu_plugin_register_vcpu_mem_cb(insn, accessed, QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW, kernel ? NULL : what);
}

void plugin_debug_at_block(unsigned hart, uint64_t pc)
{
    struct debug_hart *d = &debug.hart[hart];

    d->in_user = true;
    d->in_front = 1;
    forget_place(d);
    looked_at = pc;
}

void plugin_debug_note(unsigned hart)
{
    read_now(&debug.hart[hart], looked_at);
}

void plugin_debug_note_all(void)
{
    for (uint32_t i = 0; i < debug.harts; i++)
        if (!debug.hart[i].stopped)
            turns_visit(i, plugin_debug_note);
}
