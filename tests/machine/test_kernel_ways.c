/*
 * The shortest ways through the kernel. The scheduler relies on TRAP_QUIET_CYCLES, WAKE_QUIET_CYCLES and
 * USER_QUIET_CYCLES (vertex/contract/machine.h): so long the kernel executes no SEND and no ARM after an ENTER or a
 * wait, and no ENTER after user code; and on IDLE_SILENT_CYCLES and CAUSES_SILENT_CYCLES: no NCU instruction at all
 * after a wait; and on TRAP_SILENT_CYCLES: none that others can notice after an ENTER that has found no cause. This
 * test finds the shortest ways in vertex.elf, whether or not their conditions can be met, so it may find less than the
 * kernel can do, never more.
 *
 * A call costs what the way through the called function costs; a call by pointer, the least of all functions whose
 * address is in the kernel's data. A way that returns from the function in which it began goes on after every call of
 * that function. A hart's time at an NCU instruction includes the rest of its block (plugin.c), so a
 * way begins at the jump that ends the block, and that costs nothing.
 */
#include <criterion/criterion.h>
#include <fcntl.h>
#include <gelf.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/qemu/cost.h"
#include "vertex/contract/machine.h"

#define KERNEL "build/lib/vertex.elf"
#define NEVER  (UINT64_MAX / 4)

/* ---- The kernel ---- */

/* Places are instructions: half their offset in the text. */
static struct kernel {
    uint8_t *text;
    uint64_t va;
    uint32_t places;
    bool *by_pointer;  /* its address is in the data or computed */
    bool *is_function; /* a function begins there */
    uint32_t trap_entry, sched_enter;
} kernel;

static uint32_t place_of(uint64_t va)
{
    return va >= kernel.va && (va - kernel.va) / 2 < kernel.places ? (uint32_t)((va - kernel.va) / 2) : UINT32_MAX;
}

static uint32_t bits_at(uint32_t place)
{
    uint32_t low = kernel.text[2 * place] | kernel.text[2 * place + 1] << 8;

    if ((low & 3) != 3 || place + 1 >= kernel.places)
        return low;
    return low | (uint32_t)kernel.text[2 * place + 2] << 16 | (uint32_t)kernel.text[2 * place + 3] << 24;
}

static uint32_t place_after(uint32_t place)
{
    return place + ((bits_at(place) & 3) == 3 ? 2 : 1);
}

static void note_pointers(const Elf_Data *data)
{
    for (size_t at = 0; data->d_buf && at + 8 <= data->d_size; at += 8) {
        uint64_t value;

        memcpy(&value, (const char *)data->d_buf + at, sizeof value);
        if (place_of(value) != UINT32_MAX)
            kernel.by_pointer[place_of(value)] = true;
    }
}

static void note_symbols(Elf *elf, const GElf_Shdr *h, Elf_Data *data)
{
    for (size_t i = 0; i < h->sh_size / h->sh_entsize; i++) {
        GElf_Sym symbol;

        gelf_getsym(data, (int)i, &symbol);
        const char *name = elf_strptr(elf, h->sh_link, symbol.st_name);
        if (GELF_ST_TYPE(symbol.st_info) == STT_FUNC && place_of(symbol.st_value) != UINT32_MAX)
            kernel.is_function[place_of(symbol.st_value)] = true;
        if (name && strcmp(name, "trap_entry") == 0)
            kernel.trap_entry = place_of(symbol.st_value);
        if (name && strcmp(name, "sched_enter") == 0)
            kernel.sched_enter = place_of(symbol.st_value);
    }
}

/* Calls look for each section: first the text, then what refers to it. */
static void each_section(Elf *elf, void (*look)(Elf *elf, const GElf_Shdr *h, Elf_Data *data))
{
    for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
        GElf_Shdr h;

        if (gelf_getshdr(section, &h))
            look(elf, &h, elf_getdata(section, NULL));
    }
}

static void look_for_text(Elf *elf, const GElf_Shdr *h, Elf_Data *data)
{
    (void)elf;
    if (!(h->sh_flags & SHF_EXECINSTR) || h->sh_size / 2 <= kernel.places)
        return;
    kernel.va = h->sh_addr;
    kernel.places = (uint32_t)(h->sh_size / 2);
    kernel.text = data->d_buf;
}

