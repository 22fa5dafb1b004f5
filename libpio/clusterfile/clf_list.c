/*
 * List I/O: requests that name the places of their bytes, instead of a view that the server knows [Ching, Choudhary,
 * Coloma, Liao, Ross, Gropp: Noncontiguous I/O accesses through MPI-IO, CCGrid 2003]. A call of the file system has
 * CLF_LIST_CALL places of the file at most, as in the paper's measurements [P3 section 8.1].
 */
#include <stdlib.h>
#include <string.h>

#include "libpio/clusterfile/clf_client.h"
#include "libpio/map/falls.h"

/* How many bytes of the one element of p, from its k-th on, lie together, `most` at most. */
static int64_t run_bytes(const struct pattern *p, int64_t k, int64_t most)
{
    const struct falls_set *set = &p->element[0];
    int64_t n = 0;

    while (n < most) {
        const int64_t x = pattern_file(p, 0, k + n), at = (x - p->displacement) % p->period;

        if (x < 0 || (n > 0 && pattern_file(p, 0, k + n - 1) + 1 != x))
            break;
        n += falls_run_end(set, at) - at;
    }
    return n < most ? n : most;
}

int64_t clf_list_end(const struct pattern *p, int64_t from, int64_t end, uint32_t places)
{
    for (uint32_t i = 0; i < places && from < end; i++)
        from += run_bytes(p, from, end - from);
    return from;
}

uint32_t clf_list_make(const struct pattern *p, int64_t from, int64_t end, struct clf_list_place *place)
{
    uint32_t n = 0;

    for (; from < end; n++) {
        const int64_t bytes = run_bytes(p, from, end - from), x = pattern_file(p, 0, from);

        place[n] = (struct clf_list_place){(uint32_t)x, (uint32_t)((uint64_t)x >> 32), (uint32_t)bytes};
        from += bytes;
    }
    return n;
}
