/*
 * The loop's data, for its parts: loop.c receives requests and runs fibers, loop_families.c gives requests to their
 * families, loop_disk.c starts commands and waits for them.
 */
#ifndef NSDISK_LOOP_STATE_H
#define NSDISK_LOOP_STATE_H

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
#define PARKED_LEAST   (sizeof(struct file_request) + 2 * FILE_NAME_MAX_BYTES)

/* A request to all volumes. */
struct everywhere {
    struct ticket ticket;
    struct arrival a; /* without bytes */
    uint32_t seq;
    uint32_t left; /* parts that are not done; 0: free */
    int64_t status;
};

struct volume {
    struct loop *loop;
    uint32_t drive;
    struct job_queue waiting;
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
    struct job job[JOBS];
    TAILQ_HEAD(, ticket) unanswered;
    struct job_queue free_jobs;
    uint32_t jobs_free;
    uint8_t *parking[LOOP_PARKED]; /* the free places */
    uint32_t parking_free;
    struct everywhere everywhere[EVERYWHERE_MAX];
    struct blockdev_command *command[DISK_COMMANDS_MAX]; /* by number; NULL: none */
    uint32_t under_way;
    bool ended; /* some have, and the families were not told */
    struct loop_statistics statistics;
    struct replies replies;
    uint64_t short_reply[SERVE_REPLY_MIN_BYTES / sizeof(uint64_t)];
    void *family[FAMILIES_MAX]; /* the states of `families`; NULL: no memory, or none */
};

/* ---- loop_families.c ---- */

/* Gives a request to its family, or refuses it. False: the family has no room for it until a command that is under way
 * is done. */
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

#endif