static void look_for_references(Elf *elf, const GElf_Shdr *h, Elf_Data *data)
{
    if (h->sh_type == SHT_SYMTAB)
        note_symbols(elf, h, data);
    else if (h->sh_type == SHT_PROGBITS && (h->sh_flags & SHF_ALLOC) && !(h->sh_flags & SHF_EXECINSTR))
        note_pointers(data);
}

/* ---- Instructions ---- */

static int64_t signed_bits(uint64_t value, int bits)
{
    return (int64_t)(value << (64 - bits)) >> (64 - bits);
}

static int64_t branch_offset(uint32_t i)
{
    return signed_bits((i >> 31 & 1) << 12 | (i >> 7 & 1) << 11 | (i >> 25 & 0x3f) << 5 | (i >> 8 & 0xf) << 1, 13);
}

static int64_t jump_offset(uint32_t i)
{
    return signed_bits((i >> 31 & 1) << 20 | (i >> 12 & 0xff) << 12 | (i >> 20 & 1) << 11 | (i >> 21 & 0x3ff) << 1, 21);
}

static int64_t short_branch_offset(uint32_t i)
{
    return signed_bits(
        (i >> 12 & 1) << 8 | (i >> 5 & 3) << 6 | (i >> 2 & 1) << 5 | (i >> 10 & 3) << 3 | (i >> 3 & 3) << 1, 9);
}

static int64_t short_jump_offset(uint32_t i)
{
    return signed_bits((i >> 12 & 1) << 11 | (i >> 8 & 1) << 10 | (i >> 9 & 3) << 8 | (i >> 6 & 1) << 7 |
                           (i >> 7 & 1) << 6 | (i >> 2 & 1) << 5 | (i >> 11 & 1) << 4 | (i >> 3 & 7) << 1,
                       12);
}

/* Where an instruction leads. */
struct lead {
    enum { NEXT, BRANCH, JUMP, CALL, RETURN, JUMP_BY_POINTER, CALL_BY_POINTER, TO_USER } kind;
    uint32_t to; /* of BRANCH, JUMP, CALL */
};

static struct lead lead_to(int kind, uint32_t place, int64_t offset)
{
    return (struct lead){kind, (uint32_t)(place + offset / 2)};
}

/* An auipc right before a jalr on its register makes a direct jump. */
static struct lead lead_of_jalr(uint32_t place, uint32_t i)
{
    uint32_t rd = i >> 7 & 31, rs = i >> 15 & 31, before = place >= 2 ? bits_at(place - 2) : 0;

    if ((before & 0x7f) == 0x17 && (before >> 7 & 31) == rs)
        return lead_to(rd ? CALL : JUMP, place - 2, (int32_t)(before & 0xfffff000) + signed_bits(i >> 20, 12));
    if (rd != 0)
        return (struct lead){.kind = CALL_BY_POINTER};
    return (struct lead){.kind = rs == 1 ? RETURN : JUMP_BY_POINTER};
}

static struct lead lead_of_short(uint32_t place, uint32_t i)
{
    uint32_t funct3 = i >> 13 & 7, rs = i >> 7 & 31;

    if ((i & 3) == 1 && funct3 == 5)
        return lead_to(JUMP, place, short_jump_offset(i));
    if ((i & 3) == 1 && funct3 >= 6)
        return lead_to(BRANCH, place, short_branch_offset(i));
    if ((i & 3) != 2 || funct3 != 4 || (i >> 2 & 31) != 0 || rs == 0)
        return (struct lead){.kind = NEXT};
    if (i >> 12 & 1)
        return (struct lead){.kind = CALL_BY_POINTER};
    return (struct lead){.kind = rs == 1 ? RETURN : JUMP_BY_POINTER};
}

static struct lead lead_of(uint32_t place)
{
    uint32_t i = bits_at(place);

    if ((i & 3) != 3)
        return lead_of_short(place, i);
    if (i == 0x10200073 || i == 0x30200073) /* sret, mret */
        return (struct lead){.kind = TO_USER};
    switch (i & 0x7f) {
    case 0x63:
        return lead_to(BRANCH, place, branch_offset(i));
    case 0x6f:
        return lead_to((i >> 7 & 31) ? CALL : JUMP, place, jump_offset(i));
    case 0x67:
        return lead_of_jalr(place, i);
    default:
        return (struct lead){.kind = NEXT};
    }
}

