/*
 * What a drive's image was while another machine writes the same blocks once more, because gdb goes back in the run.
 * The image has what the furthest machine has written, and is left alone until a machine has come as far as that.
 *
 *   read     of what this machine has written:               that
 *            of what has been overwritten since the mark:    what was there before
 *            else                                            from the image
 *   write                                                    not to the image
 *
 * The mark is the begin of the run; or, in a copy of the process (emu/machine/checkpoints.h), when that was made. Both
 * are files in memory. It belongs to the recording of the run (recording.h), which counts its memory.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "emu/record/recording.h"

struct disk_past;

/* For an image of so many sectors, whose descriptor is taken over with its lock. NULL: there is no memory. */
struct disk_past *disk_past_new(int image, uint64_t sectors, struct recording *r);
void disk_past_free(void *past);

/* The image's descriptor, which stays the past's. */
int disk_past_image(const struct disk_past *p);
/* Another machine begins the run. */
void disk_past_repeat(struct disk_past *p);
/* A copy of the process is about to be made, while the machine writes to the image: that is to be kept as it is now. */
void disk_past_mark(struct disk_past *p);
/* Keeps what the image has there, which is about to be overwritten, unless it has been since the mark. */
void disk_past_save(struct disk_past *p, uint64_t sector, uint32_t sectors);
/* In a copy of this process: what it writes again is its own. Returns 0 or an errno. disk_past_bytes: of memory, for
 * that. Write for a copy which sectors have been kept since, and read that there; false if that fails. */
int disk_past_own(struct disk_past *p);
uint64_t disk_past_bytes(const struct disk_past *p);
bool disk_past_give(const struct disk_past *p, FILE *to);
bool disk_past_take(struct disk_past *p, FILE *from);
/* Moves sectors as they are at this place of the run. False: the host has failed. */
bool disk_past_transfer(struct disk_past *p, bool write, uint64_t sector, uint32_t sectors, uint8_t *buffer);
