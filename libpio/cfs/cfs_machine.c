/* The machine's CFS disks, as the machine file numbers them, and requests to their servers. */
#include <stdlib.h>

#include "libpio/cfs/cfs_client.h"
#include "vertex/contract/errors.h"

const struct server_volumes *cfs_machine(void)
{
    static const struct server_volumes none = {.list = ""};
    static struct server_volumes *machine; /* not of bss, which every program with calls on paths would have */

    if (!machine && (machine = calloc(1, sizeof *machine)))
        server_volumes_read("/cfs", machine);
    return machine ? machine : &none;
}

/* ---- Requests ---- */

long cfs_start(uint32_t disk, int type, struct cfs_request r, const void *data, size_t bytes)
{
    const struct server_volumes *m = cfs_machine();

    if (disk >= m->n)
        return -N_ENODEV;
    r.disk = (uint16_t)m->drive[disk];
    return server_calls.start(m->node[disk], type, &r, sizeof r, data, (long)bytes);
}

long cfs_end(long number, void *head, size_t head_bytes, void *data, size_t bytes)
{
    return number < 0 ? number : server_calls.end(number, head, (long)head_bytes, data, (long)bytes);
}

int cfs_ask_all(const uint32_t *disk, uint32_t n, int type, struct cfs_request r)
{
    long number[CFS_DISKS_MAX];
    int result = 0;

    for (uint32_t i = 0; i < n; i++)
        number[i] = cfs_start(disk[i], type, r, NULL, 0);
    for (uint32_t i = 0; i < n; i++) {
        long status = cfs_end(number[i], NULL, 0, NULL, 0);

        if (status < 0 && status != -N_ESTALE && result == 0)
            result = (int)status;
    }
    return result;
}
