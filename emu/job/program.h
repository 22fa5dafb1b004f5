/* The programs of a job: what can be wrong with one is found before anything is sent. */
#pragma once

#include <stddef.h>
#include <stdint.h>

#include "emu/job/job.h"

/* Takes p->image, or reads the file p->path, and checks that it and its arguments fit a node of so much memory. The
 * sizes in the job's options go before those of the program's note. Returns 0, and the caller frees *image; or -1 with
 * one clear line in error. */
int program_read(struct elf_image *image, const struct job_program *p, const struct job_options *o, uint64_t ram_bytes,
                 char *error, size_t error_bytes);
/* Sends a load to the job's nodes (load_send_program). 0, or -N_ENOMEM before anything was sent. */
int program_send(const struct load_program *p, struct job *j);
/* Where the program is read. */
const char *program_file(const struct job_program *p);
/* Opens a program for where.h. -1: it cannot be opened. */
int program_open(const char *path);
