/*
 * The client of programs (libpio/cfs) before the servers of cfs_lab.h: its requests are the lab's messages.
 */
#pragma once

#include <stdint.h>

#include "libpio/cfs/cfs_client.h"
#include "tests/nsdisk/cfs_lab.h"

/* Requests go to this lab, and come from this client. */
void client_use(struct lab *lab, int from);
/* The client ends after so many more requests: they and all others fail. UINT32_MAX: never. */
extern uint32_t client_requests_left;
