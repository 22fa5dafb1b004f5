#include "emu/base/limits.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* ---- What there is ---- */

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

/* A number in a file of the kernel's; `otherwise` without it, or where the file says "max". */
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

/* This process's group in the one hierarchy of version 2: "0::/path". */
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

static uint64_t group_threads(void)
{
    char group[4200], path[4300];

    if (!find_group(group, sizeof group))
        return UINT64_MAX;
    snprintf(path, sizeof path, "%s/pids.max", group);
    uint64_t most = read_number(path, UINT64_MAX);
    snprintf(path, sizeof path, "%s/pids.current", group);
    return rest(most, read_number(path, 0));
}

/* The superuser is not bound by RLIMIT_NPROC. */
static uint64_t user_threads(void)
{
    uint64_t most = raise_limit(RLIMIT_NPROC);

    return geteuid() == 0 ? UINT64_MAX : most;
}

struct limits limits_raise(void)
{
    uint64_t threads = at_most(user_threads(), group_threads());

    return (struct limits){
        .descriptors = raise_limit(RLIMIT_NOFILE),
        .threads = at_most(threads, at_most(read_number("/proc/sys/kernel/threads-max", UINT64_MAX),
                                            read_number("/proc/sys/kernel/pid_max", UINT64_MAX))),
        .address_bytes = soft_limit(RLIMIT_AS),
        .file_bytes = soft_limit(RLIMIT_FSIZE),
    };
}

/* ---- Is it enough? ---- */

static bool fits(uint64_t needed, uint64_t there, uint32_t shift, const char *what, const char *advice, char *error,
                 size_t error_bytes)
{
    if (needed <= there)
        return true;
    uint64_t rounded = (needed + (1ull << shift) - 1) >> shift;
    snprintf(error, error_bytes, "this machine needs %" PRIu64 " %s, and this host lets ncube have %" PRIu64 ": %s",
             rounded, what, there >> shift, advice);
    return false;
}

bool limits_suffice(const struct limits *needed, const struct limits *there, char *error, size_t error_bytes)
{
    return fits(needed->descriptors, there->descriptors, 0, "open files",
                "raise the hard limit (ulimit -Hn, RLIMIT_NOFILE), or put more nodes in a cabinet", error,
                error_bytes) &&
           fits(needed->threads, there->threads, 0, "threads",
                "raise what is least of ulimit -u (RLIMIT_NPROC), the control group's pids.max, "
                "kernel.threads-max and "
                "kernel.pid_max, or take fewer nodes",
                error, error_bytes) &&
           fits(needed->file_bytes, there->file_bytes, 20, "MB in one file, a cabinet's memory,",
                "raise ulimit -f (RLIMIT_FSIZE), or put fewer nodes in a cabinet", error, error_bytes) &&
           fits(needed->address_bytes, there->address_bytes, 20, "MB of addresses",
                "raise ulimit -v (RLIMIT_AS), or take fewer nodes, or less memory for each (ram_mb)", error,
                error_bytes);
}
