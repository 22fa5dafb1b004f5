/* Notes of --check (noted.h): for each node a list of files, and two lists of types. */
#include "emu/watch/noted.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "vertex/contract/system.h"

#define TYPES_TOLD 8u
#define PATH_BYTES 256u

struct opened {
    uint64_t process;
    bool ufid[PROC_FILES];
    char *path;
    const char *place;
};

struct kind {
    int32_t type;
    uint64_t times;
};

struct kinds { /* in ascending order */
    struct kind *kind;
    size_t n, room;
};

struct noted_node {
    struct opened *opened;
    size_t opens, open_room;
    struct kinds awaited, came;
};

struct noted {
    uint32_t nodes;
    struct noted_node node[];
};

struct noted *noted_new(uint32_t nodes)
{
    struct noted *n = memory_new(1, sizeof *n + nodes * sizeof *n->node);

    n->nodes = nodes;
    return n;
}

void noted_free(struct noted *n)
{
    for (uint32_t i = 0; n && i < n->nodes; i++) {
        struct noted_node *node = &n->node[i];

        for (size_t k = 0; k < node->opens; k++)
            free(node->opened[k].path);
        free(node->opened);
        free(node->awaited.kind);
        free(node->came.kind);
    }
    free(n);
}

/* ---- Files ---- */

/* Descriptors that an earlier file had have been closed since. */
void noted_open(struct noted *n, uint32_t node, uint64_t process, const bool *ufids, const char *path,
                const char *place)
{
    struct noted_node *at = &n->node[node];

    for (size_t i = 0; i < at->opens; i++)
        for (uint32_t k = 0; k < PROC_FILES; k++)
            at->opened[i].ufid[k] &= at->opened[i].process != process || !ufids[k];
    at->opened = memory_grow(at->opened, &at->open_room, at->opens + 1, sizeof *at->opened);
    struct opened *o = &at->opened[at->opens++];
    *o = (struct opened){.process = process, .path = memory_copy_text(path, PATH_BYTES), .place = place};
    memcpy(o->ufid, ufids, sizeof o->ufid);
}

static bool stays_open(const struct opened *o, const bool *is_open)
{
    for (uint32_t k = 0; o->place && k < PROC_FILES; k++)
        if (o->ufid[k] && is_open[k])
            return true;
    return false;
}

/* Takes the files that a process has opened at the same place as this one, which lies before them. Returns how many
 * are open. */
static unsigned take_alike(const struct noted_node *node, struct opened *first, const bool *is_open)
{
    unsigned n = 0;

    for (struct opened *o = first + 1; o < node->opened + node->opens; o++)
        if (o->process == first->process && stays_open(o, is_open) && strcmp(o->place, first->place) == 0) {
            o->place = NULL;
            n++;
        }
    return n;
}

void noted_end(struct noted *n, uint32_t node, uint64_t process, const bool *is_open,
               void (*tell)(void *ctx, uint32_t node, const char *text), void *ctx)
{
    struct noted_node *at = &n->node[node];
    char text[2 * PATH_BYTES], others[32] = "";
    size_t kept = 0;

    for (struct opened *o = at->opened; o < at->opened + at->opens; o++) {
        if (o->process != process) {
            at->opened[kept++] = *o;
            continue;
        }
        if (stays_open(o, is_open)) {
            unsigned more = take_alike(at, o, is_open);

            others[0] = '\0';
            if (more > 0)
                snprintf(others, sizeof others, " and %u more", more);
            snprintf(text, sizeof text, "%s%s, opened by %s", o->path, others, o->place);
            tell(ctx, node, text);
        }
        free(o->path);
    }
    at->opens = kept;
}

/* ---- Types ---- */

static void count(struct kinds *k, int32_t type)
{
    size_t i = 0;

    while (i < k->n && k->kind[i].type < type)
        i++;
    if (i == k->n || k->kind[i].type != type) {
        k->kind = memory_grow(k->kind, &k->room, k->n + 1, sizeof *k->kind);
        memmove(&k->kind[i + 1], &k->kind[i], (k->n++ - i) * sizeof *k->kind);
        k->kind[i] = (struct kind){.type = type};
    }
    k->kind[i].times++;
}

void noted_await(struct noted *n, uint32_t node, int32_t type)
{
    count(&n->node[node].awaited, type);
}

void noted_arrival(struct noted *n, uint32_t node, uint32_t type)
{
    count(&n->node[node].came, (int32_t)type);
}

static void add_types(const struct kinds *k, bool counted, char *text, size_t bytes)
{
    size_t told = k->n < TYPES_TOLD ? k->n : TYPES_TOLD, used = 0;

    for (size_t i = 0; i < told && used < bytes; i++) {
        const char *before = i == 0 ? "" : i + 1 == k->n ? " and " : ", ";

        if (counted)
            used += (size_t)snprintf(text + used, bytes - used, "%s%" PRIu64 "%s of type %" PRId32, before,
                                     k->kind[i].times,
                                     i > 0                   ? ""
                                     : k->kind[i].times == 1 ? " message"
                                                             : " messages",
                                     k->kind[i].type);
        else if (k->kind[i].type == NOTED_ANY)
            used += (size_t)snprintf(text + used, bytes - used, "%sany", before);
        else
            used += (size_t)snprintf(text + used, bytes - used, "%s%" PRId32, before, k->kind[i].type);
    }
    if (k->n > told && used < bytes)
        snprintf(text + used, bytes - used, " and %zu more", k->n - told);
}

bool noted_types(const struct noted *n, uint32_t node, char *text, size_t bytes)
{
    const struct noted_node *at = &n->node[node];
    char awaited[128] = "no type", came[192] = "no message";

    add_types(&at->awaited, false, awaited, sizeof awaited);
    add_types(&at->came, true, came, sizeof came);
    snprintf(text, bytes, "awaited %s%s; %s came",
             at->awaited.n == 0   ? ""
             : at->awaited.n == 1 ? "type "
                                  : "types ",
             awaited, came);
    return at->awaited.n > 0 || at->came.n > 0;
}
