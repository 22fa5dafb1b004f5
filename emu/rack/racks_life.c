/* A rack that starts or ends its cabinets does not answer until that is done: there are limits for it, which grow with
 * the machine. */
#include "emu/rack/racks_life.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/base/signals.h"
#include "emu/rack/priority.h"
#include "emu/rack/ranks.h"
#include "emu/rack/racks_asking.h"
#include "emu/rack/racks_hosts.h"

static uint32_t nodes; /* of the machine that was started last */

static void command_setup(struct racks *r, uint32_t rack)
{
    const struct machine *m = r->m;
    const struct topo *t = &m->config.topo;
    struct wire_setup s = {.slots = m->harts.count,
                           .nodes = m->nodes,
                           .cabinets = m->cabinets,
                           .nodes_per_cabinet = t->nodes_per_cabinet,
                           .first_cabinet = r->rack[rack].first_cabinet,
                           .end_cabinet = r->rack[rack].end_cabinet,
                           .dim = t->dim,
                           .io_nodes = t->n_io,
                           .text_kb = (uint32_t)t->shared_text_kb,
                           .code_mb = t->code_mb,
                           .processors = m->options->processors,
                           .harts = m->options->harts,
                           .statistics = m->options->statistics,
                           .traps = tracing_traps(m),
                           .ram_bytes = t->ram_bytes};

    memcpy(s.cycles_of_class, m->harts.control->cycles_of_class, sizeof s.cycles_of_class);
    wire_put(&r->rack[rack].out, WIRE_SETUP, 0, 0, &s, sizeof s);
}

/* While a rack starts its cabinets it does not answer: so long, and so much longer for each node of the machine. */
#define SETUP_MS      30000u
#define SETUP_NODE_MS 20u

#define LOOK_MS 50u

/* Waits for a rack's answer in the start, and takes the time from *left_ms. A signal ends that, too. */
static int await_answer(struct racks *r, uint32_t rack, uint32_t *left_ms)
{
    for (; !ranks_await(rack + 1, WIRE_ANSWER, &r->answer, LOOK_MS); *left_ms -= LOOK_MS) {
        if (signals_any() && signals_end())
            return -1;
        if (*left_ms > LOOK_MS)
            continue;
        racks_lose_silent(r, rack);
        return machine_complain(r->m, "%s", r->why);
    }
    return 0;
}

/* Asks all hosts what they have. Returns 0 if that suffices, or -1 after a line. */
static int ask_hosts(struct racks *r)
{
    struct wire_host *host = memory_new(r->n, sizeof *host);
    uint32_t left_ms = SILENCE_MS;
    int status = 0;

    for (uint32_t k = 0; k < r->n; k++)
        wire_put(&r->rack[k].out, WIRE_ASK, 0, 0, NULL, 0);
    racks_send_all(r);
    for (uint32_t k = 0; k < r->n && status == 0; k++) {
        status = await_answer(r, k, &left_ms);
        if (status == 0)
            memcpy(&host[k], r->answer.bytes, r->answer.n < sizeof *host ? r->answer.n : sizeof *host);
    }
    if (status == 0)
        status = racks_hosts_check(r->m, r->n, host);
    free(host);
    return status;
}

/* Waits for a rack's answer to its setup: nothing, or a line. */
static int await_setup(struct racks *r, uint32_t rack, uint32_t *left_ms)
{
    if (await_answer(r, rack, left_ms) != 0)
        return -1;
    if (r->answer.n == 0)
        return 0;
    return machine_complain(r->m, "rack %u (%s): %.*s", rack + 1, ranks_host(rack + 1), (int)r->answer.n,
                            (const char *)r->answer.bytes);
}

int racks_start(struct machine *m)
{
    struct racks *r = memory_new(1, sizeof *r);
    uint32_t done = 0;

    *r = (struct racks){.m = m, .n = m->options->far->racks};
    nodes = m->nodes;
    r->rack = memory_new(r->n, sizeof *r->rack);
    r->known = memory_new(m->harts.count, sizeof *r->known);
    m->racks = r;
    for (uint32_t k = 0; k < r->n; k++) {
        r->rack[k].first_cabinet = done;
        r->rack[k].end_cabinet = done = m->rack_end[k];
    }
    if (ask_hosts(r) != 0)
        return -1;
    for (uint32_t k = 0; k < r->n; k++)
        command_setup(r, k);
    racks_send_all(r);
    uint32_t left_ms = SETUP_MS + SETUP_NODE_MS * m->nodes;
    int status = 0;
    for (uint32_t k = 0; k < r->n && !r->failed; k++)
        status |= await_setup(r, k, &left_ms);
    for (uint32_t slot = 0; slot < m->harts.count; slot++)
        harts_slot(&m->harts, slot)->stops = 1;
    priority_over_harts(true);
    return status;
}

void racks_stop(struct machine *m)
{
    struct racks *r = m->racks;

    priority_over_harts(false);
    for (uint32_t k = 0; k < r->n; k++) {
        wire_put(&r->rack[k].out, WIRE_END, 0, 0, NULL, 0);
        ranks_send(k + 1, WIRE_COMMANDS, &r->rack[k].out);
    }
    wire_free(&r->in);
    wire_free(&r->answer);
    free(r->rack);
    free(r->known);
    free(r);
    m->racks = NULL;
}

/* A rack kills its QEMUs and frees their memory: so long, and so much longer for each node of the machine. */
#define END_MS      9000u
#define END_NODE_MS 5u

/* MPI itself would wait for ever. */
static void await_end(uint32_t rank)
{
    struct wire w = {0};

    if (!ranks_await(rank, WIRE_DONE, &w, END_MS + END_NODE_MS * nodes)) {
        fprintf(stderr, "ncube: rack %u (%s) does not end\n", rank, ranks_host(rank));
        ranks_abort();
    }
    wire_free(&w);
}

void racks_end(void)
{
    if (racks_any_lost())
        ranks_abort();
    for (uint32_t rank = 1; rank < ranks_count(); rank++) {
        struct wire out = {0};

        wire_put(&out, WIRE_END, 0, 1, NULL, 0);
        ranks_send(rank, WIRE_COMMANDS, &out);
    }
    for (uint32_t rank = 1; rank < ranks_count(); rank++)
        await_end(rank);
}
