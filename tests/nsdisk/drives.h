/*
 * Drives behind a loop (nsdisk/serve/loop.h) for tests: each is a volume's image. Commands of one drive finish in
 * order, those of several in random order.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include "nsdisk/serve/loop.h"
#include "tests/nsdisk/volume.h"

#define DRIVES_MOST 3u

struct drives_command {
    uint32_t drive, number;
    uint64_t start; /* order */
    bool write;
    uint64_t sector;
    void *buf;
    uint32_t sectors;
    bool used;
};

struct drives {
    struct volume volume[DRIVES_MOST];
    uint32_t volumes;
    uint64_t random;        /* whoever draws uses it */
    uint32_t commands;      /* at once, at most DISK_COMMANDS_MAX */
    uint32_t fail_per_mill; /* of writes that fail, once `may_fail` is set */
    bool may_fail;
    void (*starts)(uint32_t drive, int type); /* looks at each command; NULL: nobody does */
    /* its own */
    struct drives_command command[DISK_COMMANDS_MAX];
    uint64_t order;
    uint32_t under_way;
};

/* 0 .. n-1 */
uint32_t drives_draw(struct drives *d, uint32_t n);

/* Makes the volumes, of blocks of 1024, 2048 and 4096 bytes. */
void drives_make(struct drives *d);
/* Mounts them on a server. Returns NULL, or what went wrong. */
const char *drives_mount(struct drives *d, struct server *s, struct loop *l);

/* For struct loop_node. ctx: struct drives. */
long drives_start(void *ctx, uint32_t drive, bool write, uint64_t sector, void *buf, uint32_t sectors, int type);
long drives_end(void *ctx, struct abi_disk_done *done, bool wait);
