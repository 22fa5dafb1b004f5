/* What waits for a volume, and is done on its fiber (loop.h): a request of a file, or other work. */
#pragma once

#include <sys/queue.h>

#include "nsdisk/serve/arrival.h"

struct aside;
struct everywhere;
struct volume;
struct job;

/* A request's place among those that are not answered, which are in order of arrival: a client gets its replies in
 * order. */
struct ticket {
    TAILQ_ENTRY(ticket) next;
    int from;
};

/* Other work than a request of a file: `run` does it on the volume's fiber, and the job is then no longer in use. */
struct work {
    void (*run)(struct volume *v, struct job *j);
};

struct job {
    STAILQ_ENTRY(job) next;
    union {
        struct ticket ticket;   /* of a request of a file */
        struct everywhere *all; /* that this is a part of */
    };
    struct volume *volume; /* NULL: free */
    struct arrival a; /* of a request in the landing area, a parking place or the volume's area; else without bytes */
    const struct work *work; /* NULL: the request */
    struct aside *aside;     /* its record, on a volume that puts reads aside (loop_aside.c); else NULL */
};
STAILQ_HEAD(job_queue, job);
