/*
 * A job: one parallel program on a subcube of its own, from its load to the exit of its last node. It carries the
 * program's standard streams, serves the files of one host folder to it, notes how its nodes end, and ends all when one
 * fails.
 *
 *   new --job_load--> loaded --N_EXIT of every node--> ended          (a fault, a failed load: N_KILL to the others)
 *
 * A program that serves the others (ncc -Nserves) is not waited for: when only such ones are left, they are ended.
 *
 * Several programs may share the subcube. Each gets consecutive logical nodes, in the order of the programs. A program
 * without a number of nodes gets an equal share of those that the others leave; where that does not divide, the first
 * ones get one more. If all have a number, fewer nodes than the subcube's may be enough: the last ones stay empty.
 *
 * In a pipeline, a program and those behind it that are not piped have a subcube of their own in the job's, a stage:
 * the job has the smallest subcube in which all stages fit. A stage numbers its nodes from 0; its standard output is
 * the next one's standard input (struct load_pipes in vertex/contract/system.h). The job's status is the last stage's.
 *
 * A hosted job begins without a program: a host program loads some on its nodes (hosted.h), and keeps the subcube when
 * they have ended, until it lets go.
 *
 * Where other jobs must not wait, a request for a standard stream that is not ready is held until it is (job_resume).
 * Requests for one stream are answered in the order of their arrival.
 */
#pragma once

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "emu/hostfs/hostfs.h"
#include "emu/hostfs/lines.h"
#include "emu/job/loader.h"
#include "emu/hostfs/streams.h"
#include "emu/network/topo.h"

#define JOB_PROGRAMS_MAX 64u

enum job_status_rule {
    JOB_STATUS_HIGHEST, /* of the nodes' statuses */
    JOB_STATUS_FIRST,   /* of the node that exits first */
    JOB_STATUS_NODE0,
};

struct job_program {
    const char *path;
    const char *file;  /* where it is read, if not at `path`, which is then its name only; or NULL */
    char *const *argv; /* argv[0 .. argc-1] */
    int argc;
    uint32_t nodes;                /* 0: an equal share of those that are left */
    bool piped;                    /* it reads what the program before it writes, and has a subcube of its own ... */
    uint32_t dim;                  /* ... of this dimension. Of the first program, too, if others are piped */
    const struct elf_image *image; /* the program, read already; the job frees what it has. NULL: job_new reads it */
};

struct job_options { /* what it points to outlives the job */
    uint32_t dim;    /* of the subcube */
    const struct job_program *program;
    uint32_t programs;
    const char *serve;                            /* host folder that the programs may reach, NULL: none */
    uint64_t stack_bytes, heap_bytes, comm_bytes; /* 0: as the programs' notes say, or the default */
    enum job_status_rule status_rule;
    bool label;                  /* lines of output begin with their node */
    bool registers;              /* a fault prints them */
    bool waits;                  /* for a free subcube (boot.c) */
    bool hosted;                 /* no programs */
    bool keeps_going;            /* the standard streams never wait (streams.h) */
    int in, out, err;            /* the standard streams' descriptors */
    struct recording *recording; /* of the run; NULL: none */
};

struct job_ops {
    /* Sends a message from the front end; the bytes are copied before it returns. */
    void (*send)(void *ctx, uint32_t to, uint32_t tag, const void *bytes, size_t n);
    /* True when a signal has asked ncube to end; a wait for a standard stream then gives up. NULL: never. */
    bool (*interrupted)(void *ctx);
    /* Held request number `place` of a job, from 0 on, is about to be answered. NULL: nobody wants to know. */
    void (*resumes)(void *ctx, uint32_t id, uint32_t place);
};

struct held_request;
struct hosted;
struct lives;

struct job_part { /* one program of the job */
    struct elf_image image;
    uint32_t stage; /* of its pipeline */
    int fd;         /* the program, open for where.h; -1: it could not be opened */
};

struct job {
    TAILQ_ENTRY(job) entry; /* in the front end's list */
    uint32_t id;
    struct job_options options;
    const struct job_ops *ops;
    void *ctx;
    /* the subcube: base .. base + nodes - 1, nodes = 2^dim */
    uint32_t base, nodes;
    uint32_t idle;          /* nodes that no program has from the beginning */
    struct load_part *part; /* options.programs of them */
    struct job_part *own;
    uint32_t stages;
    /* files and streams */
    struct streams streams;
    struct lines lines;
    struct hostfs *files;
    TAILQ_HEAD(, held_request) held; /* requests that wait for a stream, oldest first */
    struct lives *lives;             /* which nodes have exited, and programs that the program loads */
    struct hosted *hosted;           /* what a host program has with it; NULL: none */
    /* life */
    bool loaded;
    bool killed;       /* N_KILL was sent to all that had not exited, */
    bool dismissed;    /* because only programs were left that serve the others */
    bool failed;       /* a node faulted or was killed, or the load failed: the status is 1 */
    bool faulted;      /* a node did */
    bool told;         /* the line that says why it failed has been printed */
    char *why;         /* that line; NULL: it has not been printed, or there was no memory */
    bool lost;         /* messages of its load did not arrive */
    int *exit_status;  /* by logical node that has exited: its status, or -1 if it was ended and has none */
    uint32_t failures; /* exits with a status other than 0; first_failed is the node of the first one */
    uint32_t first_failed;
    bool status_known; /* some node has exited */
    int status;        /* by the rule, of the nodes that have exited */
    int end_status;    /* used in place of status if not 0 */
};

