/*
 * Copying and clearing bytes. Virtual time is charged for each instruction, so these loops set a message's cost for the
 * processor: 64 bytes a turn, about 0.8 cycles a byte if source and destination are equal modulo 8, else about 1.3.
 * Pure: host tests link it.
 */
#pragma once

#include <stddef.h>

/* Copies `bytes` bytes between areas that do not overlap. */
void copy_bytes(void *to, const void *from, size_t bytes);
void copy_zero(void *to, size_t bytes);
