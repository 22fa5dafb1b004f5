/*
 * A job: one parallel program on a subcube of its own, from its load to the exit of its last node. It carries the
 * program's standard streams, serves it files of one host folder, notes how its nodes end, and ends all when one fails.
 *
 *   new --job_load--> loaded --N_EXIT of every node--> ended          (a fault, a failed load: N_KILL to the others)
 *
 * Several programs may share the subcube: each gets consecutive logical nodes, in the order in which they are given; a
 * program that does not say how many gets an equal share of what the others leave, the first ones one more if it does
 * not divide.
 *
 * A request for a standard stream that is not ready is held until it is (job_resume), if other jobs must not wait for
 * it; requests for one stream are answered in the order in which they came.
 */
#ifndef NCUBE_JOB_H
#define NCUBE_JOB_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "emu/front/hostfs.h"
#include "emu/front/lines.h"
#include "emu/front/loader.h"
#include "emu/front/streams.h"
#include "emu/model/topo.h"

#define JOB_PROGRAMS_MAX 64u

enum job_status_rule {
    JOB_STATUS_HIGHEST, /* of the nodes' statuses */
    JOB_STATUS_FIRST,   /* of the node that exits first */
    JOB_STATUS_NODE0,
};

struct job_program {
    const char *path;
    char *const *argv; /* argv[0 .. argc-1] */
    int argc;
    uint32_t nodes; /* 0: a share */
};

struct job_options { /* what it points to outlives the job */
    uint32_t dim;    /* of the subcube */
    const struct job_program *program;
    uint32_t programs;
    const char *serve;                            /* host folder that the programs may reach, NULL: none */
    uint64_t stack_bytes, heap_bytes, comm_bytes; /* 0: as the programs' notes say, or the default */
    enum job_status_rule status_rule;
    bool label;       /* lines of output begin with their node */
    bool registers;   /* a fault prints them */
    bool waits;       /* for a free subcube (boot.c) */
    bool keeps_going; /* nothing waits for the standard streams (streams.h) */
    int in, out, err; /* the standard streams' descriptors */
};

struct job_ops {
    /* Sends a message from the front end; the bytes are copied before it returns. */
    void (*send)(void *ctx, uint32_t to, uint32_t tag, const void *bytes, size_t n);
    /* True when ncube was told to end: a wait for a standard stream then gives up. NULL: never. */
    bool (*interrupted)(void *ctx);
};

struct held_request;
struct lives;

struct job_part { /* what one program of the job needs */
    struct elf_image image;
    int fd; /* of the program, for where.h; -1: none */
};

struct job {
    TAILQ_ENTRY(job) entry; /* in the front end's list */
    uint32_t id;
    struct job_options options;
    const struct job_ops *ops;
    void *ctx;
    /* the subcube: base .. base + nodes - 1, nodes = 2^dim */
    uint32_t base, nodes;
    struct load_part *part; /* options.programs of them */
    struct job_part *own;
    /* files and streams */
    struct streams streams;
    struct lines lines;
    struct hostfs *files;
    TAILQ_HEAD(, held_request) held; /* requests that wait for a stream, oldest first */
    struct lives *lives;             /* which nodes have exited, and programs that the program loads */
    /* life */
    bool loaded;
    bool killed;       /* N_KILL was sent to all that had not exited */
    bool failed;       /* something ended as it should not: the status is 1 */
    bool told;         /* the user has been told why */
    bool lost;         /* messages of its load did not arrive */
    int *exit_status;  /* by logical node that has exited: its status, or -1 if it was ended and has none */
    bool status_known; /* some node has exited */
    int status;        /* so far, by the rule */
    int end_status;    /* instead of it, if not 0 */
};

/* A job for the subcube at `base`, of a dimension that the machine has. Checks the programs (exist, ELF, RISC-V 64,
 * executable, fit a node's memory), their arguments, the nodes they want, and the folder. Nothing is sent. SIGPIPE
 * must be ignored by the process (signals.h). 0, and job_free is the caller's; or -1 with one clear line in error. */
int job_new(struct job **job, uint32_t id, uint32_t base, const struct topo *topo, const struct job_options *o,
            const struct job_ops *ops, void *ctx, char *error, size_t error_bytes);
void job_free(struct job *j);

/* How many nodes each program gets. 0, or -1 with one line: more are wanted than there are, or some would be left
 * over. */
int job_share_nodes(const struct job_program *program, uint32_t programs, uint32_t nodes, uint32_t *share, char *error,
                    size_t error_bytes);

/* Sends the load. False, with a line for the user, when there is no memory for it: no node has heard of the job
 * then. */
bool job_load(struct job *j, const struct load_volume *volume, uint32_t volumes);

bool job_has_node(const struct job *j, uint32_t node);
/* A node of the job that has not exited. */
bool job_awaits_node(const struct job *j, uint32_t node);
/* Ends all nodes. */
void job_kill(struct job *j);
/* True when every node has exited, or none was loaded and the job was killed. */
bool job_has_ended(const struct job *j);
/* For the shell: by the rule; 1 for a fault or a failed load. */
int job_status(const struct job *j);
/* The same when it has ended and its output has gone out. Output that was lost after its node had been told that it was
 * written is told here, and is a failure; where its reader has gone away, it is an end by SIGPIPE. */
int job_conclude(struct job *j);

/* Messages from a node of the job. Return NULL, or why they refuse it; they have then changed nothing. */
const char *job_receive_exit(struct job *j, uint32_t from, const uint8_t *bytes, size_t n);
const char *job_receive_request(struct job *j, uint32_t from, uint32_t tag, const void *bytes, size_t n);

/* Drops the held requests of a process (JOB_ANY: of any) on a node (JOB_ANY: on any): nobody waits for an answer. */
#define JOB_ANY UINT32_MAX
void job_drop_requests(struct job *j, uint32_t node, uint32_t procid);

/* There is no way to a node: it cannot be told to end, nor tell of its end, and counts as ended. */
void job_lose_node(struct job *j, uint32_t node);
/* A message of the load could not reach the first node of its part: ends all. */
void job_fail_load(struct job *j, uint32_t node);

/* Does what the streams are ready for now. */
void job_resume(struct job *j);
/* True if a request waits for a stream. */
bool job_holds_requests(const struct job *j);
/* What the job waits for on the host; fills at most STREAMS entries, returns how many. */
size_t job_poll_streams(const struct job *j, struct pollfd *p);

/* How a node of the job has ended, as "has ended with status 3", if it has. */
bool job_describe_end(const struct job *j, uint32_t node, char *text, size_t bytes);
/* For the deadlock report, one line. */
void job_describe_wait(const struct job *j, char *text, size_t bytes);

#endif
