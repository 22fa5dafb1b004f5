/*
 * For tests of reading and writing: PIO files on the fake volumes, and all orders of acknowledgements.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define MODEL_BYTES 4096

extern char pattern[MODEL_BYTES]; /* no byte is 0 */

/* Before each test. */
void set_up(void);

/* For fake_set_chooser: the nth of all orders, from first_order on, while next_order is true; always the last that has
 * arrived. */
int choose_counting(int options);
void first_order(void);
bool next_order(void);
int choose_last(int options);

/* Opens //df00/f and its parts; it must work. */
int open_file(int flags, int disks, int block, int buffers);

/* Puts the file together from its subfiles, into n zeroed bytes. Returns where it ends. */
int64_t collect(int disks, int block, char *bytes, size_t n);

int64_t file_size(int pfd);
