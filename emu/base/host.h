/* The host: its clocks, its files, their names. */
#pragma once

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

/* Moves n bytes `from` memory to a file, or from the file `into` memory; the other is NULL. */
static inline ssize_t host_move(int fd, char *into, const char *from, size_t n, off_t at)
{
    size_t done = 0;

    while (done < n) {
        size_t left = n - done;
        off_t offset = at + (off_t)done;
        ssize_t moved = at < 0 ? (from ? write(fd, from + done, left) : read(fd, into + done, left))
                               : (from ? pwrite(fd, from + done, left, offset) : pread(fd, into + done, left, offset));

        if (moved < 0 && errno != EINTR)
            return -1;
        if (moved == 0)
            break;
        done += moved > 0 ? (size_t)moved : 0;
    }
    return (ssize_t)done;
}

/* Move n bytes, in as many pieces as it takes: from or to `at` on; -1: where the file is. Return how many were moved,
 * which are less only at the end of a file; or -1 with errno. */
static inline ssize_t host_read(int fd, void *memory, size_t n, off_t at)
{
    return host_move(fd, memory, NULL, n, at);
}

static inline ssize_t host_write(int fd, const void *memory, size_t n, off_t at)
{
    return host_move(fd, NULL, memory, n, at);
}