/* Notes what `la` computes: auipc and addi. */
static void note_computed(void)
{
    for (uint32_t p = 0; p + 4 < kernel.places; p = place_after(p)) {
        uint32_t high = bits_at(p), low = bits_at(p + 2);

        if ((high & 0x7f) != 0x17 || (low & 0x707f) != 0x13 || (low >> 15 & 31) != (high >> 7 & 31))
            continue;
        uint32_t to =
            place_of(kernel.va + 2 * p + (uint64_t)(int32_t)(high & 0xfffff000) + (uint64_t)signed_bits(low >> 20, 12));
        if (to != UINT32_MAX)
            kernel.by_pointer[to] = true;
    }
}

static uint32_t ncu_op_at(uint32_t place)
{
    uint32_t i = bits_at(place);

    return (i & 0xfffff) == 0x2013 ? i >> 20 : 0;
}

static uint64_t cost_at(uint32_t place)
{
    return cost_class_cycles[cost_class_of(bits_at(place))];
}

/* ---- Ways ---- */

struct way {
    uint64_t back, out; /* the least cycles to the return, and to an instruction that ends the way */
};

static struct way *of_function; /* by the place of its first instruction */
static bool *called, changed;
static uint64_t *cycles;         /* of the walk */
static uint32_t *line, *in_line; /* places from which it goes on, a ring; 1: is in it */
static uint32_t line_first, line_count;
static bool (*ends_way)(uint32_t place);

static bool is_send_or_arm(uint32_t place)
{
    return ncu_op_at(place) == NCU_SEND || ncu_op_at(place) == NCU_ARM || place == kernel.sched_enter;
}

static bool is_enter(uint32_t place)
{
    return ncu_op_at(place) == NCU_ENTER;
}

static bool is_request(uint32_t place)
{
    return ncu_op_at(place) != 0 || place == kernel.sched_enter;
}

/* The plugin answers the others by itself. */
static bool is_noticed(uint32_t place)
{
    uint32_t op = ncu_op_at(place);

    return is_request(place) && op != NCU_TIME && op != NCU_CHARGE && op != NCU_ENTERED && op != NCU_STATED;
}

static void reach(uint32_t place, uint64_t at_cycles)
{
    if (place >= kernel.places || at_cycles >= cycles[place])
        return;
    cycles[place] = at_cycles;
    if (!in_line[place])
        line[(line_first + line_count++) % kernel.places] = place;
    in_line[place] = 1;
}

static uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static struct way way_through(uint32_t function)
{
    if (function >= kernel.places)
        return (struct way){NEVER, NEVER};
    changed |= !called[function];
    called[function] = true;
    return of_function[function];
}

static struct way way_by_pointer(void)
{
    struct way best = {NEVER, NEVER};

    for (uint32_t p = 0; p < kernel.places; p++)
        if (kernel.by_pointer[p]) {
            struct way w = way_through(p);

            best = (struct way){least(best.back, w.back), least(best.out, w.out)};
        }
    return best;
}

static void go_on(uint32_t place, struct way *w)
{
    struct lead l = lead_of(place);
    uint64_t at = cycles[place], after = at + cost_at(place);
    bool by_pointer = l.kind == CALL_BY_POINTER || l.kind == JUMP_BY_POINTER;

    if (ends_way(place)) {
        w->out = least(w->out, after);
        return;
    }
    if (ncu_op_at(place) == NCU_IDLE) /* another way begins */
        return;
    if (l.kind == BRANCH || l.kind == JUMP)
        reach(l.to, after);
    if (l.kind == NEXT || l.kind == BRANCH)
        reach(place_after(place), after);
    if (l.kind == RETURN)
        w->back = least(w->back, after);
    if (l.kind == CALL || by_pointer) {
        struct way in = by_pointer ? way_by_pointer() : way_through(l.to);

        w->out = least(w->out, after + in.out);
        if (l.kind == JUMP_BY_POINTER)
            w->back = least(w->back, after + in.back);
        else
            reach(place_after(place), after + in.back);
    }
}

static struct way walk(uint32_t from)
{
    struct way w = {NEVER, NEVER};

    for (uint32_t p = 0; p < kernel.places; p++)
        cycles[p] = NEVER;
    for (reach(from, 0); line_count > 0;) {
        uint32_t place = line[line_first];

        line_first = (line_first + 1) % kernel.places;
        line_count--;
        in_line[place] = 0;
        go_on(place, &w);
    }
    return w;
}

