/* Numbers of pipes (pipes.h): in turn. */
#include "emu/front/pipes.h"

#include "vertex/contract/system.h"

uint32_t pipes_new_number(struct pipes *p)
{
    return PIPES_MAX + p->given++ % (PIPE_NUMBERS - PIPES_MAX);
}
