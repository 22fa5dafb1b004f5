/*
 * The loop's data, for its parts: loop.c receives requests and runs fibers, loop_aside.c has those that wait without a
 * fiber, loop_families.c gives requests to their families, loop_disk.c starts commands and waits for them.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nsdisk/serve/arrival.h"
#include "nsdisk/serve/family.h"
#include "nsdisk/serve/fiber.h"
#include "nsdisk/serve/job.h"
#include "nsdisk/serve/loop.h"
#include "vertex/contract/proto.h"

#define EVERYWHERE_MAX 8u                                                /* requests to all volumes at once */
#define JOBS           (LOOP_PARKED + 1 + EVERYWHERE_MAX * SERVE_DRIVES) /* parked, landing, parts */

/* A request to all volumes. */
struct everywhere {
    struct ticket ticket;
    struct arrival a; /* without bytes */
    uint32_t seq;
    uint32_t left; /* parts that are not done; 0: free */
    int64_t status;
    bool late; /* all are done, and an earlier request of the client is not answered */
};

TAILQ_HEAD(asides, aside);

struct volume {
    struct loop *loop;
    uint32_t drive;
    struct job_queue waiting;
    bool sets_aside;
    bool ended;             /* a command of its drive has ended since the cache was asked to take that in */
    struct asides aside;    /* reads that wait, */
    struct job_queue ready; /* and those that need no longer */
    uint8_t *area;
    bool busy;                             /* a request is being served, */
    int type;                              /* of this type; with DISK_CHANGES until it has written */
    bool leaving;                          /* the fiber waits */
    bool turn;                             /* ... until an earlier request is answered; else for a command: */
    const struct blockdev_command *awaits; /* NULL: for any */
    bool go_on;                            /* ... and need no longer */
    uint64_t short_reply[SERVE_REPLY_MIN_BYTES / sizeof(uint64_t)];
    struct fiber fiber;
};

struct loop {
    struct server *server;
    struct loop_node node;
    uint32_t drives;
    size_t area_bytes, parked_bytes;
    uint8_t *memory;  /* of areas, parking places and stacks */
    uint8_t *landing; /* area */
    bool held;        /* a request waits there */
    bool closing;     /* N_SHUTDOWN has come */
    struct volume volume[SERVE_DRIVES];
    struct volume *running; /* whose fiber runs; NULL: none */
    struct job *job;        /* [jobs] */
    uint32_t jobs;
    struct job own_job[JOBS];
    TAILQ_HEAD(, ticket) unanswered;
    struct job_queue free_jobs;
    uint32_t jobs_free;
    uint8_t *parking[LOOP_PARKED]; /* the free places */
    uint32_t parking_free;
    struct everywhere everywhere[EVERYWHERE_MAX];
    struct blockdev_command *command[DISK_COMMANDS_MAX]; /* by number; NULL: none */
    uint8_t drive_of[DISK_COMMANDS_MAX];
    struct aside *asides;       /* [jobs], one for each; NULL: no volume puts reads aside */
    struct asides held_replies; /* short ones */
    uint32_t turns;             /* replies, requests aside and requests to all volumes that wait for their turn */
    struct later *laters;
    STAILQ_HEAD(, later) later, free_later; /* in order; not in use */
    uint32_t under_way;
    bool ended; /* some have, and the families were not told */
    struct loop_statistics statistics;
    struct replies replies;
    uint64_t short_reply[SERVE_REPLY_MIN_BYTES / sizeof(uint64_t)];
    void *family[FAMILIES_MAX]; /* the states of `families`; NULL: no memory, or none */
};

/* A command that Vertex has no place for yet. */
struct later {
    STAILQ_ENTRY(later) next;
    struct volume *volume;
    struct blockdev_command *command;
    bool write;
    uint64_t sector;
    void *buf;
    uint32_t sectors;
    int type;
};

/* ---- loop_jobs.c ---- */

/* Whether no request of the client that is not answered came before. */
bool loop_is_first_of_client(const struct loop *l, const struct ticket *t);
void loop_free_job(struct loop *l, struct job *j);
/* Frees what the request's bytes lie in. */
void loop_free_bytes(struct loop *l, struct job *j);

/* ---- loop_aside.c ---- */

/* Makes records for the volumes that put reads aside, if there are any. Without memory they serve as others do. */
void aside_begin(struct loop *l);
void aside_free(struct loop *l);
/* A new job of a volume that does. */
void aside_take(struct loop *l, struct job *j);
/* Keeps a short request in its record. False: it is too long. */
bool aside_keep(struct job *j);
/* The next job of such a volume; NULL: none can be begun. */
struct job *aside_next(struct volume *v);
/* Puts a job aside that has to wait for its turn. */
bool aside_put(struct volume *v, struct job *j);
/* Carries a request out, as arrival_serve. False: it is a read that has to wait for the drive, and is put aside. */
bool aside_serve(struct volume *v, struct job *j, void **reply, size_t *n);
/* Whether the volume has a job of that client aside. */
bool aside_has(const struct volume *v, int from);
/* Holds a short reply back. */
void aside_hold(struct loop *l, struct job *j, const void *reply, size_t n);
/* A job has been carried out, and is free as soon as its reply has left: the client's next ones wait again. */
void aside_end(struct volume *v, struct job *j);
/* A request of that client has been answered: what waited for that goes on. */
void aside_turn(struct loop *l, int from);
/* Takes in what commands of the volume's drive have brought. */
void aside_take_in(struct volume *v);
bool aside_is_idle(const struct loop *l);

/* ---- loop_families.c ---- */

/* Gives a request to its family, or refuses it. False: the family has no room for it until fibers have run, or a
 * command that is under way is done. */
bool families_take(struct loop *l, const struct arrival *a);
void families_begin(struct loop *l);
void families_client_ended(struct loop *l, int from);
void families_commands_ended(struct loop *l);
void families_shut_down(struct loop *l);
void families_free(struct loop *l);

/* ---- loop_disk.c ---- */

/* Takes one command that is done, if there is one or `wait`, and wakes the fibers that wait for it. */
bool loop_collect(struct loop *l, bool wait);

/* Leaves the fiber until go_on is set. */
void loop_leave(struct volume *v);
