/*
 * What an image was (disk_past.h). What is overwritten is kept in a file in memory, one sector after the other: an
 * entry behind a mark has what the image had at the mark, unless an earlier one behind it is of the same sector.
 */
#include "emu/model/disk_past.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/base/memory_file.h"
#include "vertex/contract/machine.h"

struct disk_past {
    struct recording *recording;
    int image;
    uint64_t sectors;
    int before;       /* the file of what was kept: */
    uint64_t *sector; /* by entry */
    size_t entries, room;
    uint32_t *entry; /* by sector: 1 + the entry that counts, if it is behind the mark */
    uint32_t mark;   /* so many entries are from before */
    int again;       /* what this machine has written */
    uint64_t *has;   /* a bit for each sector of it */
};

static size_t words(const struct disk_past *p)
{
    return (size_t)(p->sectors / 64 + 1);
}

/* ---- Life ---- */

struct disk_past *disk_past_new(int image, uint64_t sectors, struct recording *r)
{
    struct disk_past *p = memory_new(1, sizeof *p);

    *p = (struct disk_past){.recording = r,
                            .image = image,
                            .sectors = sectors,
                            .before = memfd_create("sectors", MFD_CLOEXEC),
                            .entry = memory_new(sectors + 1, sizeof *p->entry),
                            .again = memfd_create("sectors", MFD_CLOEXEC)};
    p->has = memory_new(words(p), sizeof *p->has);
    if (p->before >= 0 && p->again >= 0)
        return p;
    p->image = -1;
    disk_past_free(p);
    return NULL;
}

static void close_file(int fd)
{
    if (fd >= 0)
        close(fd);
}

void disk_past_free(void *past)
{
    struct disk_past *p = past;

    close_file(p->before);
    close_file(p->again);
    close_file(p->image);
    free(p->sector);
    free(p->entry);
    free(p->has);
    free(p);
}

int disk_past_image(const struct disk_past *p)
{
    return p->image;
}

/* ---- Entries ---- */

static bool is_kept(const struct disk_past *p, uint64_t sector)
{
    return p->entry[sector] > p->mark;
}

/* The first entry behind the mark counts. */
static void choose_entries(struct disk_past *p, size_t first)
{
    for (size_t i = first; i < p->entries; i++)
        if (!is_kept(p, p->sector[i]))
            p->entry[p->sector[i]] = (uint32_t)i + 1;
}

/* The memory stays counted: the next machine writes about as much. */
void disk_past_repeat(struct disk_past *p)
{
    for (size_t i = 0; i < words(p); i++)
        p->has[i] = 0;
    for (size_t i = 0; i < p->entries; i++)
        p->entry[p->sector[i]] = 0;
    p->mark = 0;
    choose_entries(p, 0);
    if (ftruncate(p->again, 0) < 0)
        recording_lose(p->recording, "the host's memory for a volume fails");
}

void disk_past_mark(struct disk_past *p)
{
    p->mark = (uint32_t)p->entries;
}

/* ---- Sectors ---- */

static bool get(int fd, uint64_t at, uint8_t *bytes)
{
    return host_read(fd, bytes, SECTOR_BYTES, (off_t)(at * SECTOR_BYTES)) == SECTOR_BYTES;
}

static bool put(int fd, uint64_t at, const uint8_t *bytes)
{
    return host_write(fd, bytes, SECTOR_BYTES, (off_t)(at * SECTOR_BYTES)) == SECTOR_BYTES;
}

/* False: there is no memory. */
static bool keep(struct disk_past *p, uint64_t sector)
{
    uint8_t bytes[SECTOR_BYTES];

    if (p->entries == UINT32_MAX || !get(p->image, sector, bytes) || !put(p->before, p->entries, bytes))
        return false;
    recording_count(p->recording, SECTOR_BYTES);
    p->sector = memory_grow(p->sector, &p->room, p->entries + 1, sizeof *p->sector);
    p->sector[p->entries++] = sector;
    p->entry[sector] = (uint32_t)p->entries;
    return true;
}

void disk_past_save(struct disk_past *p, uint64_t sector, uint32_t sectors)
{
    for (uint64_t i = sector; i < sector + sectors && !recording_loss(p->recording); i++)
        if (!is_kept(p, i) && !keep(p, i))
            recording_lose(p->recording, "there is no memory for what a volume had before");
}

static bool has(const struct disk_past *p, uint64_t sector)
{
    return p->has[sector / 64] >> sector % 64 & 1;
}

static bool read_sector(const struct disk_past *p, uint64_t sector, uint8_t *bytes)
{
    if (has(p, sector))
        return get(p->again, sector, bytes);
    return is_kept(p, sector) ? get(p->before, p->entry[sector] - 1, bytes) : get(p->image, sector, bytes);
}

/* False: there is no memory. */
static bool write_again(struct disk_past *p, uint64_t sector, const uint8_t *bytes)
{
    if (!put(p->again, sector, bytes))
        return false;
    if (!has(p, sector))
        recording_count(p->recording, SECTOR_BYTES);
    p->has[sector / 64] |= 1ull << sector % 64;
    return true;
}

bool disk_past_transfer(struct disk_past *p, bool write, uint64_t sector, uint32_t sectors, uint8_t *buffer)
{
    bool done = true;

    for (uint32_t i = 0; i < sectors && done; i++, buffer += SECTOR_BYTES)
        done = write ? write_again(p, sector + i, buffer) : read_sector(p, sector + i, buffer);
    return done;
}

/* ---- In a copy of the process ---- */

int disk_past_own(struct disk_past *p)
{
    return memory_file_own(&(struct memory_file){.fd = p->again});
}

uint64_t disk_past_bytes(const struct disk_past *p)
{
    return memory_file_bytes(p->again);
}

/* The sectors are in a file that the processes share. */
bool disk_past_give(const struct disk_past *p, FILE *to)
{
    return fwrite(&p->entries, sizeof p->entries, 1, to) == 1 &&
           fwrite(p->sector, sizeof *p->sector, p->entries, to) == p->entries;
}

bool disk_past_take(struct disk_past *p, FILE *from)
{
    size_t known = p->entries;

    if (fread(&p->entries, sizeof p->entries, 1, from) != 1)
        return false;
    p->sector = memory_grow(p->sector, &p->room, p->entries, sizeof *p->sector);
    if (fread(p->sector, sizeof *p->sector, p->entries, from) != p->entries)
        return false;
    choose_entries(p, known);
    return true;
}
