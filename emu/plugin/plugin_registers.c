#include "emu/plugin/plugin_registers.h"

#include <stddef.h>
#include <string.h>

#include "emu/plugin/qemu_abi.h"

/* The same handles serve all harts. */
static struct {
    struct qemu_plugin_register *x[32], *f[32];
    struct qemu_plugin_register *fflags, *frm, *fcsr, *satp, *scause, *sepc;
    struct qemu_plugin_register *sstatus, *sie, *sip, *stvec, *stval, *sscratch;
} handle;

static void find_by_name(const struct qemu_plugin_register_descriptor *d)
{
    const struct {
        const char *name;
        struct qemu_plugin_register **handle;
    } known[] = {{"fflags", &handle.fflags},   {"frm", &handle.frm},       {"fcsr", &handle.fcsr},
                 {"satp", &handle.satp},       {"scause", &handle.scause}, {"sepc", &handle.sepc},
                 {"sstatus", &handle.sstatus}, {"sie", &handle.sie},       {"sip", &handle.sip},
                 {"stvec", &handle.stvec},     {"stval", &handle.stval},   {"sscratch", &handle.sscratch}};

    for (size_t k = 0; k < sizeof known / sizeof *known; k++)
        if (strcmp(d->name, known[k].name) == 0)
            *known[k].handle = d->handle;
}

/* The names of x0-x31 and f0-f31 are the ABI's; their order is that of their numbers. */
void registers_find(void)
{
    struct g_array *all = qemu_plugin_get_registers();
    const struct qemu_plugin_register_descriptor *d = all->data;
    unsigned n_x = 0, n_f = 0;

    for (unsigned i = 0; i < all->length; i++) {
        const char *feature = d[i].feature ? d[i].feature : "";

        if (strcmp(feature, "org.gnu.gdb.riscv.cpu") == 0 && n_x < 32)
            handle.x[n_x++] = d[i].handle;
        else if (strcmp(feature, "org.gnu.gdb.riscv.fpu") == 0 && n_f < 32)
            handle.f[n_f++] = d[i].handle;
        else
            find_by_name(&d[i]);
    }
}

static bool read_register(struct qemu_plugin_register *of, uint64_t *value)
{
    static __thread struct g_array *bytes;

    if (!bytes)
        bytes = g_byte_array_new();
    g_byte_array_set_size(bytes, 0);
    if (!of || qemu_plugin_read_register(of, bytes) != sizeof *value)
        return false;
    memcpy(value, bytes->data, sizeof *value);
    return true;
}

static uint64_t read_or_0(struct qemu_plugin_register *of)
{
    uint64_t value;

    return read_register(of, &value) ? value : 0;
}

bool registers_read_scause(uint64_t *value)
{
    return read_register(handle.scause, value);
}

bool registers_read_call(uint64_t *value)
{
    return read_register(handle.x[17], value);
}

bool registers_read_result(uint64_t *value)
{
    return read_register(handle.x[10], value);
}

void registers_read_frame(struct slot_frame *f)
{
    *f = (struct slot_frame){.ra = read_or_0(handle.x[1]),
                             .sp = read_or_0(handle.x[2]),
                             .fp = read_or_0(handle.x[8]),
                             .satp = read_or_0(handle.satp)};
}

void registers_read_integers(struct debug_registers *r, uint64_t pc)
{
    r->x[0] = pc;
    for (unsigned i = 1; i < 32; i++)
        r->x[i] = read_or_0(handle.x[i]);
    r->satp = read_or_0(handle.satp);
    r->scause = read_or_0(handle.scause);
}

void registers_read_floats(struct debug_floats *r)
{
    for (unsigned i = 0; i < 32; i++)
        r->f[i] = read_or_0(handle.f[i]);
    r->fflags = read_or_0(handle.fflags);
    r->frm = read_or_0(handle.frm);
    r->fcsr = read_or_0(handle.fcsr);
}

bool registers_read_number(uint32_t number, uint64_t pc, uint64_t *value)
{
    struct qemu_plugin_register *const csr[] = {handle.fflags, handle.frm, handle.fcsr};

    if (number == 0 || number == 32) {
        *value = number == 0 ? 0 : pc;
        return true;
    }
    if (number < 32)
        return read_register(handle.x[number], value);
    if (number < 65)
        return read_register(handle.f[number - 33], value);
    return number < 68 && read_register(csr[number - 65], value);
}

uint64_t registers_trap_pc(void)
{
    return read_or_0(handle.sepc);
}

uint64_t registers_satp(void)
{
    return read_or_0(handle.satp);
}

bool registers_read_state(uint64_t value[SLOT_REGISTERS])
{
    struct qemu_plugin_register *const others[] = {handle.fflags, handle.frm,   handle.fcsr,    handle.satp,
                                                   handle.scause, handle.sepc,  handle.sstatus, handle.sie,
                                                   handle.sip,    handle.stvec, handle.stval,   handle.sscratch};
    bool all = true;

    _Static_assert(64 + sizeof others / sizeof *others == SLOT_REGISTERS, "x, f and the others");
    for (unsigned i = 0; i < 32; i++) {
        all &= read_register(handle.x[i], &value[i]);
        all &= read_register(handle.f[i], &value[32 + i]);
    }
    for (unsigned i = 0; i < sizeof others / sizeof *others; i++)
        all &= read_register(others[i], &value[64 + i]);
    return all;
}
