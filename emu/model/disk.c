/*
 * A drive in virtual time, and its image file.
 *
 * Geometry. Sectors are numbered along the track, then head by head, then cylinder by cylinder:
 *
 *     sector = track * sectors_per_track + s        track = cylinder * heads + head
 *
 * A revolution has sectors_per_track slots; slot i passes under the heads from angle i * rev / spt on. The angle at a
 * time is that time modulo rev, for every drive of the machine, as with synchronised spindles. Sector s of a track lies
 * in slot (s + skew of the track) mod spt. Each track is skewed against the one before it by the slots that pass while
 * the drive moves from one to the other, so that reading across tracks loses no revolution.
 *
 * The buffer. After a read the drive goes on reading until the buffer is full or another command comes:
 *
 *     first                next                 limit
 *       |  in the buffer     |  still to be read  |        the reading of next begins at next_cycles, with the heads
 *       +--------------------+--------------------+        over `track`; next - first <= read_ahead_sectors
 *
 * A read that begins within [first, limit] is served from the buffer: sectors that are there at the rate of the bus,
 * the others as they arrive. Any other read seeks. Read-ahead does not overwrite the sectors of the last read: limit is
 * that read's first sector plus the size of the buffer. A write ends when the bytes are on the medium, and empties the
 * buffer if they overlap.
 *
 * All times are integer arithmetic on cycles, and so the same on every host.
 */
#include "emu/model/disk.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/base/memory_file.h"
#include "emu/model/disk_past.h"
#include "vertex/contract/machine.h"

#define EXT2_MAGIC_OFFSET 1080
#define EXT2_MAGIC        0xef53u

struct buffer {
    uint64_t first, next, limit; /* sectors */
    uint64_t next_cycles;
};

struct disk {
    const struct disk_model *model;
    int fd;
    uint64_t sectors;
    /* derived from the model */
    uint64_t rev_cycles;
    uint64_t overhead_cycles;
    uint64_t head_switch_cycles;
    uint64_t track_skew, cylinder_skew; /* slots */
    /* mechanical state */
    uint64_t track; /* under the heads */
    struct buffer buffer;
    uint64_t done_cycles; /* of the last command */
    struct disk_statistics statistics;
    struct recorded_calls *calls; /* NULL: not recorded */
    struct disk_past *past;       /* which has the image's descriptor; NULL: gdb does not go back */
};

/* ---- Geometry and movement ---------------------------------------------------------------- */

static uint64_t us_to_cycles(uint64_t us)
{
    return us * CYCLES_PER_US;
}

static uint64_t track_of(const struct disk *d, uint64_t sector)
{
    return sector / d->model->sectors_per_track;
}

static uint64_t cylinder_of(const struct disk *d, uint64_t track)
{
    return track / d->model->heads;
}

/* Returns the angle, in cycles, at which a slot begins. Slots beyond the last are in the next revolution. */
static uint64_t slot_angle(const struct disk *d, uint64_t slot)
{
    return slot * d->rev_cycles / d->model->sectors_per_track;
}

static uint64_t slot_of(const struct disk *d, uint64_t sector)
{
    uint64_t track = track_of(d, sector), spt = d->model->sectors_per_track;
    uint64_t cylinders_before = cylinder_of(d, track);
    uint64_t skew = (track - cylinders_before) * d->track_skew + cylinders_before * d->cylinder_skew;

    return (sector % spt + skew) % spt;
}

/* Returns 1024 times the square root, rounded down. */
static uint64_t root_1024(uint64_t n)
{
    uint64_t square = n << 20, root = 0;

    for (uint64_t bit = 1ull << 31; bit; bit >>= 1)
        if ((root + bit) * (root + bit) <= square)
            root += bit;
    return root;
}

/* A short seek accelerates all the way: its time grows with the square root of the distance. A long one coasts: its
 * time grows with the distance. */
static uint64_t seek_cycles(const struct disk_model *m, uint64_t distance)
{
    uint64_t third = m->cylinders / 3, us;

    if (distance == 0)
        return 0;
    if (distance <= third)
        us = m->seek_track_us + (m->seek_average_us - m->seek_track_us) * (root_1024(distance) - root_1024(1)) /
                                    (root_1024(third) - root_1024(1));
    else
        us = m->seek_average_us +
             (m->seek_full_us - m->seek_average_us) * (distance - third) / (m->cylinders - 1 - third);
    return us_to_cycles(us);
}

