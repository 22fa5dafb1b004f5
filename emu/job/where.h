/*
 * Finds the source line of an address, from the symbols and the line table of a program's ELF file.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#define WHERE_BYTES 256u

/* Writes "main (hello.c:12)", or as much of it as the file contains, to `text` (WHERE_BYTES). `fd` is the program, open
 * for reading; it stays the caller's, and its offset does not matter. False, with an empty text, if the address is in
 * no function of the symbol table. */
bool where_describe(int fd, uint64_t address, char *text);

/* Returns whether the address is in code of ncube's own libraries, compiled with line numbers. */
bool where_is_library(int fd, uint64_t address);

/* Of a program without line numbers of its own: where the code of ncube's libraries begins; ncc links the program
 * before them. 0: it has some, or nothing is known. */
uint64_t where_libraries_begin(int fd);

/* Finds the address of a global symbol. False if the file has no such symbol. */
bool where_find(int fd, const char *name, uint64_t *address);
