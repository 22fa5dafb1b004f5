/*
 * Sleeping until MPI has something, for a process that waits. Open MPI itself only looks again and again.
 *
 * Where it speaks TCP, something has come when one of its sockets can be read: a process sleeps for those.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* Asks Open MPI for TCP alone, over IPv4, before it begins, unless the user has said what it is to speak (OMPI_MCA_btl,
 * OMPI_MCA_pml), or this host has no network but loopback, which Open MPI leaves out. */
void ranks_sockets_ask(void);

/* Finds this process's sockets. To be called when MPI has connected all processes. */
void ranks_sockets_find(void);

/* Returns a name of connection k, from 0 on, the same at both ends; 0: there are no more. */
uint64_t ranks_sockets_name(uint32_t k);
/* Says which rank, more than 0, is at the other end of connection k. */
void ranks_sockets_belongs(uint32_t k, uint32_t rank);
/* Returns a rank whose connection with this process has ended, as a sleep has found; 0: there is none. */
uint32_t ranks_sockets_lost(void);

/* Sleeps until a socket or fd (-1: none) can be read, at most for limit_us, or a signal comes. Returns false, at once,
 * if Open MPI speaks something else. */
bool ranks_sockets_sleep(int fd, unsigned limit_us);
