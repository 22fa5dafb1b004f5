/* Calls that have not returned yet (unfinished.h): a short list for each node. */
#include "emu/watch/unfinished.h"

#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"

struct unfinished_calls {
    struct target target;
    uint32_t nodes;
    struct list {
        struct unfinished *call;
        size_t n, room;
    } node[];
};

struct unfinished_calls *unfinished_new(const struct target *t, uint32_t nodes)
{
    struct unfinished_calls *u = memory_new(1, sizeof *u + nodes * sizeof *u->node);

    u->target = *t;
    u->nodes = nodes;
    return u;
}

void unfinished_free(struct unfinished_calls *u)
{
    for (uint32_t i = 0; u && i < u->nodes; i++) {
        for (size_t k = 0; k < u->node[i].n; k++)
            free(u->node[i].call[k].path);
        free(u->node[i].call);
    }
    free(u);
}

bool unfinished_any(const struct unfinished_calls *u, uint32_t node)
{
    return u->node[node].n > 0;
}

/* The node stops where the last calls return, of which there are few: those of a process and of its signal handlers. */
static void await_returns(struct unfinished_calls *u, uint32_t node)
{
    struct debug_hart *d = &u->target.area->hart[u->target.ops->slot(u->target.ctx, node)];
    const struct list *l = &u->node[node];

    d->returns = 0;
    for (size_t i = l->n; i-- > 0 && d->returns < DEBUG_RETURNS;)
        d->return_pc[d->returns++] = l->call[i].call.back;
}

struct unfinished *unfinished_at(struct unfinished_calls *u, uint32_t node, uint64_t process,
                                 const struct user_call *call)
{
    struct list *l = &u->node[node];

    for (size_t i = 0; i < l->n; i++) {
        struct unfinished *at = &l->call[i];

        if (at->process == process && at->call.back == call->back && at->call.sp == call->sp)
            return at;
    }
    l->call = memory_grow(l->call, &l->room, l->n + 1, sizeof *l->call);
    l->call[l->n++] = (struct unfinished){.process = process, .call = *call};
    await_returns(u, node);
    return &l->call[l->n - 1];
}

bool unfinished_take(struct unfinished_calls *u, uint32_t node, uint64_t process, uint64_t pc, uint64_t sp,
                     struct unfinished *done)
{
    struct list *l = &u->node[node];
    bool found = false;
    size_t kept = 0;

    for (size_t i = 0; i < l->n; i++) {
        struct unfinished *at = &l->call[i];

        if (at->process != process || at->call.sp > sp || (at->call.sp == sp && at->call.back != pc))
            l->call[kept++] = *at;
        else if (at->call.sp == sp) {
            *done = *at;
            found = true;
        } else
            free(at->path);
    }
    l->n = kept;
    await_returns(u, node);
    return found;
}

void unfinished_end(struct unfinished_calls *u, uint32_t node, uint64_t process,
                    void (*tell)(void *ctx, uint32_t node, const struct unfinished *call), void *ctx)
{
    struct list *l = &u->node[node];
    size_t kept = 0;

    for (size_t i = 0; i < l->n; i++) {
        if (l->call[i].process != process) {
            l->call[kept++] = l->call[i];
            continue;
        }
        if (tell)
            tell(ctx, node, &l->call[i]);
        free(l->call[i].path);
    }
    l->n = kept;
    await_returns(u, node);
}

/* ---- Results ---- */

/* What functions return when they fail that do not return a negative number then: ncube's and those of the C library
 * that call the kernel. */
static const struct {
    const char *name; /* or how it begins, with a '*' */
    enum { FAILS_NULL, FAILS_ALWAYS, FAILS_POSITIVE, FAILS_UNSEEN } how;
} results[] = {
    {"fopen*", FAILS_NULL},    {"freopen", FAILS_NULL},       {"fdopen*", FAILS_NULL},   {"opendir", FAILS_NULL},
    {"readdir", FAILS_NULL},   {"popen", FAILS_NULL},         {"tmpfile", FAILS_NULL},   {"tmpnam", FAILS_NULL},
    {"tempnam", FAILS_NULL},   {"malloc", FAILS_NULL},        {"calloc", FAILS_NULL},    {"realloc*", FAILS_NULL},
    {"memalign", FAILS_NULL},  {"aligned_alloc", FAILS_NULL}, {"valloc", FAILS_NULL},    {"strdup", FAILS_NULL},
    {"strndup", FAILS_NULL},   {"getcwd", FAILS_NULL},        {"realpath", FAILS_NULL},  {"fgets", FAILS_NULL},
    {"gets", FAILS_NULL},      {"mkdtemp", FAILS_NULL},       {"ngetp", FAILS_NULL},     {"xmalloc", FAILS_NULL},
    {"xrecv*", FAILS_NULL},    {"cs_fopen*", FAILS_NULL},     {"cs_shape*", FAILS_NULL}, {"fread*", FAILS_ALWAYS},
    {"fwrite*", FAILS_ALWAYS}, {"posix_*", FAILS_POSITIVE},   {"MPI_*", FAILS_POSITIVE}, {"perror", FAILS_UNSEEN},
    {"rewind*", FAILS_UNSEEN}, {"setbuf*", FAILS_UNSEEN},     {"seekdir", FAILS_UNSEEN}, {"clearerr", FAILS_UNSEEN},
    {"free", FAILS_UNSEEN}};
#define RESULTS (sizeof results / sizeof *results)

static bool is_named(const char *name, const char *pattern)
{
    size_t n = strcspn(pattern, "*");

    return pattern[n] ? strncmp(name, pattern, n) == 0 : strcmp(name, pattern) == 0;
}

/* An index of `results`; behind its end: a negative result is a failure. */
static size_t find_result(const struct unfinished *call)
{
    size_t i = 0;

    while (i < RESULTS && !is_named(call->call.name, results[i].name))
        i++;
    return i;
}

bool unfinished_has_failed(const struct unfinished *call, int64_t a0)
{
    size_t i = find_result(call);

    if (i == RESULTS)
        return a0 < 0;
    switch (results[i].how) {
    case FAILS_NULL:
        return a0 == 0;
    case FAILS_ALWAYS:
        return true;
    case FAILS_POSITIVE:
        return a0 > 0;
    default:
        return false;
    }
}

bool unfinished_result_tells(const struct unfinished *call)
{
    size_t i = find_result(call);

    return i == RESULTS || results[i].how != FAILS_ALWAYS;
}