/* Returns the least cycles from `from` to the end of a way, and to the return. What functions cost is not known at
 * first: so the walk is repeated, with all functions that it has found, until nothing changes. */
static struct way ways_from(uint32_t from)
{
    struct way w;

    do {
        changed = false;
        w = walk(from);
        for (uint32_t f = 0; f < kernel.places; f++) {
            if (!called[f])
                continue;
            struct way through = walk(f);
            changed |= memcmp(&through, &of_function[f], sizeof through) != 0;
            of_function[f] = through;
        }
    } while (changed);
    return w;
}

/* ---- Ways that return ---- */

static uint64_t *returned;   /* by function: the least cycles after which a way has returned from it */
static struct way *after_of; /* by place of a call: from its return on */

static uint32_t function_of(uint32_t place)
{
    while (place > 0 && !kernel.is_function[place])
        place--;
    return place;
}

/* Returns the least cycles after which a way comes back to this call, or NEVER. */
static uint64_t returns_to(uint32_t place, const struct lead *l)
{
    uint64_t at = NEVER;

    if (l->kind == CALL && l->to < kernel.places)
        return returned[l->to];
    for (uint32_t f = 0; l->kind == CALL_BY_POINTER && f < kernel.places; f++)
        if (kernel.by_pointer[f])
            at = least(at, returned[f]);
    /* A jump to another function: that returns for this one. */
    if ((l->kind == JUMP || l->kind == BRANCH) && l->to < kernel.places && function_of(l->to) != function_of(place))
        at = returned[function_of(l->to)];
    return at;
}

static void note_return(uint32_t function, uint64_t at)
{
    at = least(at, NEVER);
    changed |= at < returned[function];
    returned[function] = least(returned[function], at);
}

/* Follows the ways that have returned, to their ends. Returns the least cycles to one. */
static uint64_t shortest_after_returns(void)
{
    uint64_t shortest = NEVER;
    bool again;

    do {
        again = false;
        for (uint32_t p = 0; p < kernel.places; p = place_after(p)) {
            struct lead l = lead_of(p);
            uint64_t at = returns_to(p, &l);

            if (at >= NEVER)
                continue;
            bool call = l.kind == CALL || l.kind == CALL_BY_POINTER;
            if (call && after_of[p].out == 0)
                after_of[p] = ways_from(place_after(p));
            changed = false;
            note_return(function_of(p), at + (call ? after_of[p].back : 0));
            again |= changed;
            shortest = call ? least(shortest, at + after_of[p].out) : shortest;
        }
    } while (again);
    return shortest;
}

static uint64_t shortest_from(uint32_t from)
{
    struct way w = ways_from(from);

    note_return(function_of(from), w.back);
    return least(w.out, shortest_after_returns());
}

/* Returns the jump that ends the block of this instruction. */
static uint32_t end_of_block(uint32_t place)
{
    while (lead_of(place).kind == NEXT)
        place = place_after(place);
    return place;
}

/* Returns the shortest way from any NCU instruction op, of which there are at least `sites`. */
static uint64_t shortest_from_op(uint32_t op, uint32_t sites)
{
    uint64_t shortest = NEVER;

    for (uint32_t p = 0; p < kernel.places; p = place_after(p))
        if (ncu_op_at(p) == op) {
            uint32_t from = end_of_block(place_after(p));

            struct way w = ways_from(from);
            if (w.back < NEVER)
                note_return(function_of(from), w.back - cost_at(from));
            shortest = least(shortest, w.out - cost_at(from));
            sites -= sites > 0;
        }
    cr_assert_eq(sites, 0, "the kernel has fewer NCU instructions %u than it must have", op);
    return least(shortest, shortest_after_returns());
}

/* Returns where a branch leads that compares with 0, if it is 0. */
static uint32_t place_if_zero(uint32_t place)
{
    uint32_t i = bits_at(place), funct3 = (i & 3) == 3 ? i >> 12 & 7 : (i >> 13 & 7) - 6; /* of beq and bne */

    cr_assert(lead_of(place).kind == BRANCH && funct3 <= 1 && ((i & 3) != 3 || (i >> 20 & 31) == 0));
    return funct3 == 0 ? lead_of(place).to : place_after(place);
}

