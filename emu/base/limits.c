/* The limits of this process, from getrlimit, its control group and /proc, and the comparison with what a machine
 * needs. */
#include "emu/base/limits.h"

#include <inttypes.h>
#include <signal.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- Available ---- */

static uint64_t soft_limit(int resource)
{
    struct rlimit l;

    return getrlimit(resource, &l) < 0 || l.rlim_cur == RLIM_INFINITY ? UINT64_MAX : l.rlim_cur;
}

static uint64_t raise_limit(int resource)
{
    struct rlimit l;

    if (getrlimit(resource, &l) == 0 && l.rlim_cur != l.rlim_max) {
        l.rlim_cur = l.rlim_max;
        setrlimit(resource, &l);
    }
    return soft_limit(resource);
}

/* Reads a number from a file of the kernel; returns `otherwise` if there is none, or the file says "max". */
static uint64_t read_number(const char *path, uint64_t otherwise)
{
    uint64_t value = otherwise;
    FILE *f = fopen(path, "re");

    if (!f)
        return otherwise;
    if (fscanf(f, "%" SCNu64, &value) != 1)
        value = otherwise;
    fclose(f);
    return value;
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static uint64_t rest(uint64_t limit, uint64_t taken)
{
    return limit == UINT64_MAX ? limit : limit > taken ? limit - taken : 0;
}

/* Finds the folder of this process's control group (version 2): the line "0::/path". */
static bool find_group(char *path, size_t bytes)
{
    char line[4096];
    bool found = false;
    FILE *f = fopen("/proc/self/cgroup", "re");

    if (!f)
        return false;
    while (!found && fgets(line, sizeof line, f))
        found = strncmp(line, "0::", 3) == 0;
    fclose(f);
    if (!found)
        return false;
    line[strcspn(line, "\n")] = '\0';
    return snprintf(path, bytes, "/sys/fs/cgroup%s", line + 3) < (int)bytes;
}

static uint64_t read_of_group(const char *name, uint64_t otherwise)
{
    char group[4200], path[4300];

    if (!find_group(group, sizeof group))
        return otherwise;
    snprintf(path, sizeof path, "%s/%s", group, name);
    return read_number(path, otherwise);
}

static uint64_t group_threads(void)
{
    return rest(read_of_group("pids.max", UINT64_MAX), read_of_group("pids.current", 0));
}

/* Returns the memory that is available, swap included, but at most what the control group may have. */
static uint64_t find_memory(void)
{
    char line[256];
    uint64_t kb, available = UINT64_MAX, swap = 0;
    FILE *f = fopen("/proc/meminfo", "re");

    while (f && fgets(line, sizeof line, f)) {
        if (sscanf(line, "MemAvailable: %" SCNu64, &kb) == 1)
            available = kb << 10;
        else if (sscanf(line, "SwapFree: %" SCNu64, &kb) == 1)
            swap = kb << 10;
    }
    if (f)
        fclose(f);
    if (available != UINT64_MAX)
        available += swap;
    return at_most(available, read_of_group("memory.max", UINT64_MAX));
}

/* RLIMIT_NPROC does not limit the superuser. */
static uint64_t user_threads(void)
{
    uint64_t most = raise_limit(RLIMIT_NPROC);

    return geteuid() == 0 ? UINT64_MAX : most;
}

struct limits limits_raise(void)
{
    uint64_t threads = at_most(user_threads(), group_threads());

    signal(SIGXFSZ, SIG_IGN);
    return (struct limits){
        .descriptors = raise_limit(RLIMIT_NOFILE),
        .threads = at_most(threads, at_most(read_number("/proc/sys/kernel/threads-max", UINT64_MAX),
                                            read_number("/proc/sys/kernel/pid_max", UINT64_MAX))),
        .address_bytes = soft_limit(RLIMIT_AS),
        .file_bytes = soft_limit(RLIMIT_FSIZE),
        .memory_bytes = find_memory(),
    };
}

/* ---- Compared ---- */

static const struct kind {
    size_t offset;  /* in struct limits */
    uint32_t shift; /* from bytes to the unit of the message */
    const char *what, *advice;
} kinds[] = {
    {offsetof(struct limits, descriptors), 0, "open files",
     "raise the hard limit (ulimit -Hn, RLIMIT_NOFILE), or put more nodes in a cabinet"},
    {offsetof(struct limits, threads), 0, "threads",
     "raise the lowest of ulimit -u (RLIMIT_NPROC), the control group's pids.max, kernel.threads-max and "
     "kernel.pid_max, or use fewer nodes"},
    {offsetof(struct limits, file_bytes), 20, "MB in one file (the memory of a cabinet)",
     "raise ulimit -f (RLIMIT_FSIZE), or put fewer nodes in a cabinet"},
    {offsetof(struct limits, address_bytes), 20, "MB of address space in one process",
     "raise ulimit -v (RLIMIT_AS), or use fewer nodes, or less memory for each (ram_mb)"},
    {offsetof(struct limits, memory_bytes), 20, "MB of memory at least",
     "use fewer nodes, or end other programs on this host"},
};

static uint64_t limit_of(const struct limits *l, const struct kind *k)
{
    return *(const uint64_t *)((const char *)l + k->offset);
}

bool limits_suffice(const struct limits *needed, const struct limits *there, char *error, size_t error_bytes)
{
    for (const struct kind *k = kinds; k < kinds + sizeof kinds / sizeof *kinds; k++) {
        uint64_t needs = limit_of(needed, k), has = limit_of(there, k);

        if (needs <= has)
            continue;
        snprintf(error, error_bytes, "this machine needs %" PRIu64 " %s, but this host lets ncube have %" PRIu64 ": %s",
                 (needs + ((uint64_t)1 << k->shift) - 1) >> k->shift, k->what, has >> k->shift, k->advice);
        return false;
    }
    return true;
}
