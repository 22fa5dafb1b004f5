/*
 * Private to recording*.c.
 *
 *   recording_read.c  ----> recording.c  ----> recording_replies.c  ----> recording_entries.c
 *   recording_kept.c  ---->              ----> recording_acts.c     ---->
 *
 * Each calls only those behind it.
 */
#pragma once

#include <sys/queue.h>

#include "emu/base/new_file.h"
#include "emu/record/recording.h"

#define RECORDING_TABLE  "replies/%06u.json" /* [node, process, type, check, status, bytes, offset], ... */
#define RECORDING_DATA   "replies/%06u.data" /* the bytes that the table's offsets count, those before included */
#define RECORDING_SERVED "served/%s"         /* by SHA-256 */

struct unusual {
    uint64_t call;
    int64_t result;
    int reason;
};

struct recorded_calls {
    SLIST_ENTRY(recorded_calls) entry;
    struct recording *of;
    char *name;
    uint64_t calls; /* that have been made */
    uint64_t noted; /* in all machines of a kept recording */
    void *held;
    void (*release)(void *what);
    struct unusual *unusual;
    size_t n, room;
    size_t taken;
    uint64_t gone, shown; /* bytes of output so far, and those that an earlier run has shown */
};

struct recorded_input {
    SLIST_ENTRY(recorded_input) entry;
    char *name;
    struct recording *of;
    uint8_t *bytes;
    size_t n, room, taken;
    bool ended; /* kept: the host has no more, */
    int32_t error;
};

struct recorded_reply {
    struct recorded_request request;
    int32_t status;
    uint32_t bytes;
    uint64_t at;
};

struct piece;
struct known_data; /* where data is that other replies have, too */

struct replies {
    struct recorded_reply *reply; /* written: those of the present piece */
    size_t n, room;
    size_t taken;
    uint8_t *data; /* written: of the present piece */
    size_t data_bytes, data_room;
    uint64_t data_before; /* bytes of data in the pieces before */
    uint32_t pieces;
    int fd;              /* read or kept: all data, in memory */
    struct piece *piece; /* that is being packed; NULL: none */
    struct known_data *known;
    size_t known_n, known_room;
    uint64_t all; /* replies, in all pieces */
    bool lost;    /* kept: there was no memory */
};

struct recording {
    bool replayed, let_go;
    bool kept_in_memory;
    uint64_t most_bytes, kept_bytes, reached_cycles; /* of a kept one */
    int *program;                                    /* kept: a copy of each that was opened, -1: none */
    size_t programs, programs_room;
    char *departure;
    SLIST_HEAD(, recorded_calls) calls;
    struct recorded_signal *signal;
    size_t signals, signals_room, signals_taken;
    struct replies replies;
    SLIST_HEAD(, recorded_input) inputs;
    json_t *moments; /* [cycles, [act, ...]], ... */
    size_t moments_taken;
    uint64_t moment_cycles; /* written: of the present one, */
    bool moment_has_acts;   /* which is in the list already */
    json_t *kept;           /* written: names of files that were kept */
    json_t *served;         /* SHA-256 or null, in the order in which they were opened */
    size_t served_taken;
    /* to be written */
    const char *path;
    struct new_file file;
    struct container *pack; /* NULL: not open, or it has failed */
    bool failed;
    char error[ERROR_LINE_BYTES];
    /* that has been read */
    int read_fd; /* of its file; -1: none */
    struct unpacked entries;
    json_t *about, *end;
};

/* Adds an entry of bytes, unless writing has failed. */
void recording_add(struct recording *r, const char *name, const void *bytes, size_t n);

/* Notes the first failure of writing. */
void recording_judge(struct recording *r, int result);

/* recording_replies.c. Whoever adds an entry, or looks whether writing has failed, settles the replies before. */
void replies_settle(struct recording *r);
void replies_flush(struct recording *r);
int replies_read(struct recording *r, char *error);
void replies_free(struct replies *s);

/* recording_acts.c. Adds the inputs that were noted. */
void acts_add_inputs(struct recording *r);
void acts_free(struct recording *r);
