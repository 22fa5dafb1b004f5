/*
 * The nodes that emulate VPs, and how they come to one decision [P4 5.2].
 *
 * Every collective call begins with one reduction. It tells each node whether all make the same call, whether one has
 * an error, and what is common to all VPs; it is the call's barrier, too. Nodes in different calls all get EPROTO, and
 * nothing has changed. If one of them is in exit(), it comes to no later call: then every later one fails at once.
 *
 * star_nodes.c stands on <group.h>; what it takes of <nself.h> is in star_modes.c.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "libpio/group/group.h"

enum star_call {
    STAR_OPEN = 1,
    STAR_CLOSE,
    STAR_WRITE,
    STAR_READ,
    STAR_SEEK,
    STAR_FLUSH,
    STAR_REMOVE,
    STAR_STEP, /* within a call */
    STAR_EXIT,
};

/* What a node brings. After the reduction: the slowest mode, least and greatest of the rest, the worst error. */
struct star_vote {
    enum star_call call;
    int fd;                    /* of the file; of a name, a sum */
    int error;                 /* 0, or a negative errno */
    int mode;                  /* enum cs_mode: the greatest counts */
    bool has_vps;              /* else `bytes` is not this node's */
    int64_t bytes, bytes_most; /* of each VP of this node, or a target */
    int64_t good;              /* the least counts */
    bool has_ib;               /* of one is that of all */
};

extern struct group star_group; /* size 0: before cs_init */

/* Returns the worst error: the call's, EPROTO, or that of a message; or 0. *vote becomes what all have. */
int star_agree(struct star_vote *vote);

/* The same within a call, of an error only. */
int star_agree_on(int error);

/* What takes scalar files away when CS_EACH begins, and brings them back when it ends; NULL: there are none. */
extern void (*star_scalar_files)(bool are_usable);

/* ---- star_scalar.c ---- */

/* From here on there may be scalar files; this is one, also where there is only one node. */
void star_scalar_watch(void);
void star_scalar_mark(FILE *f);

/* ---- star_modes.c ---- */

/* Makes star_group of `nodes` nodes from `first` on, 0, 0: all; where they are not all, and `nself` their domain. 0; 1:
 * this node is none of them; or a negative errno. */
int star_modes_begin(int first, int nodes);

/* From here on this node's calls about files are its own; those of all again. */
void star_modes_local(void);
void star_modes_global(void);
