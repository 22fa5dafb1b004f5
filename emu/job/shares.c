/* How many nodes the programs of a job get, or want (job.h); xnc asks, too. */
#include <stdio.h>

#include "emu/job/job.h"

static uint32_t count_wanted(const struct job_program *program, uint32_t programs, uint32_t nodes, uint32_t *sharing)
{
    uint32_t wanted = 0;

    *sharing = 0;
    for (uint32_t i = 0; i < programs; i++) {
        *sharing += program[i].nodes == 0;
        wanted += program[i].nodes <= nodes ? program[i].nodes : nodes + 1;
        if (wanted > nodes)
            break;
    }
    return wanted;
}

int job_share_nodes(const struct job_program *program, uint32_t programs, uint32_t nodes, uint32_t *share, char *error,
                    size_t error_bytes)
{
    uint32_t sharing, wanted = count_wanted(program, programs, nodes, &sharing), turn = 0;

    if (wanted > nodes || nodes - wanted < sharing) {
        snprintf(error, error_bytes, "the programs need more nodes than the subcube's %u; give a larger -d", nodes);
        return -1;
    }
    for (uint32_t i = 0; i < programs; i++) {
        uint32_t left = nodes - wanted;

        share[i] = program[i].nodes ? program[i].nodes : left / sharing + (turn++ < left % sharing);
    }
    return 0;
}

bool job_is_pipeline(const struct job_program *program, uint32_t programs)
{
    for (uint32_t i = 0; i < programs; i++)
        if (program[i].piped)
            return true;
    return false;
}

uint32_t job_dimension_of_nodes(uint64_t nodes)
{
    uint32_t dim = 0;

    while (1ull << dim < nodes)
        dim++;
    return dim;
}

uint32_t job_dimension(const struct job_program *program, uint32_t programs, uint32_t dim)
{
    uint64_t nodes = 0;

    if (!job_is_pipeline(program, programs))
        return dim;
    for (uint32_t i = 0; i < programs; i++)
        nodes += i == 0 || program[i].piped ? 1ull << program[i].dim : 0;
    return job_dimension_of_nodes(nodes);
}
