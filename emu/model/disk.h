/*
 * A drive: an image file and a timing model in virtual time (seek, rotation, transfer, controller, read-ahead,
 * write-through). No QEMU in here.
 */
#ifndef NCUBE_DISK_H
#define NCUBE_DISK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct disk;

struct disk_model { /* every constant's source is in disk_model.c and docs/timing.md */
    const char *name;
    uint32_t rpm;
    uint32_t cylinders, heads, sectors_per_track;
    uint32_t overhead_us;        /* controller and command */
    uint32_t seek_track_us;      /* to the next cylinder */
    uint32_t seek_average_us;    /* over a third of the cylinders */
    uint32_t seek_full_us;       /* over all of them */
    uint32_t head_switch_us;     /* to another track of the cylinder */
    uint32_t bus_bytes_per_s;    /* controller to memory; not less than the medium's rate */
    uint32_t read_ahead_sectors; /* size of the buffer that read-ahead fills; 0: none */
};

/* A model by name, NULL if unknown; disk_model_names lists the names, NULL-terminated, the default first. */
const struct disk_model *disk_model_find(const char *name);
extern const char *const disk_model_names[];

/* Opens an image for reading and writing and locks it (flock). The caller closes the disk.
 * Returns 0, or -1 with one clear line in error (error_bytes long): missing, not a regular file, in use by
 * another ncube, not ext2 (magic 0xEF53 at byte 1080), larger than the model's drive. */
int disk_open(struct disk **disk, const char *image, const struct disk_model *model, char *error, size_t error_bytes);
void disk_close(struct disk *d);
uint64_t disk_sectors(const struct disk *d);

/* When a command issued now (drive idle) will be done; advances the drive's mechanical state. now_cycles must not lie
 * before the end of the last command (asserted). A command for no sectors, or for some that do not exist, is refused
 * by the controller: it costs its overhead and moves nothing. */
uint64_t disk_service(struct disk *d, uint64_t now_cycles, bool write, uint64_t sector, uint32_t sectors);

/* Of the commands so far that were for sectors of this drive. */
struct disk_statistics {
    uint64_t reads, writes;
    uint64_t sectors_read, sectors_written;
    uint64_t seeks;       /* commands for which the heads went to another cylinder first */
    uint64_t buffer_hits; /* reads that found their first sector in the buffer, or on its way there */
};
struct disk_statistics disk_statistics(const struct disk *d);

/* Moves the bytes; NCU_OK, NCU_EDRIVE (no such sectors) or NCU_EMEDIA (the host cannot read or write the image).
 * Called when the command is done. */
int disk_transfer(struct disk *d, bool write, uint64_t sector, uint32_t sectors, void *buffer);

#endif