/* Returns the shortest way from any ENTER that has found no cause: its block ends with a look at the answer. */
static uint64_t shortest_from_begun_trap(uint32_t sites)
{
    uint64_t shortest = NEVER;

    for (uint32_t p = 0; p < kernel.places; p = place_after(p))
        if (ncu_op_at(p) == NCU_ENTER) {
            uint32_t from = place_if_zero(end_of_block(place_after(p)));

            struct way w = ways_from(from);
            note_return(function_of(from), w.back);
            shortest = least(shortest, w.out);
            sites -= sites > 0;
        }
    cr_assert_eq(sites, 0, "the kernel has fewer ENTERs than it must have");
    return least(shortest, shortest_after_returns());
}

static void kernel_read(void)
{
    int fd = open(KERNEL, O_RDONLY);

    elf_version(EV_CURRENT);
    Elf *elf = fd >= 0 ? elf_begin(fd, ELF_C_READ, NULL) : NULL;
    cr_assert(elf, "cannot read %s", KERNEL);
    each_section(elf, look_for_text);
    cr_assert_gt(kernel.places, 1000);
    kernel.by_pointer = calloc(kernel.places, sizeof *kernel.by_pointer);
    kernel.is_function = calloc(kernel.places, sizeof *kernel.is_function);
    of_function = calloc(kernel.places, sizeof *of_function);
    called = calloc(kernel.places, sizeof *called);
    cycles = calloc(kernel.places, sizeof *cycles);
    line = calloc(kernel.places, sizeof *line);
    in_line = calloc(kernel.places, sizeof *in_line);
    each_section(elf, look_for_references);
    note_computed();
    returned = calloc(kernel.places, sizeof *returned);
    after_of = calloc(kernel.places, sizeof *after_of);
    for (uint32_t p = 0; p < kernel.places; p++) {
        of_function[p] = (struct way){NEVER, NEVER};
        returned[p] = NEVER;
    }
    cr_assert(kernel.trap_entry != 0 && kernel.sched_enter != 0);
}

static void expect_quiet(const char *what, uint64_t shortest, uint64_t relied_on)
{
    cr_expect(shortest >= relied_on && shortest < 10 * relied_on,
              "%s: the shortest way in the kernel takes %lu cycles, but the scheduler relies on %lu", what, shortest,
              relied_on);
}

TestSuite(ways, .init = kernel_read);

Test(ways, no_trap_sends_or_arms_sooner_than_the_scheduler_expects)
{
    ends_way = is_send_or_arm;
    expect_quiet("ENTER to SEND or ARM", shortest_from_op(NCU_ENTER, 4), TRAP_QUIET_CYCLES);
}

/* At the end of a quantum the kernel attends in a trap that may begin at once. */
Test(ways, no_quantum_ends_in_a_send_or_arm_sooner_than_the_scheduler_expects)
{
    ends_way = is_send_or_arm;
    expect_quiet("QUANTUM to SEND or ARM", shortest_from_op(NCU_QUANTUM, 1), TRAP_QUIET_CYCLES);
}

Test(ways, no_cause_leads_to_a_send_or_arm_sooner_than_the_scheduler_expects)
{
    ends_way = is_send_or_arm;
    expect_quiet("IDLE to SEND or ARM", shortest_from_op(NCU_IDLE, 5), WAKE_QUIET_CYCLES);
    expect_quiet("CAUSES to SEND or ARM", shortest_from_op(NCU_CAUSES, 1), WAKE_QUIET_CYCLES);
}

Test(ways, no_cause_leads_to_a_request_sooner_than_the_scheduler_expects)
{
    ends_way = is_request;
    expect_quiet("IDLE to a request", shortest_from_op(NCU_IDLE, 5), IDLE_SILENT_CYCLES);
}

Test(ways, no_interrupt_leads_to_a_request_sooner_than_the_scheduler_expects)
{
    ends_way = is_request;
    expect_quiet("CAUSES to a request", shortest_from_op(NCU_CAUSES, 1), CAUSES_SILENT_CYCLES);
}

Test(ways, no_trap_leads_to_a_request_or_back_sooner_than_the_scheduler_expects)
{
    ends_way = is_noticed;
    expect_quiet("ENTER to a request", shortest_from_begun_trap(4), TRAP_SILENT_CYCLES);
}

Test(ways, no_user_code_traps_sooner_than_the_scheduler_expects)
{
    ends_way = is_enter;
    expect_quiet("trap_entry to ENTER", shortest_from(kernel.trap_entry), USER_QUIET_CYCLES);
}
