/* A call of two_phase.h while it is carried out, and its turns: in each, every holder has one window of its part. */
#pragma once

#include "libpio/group/two_phase.h"

struct two_phase_range { /* of the file */
    int64_t from, to;
};

/* How far a holder came: the lowest file byte that was not moved, and why. */
struct two_phase_reach {
    int64_t file, error;
};

struct two_phase_call {
    bool writes;
    char *buf; /* the member's bytes, from byte `at` of its view on */
    int64_t at;
    struct two_phase_range *of;   /* [size]: what each member moves; */
    struct two_phase_range range; /* together */
    int64_t turns;
    int *mine, *theirs; /* [size]: bytes of a turn that are this member's with each holder, this holder's with each */
    struct two_phase_reach *reach; /* [size] */
    int *each;                     /* [size]: bytes of what members tell each other */
    char *packed, *held;           /* bytes of a turn, in the order of ranks; */
    int64_t packed_room, held_room;
    char *window;           /* of a holder: its bytes, */
    uint64_t *covered;      /* and which of them it has been given (covered.h) */
    struct plan *part_file; /* by_file: A: the file, B: this member's part */
    int64_t failed, error;  /* the lowest file byte that this holder could not move, and why; 0: the file's end */
};

/* Allocates the lists of members, unless they are there. False: no memory. */
bool two_phase_lists(const struct two_phase *t, struct two_phase_call *c);
/* Finds how many turns there are, and allocates what they need and is not there. -N_ENOMEM. */
int two_phase_window_open(struct two_phase *t, struct two_phase_call *c);
/* Allocates it for so many bytes of a turn that are this member's, and the holder's. */
int two_phase_window_reserve(struct two_phase *t, struct two_phase_call *c, int64_t mine, int64_t theirs);
void two_phase_window_close(struct two_phase_call *c);

/* The i-th turn. Errors of the store are noted in *c; those that are returned are of messages. */
int two_phase_turn(struct two_phase *t, struct two_phase_call *c, int64_t i);
