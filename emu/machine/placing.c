#include "emu/machine/placing.h"

#include <inttypes.h>
#include <stdlib.h>

#include "emu/base/memory.h"
#include "emu/base/plural.h"

static uint32_t up_to_whole(uint32_t n, uint32_t of)
{
    return (n + of - 1) / of;
}

static void set_cabinets(struct machine *m, uint32_t nodes)
{
    m->config.topo.nodes_per_cabinet = nodes;
    m->cabinets = up_to_whole(m->nodes, nodes);
}

/* ---- By default ---- */

#define SUBCUBES_MOST 4u /* in a rack, with those of a rack that has more than others */

/* Returns the nodes of a subcube with which no rack has much more than its share, an eighth, if there is one. */
static uint32_t subcube_of(uint32_t compute, uint32_t racks)
{
    uint32_t subcubes = 1;

    while (subcubes < racks && subcubes < compute)
        subcubes *= 2;
    for (uint32_t n = subcubes; n <= compute && n < SUBCUBES_MOST * racks; n *= 2)
        if ((uint64_t)up_to_whole(n, racks) * racks * 8 <= (uint64_t)n * 9)
            return compute / n;
    return compute / subcubes;
}

static void divide_evenly(struct machine *m, uint32_t racks)
{
    uint32_t most = m->config.topo.nodes_per_cabinet, each = subcube_of(1u << m->config.topo.dim, racks);

    set_cabinets(m, each < most ? each : most);
    for (uint32_t k = 0; k < racks; k++)
        m->rack_end[k] = (uint32_t)((uint64_t)m->cabinets * (k + 1) / racks);
}

/* ---- As the user says ---- */

/* Reads "16,48" from *text on. Returns 0 where there is no number. */
static uint32_t next_number(const char **text)
{
    char *end;
    unsigned long n = **text >= '0' && **text <= '9' ? strtoul(*text, &end, 10) : 0;

    if (n == 0 || n > NODE_HOST || (*end != '\0' && (*end != ',' || end[1] == '\0')))
        return 0;
    *text = *end == ',' ? end + 1 : end;
    return (uint32_t)n;
}

static int read_option(struct machine *m, uint32_t *share, uint32_t *n)
{
    const char *text = m->options->racks;

    *n = 0;
    do {
        uint32_t nodes = next_number(&text);

        if (nodes == 0 || *n == CONFIG_RACKS_MOST)
            return machine_complain(m, "--racks=%s: numbers of nodes are needed, such as 16,48, for at most %u racks",
                                    m->options->racks, CONFIG_RACKS_MOST);
        share[(*n)++] = nodes;
    } while (*text != '\0');
    return 0;
}

static uint32_t common_divisor(uint32_t a, uint32_t b)
{
    return b == 0 ? a : common_divisor(b, a % b);
}

/* A cabinet divides all shares but the last, whose last cabinet may have fewer nodes. */
static uint32_t cabinet_of(const uint32_t *share, uint32_t n, uint32_t most)
{
    uint32_t divisor = 0, nodes;

    for (uint32_t k = 0; k + 1 < n; k++)
        divisor = common_divisor(share[k], divisor);
    if (divisor == 0)
        return most;
    for (nodes = divisor < most ? divisor : most; divisor % nodes != 0; nodes--)
        ;
    return nodes;
}

static int divide_as_said(struct machine *m, uint32_t racks, const uint32_t *share, uint32_t n)
{
    const char *who = m->options->racks ? "--racks" : m->config.path;
    uint64_t sum = 0;

    for (uint32_t k = 0; k < n; k++)
        sum += share[k];
    if (n != racks)
        return machine_complain(m, "%s: nodes for %u rack%s are given, but mpirun has started %u", who, n, plural(n),
                                racks);
    if (sum != m->nodes)
        return machine_complain(
            m, "%s: the racks have %" PRIu64 " nodes together, but the machine has %u, I/O nodes included", who, sum,
            m->nodes);
    set_cabinets(m, cabinet_of(share, n, m->config.topo.nodes_per_cabinet));
    sum = 0;
    for (uint32_t k = 0; k < n; k++) {
        sum += share[k];
        m->rack_end[k] = up_to_whole((uint32_t)sum, m->config.topo.nodes_per_cabinet);
    }
    return 0;
}

int placing_divide(struct machine *m)
{
    uint32_t racks = m->options->far->racks, share[CONFIG_RACKS_MOST], n = m->config.n_racks;

    m->rack_end = memory_new(racks, sizeof *m->rack_end);
    if (m->options->racks) {
        if (read_option(m, share, &n) != 0)
            return -1;
        return divide_as_said(m, racks, share, n);
    }
    if (n > 0)
        return divide_as_said(m, racks, m->config.rack_nodes, n);
    divide_evenly(m, racks);
    return 0;
}
