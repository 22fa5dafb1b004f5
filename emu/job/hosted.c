/* What a host program has with its job: the loading of programs, and messages both ways. */
#include "emu/job/hosted.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/plural.h"
#include "emu/hostfs/console.h"
#include "emu/job/lives.h"
#include "emu/job/program.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/system.h"

struct hosted {
    uint64_t ram_bytes;
    STAILQ_HEAD(, hosted_message) waiting; /* oldest first */
    size_t waiting_bytes;
    bool broken; /* nodes are claimed that no load will reach */
};

struct hosted *hosted_new(uint64_t ram_bytes)
{
    struct hosted *h = calloc(1, sizeof *h);

    if (!h)
        return NULL;
    h->ram_bytes = ram_bytes;
    STAILQ_INIT(&h->waiting);
    return h;
}

static void drop_first(struct hosted *h)
{
    struct hosted_message *m = STAILQ_FIRST(&h->waiting);

    STAILQ_REMOVE_HEAD(&h->waiting, entry);
    h->waiting_bytes -= m->bytes;
    free(m);
}

void hosted_free(struct hosted *h)
{
    while (h && !STAILQ_EMPTY(&h->waiting))
        drop_first(h);
    free(h);
}

/* ---- Loading --------------------------------------------------------------------------------------- */

static void explain_claim(int32_t reason, uint32_t first, uint32_t nodes, uint32_t all, char *error, size_t error_bytes)
{
    if (reason == -N_EBUSY)
        snprintf(error, error_bytes, "a program already runs on nodes %u to %u", first, first + nodes - 1);
    else if (reason == -N_EINVAL)
        snprintf(error, error_bytes, "the cube has %u node%s, no %u from node %u on", all, plural(all), nodes, first);
    else
        snprintf(error, error_bytes, reason == -N_EINTR ? "the programs of this cube are being ended" : "no memory");
}

int32_t hosted_load(struct job *j, uint32_t first, const struct job_program *p, const struct load_program *volumes,
                    char *error, size_t error_bytes)
{
    struct elf_image image;
    struct load_part part = {
        .image = &image, .argv = p->argv, .argc = p->argc, .first = first, .nodes = p->nodes, .dim = j->options.dim};
    struct load_program program = *volumes;

    if (program_read(&image, p, &j->options, j->hosted->ram_bytes, error, error_bytes) < 0)
        return -1;
    int32_t life = lives_claim(j->lives, first, p->nodes, p->path, program_open(program_file(p)));
    program.job = j->id;
    program.base = j->base;
    program.life = life < 0 ? 0 : (uint32_t)life;
    program.part = &part;
    program.parts = 1;
    if (life < 0)
        explain_claim(life, first, p->nodes, j->nodes, error, error_bytes);
    else if (program_send(&program, j) != 0) {
        snprintf(error, error_bytes, "no memory to load %s", p->path);
        j->hosted->broken = true;
        life = -1;
    }
    elf_image_free(&image);
    return life < 0 ? -1 : life;
}

/* ---- Messages --------------------------------------------------------------------------------------- */

const char *hosted_receive(struct job *j, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    struct hosted *h = j->hosted;
    struct hosted_message *m = malloc(sizeof *m + n);

    if (!m)
        return "there is no memory to keep it";
    *m = (struct hosted_message){.node = from - j->base, .type = TAG_NUMBER(tag), .bytes = n};
    memcpy(m->content, bytes, n);
    STAILQ_INSERT_TAIL(&h->waiting, m, entry);
    h->waiting_bytes += n;
    return NULL;
}

bool hosted_must_end(struct job *j)
{
    if (j->hosted->waiting_bytes > HOSTED_WAITS_BYTES && !j->killed)
        console_say(&j->streams, "the host program does not read its messages: more than %u MB wait for it",
                    HOSTED_WAITS_BYTES >> 20);
    return j->hosted->broken || j->hosted->waiting_bytes > HOSTED_WAITS_BYTES;
}

const struct hosted_message *hosted_first(const struct job *j)
{
    return STAILQ_FIRST(&j->hosted->waiting);
}

void hosted_drop_first(struct job *j)
{
    drop_first(j->hosted);
}

void hosted_send(struct job *j, uint32_t node, uint32_t type, const void *bytes, size_t n)
{
    uint32_t first = node == HOSTED_ALL_NODES ? 0 : node, end = node == HOSTED_ALL_NODES ? j->nodes : node + 1;

    for (uint32_t i = first; i < end && i < j->nodes; i++)
        if (!lives_has_exited(j->lives, i))
            j->ops->send(j->ctx, j->base + i, TAG(TYPE_OF_PROGRAM(type), 0, 0), bytes, n);
}
