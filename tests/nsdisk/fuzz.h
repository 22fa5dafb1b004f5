/* Random requests to a server, well-formed and not, and random damage to its image. */
#pragma once

#include <stdint.h>

/* Sends mutated requests, with one of volume_caches. The volume must stay whole for e2fsck. NULL, or what is wrong. */
const char *fuzz_messages(uint32_t count, uint32_t seed, uint32_t cache);
/* Mounts a damaged image, uses it and lets go. Only a crash is wrong, which the caller sees. */
void fuzz_image(uint32_t seed);
/* Files on a volume whose bitmaps call some of their space free, and random operations on others: they stay what they
 * were, and e2fsck -p repairs the volume by itself. NULL, or what was wrong. */
const char *fuzz_allocation(uint32_t seed);
