/*
 * Moving bytes. Virtual time is charged per instruction, so these decide what a message costs the CPU: 64 bytes
 * per turn, about 0.8 cycles a byte where source and destination agree modulo 8, about 1.3 where not.
 * Pure: host tests link it.
 */
#ifndef VERTEX_COPY_H
#define VERTEX_COPY_H

#include <stddef.h>

/* The areas do not overlap. */
void copy_bytes(void *to, const void *from, size_t bytes);
void copy_zero(void *to, size_t bytes);

#endif
