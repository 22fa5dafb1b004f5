/*
 * A drive: an image file and a timing model in virtual time (seek, rotation, transfer, controller, read-ahead,
 * write-through). Nothing here depends on QEMU.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "emu/record/recording.h"

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

/* Returns the model of that name, or NULL. disk_model_names lists the names, the default first, and ends with NULL. */
const struct disk_model *disk_model_find(const char *name);
extern const char *const disk_model_names[];

/* Returns the most revolutions a minute at which the model's bus takes what the medium gives. */
uint32_t disk_model_most_rpm(const struct disk_model *model);

/* Opens an image for reading and writing and locks it (flock). The caller closes the disk. Returns 0, or -1 with one
 * line in error (error_bytes long) if the image is missing, is no regular file, is in use by another ncube, is not ext2
 * (magic 0xEF53 at byte 1080), or is larger than the model's drive. */
int disk_open(struct disk **disk, const char *image, const struct disk_model *model, char *error, size_t error_bytes);
/* Lets the drive turn at that speed instead of its model's; before its first command. */
void disk_set_rpm(struct disk *d, uint32_t rpm);
/* Opens the image that a kept recording has held since a machine before. NULL: it holds none, or calls is NULL. */
struct disk *disk_open_held(struct recorded_calls *calls, const struct disk_model *model);
/* Lets a recording note what the host does to the image's reads and writes, or give it in a replay (recording.h). A
 * recording that is kept holds the image from then on, and disk_close leaves it open (disk_past.h). */
void disk_record(struct disk *d, struct recorded_calls *calls);
/* Returns the image's descriptor, which stays the drive's. */
int disk_image(const struct disk *d);

/* In a copy of this process: gives the drive an image of its own, which is a file in memory; of a run that is kept,
 * what it writes again. Returns 0 or an errno. disk_own_bytes: of memory. Write for a copy what is known of its past,
 * and read that there; false if that fails. */
int disk_own(struct disk *d);
uint64_t disk_own_bytes(const struct disk *d);
bool disk_give(const struct disk *d, FILE *to);
bool disk_take(struct disk *d, FILE *from);
/* Of a kept run that comes further, a copy is about to be made: its image is to be as it is now. */
void disk_mark(struct disk *d);
/* Closes the image and frees the disk. NULL is allowed. */
void disk_close(struct disk *d);
/* Returns the number of sectors of the image. */
uint64_t disk_sectors(const struct disk *d);

/* Returns the time at which a command that begins now will be done, and advances the drive's mechanical state.
 * now_cycles must not lie before the end of the last command (asserted). The controller refuses a command for no
 * sectors, or for sectors that do not exist: it takes the overhead and moves nothing. */
uint64_t disk_service(struct disk *d, uint64_t now_cycles, bool write, uint64_t sector, uint32_t sectors);

/* Returns the time that sectors take on the controller's bus. */
uint64_t disk_bus_cycles(const struct disk *d, uint64_t sectors);

/* Statistics of all commands so far, but for those that the controller refused. */
struct disk_statistics {
    uint64_t reads, writes;
    uint64_t sectors_read, sectors_written;
    uint64_t seeks;       /* commands for which the heads went to another cylinder first */
    uint64_t buffer_hits; /* reads that found their first sector in the buffer, or on its way there */
};
struct disk_statistics disk_statistics(const struct disk *d);

/* Copies the sectors between image and buffer; called when the command is done. Returns NCU_OK, NCU_EDRIVE if there are
 * no such sectors, or NCU_EMEDIA with errno if the host cannot read or write the image; errno is 0 if the image is
 * shorter than it was. */
int disk_transfer(struct disk *d, bool write, uint64_t sector, uint32_t sectors, void *buffer);
