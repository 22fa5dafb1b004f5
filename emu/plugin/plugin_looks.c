/* The words that instructions look at (plugin_looks.h): a scoreboard of QEMU, which translated code reads inline. */
#include "emu/plugin/plugin_looks.h"

#include <string.h>

#define HASHED 255u /* words of addresses; neighbours have different ones */

struct words {
    uint64_t at[HASHED];
    uint64_t calls; /* 2 KB in all: QEMU shifts by a power of two */
};

static struct {
    const struct debug_area *area;
    struct qemu_plugin_scoreboard *words; /* of each hart */
} looks;

/* Of this hart: thread-local storage is the fiber's. */
static __thread enum looks chosen;
static __thread uint32_t changes; /* of the breakpoints, when it chose */

void looks_init(const struct debug_area *area)
{
    looks.area = area;
    looks.words = qemu_plugin_scoreboard_new(sizeof(struct words));
}

static uint32_t word_of(uint64_t pc)
{
    return (uint32_t)(pc / 2 % HASHED);
}

static void set_words(struct words *w)
{
    memset(w, chosen == LOOKS_ALL ? 1 : 0, sizeof *w);
    w->calls = chosen != LOOKS_NONE;
    for (uint32_t k = 0; chosen == LOOKS_SOME && k < looks.area->breaks; k++)
        w->at[word_of(looks.area->break_pc[k])] = 1;
}

void looks_choose(unsigned hart, enum looks what)
{
    uint32_t now = __atomic_load_n(&looks.area->changes, __ATOMIC_SEQ_CST);

    if (what == chosen && (what != LOOKS_SOME || now == changes))
        return;
    chosen = what;
    changes = now;
    set_words(qemu_plugin_scoreboard_find(looks.words, hart));
}

enum looks looks_chosen(void)
{
    return chosen;
}

void looks_translate(struct qemu_plugin_insn *insn, bool is_call, qemu_plugin_vcpu_udata_cb look, void *what)
{
    uint32_t word = word_of(qemu_plugin_insn_vaddr(insn));
    size_t offset = is_call ? offsetof(struct words, calls) : offsetof(struct words, at) + word * sizeof(uint64_t);
    qemu_plugin_u64 entry = {looks.words, offset};

    qemu_plugin_register_vcpu_insn_exec_cond_cb(insn, look, QEMU_PLUGIN_CB_R_REGS, QEMU_PLUGIN_COND_NE, entry, 0, what);
}
