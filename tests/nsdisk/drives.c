/* See drives.h. */
#include "tests/nsdisk/drives.h"

#include <string.h>

#include "vertex/contract/errors.h"
#include "vertex/contract/machine.h"

uint32_t drives_draw(struct drives *d, uint32_t n)
{
    return random_next(&d->random) % n;
}

void drives_make(struct drives *d)
{
    for (uint32_t i = 0; i < d->volumes; i++)
        volume_make(&d->volume[i], 1024u << i, 3000, "");
}

const char *drives_mount(struct drives *d, struct server *s, struct loop *l)
{
    static const char *const names[DRIVES_MOST] = {"df00", "df01", "df02"};
    static char text[200];

    for (uint32_t i = 0; i < d->volumes; i++) {
        struct volume *v = &d->volume[i];
        struct blockdev dev = loop_disk(l, i, v->size / BLOCKDEV_SECTOR_BYTES);

        if (server_mount(s, i, &dev, names[i], 200000, &v->data_cache, text, sizeof text) < 0)
            return text;
    }
    return NULL;
}

long drives_start(void *ctx, uint32_t drive, bool write, uint64_t sector, void *buf, uint32_t sectors, int type)
{
    struct drives *d = ctx;

    if (d->starts)
        d->starts(drive, type);
    if (d->under_way >= d->commands)
        return drives_draw(d, 2) == 0 ? -N_EAGAIN : -N_ENOMEM;
    for (uint32_t i = 0; i < DISK_COMMANDS_MAX; i++)
        if (!d->command[i].used) {
            d->command[i] = (struct drives_command){drive, i, d->order++, write, sector, buf, sectors, true};
            d->under_way++;
            return i;
        }
    return -N_EAGAIN;
}

/* The oldest command of a drive that has one. */
static struct drives_command *some_first(struct drives *d)
{
    uint32_t drive = drives_draw(d, d->volumes);
    struct drives_command *first = NULL;

    for (uint32_t turn = 0; turn < d->volumes && !first; turn++, drive = (drive + 1) % d->volumes)
        for (uint32_t i = 0; i < DISK_COMMANDS_MAX; i++) {
            struct drives_command *c = &d->command[i];

            if (c->used && c->drive == drive && (!first || c->start < first->start))
                first = c;
        }
    return first;
}

long drives_end(void *ctx, struct abi_disk_done *done, bool wait)
{
    struct drives *d = ctx;
    struct drives_command *c = wait || drives_draw(d, 3) == 0 ? some_first(d) : NULL;

    if (!c)
        return wait ? -N_EINVAL : -N_EAGAIN;
    uint8_t *at = d->volume[c->drive].bytes + c->sector * BLOCKDEV_SECTOR_BYTES;
    size_t n = (size_t)c->sectors * BLOCKDEV_SECTOR_BYTES;
    *done = (struct abi_disk_done){.number = c->number};
    if (c->write && d->may_fail && drives_draw(d, 1000) < d->fail_per_mill)
        done->status = -N_EIO;
    else
        memcpy(c->write ? (void *)at : c->buf, c->write ? c->buf : (void *)at, n);
    c->used = false;
    d->under_way--;
    return 0;
}
