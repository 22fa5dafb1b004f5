/* The machine's CFS disks, as the machine file numbers them, and requests to their servers. */
#include <stdlib.h>
#include <string.h>

#include "libpio/cfs/cfs_client.h"
#include "vertex/contract/errors.h"

/* ---- The text ---- */

/* The number at *at, which moves behind it and the character that ends it. strtol would make every program larger that
 * has calls on paths. */
static uint32_t number(const char **at)
{
    uint32_t n = 0;

    for (; **at >= '0' && **at <= '9'; ++*at)
        n = n * 10 + (uint32_t)(**at - '0');
    *at += **at != '\0';
    return n;
}

/* "cf00 cf01: 2 16384.0 16385.0": names up to the colon, then numbers. */
static void read_line(const char *text, struct cfs_machine *m)
{
    const char *colon = strchr(text, ':'), *at = colon + 2;

    if (!colon || (size_t)(colon - text) > CFS_DISKS_BYTES)
        return;
    memcpy(m->list, text, (size_t)(colon - text));
    memcpy(m->names, m->list, sizeof m->names);
    m->async = number(&at);
    for (char *name = m->names; *name && m->disks < CFS_DISKS_MAX;) {
        m->volume[m->disks] = name;
        m->node[m->disks] = (int)number(&at);
        m->drive[m->disks++] = (int)number(&at);
        while (*name && *name != ' ')
            name++;
        if (*name)
            *name++ = '\0';
    }
}

static void ask_machine(struct cfs_machine *m)
{
    long bytes = cfs_transport.text(NULL, 0);
    char *text = bytes > 0 ? malloc((size_t)bytes + 1) : NULL;

    if (!text)
        return;
    cfs_transport.text(text, bytes);
    text[bytes] = '\0';
    if (strncmp(text, LOAD_STRIPED_CFS, sizeof LOAD_STRIPED_CFS - 1) == 0)
        read_line(text + sizeof LOAD_STRIPED_CFS - 1, m);
    free(text);
}

const struct cfs_machine *cfs_machine(void)
{
    static const struct cfs_machine none;
    static struct cfs_machine *machine; /* not of bss, which every program with calls on paths would have */

    if (!machine && (machine = calloc(1, sizeof *machine)))
        ask_machine(machine);
    return machine ? machine : &none;
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
