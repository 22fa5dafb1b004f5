/*
 * The servers of Clusterfile's files on an I/O node [P3 section 3.1]: the I/O servers of its volumes, and the metadata
 * manager on that of the metadata volume. One family of requests (nsdisk/serve/family.h);
 * vertex/contract/clusterfile.h has the protocol.
 *
 *   clf_server.c   takes and checks requests, answers them, hears of ends   -> all below
 *   clf_name.c     names in the metadata volume's tree, and layouts
 *   clf_rounds.c   collective reads and writes, which wait for each other
 *   clf_record.c   requests until they are answered
 *   clf_access.c   reads and writes of a part, plain or by a view
 *   clf_parts.c    parts, and clients' attachments to them
 *   clf_part.c     the files of parts on a volume
 *
 * All requests of a volume are carried out on its fiber, in order of arrival.
 *
 * A request for which there is no memory is not refused. The writes that wait for other members are carried out, as
 * they have the memory, and what is on fibers ends; if that does not help, the request is carried out where the message
 * lies, without waiting for anybody. Only one that belongs to a later call can neither wait nor be carried out: it is
 * to be sent again when the members have ended their call (-N_EAGAIN).
 *
 *   client -> attachment --.                            a client's, with its views
 *   client -> attachment ---+-> part -> private file    while it has an attachment, or something of it is under way
 *
 * A view shows a client those bytes of a part that it has of it [P3 section 6.3]: it is what N_FVIEW makes of a file
 * (nsdisk/serve/view.h), and reads and writes through it go the same way (view_read, merge_write_view).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

#include "nsdisk/ext2/ext2.h"
#include "nsdisk/serve/family.h"
#include "nsdisk/serve/serve.h"
#include "nsdisk/serve/view.h"
#include "vertex/contract/clusterfile.h"

#define CLF_FOLDER     ".clf" /* in a volume's root */
#define CLF_PATH_BYTES 64u    /* "/.clf/4294967295.4294967295/8191.255" */
#define CLF_REMOVED    64u    /* files that a volume remembers to have been removed */
#define CLF_ENDED      64u    /* members that a server remembers to have ended */

struct clf_part {
    struct family_work leave; /* has its file given back */
    LIST_ENTRY(clf_part) all;
    struct clf_server *clf;
    uint32_t drive, number; /* CLF_PART */
    uint64_t handle;
    struct ext2_inode *inode; /* one reference; NULL: there was no file, or nobody has asked */
    uint32_t refs;            /* attachments, */
    uint32_t managers;        /* and those of cache managers among them */
    bool leaving;             /* `leave` waits for the fiber */
};

struct clf_attachment {
    struct clf_part *part;
    int from;
    uint32_t id;
    uint32_t uses; /* requests under way, and 1 while the client has it */
    struct view *view[CLF_VIEWS];
    uint64_t group;            /* 0: none */
    uint32_t member;           /* its number there */
    uint32_t manager;          /* the node of a cache manager in its job, + 1; 0: it is none */
    bool done;                 /* it has no more requests of the group's call, */
    struct clf_record *record; /* its request in the group's round; if `done`, of the next call; or NULL */
    bool postponed;            /* there was no memory for that of the next call, */
    int postponed_type;        /* of this type */
    uint32_t postponed_seq;    /* and with this number */
};

/* A member of a group that has ended. */
struct clf_ended {
    uint64_t group;
    uint32_t member;
};

/* A request from its arrival until it is answered. */
struct clf_record {
    struct family_work work;
    LIST_ENTRY(clf_record) all;
    STAILQ_ENTRY(clf_record) next; /* in its round */
    struct clf_server *clf;
    struct clf_attachment *attachment; /* or NULL */
    int from, type;
    bool gone;               /* its client has ended: it is not answered */
    struct clf_round *round; /* in which it is; NULL: none, it waits for the next call */
    struct clf_request r;
    size_t n; /* bytes behind the request */
    uint8_t *data;
};

struct clf_server {
    struct loop *loop;
    LIST_HEAD(, clf_record) records; /* all that are not answered */
    uint32_t works;                  /* of this family on fibers */
    struct clf_record in_place;      /* that of a message for which there is no memory, and whose data stay in it */
    enum { CLF_NOT_IN_PLACE, CLF_IN_PLACE, CLF_WAS_IN_PLACE } in_place_is;
    LIST_HEAD(, clf_part) parts;
    LIST_HEAD(, clf_round) rounds;      /* that wait for a member's request, or are carried out */
    struct clf_attachment **attachment; /* [attachments] by id, modulo its length; NULL: free */
    uint32_t attachments;               /* 0, or a power of two */
    uint32_t attached;                  /* how many there are, */
    uint32_t ids;                       /* and have been */
    struct clf_ended ended[CLF_ENDED];  /* in turn: */
    uint32_t ends;
    struct {
        uint64_t handle[CLF_REMOVED];
        uint32_t count;
    } removed[SERVE_DRIVES];
};

