/*
 * nsdisk, but that it ends where a test wants it to: linked with --wrap of these functions. A
 * request that names /end or /fault ends it, one that names /end-later makes it end when it is to
 * shut down, and a volume "ends" when it is to be mounted.
 */
#include <stdbool.h>
#include <string.h>

#include "nsdisk/serve/serve.h"
#include "vertex/contract/traps.h"

size_t __real_serve_request(struct server *s, uint32_t from, uint32_t tag, const void *request, size_t n, void *reply,
                            size_t reply_max);
size_t __wrap_serve_request(struct server *s, uint32_t from, uint32_t tag, const void *request, size_t n, void *reply,
                            size_t reply_max);
int __real_server_mount(struct server *s, uint32_t drive, const struct blockdev *dev, const char *volume,
                        size_t cache_bytes, const struct drive_cache *data, char *error, size_t error_bytes);
int __wrap_server_mount(struct server *s, uint32_t drive, const struct blockdev *dev, const char *volume,
                        size_t cache_bytes, const struct drive_cache *data, char *error, size_t error_bytes);
int __real_server_shutdown(struct server *s);
int __wrap_server_shutdown(struct server *s);

static bool ends_later;
static volatile int *volatile nowhere = (volatile int *)8;

static bool names(const void *request, size_t n, const char *name)
{
    const struct file_request *r = request;

    return n >= sizeof *r + r->name_bytes && r->name_bytes == strlen(name) &&
           memcmp((const char *)(r + 1), name, r->name_bytes) == 0;
}

size_t __wrap_serve_request(struct server *s, uint32_t from, uint32_t tag, const void *request, size_t n, void *reply,
                            size_t reply_max)
{
    if (names(request, n, "/end"))
        trap_exit(3);
    if (names(request, n, "/fault"))
        *nowhere = 1;
    ends_later = ends_later || names(request, n, "/end-later");
    return __real_serve_request(s, from, tag, request, n, reply, reply_max);
}

int __wrap_server_mount(struct server *s, uint32_t drive, const struct blockdev *dev, const char *volume,
                        size_t cache_bytes, const struct drive_cache *data, char *error, size_t error_bytes)
{
    if (strcmp(volume, "ends") == 0)
        trap_exit(4);
    return __real_server_mount(s, drive, dev, volume, cache_bytes, data, error, error_bytes);
}

int __wrap_server_shutdown(struct server *s)
{
    if (ends_later)
        trap_exit(5);
    return __real_server_shutdown(s);
}
