/* Jobs that are no longer in use, and the order of a client's: what loop.c and loop_aside.c share. */
#include "nsdisk/serve/loop_state.h"

static bool is_parked(const struct loop *l, const struct job *j)
{
    const uint8_t *first = l->memory + (l->drives + 1) * l->area_bytes;

    return j->a.bytes >= first && j->a.bytes < first + LOOP_PARKED * l->parked_bytes;
}

void loop_free_bytes(struct loop *l, struct job *j)
{
    if (j->a.bytes == l->landing)
        l->held = false;
    else if (is_parked(l, j))
        l->parking[l->parking_free++] = j->a.bytes;
    j->a.bytes = NULL;
}

void loop_free_job(struct loop *l, struct job *j)
{
    loop_free_bytes(l, j);
    j->volume = NULL;
    STAILQ_INSERT_HEAD(&l->free_jobs, j, next);
    l->jobs_free++;
}

bool loop_is_first_of_client(const struct loop *l, const struct ticket *t)
{
    const struct ticket *earlier = TAILQ_FIRST(&l->unanswered);

    while (earlier != t && earlier->from != t->from)
        earlier = TAILQ_NEXT(earlier, next);
    return earlier == t;
}