static uint64_t move_cycles(const struct disk *d, uint64_t from_track, uint64_t to_track)
{
    uint64_t from = cylinder_of(d, from_track), to = cylinder_of(d, to_track);

    if (from != to)
        return seek_cycles(d->model, from > to ? from - to : to - from);
    return from_track == to_track ? 0 : d->head_switch_cycles;
}

static uint64_t wait_cycles(const struct disk *d, uint64_t now_cycles, uint64_t slot)
{
    return (slot_angle(d, slot) + d->rev_cycles - now_cycles % d->rev_cycles) % d->rev_cycles;
}

/* Returns the time at which `count` sectors from `sector` on have passed under the heads, which are on `track` now. */
static uint64_t pass_cycles(const struct disk *d, uint64_t now_cycles, uint64_t track, uint64_t sector, uint64_t count)
{
    uint64_t spt = d->model->sectors_per_track;

    while (count) {
        uint64_t slot = slot_of(d, sector), rest = spt - sector % spt, n = count < rest ? count : rest;

        now_cycles += move_cycles(d, track, track_of(d, sector));
        now_cycles += wait_cycles(d, now_cycles, slot);
        now_cycles += slot_angle(d, slot + n) - slot_angle(d, slot);
        track = track_of(d, sector);
        sector += n;
        count -= n;
    }
    return now_cycles;
}

uint64_t disk_bus_cycles(const struct disk *d, uint64_t sectors)
{
    return sectors * SECTOR_BYTES * CLOCK_HZ / d->model->bus_bytes_per_s;
}

/* ---- The buffer --------------------------------------------------------------------------- */

/* Notes that the sectors before `next` have been read at next_cycles; the oldest are dropped when the buffer is
 * full. */
static void buffer_fill(struct disk *d, uint64_t next, uint64_t next_cycles)
{
    struct buffer *b = &d->buffer;

    b->next = next;
    b->next_cycles = next_cycles;
    d->track = track_of(d, next - 1);
    if (b->first + d->model->read_ahead_sectors < next)
        b->first = next - d->model->read_ahead_sectors;
}

/* Continues the read-ahead up to now_cycles. */
static void buffer_settle(struct disk *d, uint64_t now_cycles)
{
    struct buffer *b = &d->buffer;

    while (b->next < b->limit) {
        uint64_t end_cycles = pass_cycles(d, b->next_cycles, d->track, b->next, 1);

        if (end_cycles > now_cycles)
            break;
        buffer_fill(d, b->next + 1, end_cycles);
    }
}

static void buffer_empty(struct disk *d)
{
    d->buffer = (struct buffer){.first = UINT64_MAX};
}

static bool buffer_serves(const struct disk *d, uint64_t sector)
{
    return d->buffer.first <= sector && sector <= d->buffer.limit;
}

/* Returns the end of what the drive reads for a read of [sector, end), with read-ahead. */
static uint64_t read_limit(const struct disk *d, uint64_t sector, uint64_t end)
{
    uint64_t full = sector + d->model->read_ahead_sectors;

    if (full > d->sectors)
        full = d->sectors;
    return full > end ? full : end;
}

/* ---- Commands ----------------------------------------------------------------------------- */

/* Counts a seek if a command moves the heads to another cylinder. */
static void note_movement(struct disk *d, uint64_t sector)
{
    d->statistics.seeks += cylinder_of(d, d->track) != cylinder_of(d, track_of(d, sector));
}

static uint64_t service_read(struct disk *d, uint64_t now_cycles, uint64_t sector, uint64_t count)
{
    struct buffer *b = &d->buffer;
    uint64_t end = sector + count, arrived_cycles = now_cycles;

    buffer_settle(d, now_cycles);
    d->statistics.reads++;
    d->statistics.sectors_read += count;
    if (!buffer_serves(d, sector))
        *b = (struct buffer){.first = sector, .next = sector, .limit = sector};
    bool reading = b->next < b->limit;
    d->statistics.buffer_hits += reading || sector < b->next;
    if (!reading && b->next < end)
        note_movement(d, b->next);
    if (!reading)
        b->next_cycles = now_cycles; /* it starts now */
    if (b->limit < read_limit(d, sector, end))
        b->limit = read_limit(d, sector, end);
    if (b->next < end) {
        arrived_cycles = pass_cycles(d, b->next_cycles, d->track, b->next, end - b->next);
        buffer_fill(d, end, arrived_cycles);
    }
    uint64_t streamed = arrived_cycles + disk_bus_cycles(d, 1), buffered = now_cycles + disk_bus_cycles(d, count);
    return streamed > buffered ? streamed : buffered;
}

