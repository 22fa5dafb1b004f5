/* A launch as bytes. The client packs, the machine unpacks and checks every length: a client may send anything. */
#include "emu/link/launch.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/link/link.h"
#include "vertex/contract/machine.h"

/* ---- Packing ------------------------------------------------------------------------------------ */

static void put_string(FILE *f, const char *text)
{
    fwrite(text, 1, strlen(text) + 1, f);
}

static void put_path(FILE *f, const char *path, const char *folder)
{
    if (path[0] != '/')
        fprintf(f, "%s/", folder);
    put_string(f, path);
}

static void put_job(FILE *f, const struct job_options *o, const char *folder)
{
    const struct launch_head head = {.stack_bytes = o->stack_bytes,
                                     .heap_bytes = o->heap_bytes,
                                     .comm_bytes = o->comm_bytes,
                                     .dim = o->dim,
                                     .programs = o->programs,
                                     .status_rule = o->status_rule,
                                     .label = o->label,
                                     .registers = o->registers,
                                     .waits = o->waits};

    fwrite(&head, sizeof head, 1, f);
    for (uint32_t i = 0; i < o->programs; i++) {
        const struct launch_program p = {.nodes = o->program[i].nodes,
                                         .argc = (uint32_t)o->program[i].argc,
                                         .dim = o->program[i].dim,
                                         .piped = o->program[i].piped};

        fwrite(&p, sizeof p, 1, f);
    }
    if (o->serve)
        put_path(f, o->serve, folder);
    else
        put_string(f, "");
    for (uint32_t i = 0; i < o->programs; i++) {
        put_path(f, o->program[i].path, folder);
        for (int k = 0; k < o->program[i].argc; k++)
            put_string(f, o->program[i].argv[k]);
    }
}

uint8_t *launch_pack(const struct job_options *o, const char *folder, size_t *n)
{
    char *bytes = NULL;
    FILE *f = open_memstream(&bytes, n);

    if (!f)
        return NULL;
    put_job(f, o, folder);
    if (fclose(f) == 0 && *n <= LINK_MESSAGE_MAX_BYTES)
        return (uint8_t *)bytes;
    free(bytes);
    return NULL;
}

/* ---- Unpacking ---------------------------------------------------------------------------------- */

struct reader {
    uint8_t *at;
    size_t left;
};

static bool take_bytes(struct reader *r, void *to, size_t n)
{
    if (r->left < n)
        return false;
    memcpy(to, r->at, n);
    r->at += n;
    r->left -= n;
    return true;
}

/* Returns NULL if no string with its NUL is left. */
static char *take_string(struct reader *r)
{
    char *text = (char *)r->at;
    size_t n = strnlen(text, r->left);

    if (n == r->left)
        return NULL;
    r->at += n + 1;
    r->left -= n + 1;
    return text;
}

static bool take_head(struct reader *r, struct launch *l)
{
    struct launch_head h;

    if (!take_bytes(r, &h, sizeof h) || h.dim > NODE_MAX_DIM || h.programs == 0 || h.programs > JOB_PROGRAMS_MAX ||
        h.status_rule > JOB_STATUS_NODE0)
        return false;
    l->job = (struct job_options){.stack_bytes = h.stack_bytes,
                                  .heap_bytes = h.heap_bytes,
                                  .comm_bytes = h.comm_bytes,
                                  .dim = h.dim,
                                  .program = l->program,
                                  .programs = h.programs,
                                  .status_rule = h.status_rule,
                                  .label = h.label,
                                  .registers = h.registers,
                                  .waits = h.waits};
    return true;
}

/* Every argument takes at least its NUL, so there cannot be more arguments than bytes. */
static bool take_counts(struct reader *r, struct launch *l)
{
    size_t words = 0;

    for (uint32_t i = 0; i < l->job.programs; i++) {
        struct launch_program p;

        if (!take_bytes(r, &p, sizeof p) || p.argc == 0 || p.argc > r->left || p.nodes > 1u << NODE_MAX_DIM ||
            p.dim > NODE_MAX_DIM || p.piped > 1 || (i == 0 && p.piped))
            return false;
        l->program[i].nodes = p.nodes;
        l->program[i].dim = p.dim;
        l->program[i].piped = p.piped;
        l->program[i].argc = (int)p.argc;
        words += p.argc + 1;
    }
    if (job_dimension(l->program, l->job.programs, l->job.dim) != l->job.dim)
        return false;
    l->argv = calloc(words, sizeof *l->argv);
    return l->argv;
}

static bool take_program(struct reader *r, struct job_program *p, char **argv)
{
    p->path = take_string(r);
    p->argv = argv;
    for (int k = 0; k < p->argc; k++)
        if (!(argv[k] = take_string(r)))
            return false;
    return p->path && p->path[0] == '/';
}

static bool take_strings(struct reader *r, struct launch *l)
{
    char *serve = take_string(r), **argv = l->argv;

    if (!serve)
        return false;
    l->job.serve = serve[0] ? serve : NULL;
    for (uint32_t i = 0; i < l->job.programs; i++) {
        if (!take_program(r, &l->program[i], argv))
            return false;
        argv += l->program[i].argc + 1;
    }
    return r->left == 0;
}

int launch_unpack(struct launch *l, uint8_t *content, size_t n)
{
    struct reader r = {content, n};

    *l = (struct launch){.argv = NULL};
    if (take_head(&r, l) && take_counts(&r, l) && take_strings(&r, l))
        return 0;
    launch_free(l);
    return -1;
}

void launch_free(struct launch *l)
{
    free(l->argv);
    l->argv = NULL;
}
