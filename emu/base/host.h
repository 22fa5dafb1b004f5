/* The host: its clocks, its files, their names. */
#ifndef NCUBE_HOST_H
#define NCUBE_HOST_H

#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/types.h>
#include <time.h>
#include <unistd.h>

#define HOST_NS_PER_MS 1000000u

/* Returns a clock's time in ns; 0: the clock is unknown. */
static inline uint64_t host_ns(clockid_t clock)
{
    struct timespec t;

    return clock_gettime(clock, &t) == 0 ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec : 0;
}

static inline uint64_t host_ms(void)
{
    return host_ns(CLOCK_MONOTONIC) / HOST_NS_PER_MS;
}

static inline double host_seconds(uint64_t from_ns, uint64_t to_ns)
{
    return (double)(to_ns - from_ns) * 1e-9;
}

/* Returns the last part of a path, "df00.img" of "disks/df00.img"; the path itself if it ends in a slash. */
static inline const char *host_last_part(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash && slash[1] ? slash + 1 : path;
}

/* Moves n bytes between a file and memory, in as many pieces as it takes: from `at` on; -1: where the file is. Returns
 * how many were moved, which are less only at the end of a file; or -1 with errno. */
static inline ssize_t host_move(int fd, bool write_it, void *memory, size_t n, off_t at)
{
    size_t done = 0;

    while (done < n) {
        char *part = (char *)memory + done;
        size_t left = n - done;
        off_t offset = at + (off_t)done;
        ssize_t moved = at < 0 ? (write_it ? write(fd, part, left) : read(fd, part, left))
                               : (write_it ? pwrite(fd, part, left, offset) : pread(fd, part, left, offset));

        if (moved < 0 && errno != EINTR)
            return -1;
        if (moved == 0)
            break;
        done += moved > 0 ? (size_t)moved : 0;
    }
    return (ssize_t)done;
}

#endif
