/*
 * Memory for ncube's own structures. When the host has none left, the process ends with one line: without its tables
 * ncube cannot do anything sensible.
 *
 * Where a client of a machine that is kept up decides how much memory is needed (link.c, launch.c, a job), the caller
 * uses malloc or memory_try_grow instead, and refuses the request if there is none.
 */
#pragma once

#include <stdarg.h>
#include <stddef.h>

/* `count` objects of `bytes` each, all zero; never NULL. The caller frees them. */
void *memory_new(size_t count, size_t bytes);

/* Moves an array of *room objects of `bytes` each (NULL: none yet) to where it has room for at least `needed`. Old
 * objects stay, new ones are zero. Sets *room to the new room, at least twice the old one, so that growing one by one
 * is cheap. An array that has enough room is not moved. Never returns NULL; the caller frees the array. */
void *memory_grow(void *array, size_t *room, size_t needed, size_t bytes);

/* The same for an array whose length a client decides. Returns NULL, and leaves the array and *room as they are, if the
 * host has no memory. */
void *memory_try_grow(void *array, size_t *room, size_t needed, size_t bytes);

/* Moves an array (NULL: none yet) to where it has room for exactly `count` objects of `bytes` each, for arrays that
 * grow rarely. New objects are not zeroed. Never returns NULL; the caller frees the array. */
void *memory_resize(void *array, size_t count, size_t bytes);

/* A formatted text, as printf writes it. Never returns NULL; the caller frees it. */
char *memory_print(const char *format, ...) __attribute__((format(printf, 1, 2)));
char *memory_print_list(const char *format, va_list arguments);

/* Copies a text, or its first `most` characters if it is longer. Never returns NULL; the caller frees the copy. */
char *memory_copy_text(const char *text, size_t most);
