#include "emu/rack/racks_hosts.h"

#include <limits.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "emu/machine/assemble.h"
#include "emu/qemu/cabinet.h"
#include "emu/rack/ranks.h"

/* ---- On the rack's host ---- */

/* Another QEMU may divide code into other blocks, which times depend on. */
static uint64_t qemu_version(void)
{
    const char *folders = getenv("PATH");
    char path[PATH_MAX];

    for (; folders; folders = strchr(folders, ':') ? strchr(folders, ':') + 1 : NULL) {
        snprintf(path, sizeof path, "%.*s/%s", (int)strcspn(folders, ":"), folders, CABINET_QEMU);
        uint64_t version = wire_file_version(path);
        if (version != 0)
            return version;
    }
    return 0;
}

static uint32_t count_processors(void)
{
    cpu_set_t set;

    return sched_getaffinity(0, sizeof set, &set) == 0 ? (uint32_t)CPU_COUNT(&set) : 1;
}

void racks_host_find(struct wire_host *host, const char *lib)
{
    *host = (struct wire_host){.version = wire_version(lib),
                               .qemu = qemu_version(),
                               .there = limits_raise(),
                               .processors = count_processors()};
    snprintf(host->lib, sizeof host->lib, "%s", lib);
}

/* ---- In rank 0 ---- */

static int complain(struct machine *m, uint32_t rack, const char *what)
{
    return machine_complain(m, "rack %u (%s): %s", rack + 1, ranks_host(rack + 1), what);
}

static int check_versions(struct machine *m, uint32_t racks, const struct wire_host *host)
{
    uint64_t version = wire_version(m->options->lib);
    char what[WIRE_LIB_BYTES + 128];
    int status = 0;

    for (uint32_t k = 0; k < racks; k++) {
        if (host[k].version != version) {
            snprintf(what, sizeof what, "its ncube-mpi, or a part of it in %s, is another version", host[k].lib);
            status = complain(m, k, what);
        } else if (host[k].qemu == 0) {
            status = complain(m, k, "it has no " CABINET_QEMU "; install Debian's qemu-system-misc");
        } else if (host[k].qemu != host[0].qemu) {
            snprintf(what, sizeof what, "its %s is another version than that of rack 1 (%s)", CABINET_QEMU,
                     ranks_host(1));
            status = complain(m, k, what);
        }
    }
    return status;
}

static bool is_first_of_host(uint32_t rack)
{
    for (uint32_t k = 0; k < rack; k++)
        if (strcmp(ranks_host(k + 1), ranks_host(rack + 1)) == 0)
            return false;
    return true;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

/* Racks of one host share its memory and its threads. */
static struct limits needs_of_host(const struct machine *m, uint32_t rack, uint32_t racks)
{
    struct limits all = {0};

    for (uint32_t k = rack; k < racks; k++) {
        if (strcmp(ranks_host(k + 1), ranks_host(rack + 1)) != 0)
            continue;
        struct limits one = machine_needs(m, k == 0 ? 0 : m->rack_end[k - 1], m->rack_end[k]);
        all.descriptors = larger(all.descriptors, one.descriptors);
        all.address_bytes = larger(all.address_bytes, one.address_bytes);
        all.file_bytes = larger(all.file_bytes, one.file_bytes);
        all.threads += one.threads;
        all.memory_bytes += one.memory_bytes;
    }
    return all;
}

int racks_hosts_check(struct machine *m, uint32_t racks, const struct wire_host *host)
{
    char lacks[512];
    int status = 0;

    if (check_versions(m, racks, host) != 0)
        return -1;
    for (uint32_t k = 0; k < racks; k++) {
        if (!is_first_of_host(k))
            continue;
        struct limits needed = needs_of_host(m, k, racks);
        if (!limits_suffice(&needed, &host[k].there, lacks, sizeof lacks))
            status = machine_complain(m, "rack %u (%s): %s", k + 1, ranks_host(k + 1), lacks);
    }
    return status;
}
