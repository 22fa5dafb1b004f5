/*
 * Which descriptors belong to the whole program (global.c), for who must keep a program from using one while its nodes
 * make different calls. Only programs that call nglobal have it.
 */
#pragma once

#include <stdbool.h>

/* The descriptor was opened in global mode, and no mapping lies on it. A standard stream is none. */
bool global_is_file(int fd);

/* From here on calls on such descriptors fail with EINVAL, also close, or no longer. */
void global_refuse(bool refuses);

/* Called whenever one is opened. Whoever wants to hear of it defines it. */
void global_has_file(void) __attribute__((weak));
