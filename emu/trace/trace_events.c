/* Parts of events in JSON (trace_events.h). */
#include "emu/trace/trace_events.h"

#include <stdarg.h>

#include "emu/trace/trace_chrome.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

void event_cycles(struct piece *p, uint64_t cycles)
{
    uint64_t hundredths = cycles % CYCLES_PER_US * (100 / CYCLES_PER_US);

    piece_number(p, cycles / CYCLES_PER_US);
    if (hundredths > 0)
        piece_bytes(p, (char[]){'.', (char)('0' + hundredths / 10), (char)('0' + hundredths % 10)}, 3);
}

void event_begin(struct piece *p, char phase, enum process process, uint32_t track, uint64_t cycles)
{
    p->n = 0;
    piece_put(p, ",\n{'ph':'%c','pid':%u,'tid':%u,'ts':", phase, process, track);
    event_cycles(p, cycles);
}

void event_quoted(struct piece *p, const char *text, size_t most)
{
    for (; *text && most-- > 0; text++)
        piece_bytes(p, *text < ' ' || *text > '~' || *text == '"' || *text == '\\' ? "?" : text, 1);
}

void event_meta_begin(struct piece *p, enum process process, uint32_t track, const char *what, const char *name)
{
    event_begin(p, 'M', process, track, 0);
    piece_put(p, ",'name':'%s','args':{'name':'%s'", what, name);
}

bool event_slice_begin(const struct trace *t, struct piece *p, enum process process, uint32_t track, uint64_t since,
                       uint64_t until)
{
    uint64_t from = since > t->options.from_cycles ? since : t->options.from_cycles;
    uint64_t to = until < t->options.to_cycles ? until : t->options.to_cycles;

    if (from >= to)
        return false;
    event_begin(p, 'X', process, track, from);
    piece_put(p, ",'dur':");
    event_cycles(p, to - from);
    return true;
}

void event_wiring(struct piece *p, const struct topo_io_node *io)
{
    piece_put(p, ",'si':");
    for (uint32_t k = 0; k < NCU_SI_CHANNELS; k++)
        if (io->si[k] == TOPO_NONE)
            piece_put(p, "%c-1", k > 0 ? ',' : '[');
        else
            piece_put(p, "%c%u", k > 0 ? ',' : '[', io->si[k]);
    piece_put(p, "],'volumes':[");
    for (uint32_t d = 0; d < io->ndrives; d++)
        piece_put(p, "%s'%s'", d > 0 ? "," : "", io->drive[d].volume);
    piece_put(p, "]");
}
_Static_assert(160 + NCU_SI_CHANNELS * sizeof "65535" + DRIVE_MAX * (VOLUME_NAME_BYTES + 2) < PIECE_BYTES,
               "an I/O node's wiring fits into a piece");

#define OP_NAME(name, number) [number - N_FOPEN] = #name,
static const char *const op_names[] = {FILE_OPS(OP_NAME)};
#undef OP_NAME

const char *event_op_name(uint64_t tag)
{
    uint32_t op = TAG_NUMBER(tag) - N_FOPEN;

    return op < sizeof op_names / sizeof *op_names && op_names[op] ? op_names[op] + 2 : "request";
}

__attribute__((format(printf, 3, 4))) bool event_put(struct trace *t, struct piece *p, const char *format, ...)
{
    struct chrome *c = t->own;
    size_t skip = c->begun ? 0 : 1; /* the comma */
    va_list arguments;

    va_start(arguments, format);
    piece_put_list(p, format, arguments);
    va_end(arguments);
    piece_put(p, "}");
    if (!trace_put(t, p->text + skip, p->n - skip))
        return false;
    c->begun = true;
    return true;
}
