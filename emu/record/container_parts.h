/*
 * What the writer and the reader of a container agree on, and its check: XXH3's 128 bits over the names and the bytes
 * of all entries, of the last one up to the check itself. It finds damage. Nobody is kept from changing a recording.
 */
#pragma once

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <xxhash.h>

#define CONTAINER_FIRST        "recording.json"                  /* the first entry */
#define CONTAINER_END          "end.json"                        /* the last one, */
#define CONTAINER_CHECK_FORMAT ", \"xxh3\": \"%016llx%016llx\"}" /* which ends so */

#define CONTAINER_NO_LIBRARY "libarchive.so.13 cannot be loaded" /* late_archive.c */

#define CONTAINER_CHECK_BYTES (sizeof ", \"xxh3\": \"\"}" + 32) /* with a NUL */

static inline void container_check_name(XXH3_state_t *check, const char *name)
{
    XXH3_128bits_update(check, name, strlen(name) + 1);
}

static inline void container_write_check(const XXH3_state_t *check, char text[CONTAINER_CHECK_BYTES])
{
    XXH128_hash_t hash = XXH3_128bits_digest(check);

    snprintf(text, CONTAINER_CHECK_BYTES, CONTAINER_CHECK_FORMAT, (unsigned long long)hash.high64,
             (unsigned long long)hash.low64);
}
