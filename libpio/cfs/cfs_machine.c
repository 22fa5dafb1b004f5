/* The machine's CFS disks, as the machine file numbers them, and requests to their servers. */
#include <stdlib.h>
#include <string.h>

#include "libpio/cfs/cfs_client.h"
#include "vertex/contract/errors.h"

/* ---- The text ---- */

/* "cf00 cf01: 2 16384.0 16385.0": names up to the colon, then numbers. */
static void read_line(char *text, struct cfs_machine *m)
{
    char *colon = strchr(text, ':'), *save = NULL;

    if (!colon || (size_t)(colon - text) > CFS_DISKS_BYTES)
        return;
    memcpy(m->list, text, (size_t)(colon - text));
    *colon = '\0';
    char *at = colon + 1;
    m->async = (uint32_t)strtoul(at, &at, 10);
    for (char *name = strtok_r(text, " ", &save); name && m->disks < CFS_DISKS_MAX; name = strtok_r(NULL, " ", &save)) {
        m->volume[m->disks] = name;
        m->node[m->disks] = (int)strtol(at, &at, 10);
        m->drive[m->disks++] = (int)strtol(at + 1, &at, 10);
    }
}

/* The text is kept: names point into it. */
static void ask_machine(struct cfs_machine *m)
{
    static const char line[] = "\n/cfs ";
    long bytes = cfs_transport.text(NULL, 0);
    char *text = bytes > 0 ? malloc((size_t)bytes + 2) : NULL;

    if (!text)
        return;
    text[0] = '\n';
    cfs_transport.text(text + 1, bytes);
    text[bytes + 1] = '\0';
    char *at = strstr(text, line);
    if (at)
        read_line(at + sizeof line - 1, m);
    else
        free(text);
}

const struct cfs_machine *cfs_machine(void)
{
    static struct cfs_machine machine;
    static bool asked;

    if (!asked)
        ask_machine(&machine);
    asked = true;
    return &machine;
}

/* ---- Requests ---- */

long cfs_start(uint32_t disk, int type, struct cfs_request r, const void *data, size_t bytes)
{
    const struct cfs_machine *m = cfs_machine();

    if (disk >= m->disks)
        return -N_ENODEV;
    r.disk = (uint16_t)m->drive[disk];
    return cfs_transport.start(m->node[disk], type, &r, sizeof r, data, (long)bytes);
}

long cfs_end(long number, void *head, size_t head_bytes, void *data, size_t bytes)
{
    return number < 0 ? number : cfs_transport.end(number, head, (long)head_bytes, data, (long)bytes);
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
