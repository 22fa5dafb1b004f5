/* The machine's volumes, requests to their servers, and clf_why (clf_client.h). */
#include <stdarg.h>

#include "libpio/clusterfile/clf_client.h"
#include "libpio/servers/server_calls.h"
#include "vertex/contract/errors.h"
#include "vertex/shared/text.h"

struct clf_counts clf_counts;
const struct clf_carrier *clf_carrier;

/* ---- Why ---- */

static char why[PATTERN_WHY_BYTES + 64];

int clf_fail(int error, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    text_print_list(why, sizeof why, format, args);
    va_end(args);
    return error;
}

void clf_why_begin(void)
{
    why[0] = '\0';
}

const char *clf_why(void)
{
    return why;
}

/* ---- Requests ---- */

const struct server_volumes *clf_machine(void)
{
    static struct server_volumes machine;
    static bool asked;

    if (!asked)
        server_volumes_read("/clf", &machine);
    asked = true;
    return &machine;
}

long clf_start(uint32_t volume, int type, struct clf_request r, const void *data, size_t bytes)
{
    const struct server_volumes *m = clf_machine();

    if (volume >= CLF_MANAGER_AT)
        return clf_carrier->start((int)(volume - CLF_MANAGER_AT), type, r, data, bytes);
    if (volume >= m->n)
        return -N_ENODEV;
    r.drive = (uint16_t)m->drive[volume];
    return server_calls.start(m->node[volume], type, &r, sizeof r, data, (long)bytes);
}

long clf_end(long number, void *head, size_t head_bytes, void *data, size_t bytes)
{
    if (number >= CLF_CARRIER_NUMBER)
        return clf_carrier->end(number, head, head_bytes, data, bytes);
    return number < 0 ? number : server_calls.end(number, head, (long)head_bytes, data, (long)bytes);
}

static void end_question(struct clf_question *q)
{
    q->result = clf_end(q->result, q->head, q->head_bytes, NULL, 0);
}

int clf_ask(struct clf_question *q, uint32_t n)
{
    uint32_t ended = 0;

    for (uint32_t i = 0; i < n; i++) {
        if (i - ended == CLF_UNDER_WAY)
            end_question(&q[ended++]);
        while ((q[i].result = clf_start(q[i].volume, q[i].type, q[i].r, q[i].data, q[i].bytes)) == -N_ENOMEM &&
               ended < i)
            end_question(&q[ended++]);
    }
    while (ended < n)
        end_question(&q[ended++]);
    for (uint32_t i = 0; i < n; i++)
        if (q[i].result < 0)
            return (int)q[i].result;
    return 0;
}