static uint64_t service_write(struct disk *d, uint64_t now_cycles, uint64_t sector, uint64_t count)
{
    struct buffer *b = &d->buffer;

    buffer_settle(d, now_cycles);
    d->statistics.writes++;
    d->statistics.sectors_written += count;
    note_movement(d, sector);
    b->limit = b->next; /* read-ahead ends */
    if (sector < b->limit && b->first < sector + count)
        buffer_empty(d);
    uint64_t move = move_cycles(d, d->track, track_of(d, sector)), first_byte = disk_bus_cycles(d, 1);
    uint64_t ready_cycles = now_cycles + (move > first_byte ? move : first_byte);
    d->track = track_of(d, sector + count - 1);
    return pass_cycles(d, ready_cycles, track_of(d, sector), sector, count);
}

static bool has_sectors(const struct disk *d, uint64_t sector, uint32_t sectors)
{
    return sectors > 0 && sectors <= d->sectors && sector <= d->sectors - sectors;
}

uint64_t disk_service(struct disk *d, uint64_t now_cycles, bool write, uint64_t sector, uint32_t sectors)
{
    assert(now_cycles >= d->done_cycles);
    uint64_t ready_cycles = now_cycles + d->overhead_cycles;
    if (!has_sectors(d, sector, sectors))
        d->done_cycles = ready_cycles;
    else if (write)
        d->done_cycles = service_write(d, ready_cycles, sector, sectors);
    else
        d->done_cycles = service_read(d, ready_cycles, sector, sectors);
    return d->done_cycles;
}

struct disk_statistics disk_statistics(const struct disk *d)
{
    return d->statistics;
}

/* ---- The image ---------------------------------------------------------------------------- */

static int transfer(struct disk *d, bool write, uint64_t sector, uint32_t sectors, void *buffer)
{
    errno = 0;
    if (d->past && recorded_calls_are_replayed(d->calls))
        return disk_past_transfer(d->past, write, sector, sectors, buffer) ? NCU_OK : NCU_EMEDIA;
    if (d->past && write)
        disk_past_save(d->past, sector, sectors);
    size_t bytes = (size_t)sectors * SECTOR_BYTES;
    off_t at = (off_t)(sector * SECTOR_BYTES);
    ssize_t moved = write ? host_write(d->fd, buffer, bytes, at) : host_read(d->fd, buffer, bytes, at);
    return moved == (ssize_t)bytes ? NCU_OK : NCU_EMEDIA;
}

int disk_transfer(struct disk *d, bool write, uint64_t sector, uint32_t sectors, void *buffer)
{
    if (!has_sectors(d, sector, sectors))
        return NCU_EDRIVE;
    int status = transfer(d, write, sector, sectors, buffer), reason = status == NCU_OK ? 0 : errno;
    if (recorded_calls_are_replayed(d->calls))
        status = (int)recorded_calls_take(d->calls, status, &reason);
    else if (d->calls)
        recorded_calls_note(d->calls, NCU_OK, status, reason);
    if (d->past && write && status != NCU_OK)
        recording_lose(recorded_calls_of(d->calls), "the host has failed to write a volume's image");
    errno = reason;
    return status;
}

/* A machine before this one has made its past, or it is made now. */
static void keep_past(struct disk *d)
{
    struct recording *r = recorded_calls_of(d->calls);

    d->past = recorded_calls_held(d->calls);
    if (d->past) {
        disk_past_repeat(d->past);
        return;
    }
    d->past = disk_past_new(d->fd, d->sectors, r);
    if (d->past)
        recorded_calls_hold(d->calls, d->past, disk_past_free);
    else
        recording_lose(r, "there is no memory for what a volume had before");
}

void disk_record(struct disk *d, struct recorded_calls *calls)
{
    d->calls = calls;
    if (calls && recording_is_kept(recorded_calls_of(calls)))
        keep_past(d);
}

int disk_image(const struct disk *d)
{
    return d->fd;
}

/* What a kept run's image had before is in its past. */
int disk_own(struct disk *d)
{
    return d->past ? disk_past_own(d->past) : memory_file_own(&(struct memory_file){.fd = d->fd});
}

uint64_t disk_own_bytes(const struct disk *d)
{
    return d->past ? disk_past_bytes(d->past) : memory_file_bytes(d->fd);
}

void disk_mark(struct disk *d)
{
    if (d->past)
        disk_past_mark(d->past);
}

bool disk_give(const struct disk *d, FILE *to)
{
    return !d->past || disk_past_give(d->past, to);
}

bool disk_take(struct disk *d, FILE *from)
{
    return !d->past || disk_past_take(d->past, from);
}

