/* Places in programs (node_places.h). A trap's frame lies at the end of a page of Vertex's. */
#include "emu/state/node_places.h"

#include <stdlib.h>

#include "emu/base/memory.h"
#include "emu/state/unread.h"
#include "vertex/contract/system.h"

static uint8_t *memory_of(void *machine, uint32_t index, size_t *bytes)
{
    const struct cabinet *c = &((struct machine *)machine)->cabinet[machine_cabinet_of(machine, index)];

    *bytes = c->bytes;
    return c->ram;
}

static bool bring_page(void *machine, uint32_t index, uint64_t at)
{
    return machine_bring_page(machine, index, at);
}

struct user_calls *node_places_open(struct machine *m, const struct job *j)
{
    static const struct target_ops ops = {.memory = memory_of, .bring = bring_page};
    uint32_t n = j ? j->options.programs : 0;
    int *fd = memory_new(n, sizeof *fd);
    struct user_calls *calls = NULL;

    for (uint32_t i = 0; i < n; i++)
        fd[i] = j->own[i].fd;
    if (n > 0)
        calls = user_calls_new(&(struct target){.ops = &ops, .ctx = m}, fd, n);
    free(fd);
    return calls;
}

uint32_t node_places_program(const struct job *j, uint32_t address, int *file)
{
    job_program_file(j, address - j->base, file);
    for (uint32_t i = 0; i < j->options.programs; i++)
        if (*file >= 0 && j->own[i].fd == *file)
            return i;
    return UINT32_MAX;
}

const char *node_places_at_trap(struct machine *m, uint32_t index)
{
    const struct job *j = m->options->kept_up ? NULL : front_first_job(m->front);
    const struct slot *s = harts_slot(&m->harts, m->slot_of[index]);
    const struct slot_frame *f = &s->trap_frame;
    uint32_t address = ncu_address(m->ncu, index), program = UINT32_MAX;
    uint64_t left[3]; /* pc, ra, sp */
    int file;

    if (s->trap >= SLOT_TRAP_UNKNOWN && s->trap != SLOT_TRAP_EXCEPTION)
        return NULL;
    if (j && job_has_node(j, address))
        program = node_places_program(j, address, &file);
    if (program == UINT32_MAX || (f->sp + FRAME_BYTES) % TARGET_PAGE_BYTES != 0 ||
        !unread_read(m, index, f->sp, left, sizeof left))
        return NULL;
    if (!m->places)
        m->places = node_places_open(m, j);
    return user_calls_line(m->places, index, program, &(struct user_place){left[0], left[1], left[2], f->fp, f->satp});
}
