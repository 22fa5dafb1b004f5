/*
 * What stands out in a run: sentences for the top of a report, each with the figures that it rests on. They are drawn
 * from the timeline alone; none is known of particular programs.
 */
#pragma once

#include "emu/report/critical.h"

#define FINDING_BYTES 512

/* Passes each sentence to `say`, the most telling first. */
void findings_say(const struct timeline *t, const struct facts *f, const struct critical *path,
                  void (*say)(void *ctx, const char *sentence), void *ctx);

#define PLACE_BYTES 40
/* Writes "node 3", "I/O node 0.1" or "the front end", and returns it. */
const char *place_name(uint32_t address, char name[PLACE_BYTES]);

#define TIME_BYTES 32
/* Writes a time with its unit, as "12.34 ms", and returns it. */
const char *time_text(uint64_t cycles, char text[TIME_BYTES]);
/* Writes a number of bytes, as "4096 bytes" or "12.3 MB" of 10^6. */
const char *bytes_text(uint64_t bytes, char text[TIME_BYTES]);
