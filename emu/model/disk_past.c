/* What an image was (disk_past.h): two layers of sectors, and the image below them. */
#include "emu/model/disk_past.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/base/memory_file.h"
#include "vertex/contract/machine.h"

struct layer { /* some sectors of an image */
    int fd;
    uint64_t *has; /* a bit for each */
};

struct disk_past {
    struct recording *recording;
    int image;
    uint64_t sectors;
    struct layer before, again;
};

static size_t words(const struct disk_past *p)
{
    return (size_t)(p->sectors / 64 + 1);
}

static bool open_layer(const struct disk_past *p, struct layer *l)
{
    l->has = memory_new(words(p), sizeof *l->has);
    l->fd = memfd_create("sectors", MFD_CLOEXEC);
    return l->fd >= 0;
}

static void close_layer(struct layer *l)
{
    free(l->has);
    if (l->fd >= 0)
        close(l->fd);
}

static bool has(const struct layer *l, uint64_t sector)
{
    return l->has[sector / 64] >> sector % 64 & 1;
}

/* False: there is no memory. */
static bool add(struct disk_past *p, struct layer *l, uint64_t sector, const uint8_t *bytes)
{
    if (host_write(l->fd, bytes, SECTOR_BYTES, (off_t)(sector * SECTOR_BYTES)) != SECTOR_BYTES)
        return false;
    if (!has(l, sector))
        recording_count(p->recording, SECTOR_BYTES);
    l->has[sector / 64] |= 1ull << sector % 64;
    return true;
}

static bool get(int fd, uint64_t sector, uint8_t *bytes)
{
    ssize_t n = host_read(fd, bytes, SECTOR_BYTES, (off_t)(sector * SECTOR_BYTES));

    return n == SECTOR_BYTES;
}

/* ---- Life ---- */

struct disk_past *disk_past_new(int image, uint64_t sectors, struct recording *r)
{
    struct disk_past *p = memory_new(1, sizeof *p);

    *p = (struct disk_past){
        .recording = r, .image = image, .sectors = sectors, .before = {.fd = -1}, .again = {.fd = -1}};
    if (open_layer(p, &p->before) && open_layer(p, &p->again))
        return p;
    p->image = -1;
    disk_past_free(p);
    return NULL;
}

void disk_past_free(void *past)
{
    struct disk_past *p = past;

    close_layer(&p->before);
    close_layer(&p->again);
    if (p->image >= 0)
        close(p->image);
    free(p);
}

int disk_past_image(const struct disk_past *p)
{
    return p->image;
}

/* ---- Sectors ---- */

/* The memory stays counted: the next machine writes about as much. */
void disk_past_repeat(struct disk_past *p)
{
    for (size_t i = 0; i < words(p); i++)
        p->again.has[i] = 0;
    if (ftruncate(p->again.fd, 0) < 0)
        recording_lose(p->recording, "the host's memory for a volume fails");
}

void disk_past_save(struct disk_past *p, uint64_t sector, uint32_t sectors)
{
    uint8_t bytes[SECTOR_BYTES];

    for (uint64_t i = sector; i < sector + sectors && !recording_loss(p->recording); i++)
        if (!has(&p->before, i) && !(get(p->image, i, bytes) && add(p, &p->before, i, bytes)))
            recording_lose(p->recording, "there is no memory for what a volume had before");
}

static bool read_sector(const struct disk_past *p, uint64_t sector, uint8_t *bytes)
{
    int from = has(&p->again, sector) ? p->again.fd : has(&p->before, sector) ? p->before.fd : p->image;

    return get(from, sector, bytes);
}

bool disk_past_transfer(struct disk_past *p, bool write, uint64_t sector, uint32_t sectors, uint8_t *buffer)
{
    bool done = true;

    for (uint32_t i = 0; i < sectors && done; i++, buffer += SECTOR_BYTES)
        done = write ? add(p, &p->again, sector + i, buffer) : read_sector(p, sector + i, buffer);
    return done;
}

/* ---- In a copy of the process ---- */

int disk_past_own(struct disk_past *p)
{
    return memory_file_own(&(struct memory_file){.fd = p->again.fd});
}

uint64_t disk_past_bytes(const struct disk_past *p)
{
    return memory_file_bytes(p->again.fd);
}

/* The sectors are in a file that the processes share. */
bool disk_past_give(const struct disk_past *p, FILE *to)
{
    return fwrite(p->before.has, sizeof *p->before.has, words(p), to) == words(p);
}

bool disk_past_take(struct disk_past *p, FILE *from)
{
    return fread(p->before.has, sizeof *p->before.has, words(p), from) == words(p);
}
