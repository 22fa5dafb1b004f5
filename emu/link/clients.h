/*
 * The clients of a machine that is kept up (boot.h). Each runs one program, asks how the machine is, or lets it go
 * down.
 *
 * A client's life: accepted -> its job runs -> its job has ended -> its output is drained -> it gets the status, is
 * freed.
 *                     | LINK_DOWN: it gets the status when the machine is down
 *                     | no subcube is free, and it waits: its job runs when its turn comes
 * A host program's client has a job, too (hosts.h).
 *
 * When a client closes its link, its job is killed; the client is freed when the job has ended.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

#include "emu/machine/assemble.h"
#include "emu/link/hosts.h"
#include "emu/link/launch.h"
#include "emu/link/link.h"

struct client {
    LIST_ENTRY(client) entry;
    int fd;         /* -1: it has disconnected */
    pid_t pid;      /* of its process */
    uint32_t job;   /* 0: none */
    double began_s; /* the machine's virtual time then */
    bool wants_down;
    uint64_t turn; /* its place among the clients that wait for a subcube, lowest first; 0: it does not wait */
    struct link_message message; /* with the launch's strings and the streams */
    struct launch launch;
    struct host host;
};

struct clients {
    struct machine *machine; /* outlives its clients' jobs */
    const char *name;        /* under which clients find it */
    LIST_HEAD(, client) list;
    int listening;  /* descriptor; -1: none */
    int spare;      /* a descriptor for link_turn_away; -1: none */
    bool deaf;      /* the host has no descriptor for a client now, so the listening one is not polled */
    bool announced; /* the machine has been up */
    uint64_t last_turn;
};

/* Lets clients connect to the machine, which is configured, under that name. Returns -1, with a line in m->error, if
 * the name cannot be had. */
int clients_open(struct clients *all, struct machine *m, const char *name);
/* Accepts the clients that have connected, and does what clients ask for. */
void clients_listen(struct clients *all);
/* Tells the clients whose jobs have ended their status, and frees them. */
void clients_finish(struct clients *all);
/* Begins the jobs that wait, in their order, while there are subcubes for them. */
void clients_give_turns(struct clients *all);
/* Kills all jobs, refuses those that wait, and stops the front end. */
void clients_go_down(struct clients *all);
/* Lets no further client connect, and forgets the jobs. Nothing happens if clients_open has not been called and
 * `listening` and `spare` are -1. */
void clients_close(struct clients *all);
/* Frees the clients. Those that asked for the end get the status: they do so only when the whole machine is freed. */
void clients_free(struct clients *all, int status);
