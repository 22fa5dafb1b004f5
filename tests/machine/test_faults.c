/* A fault ends the whole program, with one line that names node, pc, cause and address. */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/command.h"

TestSuite(faults, .timeout = 600);

static const struct fault {
    const char *name, *cause;
} faults[] = {
    {"null load", "load from an address that is not mapped"},
    {"null store", "store to an address that is not writable"},
    {"null jump", "jump to an address that is not program text"},
    {"load beyond the heap", "load"},
    {"load of a non-canonical address", "load"},
    {"load at the end of memory", "load"},
    {"load of kernel text", "load"},
    {"load of kernel data", "load"},
    {"store to kernel data", "store"},
    {"store to kernel text", "store"},
    {"atomic on kernel data", "store"},
    {"store to the mailbox", "store"},
    {"jump to kernel text", "jump"},
    {"load from a device", "load"},
    {"store to a constant", "store"},
    {"store to text", "store"},
    {"jump to data", "jump"},
    {"jump to code in data", "not program text"},
    {"jump to code in the heap", "not program text"},
    {"jump to code on the stack", "not program text"},
    {"jump to code in a message buffer", "not program text"},
    {"illegal instruction", "illegal instruction"},
    {"another illegal instruction", "illegal instruction"},
    {"read of a kernel register", "illegal instruction"},
    {"read of a machine register", "illegal instruction"},
    {"write of the page table register", "illegal instruction"},
    {"read of the host's time", "illegal instruction"},
    {"read of the host's cycles", "illegal instruction"},
    {"read of the host's instructions", "illegal instruction"},
    {"sret", "illegal instruction"},
    {"mret", "illegal instruction"},
    {"wfi", "illegal instruction"},
    {"sfence", "illegal instruction"},
    {"breakpoint", "breakpoint"},
    {"stack overflow", "stack overflow"},
};

/* The program prints "pc 0x..." or "pc 0x..., address 0x..." before it faults. */
static void expect_report(const struct fault *f, const char *node, const struct outcome *o)
{
    char *where = format("node %s (address 0x%s): ", node, node);
    size_t announced = strcspn(o->out, "\n");

    cr_expect_eq(o->status, 1, "%s: status %d", f->name, o->status);
    cr_expect_eq(count_lines(o->err), 1, "%s: not one line: %s", f->name, o->err);
    cr_expect(strstr(o->err, where) != NULL, "%s: no '%s' in: %s", f->name, where, o->err);
    cr_expect(strstr(o->err, f->cause) != NULL, "%s: no '%s' in: %s", f->name, f->cause, o->err);
    cr_expect(strstr(o->err, ", pc 0x") != NULL && strstr(o->err, ", address 0x") != NULL, "%s: %s", f->name, o->err);
    cr_expect(memmem(o->err, strlen(o->err), o->out, announced) != NULL, "%s: announced: %sreported: %s", f->name,
              o->out, o->err);
    cr_expect_leq(count_lines(o->out), 1, "%s: it went on: %s", f->name, o->out);
    free(where);
}

RowTest(faults, end_the_program_and_say_where, faults)
{
    const struct fault *f = &faults[*row];
    struct outcome o = ncube_run(&(struct ncube_run){.dim = "1", .program = "guest/faults", .args = {f->name, "1"}});

    expect_report(f, "1", &o);
    outcome_free(&o);
}

/* x1 to x31, each with a value of its own, as they were. */
static void expect_registers(const char *option, const char *node)
{
    static const char *const names[] = {"ra", "sp", "gp", "tp",  "t0",  "t1", "t2", "s0", "s1", "a0", "a1",
                                        "a2", "a3", "a4", "a5",  "a6",  "a7", "s2", "s3", "s4", "s5", "s6",
                                        "s7", "s8", "s9", "s10", "s11", "t3", "t4", "t5", "t6"};
    struct outcome o = ncube_run(&(struct ncube_run){
        .dim = "1", .options = {"--registers", option}, .program = "guest/faults", .args = {"with registers", node}});

    for (unsigned i = 0; i < sizeof names / sizeof *names; i++) {
        char *wanted = format("  %-4s 0x%016x", names[i], 0xc0de00 + i + 1);

        cr_expect(strstr(o.err, wanted) != NULL, "no '%s' in: %s", wanted, o.err);
        free(wanted);
    }
    cr_expect_eq(count_lines(o.err), 9, "%s", o.err);
    outcome_free(&o);
}

Test(faults, print_every_register_on_request)
{
    expect_registers(NULL, "0");
    expect_registers("--sync=strict", "1");
}

Test(faults, on_any_node_of_eight_end_all)
{
    static const char *const nodes[] = {"0", "5", "7"};

    for (int i = 0; i < 3; i++) {
        struct outcome o =
            ncube_run(&(struct ncube_run){.dim = "3", .program = "guest/faults", .args = {"null load", nodes[i]}});

        expect_report(&faults[0], nodes[i], &o);
        outcome_free(&o);
    }
}

/* ---- Frequent mistakes ---- */

static const struct mistake {
    const char *name, *cause, *place;
} mistakes[] = {
    {"copies", "store to an address",
     " (a null pointer and an offset), in memcpy (memcpy.c:14), called from copies (mistakes.c:20), from main "
     "(mistakes.c:126)\n"},
    {"measures", "address 0x0",
     " (a null pointer), in strlen, called from measures (mistakes.c:26), from main (mistakes.c:126)\n"},
    {"smashes", "address 0x4141414141414140", " (a return to it: the stack has been overwritten)\n"},
    {"fills", "address 0x18",
     " (a null pointer and an offset), in fills (mistakes.c:40), called from main (mistakes.c:126)\n"},
    {"calls", "pc 0x0, address 0x0",
     " (a null pointer), called from calls (mistakes.c:47), from main (mistakes.c:126)\n"},
    {"stores", "address 0x0", " (a null pointer), in stores (mistakes.c:54), called from main (mistakes.c:126)\n"},
    {"nests", "address 0x8",
     ", in memcpy (memcpy.c:14), called from helps (mistakes.c:64), from helps (mistakes.c:66), from nests "
     "(mistakes.c:74)\n"},
    {"varies", "address 0x8",
     ", in memcpy (memcpy.c:14), called from varies (mistakes.c:84), from main (mistakes.c:126)\n"},
    {"frees", "address 0x12345678", "from frees (mistakes.c:91), from main (mistakes.c:126)\n"},
    {"says", "address 0x1 (a null pointer and an offset)", ", from says (mistakes.c:97)"},
    {"reads", "address 0x123456789000", ", from reads (mistakes.c:103)"},
    {"formats", "address 0x1 (a null pointer and an offset)", ", from sprintf, from formats (mistakes.c:109)\n"},
};

RowTest(faults, name_the_callers_line_and_null_pointers, mistakes)
{
    const struct mistake *k = &mistakes[*row];
    struct outcome o = ncube_run(&(struct ncube_run){.dim = "0", .program = "guest/mistakes", .args = {k->name}});

    cr_expect_eq(o.status, 1, "%s: status %d", k->name, o.status);
    cr_expect(strstr(o.err, k->cause) != NULL && strstr(o.err, k->place) != NULL, "%s: %s", k->name, o.err);
    outcome_free(&o);
}
