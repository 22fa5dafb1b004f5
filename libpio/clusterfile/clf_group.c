/*
 * Groups of an open file, whose reads and writes are collective [P3 sections 7.3, 7.4] (clf_client.h).
 *
 * A member is in its group at the servers of those parts that its view meets; the others never wait for it. A
 * collective call has as many steps for all members, in each of which a member sends one request, perhaps of no bytes,
 * to each of these servers.
 */
#include <stdlib.h>

#include "libpio/clusterfile/clf_client.h"
#include "vertex/contract/errors.h"

#define STEP_BYTES (256 << 10) /* most of a step; a server keeps those of all members */

/* Tells the servers of parts that the view meets, and no longer meets. */
static int tell_servers(struct clf_open *f)
{
    struct clf_question *q = calloc(f->layout->parts, sizeof *q);
    uint32_t n = 0;

    if (!q)
        return -N_ENOMEM;
    for (uint32_t p = 0; p < f->layout->parts; p++)
        if (f->part[p].joined != (f->sight->meet[p].seen != NULL)) {
            f->part[p].joined = !f->part[p].joined;
            q[n] = clf_part_question(f, p, N_CLF_GROUP);
            q[n++].r.handle = f->part[p].joined ? f->group_number : 0;
        }
    int error = n > 0 ? clf_ask(q, n) : 0;
    free(q);
    return error;
}

/* The least of what members give. */
static int64_t find_least(struct clf_open *f, int64_t mine)
{
    int error = group_all_reduce(f->group, &mine, 1, GROUP_INT64, GROUP_LEAST);

    return error < 0 ? error : mine;
}

int64_t clf_group_most(struct clf_open *f, int64_t mine)
{
    int error = group_all_reduce(f->group, &mine, 1, GROUP_INT64, GROUP_GREATEST);

    return error < 0 ? error : mine;
}

/* A view whose plans are made window by window has no steps that others could share. */
static int64_t find_step(const struct clf_open *f)
{
    int64_t bytes = f->sight->range.to == PATTERN_OFFSET_MAX ? STEP_BYTES : 0;

    for (uint32_t p = 0; p < f->layout->parts; p++)
        if (f->part[p].joined && f->part[p].io_bytes < bytes)
            bytes = f->part[p].io_bytes;
    return bytes;
}

int clf_group_agree(struct clf_open *f)
{
    if (!f->group)
        return 0;
    for (uint32_t p = 0; p < f->layout->parts; p++)
        f->part[p].wanted = f->sight->meet[p].seen != NULL;
    int error = clf_sight_tell(f, f->sight);
    if (error == 0)
        error = tell_servers(f);
    const int64_t step = find_least(f, error < 0 ? 0 : find_step(f));
    f->step_bytes = step > 0 ? step : 0;
    return error < 0 ? error : step < 0 ? (int)step : 0;
}

int clf_group_set(struct clf_open *f, struct group *g)
{
    static uint32_t groups;
    uint64_t number;

    if (f->folder || f->group || !g)
        return clf_fail(-N_EINVAL, !g ? "no group" : f->folder ? "a folder has no group" : "the file has a group");
    number = (uint64_t)++groups << 32 | (uint32_t)(g->process ? g->process[0] + 1 : 1);
    int error = group_broadcast(g, &number, sizeof number, 0);
    if (error < 0)
        return error;
    f->group = g;
    f->group_number = number;
    return clf_group_agree(f);
}