static bool fail(char *error, size_t error_bytes, const char *image, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

static bool fail(char *error, size_t error_bytes, const char *image, const char *format, ...)
{
    va_list args;
    int n = snprintf(error, error_bytes, "%s: ", image);

    if (n < 0 || (size_t)n >= error_bytes)
        return false;
    va_start(args, format);
    vsnprintf(error + n, error_bytes - (size_t)n, format, args);
    va_end(args);
    return false;
}

static bool is_ext2(int fd)
{
    uint8_t magic[2];

    return pread(fd, magic, sizeof magic, EXT2_MAGIC_OFFSET) == sizeof magic &&
           (magic[0] | (unsigned)magic[1] << 8) == EXT2_MAGIC;
}

static void measure(struct disk *d, const struct stat *st)
{
    d->sectors = (uint64_t)st->st_size / SECTOR_BYTES;
}

static bool image_open(struct disk *d, const char *image, char *error, size_t error_bytes)
{
    struct stat st;
    const struct disk_model *m = d->model;
    uint64_t model_sectors = (uint64_t)m->cylinders * m->heads * m->sectors_per_track;

    d->fd = open(image, O_RDWR | O_CLOEXEC | O_NONBLOCK); /* a FIFO would block */
    if (d->fd < 0 && errno == ENOENT)
        return fail(
            error, error_bytes, image,
            "%s; --images names the folder of the images, \"ncube disk create -m MACHINE --images DIR 32M\" makes "
            "those that a machine lacks",
            strerror(errno));
    if (d->fd < 0 || fstat(d->fd, &st) < 0)
        return fail(error, error_bytes, image, "%s", strerror(errno));
    if (!S_ISREG(st.st_mode))
        return fail(error, error_bytes, image,
                    "not a regular file; a drive needs an ext2 image, which \"ncube disk create\" makes in a new file");
    if (flock(d->fd, LOCK_EX | LOCK_NB) < 0)
        return fail(error, error_bytes, image, errno == EWOULDBLOCK ? "in use by another ncube" : "cannot be locked");
    if (!is_ext2(d->fd))
        return fail(error, error_bytes, image,
                    "not an ext2 file system; if it was one, e2fsck may repair it; \"ncube disk create\" makes one in "
                    "a new file");
    measure(d, &st);
    if (d->sectors > model_sectors)
        return fail(error, error_bytes, image, "%llu MB do not fit on a drive of model '%s', which has %llu MB",
                    (unsigned long long)st.st_size >> 20, m->name,
                    (unsigned long long)(model_sectors * SECTOR_BYTES) >> 20);
    return true;
}

/* ---- Life --------------------------------------------------------------------------------- */

/* Returns the number of slots that take at least this time: one more than fit, so that rounding loses no revolution. */
static uint64_t slots_in(const struct disk *d, uint64_t cycles)
{
    return cycles * d->model->sectors_per_track / d->rev_cycles + 1;
}

void disk_set_rpm(struct disk *d, uint32_t rpm)
{
    const struct disk_model *m = d->model;

    d->rev_cycles = (60ull * CLOCK_HZ + rpm / 2) / rpm;
    d->overhead_cycles = us_to_cycles(m->overhead_us);
    d->head_switch_cycles = us_to_cycles(m->head_switch_us);
    d->track_skew = slots_in(d, d->head_switch_cycles);
    d->cylinder_skew = slots_in(d, us_to_cycles(m->seek_track_us));
    assert(disk_bus_cycles(d, 1) <= slot_angle(d, 1)); /* otherwise the bus could not keep up with the medium */
}

static struct disk *new_disk(const struct disk_model *model)
{
    struct disk *d = memory_new(1, sizeof *d);

    d->model = model;
    disk_set_rpm(d, model->rpm);
    buffer_empty(d);
    return d;
}

int disk_open(struct disk **disk, const char *image, const struct disk_model *model, char *error, size_t error_bytes)
{
    struct disk *d = new_disk(model);

    if (!image_open(d, image, error, error_bytes)) {
        disk_close(d);
        return -1;
    }
    *disk = d;
    return 0;
}

struct disk *disk_open_held(struct recorded_calls *calls, const struct disk_model *model)
{
    struct disk_past *past = recorded_calls_held(calls);
    struct stat st = {0};

    if (!past)
        return NULL;
    struct disk *d = new_disk(model);
    d->fd = disk_past_image(past);
    fstat(d->fd, &st);
    measure(d, &st);
    return d;
}

void disk_close(struct disk *d)
{
    if (!d)
        return;
    if (d->fd >= 0 && !d->past)
        close(d->fd);
    free(d);
}

uint64_t disk_sectors(const struct disk *d)
{
    return d->sectors;
}