/* Makes a job for the subcube at `base`, of a dimension that the machine has; sends nothing. Checks the programs
 * (exist, ELF, RISC-V 64, executable, fit a node's memory), their arguments, their numbers of nodes, and the folder.
 * The process must ignore SIGPIPE (signals.h). 0, and the caller calls job_free; or -1 with one clear line in error. */
int job_new(struct job **job, uint32_t id, uint32_t base, const struct topo *topo, const struct job_options *o,
            const struct job_ops *ops, void *ctx, char *error, size_t error_bytes);
void job_free(struct job *j);

/* Computes how many of `nodes` nodes each program gets. Returns 0, or -1 with one line in error: the programs want more
 * nodes than that. The last nodes may stay idle. */
int job_share_nodes(const struct job_program *program, uint32_t programs, uint32_t nodes, uint32_t *share, char *error,
                    size_t error_bytes);

/* Whether one of the programs reads what another one writes. */
bool job_is_pipeline(const struct job_program *program, uint32_t programs);
/* Returns the dimension of the smallest subcube of so many nodes. */
uint32_t job_dimension_of_nodes(uint64_t nodes);
/* Returns the dimension of the smallest subcube in which the stages of a pipeline have theirs; `dim` if the programs
 * are no pipeline. More than NODE_MAX_DIM: there is no such subcube. */
uint32_t job_dimension(const struct job_program *program, uint32_t programs, uint32_t dim);

/* Sends the load. False, with a line for the user and nothing sent, if there is no memory for it. */
bool job_load(struct job *j, const struct load_volume *volume, uint32_t volumes, const char *striped,
              uint32_t striped_bytes);

/* True if the node, by its address, is in the job's subcube. */
bool job_has_node(const struct job *j, uint32_t node);
/* True if the node is in the job's subcube and has not exited. */
bool job_awaits_node(const struct job *j, uint32_t node);
/* Asks all nodes that have not exited to end, as the job has failed. */
void job_kill(struct job *j);
/* The same where it has not. */
void job_dismiss(struct job *j);
/* True when every node has exited, or none was loaded and the job was killed. */
bool job_has_ended(const struct job *j);
/* The exit status for the shell: by the rule; 1 after a fault or a failed load. */
int job_status(const struct job *j);
/* Returns the exit status of a job that has ended and whose output has been written. If output was lost after the write
 * had been answered, prints a line and counts that as a failure; if its reader has closed it, the job counts as ended
 * by SIGPIPE. */
int job_conclude(struct job *j);

/* Handle messages from a node of the job. NULL, or why the message is refused; then nothing has changed. */
const char *job_receive_exit(struct job *j, uint32_t from, const uint8_t *bytes, size_t n);
const char *job_receive_request(struct job *j, uint32_t from, uint32_t tag, const void *bytes, size_t n);

/* Drops the held requests of a process that no longer waits. JOB_ANY as the node or process means all of them. */
#define JOB_ANY UINT32_MAX
void job_drop_requests(struct job *j, uint32_t node, uint32_t procid);

/* Counts a node as ended because no path to it works: it can neither be asked to end nor report its end. */
void job_lose_node(struct job *j, uint32_t node);
/* Ends all nodes because a message of the load could not reach `node`, the first one of its part. */
void job_fail_load(struct job *j, uint32_t node);

/* Answers held requests and writes output for which the streams are ready now. */
void job_resume(struct job *j);
/* Answers the held request at that place, whether its stream is ready or not. False if there is none. */
bool job_resume_at(struct job *j, uint32_t place);
/* True if a request waits for a stream. */
bool job_holds_requests(const struct job *j);
/* Fills p, of STREAMS entries, with the descriptors for which the job waits. Returns how many. */
size_t job_poll_streams(const struct job *j, struct pollfd *p);

/* Describes how a node of the job has ended, as "has ended with status 3". False if it has not, or if
 * no program has been on it. */
bool job_describe_end(const struct job *j, uint32_t node, char *text, size_t bytes);
/* Describes the first exit with a status other than 0, by which the waits of other nodes may be explained. False if
 * there was none, or its node has another program now. */
bool job_describe_failure(const struct job *j, char *text, size_t bytes);
/* Returns the path of a node's program, and in *fd its file, which stays the job's; -1: it is not open. */
const char *job_program_file(const struct job *j, uint32_t logical, int *fd);
/* Returns the name of a node's program, and its PE, if that program has a subcube of its own in the job; else NULL. */
const char *job_program_at(const struct job *j, uint32_t node, uint32_t *number);
/* Describes the wait of a node for a message of that kind (enum pipe_kind) of a pipe, by the name of the program at the
 * other end. False if that is not known. */
bool job_describe_pipe(const struct job *j, uint32_t node, uint32_t pipe, uint32_t kind, char *text, size_t bytes);
/* Describes in one line, for the deadlock report, what the job waits for. */
void job_describe_wait(const struct job *j, char *text, size_t bytes);