/* A request that is carried out, on its volume's fiber. */
struct clf_call {
    struct clf_server *clf;
    struct ext2 *fs;
    struct clf_record *record;
    const struct clf_request *r;
    const struct arrival_area *area;
    uint8_t *reply; /* behind struct file_reply, in the area */
    size_t room, reply_bytes;
};

typedef int64_t clf_invoke(struct clf_call *c);
clf_invoke clf_invoke_name;                                                                      /* clf_name.c */
clf_invoke clf_invoke_attach;                                                                    /* clf_parts.c */
clf_invoke clf_invoke_free, clf_invoke_manager;                                                  /* clf_part.c */
clf_invoke clf_invoke_view, clf_invoke_read, clf_invoke_write, clf_invoke_size, clf_invoke_sync; /* clf_access.c */

/* ---- clf_server.c ---- */

extern const struct family clf_family;

/* ---- clf_record.c ---- */

/* Copies a request. NULL: no memory. */
struct clf_record *clf_record_new(struct clf_server *clf, const struct clf_request *r, const struct arrival *a);
/* Makes one of a message that lies there until the request is answered (clf->in_place_is). One at a time. */
struct clf_record *clf_record_in_place(struct clf_server *clf, const struct clf_request *r, const struct arrival *a);
void clf_records_free(struct clf_server *clf);
/* As family_run. What is run calls clf_work_ended at its end. */
int clf_work_begin(struct clf_server *clf, uint32_t drive, struct family_work *w, int from, int type);
void clf_work_ended(struct clf_server *clf);
/* Answers with what is behind struct file_reply already. */
void clf_tell(struct clf_record *record, int64_t status, struct file_reply *reply, size_t bytes);
void clf_record_free(struct clf_record *record);
/* Both. */
void clf_answer(struct clf_record *record, int64_t status, struct file_reply *reply, size_t bytes);
/* Carries a request out on its volume's fiber, and answers. NULL: there is nothing to do. */
void clf_carry_out(struct clf_record *record, clf_invoke *invoke, struct ext2 *fs, const struct arrival_area *area);

/* ---- clf_rounds.c ---- */

clf_invoke clf_invoke_group, clf_invoke_detach;
/* Takes a collective request, whose attachment has a group and no request in its round. One in place must not be of
 * the next call. */
void clf_round_take(struct clf_record *record);
/* Begins the writes that wait for other members without these. False: there are none. */
bool clf_rounds_hasten(struct clf_server *clf);
/* A request of the next call gets -N_EAGAIN when the members have ended this one. */
void clf_round_postpone(struct clf_attachment *a, int type, uint32_t seq);
/* The client has ended: its requests wait no longer, and its attachments are dropped. */
void clf_client_drop(struct clf_server *clf, int from);
/* What waits gets -N_EIO. */
void clf_rounds_end(struct clf_server *clf);
void clf_rounds_free(struct clf_server *clf);

/* ---- clf_access.c ---- */

/* The request's view, whose number is not 0; NULL: there is none. */
struct view *clf_view_of(const struct clf_record *record);

/* ---- clf_parts.c ---- */

/* A client's attachment, or NULL. Also outside the fiber. */
struct clf_attachment *clf_attachment_find(const struct clf_server *clf, uint32_t id, int from);
/* One use less: an attachment without any is freed, and its part's file is given back on the volume's fiber. */
void clf_attachment_put(struct clf_server *clf, struct clf_attachment *a);
/* Gives the files of all parts back to their volumes, on their fibers. */
void clf_parts_leave(struct clf_server *clf);
void clf_parts_free(struct clf_server *clf);

/* ---- clf_part.c; a cache manager has its own (nsdisk/managers/) ---- */

/* Opens the part's file, if there is one, or makes it: part->inode. */
int clf_part_open(struct clf_call *c, struct clf_part *part, bool make);
/* Most bytes behind N_CLF_ATTACH. */
extern const uint32_t clf_attach_most_bytes;
