/* What the writer of a run's recording (recorder.h) and its reader (replayer.h) agree on. */
#pragma once

#include <jansson.h>
#include <stdbool.h>

#include "emu/record/digest.h"

#define RECORDED_ABOUT      "recording.json"
#define RECORDED_MACHINE    "machine.conf"
#define RECORDED_PROGRAM    "programs/%u"
#define RECORDED_LAUNCHED   "programs/%s" /* by its SHA-256 */
#define RECORDED_VOLUME     "volumes/%s"
#define RECORDED_NAME_BYTES 96

/* A text of the host, which may hold any bytes but 0: a string; or, if it is not UTF-8, an array of bytes. */
json_t *recorded_text(const char *text);
/* Returns the text again, for the caller to free; NULL if it is none. */
char *recorded_text_of(const json_t *json);

/* The digest of a file of ncube's own in the folder `lib`. False: it cannot be read. */
bool recorded_part_digest(const char *lib, const char *name, char digest[DIGEST_TEXT_BYTES]);
