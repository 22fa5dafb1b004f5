/* Parts of events in JSON (trace_events.h). */
#include "emu/trace/trace_events.h"

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
    piece_literal(p, ",\n{\"ph\":\"");
    piece_bytes(p, &phase, 1);
    piece_literal(p, "\",\"pid\":");
    piece_number(p, process);
    piece_literal(p, ",\"tid\":");
    piece_number(p, track);
    piece_literal(p, ",\"ts\":");
    event_cycles(p, cycles);
}

/* Adds a name, and leaves it open for piece_text until event_name_end. */
void event_name_begin(struct piece *p)
{
    piece_literal(p, ",\"name\":\"");
}

void event_name_end(struct piece *p)
{
    piece_literal(p, "\"");
}

void event_name(struct piece *p, const char *name)
{
    event_name_begin(p);
    piece_text(p, name);
    event_name_end(p);
}

void event_quoted(struct piece *p, const char *text)
{
    event_quoted_most(p, text, SIZE_MAX);
}

void event_quoted_most(struct piece *p, const char *text, size_t most)
{
    for (; *text && most-- > 0; text++)
        piece_bytes(p, *text < ' ' || *text > '~' || *text == '"' || *text == '\\' ? "?" : text, 1);
}

void event_meta_begin(struct piece *p, enum process process, uint32_t track, const char *what, const char *name)
{
    event_begin(p, 'M', process, track, 0);
    event_name(p, what);
    piece_literal(p, ",\"args\":{\"name\":\"");
    piece_text(p, name);
    piece_literal(p, "\"");
}

void event_argument(struct piece *p, const char *name, uint64_t value)
{
    piece_literal(p, ",\"");
    piece_text(p, name);
    piece_literal(p, "\":");
    piece_number(p, value);
}

bool event_slice_begin(const struct trace *t, struct piece *p, enum process process, uint32_t track, uint64_t since,
                       uint64_t until)
{
    uint64_t from = since > t->options.from_cycles ? since : t->options.from_cycles;
    uint64_t to = until < t->options.to_cycles ? until : t->options.to_cycles;

    if (from >= to)
        return false;
    event_begin(p, 'X', process, track, from);
    piece_literal(p, ",\"dur\":");
    event_cycles(p, to - from);
    return true;
}

void event_wiring(struct piece *p, const struct topo_io_node *io)
{
    piece_literal(p, ",\"si\":[");
    for (uint32_t k = 0; k < NCU_SI_CHANNELS; k++) {
        piece_bytes(p, ",", k > 0);
        if (io->si[k] == TOPO_NONE)
            piece_literal(p, "-1");
        else
            piece_number(p, io->si[k]);
    }
    piece_literal(p, "],\"volumes\":[");
    for (uint32_t d = 0; d < io->ndrives; d++) {
        piece_bytes(p, ",", d > 0);
        piece_literal(p, "\"");
        piece_text(p, io->drive[d].volume);
        piece_literal(p, "\"");
    }
    piece_literal(p, "]");
}
_Static_assert(160 + NCU_SI_CHANNELS * sizeof "65535" + DRIVE_MAX * (VOLUME_NAME_BYTES + 2) < PIECE_BYTES,
               "an I/O node's wiring fits into a piece");

void event_message(struct piece *p, const struct trace_arrow *a)
{
    piece_literal(p, ",\"args\":{\"to\":");
    piece_number(p, a->to);
    event_argument(p, "bytes", a->bytes);
    event_argument(p, "type", a->type);
    if (a->context > 0)
        event_argument(p, "context", a->context);
    piece_literal(p, "}");
}

#define OP_NAME(name, number) [number - N_FOPEN] = #name,
static const char *const op_names[] = {FILE_OPS(OP_NAME)};
#undef OP_NAME

const char *event_op_name(uint64_t tag)
{
    uint32_t op = TAG_NUMBER(tag) - N_FOPEN;

    return op < sizeof op_names / sizeof *op_names && op_names[op] ? op_names[op] + 2 : "request";
}
