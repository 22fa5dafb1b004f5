#include "emu/rack/rack_wire.h"

#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <xxhash.h>

#include "emu/base/memory.h"
#include "vertex/contract/machine.h"

void wire_free(struct wire *w)
{
    free(w->bytes);
    *w = (struct wire){0};
}

void wire_append(struct wire *w, const void *bytes, size_t n)
{
    w->bytes = memory_grow(w->bytes, &w->room, w->n + n + 1, 1);
    if (n > 0)
        memcpy(w->bytes + w->n, bytes, n);
    w->n += n;
}

void wire_begin(struct wire *w, uint32_t kind, uint32_t slot, uint64_t addr)
{
    wire_append(w, &(struct wire_record){.kind = kind, .slot = slot, .addr = addr}, sizeof(struct wire_record));
    w->record = w->n;
}

void wire_add(struct wire *w, const void *bytes, size_t n)
{
    uint64_t there;
    uint8_t *length;

    wire_append(w, bytes, n);
    length = w->bytes + w->record - sizeof there;
    there = w->n - w->record;
    memcpy(length, &there, sizeof there);
}

void wire_put(struct wire *w, uint32_t kind, uint32_t slot, uint64_t addr, const void *bytes, size_t n)
{
    wire_begin(w, kind, slot, addr);
    if (n > 0)
        wire_add(w, bytes, n);
}

bool wire_next(const struct wire *w, size_t *at, struct wire_record *r, const uint8_t **bytes)
{
    if (*at == w->n)
        return false;
    memcpy(r, w->bytes + *at, sizeof *r);
    *bytes = w->bytes + *at + sizeof *r;
    *at += sizeof *r + r->bytes;
    return true;
}

void wire_add_lines(struct wire *w, const uint8_t *mailbox, uint8_t *known)
{
    uint64_t changed = 0;

    for (uint32_t k = 0; k < NODE_PAGE_BYTES / WIRE_LINE_BYTES; k++)
        if (memcmp(mailbox + k * WIRE_LINE_BYTES, known + k * WIRE_LINE_BYTES, WIRE_LINE_BYTES) != 0)
            changed |= 1ull << k;
    wire_add(w, &changed, sizeof changed);
    for (uint32_t k = 0; changed >> k != 0 && k < 64; k++)
        if (changed >> k & 1) {
            memcpy(known + k * WIRE_LINE_BYTES, mailbox + k * WIRE_LINE_BYTES, WIRE_LINE_BYTES);
            wire_add(w, known + k * WIRE_LINE_BYTES, WIRE_LINE_BYTES);
        }
}

size_t wire_take_lines(const uint8_t *bytes, uint8_t *mailbox, uint8_t *known)
{
    uint64_t changed;
    size_t at = sizeof changed;

    memcpy(&changed, bytes, sizeof changed);
    for (uint32_t k = 0; k < 64; k++)
        if (changed >> k & 1) {
            memcpy(mailbox + k * WIRE_LINE_BYTES, bytes + at, WIRE_LINE_BYTES);
            memcpy(known + k * WIRE_LINE_BYTES, bytes + at, WIRE_LINE_BYTES);
            at += WIRE_LINE_BYTES;
        }
    return at;
}

/* ---- Versions ---- */

static bool add_file(XXH3_state_t *sum, const char *path)
{
    char piece[1 << 16];
    ssize_t n = -1;

    int fd = open(path, O_RDONLY | O_CLOEXEC);
    while (fd >= 0 && (n = read(fd, piece, sizeof piece)) > 0)
        XXH3_64bits_update(sum, piece, (size_t)n);
    if (fd >= 0)
        close(fd);
    return n == 0;
}

static uint64_t version_of(const char *const *path, size_t n)
{
    XXH3_state_t *sum = XXH3_createState();
    bool there = sum != NULL && XXH3_64bits_reset(sum) == XXH_OK;

    for (size_t k = 0; there && k < n; k++)
        there = add_file(sum, path[k]);
    uint64_t version = there ? XXH3_64bits_digest(sum) | 1 : 0;
    XXH3_freeState(sum);
    return version;
}

uint64_t wire_version(const char *lib)
{
    static const char *const part[] = {"plugin.so", "vertex.elf", "nsdisk.elf"};
    char path[3][PATH_MAX];
    const char *all[4] = {"/proc/self/exe", path[0], path[1], path[2]};

    for (size_t k = 0; k < 3; k++)
        snprintf(path[k], sizeof path[k], "%s/%s", lib, part[k]);
    return version_of(all, 4);
}

uint64_t wire_file_version(const char *path)
{
    return version_of(&path, 1);
}
