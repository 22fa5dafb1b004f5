/*
 * What the deadlock report says of a job: how its nodes have ended, what it waits for, and its programs by their names.
 */
#include "emu/base/host.h"
#include "emu/job/job.h"

#include <stdio.h>

#include "emu/base/plural.h"
#include "emu/job/lives.h"
#include "emu/job/stages.h"
#include "vertex/contract/system.h"

bool job_describe_end(const struct job *j, uint32_t node, char *text, size_t bytes)
{
    if (!j->loaded || !job_has_node(j, node) || !lives_has_exited(j->lives, node - j->base) ||
        !stages_had_program(j, node - j->base))
        return false;
    int status = j->exit_status[node - j->base];
    if (status < 0)
        snprintf(text, bytes, "has been ended");
    else
        snprintf(text, bytes, "has ended with status %d", status);
    return true;
}

void job_describe_wait(const struct job *j, char *text, size_t bytes)
{
    uint32_t first = 0;

    while (first < j->nodes && lives_has_exited(j->lives, first))
        first++;
    snprintf(text, bytes, "the front end waits for %u of %u node%s to %s, first node %u",
             j->nodes - lives_exits(j->lives), j->nodes - j->idle, plural(j->nodes - j->idle),
             j->killed ? "confirm that they were killed" : "exit", first);
}

/* ---- Programs of their own ---- */

static bool is_pipeline(const struct job *j)
{
    return j->stages > 1;
}

const char *job_program_at(const struct job *j, uint32_t node, uint32_t *number)
{
    uint32_t logical = node - j->base;
    int fd;

    if (!job_has_node(j, node) || (!is_pipeline(j) && !lives_is_separate(j->lives, logical)))
        return NULL;
    *number = stages_number(j, logical);
    const char *loaded = lives_program(j->lives, logical, &fd);
    return host_last_part(loaded ? loaded : j->options.program[stages_part(j, logical) - j->part].path);
}

/* The program of the other end of a pipeline's pipe; NULL: it is no pipe of the command line. Pipe k is between stages
 * k and k + 1. */
static const char *other_program(const struct job *j, uint32_t logical, uint32_t pipe)
{
    uint32_t own = j->own[stages_part(j, logical) - j->part].stage, other = own == pipe ? pipe + 1 : pipe;

    for (uint32_t i = 0; is_pipeline(j) && pipe < PIPES_MAX && i < j->options.programs; i++)
        if (j->own[i].stage == other)
            return host_last_part(j->options.program[i].path);
    return NULL;
}

bool job_describe_failure(const struct job *j, char *text, size_t bytes)
{
    uint32_t node = j->base + j->first_failed, number;
    char end[64], others[64] = "";

    if (j->failures == 0 || !job_describe_end(j, node, end, sizeof end))
        return false;
    if (j->failures > 1)
        snprintf(others, sizeof others, "; after it %u more ended with a status other than 0", j->failures - 1);
    const char *program = job_program_at(j, node, &number);
    if (program)
        snprintf(text, bytes, "first failure: PE %u of %s %s%s", number, program, end, others);
    else
        snprintf(text, bytes, "first failure: node %u %s%s", j->first_failed, end, others);
    return true;
}

bool job_describe_pipe(const struct job *j, uint32_t node, uint32_t pipe, uint32_t kind, char *text, size_t bytes)
{
    static const char *const waits[PIPE_KINDS] = {[PIPE_MAP] = "waits for the mapping of %s (pipe %u)",
                                                  [PIPE_DATA] = "waits for data from %s (pipe %u)",
                                                  [PIPE_ROOM] = "waits for %s to read (pipe %u)",
                                                  [PIPE_MESSAGE] = "waits for a message from %s (pipe %u)"};
    const char *other = job_has_node(j, node) ? other_program(j, node - j->base, pipe) : NULL;

    if (!other || kind >= PIPE_KINDS || !waits[kind])
        return false;
    snprintf(text, bytes, waits[kind], other, pipe);
    return true;
}
