/*
 * Where an address lies in a program's source, from the symbols and the line table of its ELF file.
 */
#ifndef NCUBE_WHERE_H
#define NCUBE_WHERE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define WHERE_BYTES 256u

/* Writes "main (hello.c:12)", or as much of it as the file tells, into `text` (WHERE_BYTES). `fd` is the program, open
 * for reading, and stays the caller's; its offset does not matter. False, and text is empty, when the address is in no
 * function that the file knows. */
bool where_describe(int fd, uint64_t address, char *text);

#endif
