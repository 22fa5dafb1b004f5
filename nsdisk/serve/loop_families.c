/*
 * The loop's part of the families of requests (family.h).
 *
 * Nothing here is on the way of a request of a file.
 */
#include "nsdisk/serve/family.h"

#include "nsdisk/serve/loop_state.h"
#include "vertex/contract/errors.h"

/* ---- Taking ---- */

void family_refuse(struct loop *l, const struct arrival *a, int error)
{
    const struct file_reply reply = {family_sequence(a), error};

    family_reply(l, a->from, a->type, &reply, sizeof reply);
}

static bool refuse(struct loop *l, const struct arrival *a, int error)
{
    family_refuse(l, a, error);
    return true;
}

/* Returns a family's place in the table; FAMILIES_MAX: none has requests of that type. */
static uint32_t family_of(int type)
{
    for (uint32_t i = 0; i < FAMILIES_MAX && families[i]; i++)
        if ((uint32_t)type >= families[i]->first && (uint32_t)type <= families[i]->last)
            return i;
    return FAMILIES_MAX;
}

bool families_take(struct loop *l, const struct arrival *a)
{
    uint32_t i = family_of(a->type);

    if (i == FAMILIES_MAX)
        return refuse(l, a, -N_ENOSYS);
    if (a->n < sizeof(struct request_head))
        return refuse(l, a, -N_EPROTO);
    if (!l->family[i])
        return refuse(l, a, -N_ENOMEM);
    return families[i]->take(l->family[i], a);
}

void family_reply(struct loop *l, int from, int type, const void *reply, size_t n)
{
    l->node.reply(l->node.reply_ctx, from, type, reply, n);
}

void family_reply_parts(struct loop *l, int from, int type, const void *head, size_t head_bytes, const void *data,
                        size_t bytes)
{
    l->node.reply_parts(l->node.reply_ctx, from, type, head, head_bytes, data, bytes);
}

void family_call_back(struct loop *l)
{
    l->ended = true;
}

struct server *family_server(const struct loop *l)
{
    return l->server;
}

/* ---- Work for a volume ---- */

static void run(struct volume *v, struct job *j)
{
    struct family_work *w = (struct family_work *)j;
    const struct arrival_area area = {v->area, v->loop->area_bytes};

    w->run(w, server_volume(v->loop->server, v->drive), &area);
}

static const struct work family_work = {run};

int family_run(struct loop *l, uint32_t drive, struct family_work *w, int from, int type)
{
    int error = drive < l->drives ? server_volume_error(l->server, drive) : -N_ENODEV;

    if (error < 0)
        return error;
    w->job = (struct job){.volume = &l->volume[drive], .a = {from, type, NULL, 0}, .work = &family_work};
    STAILQ_INSERT_TAIL(&l->volume[drive].waiting, &w->job, next);
    return 0;
}

/* ---- Beginning and end ---- */

void families_begin(struct loop *l)
{
    for (uint32_t i = 0; i < FAMILIES_MAX && families[i]; i++)
        l->family[i] = families[i]->begin(l);
}

void families_client_ended(struct loop *l, int from)
{
    for (uint32_t i = 0; i < FAMILIES_MAX; i++)
        if (l->family[i] && families[i]->client_ended)
            families[i]->client_ended(l->family[i], from);
}

void families_commands_ended(struct loop *l)
{
    while (l->ended) {
        l->ended = false;
        for (uint32_t i = 0; i < FAMILIES_MAX; i++)
            if (l->family[i] && families[i]->commands_ended)
                families[i]->commands_ended(l->family[i]);
    }
}

void families_shut_down(struct loop *l)
{
    for (uint32_t i = 0; i < FAMILIES_MAX; i++)
        if (l->family[i] && families[i]->shut_down)
            families[i]->shut_down(l->family[i]);
}

void families_free(struct loop *l)
{
    for (uint32_t i = 0; i < FAMILIES_MAX; i++)
        if (l->family[i])
            families[i]->free(l->family[i]);
}
