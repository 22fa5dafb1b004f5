/*
 * Parallel files of virtual processors (libpio/star) on the host, without a machine: on its images, "pio:/PATH", or
 * among the host's files. The library itself reads them, as a group of one node.
 *
 * What is written appears under its name when it is complete. Functions return 0, or -1 with one line in `error`
 * (ERROR_LINE_BYTES), which names the file once.
 */
#pragma once

#include "emu/base/new_file.h"
#include "emu/disk/pio_image.h"
#include "libpio/star/meta.h"

/* Before all else: the volumes of "pio:" names, which stay the caller's; opened for writing, if `writes`. */
void star_files_begin(struct pio_volumes *volumes, bool writes);
/* Closes the volumes. */
int star_files_end(int result, char *error);

/* Reads a part of a file, "", ".first" or ".dir", whole. *bytes: its length; -1: there is none, and *all is NULL. The
 * caller frees *all. */
int star_files_read(const char *name, const char *suffix, unsigned char **all, int64_t *bytes, char *error);
/* The length of a part; -1 in *bytes: there is none. */
int star_files_size(const char *name, const char *suffix, int64_t *bytes, char *error);

/* What there is of the data, "" of a file: its length, and how far it is there on all volumes; whether n bytes at `at`
 * are there. Image files stay open until star_data_end. */
struct star_data {
    int64_t bytes, whole;
    struct pio_image_file *pio; /* NULL: a file of the host */
};
int star_data_begin(struct star_data *d, const char *name, char *error);
bool star_data_has(const void *data, int64_t at, int64_t n);
void star_data_end(struct star_data *d);

/* Reads the .meta. *is_there false: there is none. */
int star_files_meta(const char *name, struct star_meta *m, bool *is_there, char *error);

/* A part that is being made: the same volumes and block as those of `like`, a file that is there, or NULL. */
struct star_new {
    struct new_file host;
    struct pio_image_file *pio;
    const char *name;
};

int star_new_open(struct star_new *n, const char *name, const char *suffix, const char *like, char *error);
int star_new_write(struct star_new *n, int64_t at, const void *bytes, size_t count, char *error);
/* Gives it its name if `result` is 0. */
int star_new_close(struct star_new *n, const char *suffix, int result, char *error);

/* Makes or replaces the .meta. */
int star_files_put_meta(const char *name, const struct star_meta *m, char *error);
