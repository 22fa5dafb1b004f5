/*
 * Communicators as they are made (comm.c), for all the calls that make one.
 *
 * What a program attaches to one is known to files that only those programs have that use it: their functions are named
 * weakly here, so NULL where there is nothing of that kind.
 */
#pragma once

#include "libpio/mpi/collectives/collectives.h"

#define COMMS_WORDS (COMMS_MAX / 32)
#define COMMS_NONE  (-1)

/* The numbers that are free here, as a set of bits; the lowest of a set, or COMMS_NONE. */
void comms_list_free(int set[COMMS_WORDS]);
int comms_lowest(const int set[COMMS_WORDS]);

/* While an agreement is under way that begins with comms_list_free and does not end by comms_reserve, no number that is
 * free may be reserved. */
void comms_hold(bool holds);

/* Keeps a number from everybody, or no longer; false: it is not free. */
bool comms_reserve(int number, bool keeps);

/* All members of a communicator agree on as many numbers as the new one needs, one, or two for an intercommunicator.
 * A class. */
int comms_agree(struct mpi_comm *c, int number[2], bool two);
/* Members of a group do; a result of collect.h. */
int comms_agree_in(struct group *g, int type, int *number);

/* Makes a communicator of that number with these ranks of MPI_COMM_WORLD, or with the parent's group if it is NULL.
 * Takes the parent's error handler. A class. */
int comms_make(const struct mpi_comm *parent, int number, const int *world_rank, int size, struct mpi_comm **made);
/* Enters one whose group is made, under its number. */
void comms_enter(struct mpi_comm *c, const struct mpi_comm *parent, int number);

/* What MPI_Comm_dup, _create and _split make of intracommunicators; the first of any. Classes. *made is NULL where this
 * process is not in a new one. */
struct mpi_group;
int comms_dup(struct mpi_comm *c, struct mpi_comm **made);
int comms_create(struct mpi_comm *c, const struct mpi_group *g, struct mpi_comm **made);
int comms_split(struct mpi_comm *c, int color, int key, struct mpi_comm **made);
/* Drops one that was made, and that nobody has used. */
void comms_drop(struct mpi_comm *c);

static inline int comms_no_memory(long size)
{
    return mpi_error(MPI_ERR_NO_MEM, "no memory for a communicator of %ld", size, 0);
}

/* The new communicator's handle for the program, or MPI_COMM_NULL; returns the error. */
static inline int comms_give(int error, const struct mpi_comm *made, MPI_Comm *newcomm)
{
    *newcomm = error == MPI_SUCCESS && made ? made->handle : MPI_COMM_NULL;
    return error;
}

/* The sizes, and the own group, of any communicator. */
static inline const struct group *comms_own_group(const struct mpi_comm *c)
{
    return c->local ? &c->local->group : &c->group;
}

/* Attributes (attribute_calls.c): copied with a communicator, and deleted with it. Classes. */
int attributes_copy(const struct mpi_comm *from, struct mpi_comm *to) __attribute__((weak));
int attributes_delete(struct mpi_comm *c) __attribute__((weak));

/* Those of topologies and intercommunicators, which the first one that is made sets. Classes. */
struct comms_hooks {
    int (*copy_topology)(const struct mpi_comm *from, struct mpi_comm *to);
    void (*free_topology)(struct mpi_comm *c);
    /* a set of numbers becomes those that are free on the other side, too */
    int (*inter_agree)(struct mpi_comm *c, int set[COMMS_WORDS]);
    int (*inter_dup)(struct mpi_comm *c, const int number[2], struct mpi_comm **made);
    int (*inter_create)(struct mpi_comm *c, MPI_Group group, struct mpi_comm **made);
    int (*inter_split)(struct mpi_comm *c, int color, int key, struct mpi_comm **made);
};
extern struct comms_hooks comms_hooks;

/* Of a duplicate: what is attached is copied; after an error there is no duplicate. */
int comms_copy_attached(const struct mpi_comm *from, struct mpi_comm **made);
