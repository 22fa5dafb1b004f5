/*
 * The client of Clusterfile: files, their layouts, and moves of a view's bytes. From the top down:
 *
 *   clf_calls.c    the calls of <clf.h>
 *   clf_device.c   the driver of the nDEVICES switch: names that begin with /clf/
 *   clf_types.c    types, of which views are made
 *   clf_ways.c     how accesses are made: two phases and data sieving have the file a second time
 *   clf_move.c     reads and writes: requests to the parts that an access meets
 *   clf_list.c     list I/O: requests that name places
 *   clf_file.c     open files, and their sizes
 *   clf_view.c     setting a view
 *   clf_group.c    groups, whose calls are collective
 *   clf_told.c     what reports say of members that wait
 *   clf_redistribute.c   another layout for a file
 *   clf_meet.c     plans of a view and the parts
 *   clf_attach.c   attachments to the parts
 *   clf_manager.c  requests to cache managers
 *   clf_paths.c    names
 *   clf_layout.c   layouts: text, places, ranks
 *   clf_ask.c      the machine's volumes, and requests to their servers
 *
 * A part is what one volume has of a subfile: all of it, or stripes.
 *
 *   view  --plan--> subfile i  --plan--> part (i, s)           the second plan only where the subfile is striped
 *      v                k                     m                bytes that both have, counted in file order
 *
 * A request names bytes by m, in a view of the part that its server knows; or by the place in the part, where these
 * bytes lie together there. Functions return >= 0, or a negative error (vertex/contract/errors.h; newlib's errno has
 * the same numbers).
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "libpio/clusterfile/clf.h"
#include "libpio/group/group.h"
#include "libpio/map/pattern.h"
#include "libpio/map/window.h"
#include "libpio/servers/server_folders.h"
#include "libpio/servers/server_volumes.h"
#include "vertex/contract/clusterfile.h"

/* Sets clf_why's line, and returns the error. */
int clf_fail(int error, const char *format, ...) __attribute__((format(printf, 2, 3)));
/* Clears it. */
void clf_why_begin(void);
extern struct clf_counts clf_counts;

/* ---- clf_layout.c ---- */

struct clf_part_place {
    uint32_t subfile, volume; /* volume: its place in the layout's list */
    int32_t stripe, stripes;  /* its stripe of the subfile's; stripes 1: it has all of it */
};

struct clf_layout {
    struct pattern *pattern; /* whose elements are the subfiles */
    int64_t stripe;
    uint32_t volumes;
    uint32_t *volume;            /* [volumes]: numbers of the machine's volumes (clf_machine) */
    struct clf_part_place *part; /* [parts], by subfile, then by volume */
    uint32_t parts;
    uint32_t *first;           /* [elements + 1]: the first part of a subfile */
    struct pattern **striping; /* [elements]: stripes of the subfile; NULL: it has one part */
};

struct clf_dealing {
    int32_t managers;
    const int *node; /* [managers]; NULL: the last ones of the job */
    int64_t block;
};

/* Makes one: pattern NULL and place NULL are the default. With clf_why's line. */
int clf_layout_make(const struct pattern *pattern, const struct clf_place *place, struct clf_layout **out);
/* Makes it of its text. -N_EPROTO: it is none. */
int clf_layout_parse(const char *text, size_t n, struct clf_layout **out);
/* Writes the text with a NUL, for which there are `bytes`. Returns its length without the NUL. -N_E2BIG. */
long clf_layout_format(const struct clf_layout *l, char *text, size_t bytes);
/* Blocks of the same file that are dealt out to cache managers in turn: manager i has subfile i. */
int clf_layout_managers(const struct clf_layout *of, const struct clf_dealing *d, struct clf_layout **out);
void clf_layout_free(struct clf_layout *l); /* NULL is allowed */

/* How many bytes a part has of a file of `size` bytes; how many a file has at least if a part has so many. */
int64_t clf_part_bytes(const struct clf_layout *l, uint32_t part, int64_t size);
int64_t clf_part_end(const struct clf_layout *l, uint32_t part, int64_t bytes);

/* ---- clf_ask.c ---- */

/* Numbers of volumes from here on are those of compute nodes with a cache manager. */
#define CLF_MANAGER_AT 0x10000u

/* The machine's volumes; the number is the metadata volume's. */
const struct server_volumes *clf_machine(void);
/* Carries requests to cache managers, as clf_start and clf_end; NULL: there are none. */
struct clf_carrier {
    long (*start)(int node, int type, struct clf_request r, const void *data, size_t bytes);
    long (*end)(long number, void *head, size_t head_bytes, void *data, size_t bytes);
};
extern const struct clf_carrier *clf_carrier;
/* The numbers of its requests, from here on. */
#define CLF_CARRIER_NUMBER (1l << 40)

/* A request to a volume of the machine: r.seq and r.drive are filled in. Returns its number. */
long clf_start(uint32_t volume, int type, struct clf_request r, const void *data, size_t bytes);
/* Waits for its reply. head and data: as requestend. */
long clf_end(long number, void *head, size_t head_bytes, void *data, size_t bytes);

#define CLF_UNDER_WAY 48u /* requests at once; the kernel allows 64 (ASK_MAX) */

struct clf_question {
    uint32_t volume; /* the machine's */
    int type;
    struct clf_request r;
    const void *data; /* of `bytes`, sent */
    size_t bytes;
    void *head; /* of head_bytes, received */
    size_t head_bytes;
    long result;
};
/* Asks them all, many at once. Returns the first error, or 0. */
int clf_ask(struct clf_question *q, uint32_t n);

/* ---- clf_manager.c ---- */

/* The managers of an open file, of which it hears when they end. */
struct clf_managers {
    struct clf_managers *next;
    struct clf_open *of; /* the file at its servers */
    char *data;          /* what they are told of it (clusterfile.h), of so many bytes */
    size_t bytes;
    int64_t block;
    int32_t n;
    struct clf_manager_at {
        int node;
        bool ended;
        uint64_t presence; /* 0: not known yet */
    } at[];
};

/* Makes them, for the layout that clf_layout_managers has made. From then on a request to one of them may end with
 * -N_EIO: it has ended; -N_ESRCH: a member of the file's group has; both with clf_why's line. */
int clf_managers_new(struct clf_open *of, const struct clf_layout *l, int64_t block, struct clf_managers **out);
/* Learns from the managers, which `file` is attached to, how to hear of their ends. */
int clf_managers_meet(struct clf_managers *m, struct clf_open *file);
void clf_managers_free(struct clf_managers *m); /* NULL is allowed */
/* Has the job's managers drop what they have of a file that has been changed without them: f->managed. */
void clf_managers_drop(struct clf_open *f);

/* ---- clf_paths.c ---- */

/* name: begins with '/'. */
int clf_name_open(const char *name, uint64_t flags_and_mode, const char *layout, struct clf_named *named,
                  struct clf_layout **out);
int clf_name_stat(const char *name, struct clf_named *named, struct clf_layout **out);
/* Remove a name, or replace one, and what the volumes have of its file. */
int clf_name_unlink(const char *name);
int clf_name_rename(const char *from, const char *to);
int clf_name_mkdir(const char *name, uint32_t mode);
int clf_name_rmdir(const char *name);
/* The folder's entry at *at, which moves on. 1; 0: there is no more. */
int clf_name_list(const char *folder, uint64_t *at, struct file_dirent *entry, char name[256]);

/* ---- clf_file.c ---- */

struct clf_part_open {
    uint32_t attachment; /* 0: none */
    uint32_t io_bytes;
    uint64_t size_bytes; /* when it was attached */
    bool wanted;         /* by clf_parts_attach */
    bool joined;         /* it is in the file's group */
};

struct clf_open {
    uint64_t handle;
    struct clf_layout *layout;
    struct clf_part_open *part;    /* [layout->parts] */
    struct clf_sight *sight;       /* what it sees: its view */
    struct file_stat stat;         /* of its name, when it was opened */
    uint32_t flags;                /* N_O_ */
    int64_t at;                    /* the offset, in the view */
    struct clf_members *members;   /* NULL: it has no group */
    bool collective;               /* the next read or write */
    uint32_t place;                /* among those who access the file together: who begins with which part */
    struct clf_way_of *way;        /* how its accesses are made; NULL: by views */
    bool lists;                    /* its requests name places */
    bool borrows;                  /* its layout belongs to another one, which lives longer */
    bool elsewhere;                /* its accesses go to managers: its servers hear nothing of its views */
    struct clf_managers *managers; /* that are its parts' servers; NULL: they are volumes' */
    bool manages;                  /* it is a cache manager's own */
    uint32_t managed;              /* a part + 1 that has been changed and that managers have; 0: none */
    char *name;                    /* by which the program has opened it, or NULL */
    char *folder;                  /* path of a folder, which has nothing of the above but the offset */
};

int clf_file_open(const char *name, uint32_t flags, uint32_t mode, const struct clf_layout *layout,
                  struct clf_open **out);
/* The same file a second time, for one that lives longer: with attachments and a view of its own. layout: another one,
 * which it takes, also on an error; NULL: the file's. */
int clf_file_again(const struct clf_open *f, struct clf_layout *layout, struct clf_open **out);
/* A file of a handle, for a cache manager; takes the layout, also on an error. */
int clf_file_of(uint64_t handle, struct clf_layout *layout, struct clf_open **out);
void clf_file_close(struct clf_open *f);
/* After a fork: the servers know nothing of the child. */
void clf_file_forked(struct clf_open *f);
int clf_file_size(struct clf_open *f, int64_t *size);
int clf_file_set_size(struct clf_open *f, int64_t size);
int clf_file_sync(struct clf_open *f);

/* ---- clf_redistribute.c ---- */

/* Gives the file another layout, which stays the caller's. Errors as of opening, reading and writing. */
int clf_file_redistribute(const char *name, const struct clf_layout *layout);

/* ---- clf_told.c ---- */

struct abi_call; /* vertex/contract/abi.h */

/* Prepares what reports say of a file that has got a group. */
void clf_told_make(struct clf_open *f);
/* Tells of a collective read or write. Returns the record, whose `call` becomes "" when the call has ended; NULL: it is
 * not told, or is a part of another call. */
struct abi_call *clf_told_begin(const struct clf_open *f, bool write);

/* ---- clf_attach.c ---- */

/* The request for an attachment of part p. */
struct clf_question clf_attach_question(const struct clf_open *f, uint32_t p, struct clf_attached *to);
/* Attaches the parts that are wanted and are not. */
int clf_parts_attach(struct clf_open *f);
/* A request about part p, which is attached. */
struct clf_question clf_part_question(const struct clf_open *f, uint32_t p, int type);

/* ---- clf_meet.c ---- */

/* What a view and a part have in common. */
struct clf_meet {
    struct plan *plan;    /* A: the bytes that view and subfile have in common; NULL: m is k */
    struct pattern *seen; /* the part's bytes that the view has, as its server is to see them; NULL: none */
    bool plain;           /* they lie together from byte plain_at on: no view is needed */
    int64_t plain_at;
    bool made; /* the above is known */
    bool told; /* the server knows */
};

struct clf_share {           /* of a subfile */
    struct plan *plan;       /* A: the view, B: the subfile */
    struct pattern *subfile; /* the subfile's bytes that the view has; NULL: none */
};

struct clf_sight {
    struct pattern *pattern; /* of one element: the view */
    struct plan_range range; /* of the file, for which the plans hold */
    struct clf_share *share; /* [subfiles] */
    struct clf_meet *meet;   /* [parts] */
    uint16_t number;         /* of its views at the servers */
    bool all; /* parts are planned at once, as members must know which they meet; else when an access meets them */
};

/* Plans a view, whose pattern it takes, also on an error. */
int clf_sight_make(const struct clf_layout *l, struct pattern *view, uint16_t number, bool all, struct clf_sight **out);
/* Plans all parts from now on. After an error it has no window. */
int clf_sight_all(const struct clf_layout *l, struct clf_sight *s);
/* Plans part p, unless it is. -N_E2BIG: the window is too long. */
int clf_sight_part(const struct clf_layout *l, struct clf_sight *s, uint32_t p);
/* Plans what it needs for file byte x. */
int clf_sight_move(const struct clf_layout *l, struct clf_sight *s, int64_t x);
void clf_sight_free(const struct clf_layout *l, struct clf_sight *s); /* NULL is allowed */
/* Tells the servers of all parts that are wanted what the view has of them; they are attached first. Clears `wanted`.
 * */
int clf_sight_tell(struct clf_open *f, struct clf_sight *s);

/* ---- clf_group.c ---- */

struct clf_members {
    struct group g; /* in the context of the program's, which lives longer */
    struct clf_open *f;
    uint64_t number;       /* by which the servers know the group */
    uint32_t presence;     /* an attachment of part 0, whose server hears of this member's end; 0: none */
    int ended;             /* a member that has ended, + 1; 0: none is known */
    void *room;            /* clf_move_room bytes: a collective call needs no memory to take part */
    struct abi_call *told; /* of reads and of writes (clf_told.c), or NULL */
};

/* A process that others are to know the end of has a second attachment of the file's first part: its server tells who
 * has ended of those with a number. -N_ errors of requests. */
int clf_presence_begin(struct clf_open *f, uint32_t *attachment);
void clf_presence_end(struct clf_open *f, uint32_t attachment); /* 0 is allowed */
/* A number that no other presence has; low: below 2^31, the same attachment's may have several. */
uint64_t clf_presence_number(uint32_t attachment, uint32_t low);
int clf_presence_join(const struct clf_open *f, uint32_t attachment, uint64_t number, uint32_t member);
/* *ended: a member's number + 1; 0: none has ended. attachment: any of the first part's. */
int clf_presence_ended(const struct clf_open *f, uint32_t attachment, uint64_t number, uint32_t *ended);

struct clf_awaited {
    int process, type, context;
};
/* Receives a message. After a second of waiting it calls find_ended, and then at growing intervals: what that returns
 * below 0 is the result. NULL: just waits. */
long clf_take(const struct clf_awaited *from, void *buf, long bytes, int (*find_ended)(void *ctx), void *ctx);

/* -N_ESRCH, with clf_why's line: a member (struct clf_members) has ended; 0: none that is known. */
int clf_group_find_ended(void *members);
/* Gives a group's collective calls so much room instead of what they had. */
int clf_group_make_room(struct clf_members *m, size_t room_bytes);
/* Makes reads and writes of a group possible. All members call it. -N_EINVAL: the file has a group; -N_ESRCH, also of
 * the next two: a member has ended. */
int clf_group_set(struct clf_open *f, struct group *g, size_t room_bytes);
/* After a view has been set, or could not be: the servers learn which parts the members see, and all members wait for
 * that. Returns the error, another member's, or 0. */
int clf_group_agree(struct clf_open *f, int error);
/* The least of what members give: an error, if one of them has one. All call it. */
int clf_group_least(struct clf_members *m, int value);
/* How many bytes of the view a request of a collective call has at most. */
int64_t clf_group_turn_bytes(const struct clf_open *f);
/* The file is closed, or this is a child of fork, of which the servers do not know. */
void clf_group_end(struct clf_open *f, bool forked);

/* ---- clf_view.c ---- */

/* Takes the pattern, also on an error. */
int clf_view_set(struct clf_open *f, struct pattern *view);
/* A view of one element of a pattern. A negative error: it does not ascend. */
int clf_view_copy(const struct pattern *p, int32_t element, struct pattern **view);
/* The whole file, from the layout's displacement on. */
int clf_view_whole(const struct clf_layout *l, struct pattern **view);
/* Places in the view: of the first of its bytes at or behind a file byte; and back. */
int64_t clf_view_rank(const struct clf_sight *s, int64_t x);
int64_t clf_view_file(const struct clf_sight *s, int64_t at);

/* ---- clf_move.c ---- */

/* Moves n bytes at an offset of the view. Returns the bytes moved, fewer at the end of the file or where a volume is
 * full; an error if there are none. */
int64_t clf_move(struct clf_open *f, bool write, void *buf, uint64_t n, int64_t at);
/* How many bytes of memory a move needs beside its legs. */
size_t clf_move_room(const struct clf_layout *l);

/* ---- clf_ways.c ---- */

/* Chooses how accesses are made; all members call it, and choose the same. -N_EINVAL, with clf_why's line. */
int clf_way_set(struct clf_open *f, const struct clf_method *m);
/* As clf_group_set, with room for collective calls. */
int clf_way_set_group(struct clf_open *f, struct group *g);
/* As clf_view_set; of two phases, the members tell each other their views. */
int clf_way_set_view(struct clf_open *f, struct pattern *view);
/* Members that are refused take part in what the others wait for, with nothing. Return the error; f may be NULL. */
int clf_way_refuse_view(struct clf_open *f, int error);
int64_t clf_way_refuse(struct clf_open *f, bool write, int error);
/* As clf_file_set_size; managers drop what they have beyond. */
int clf_way_set_size(struct clf_open *f, int64_t size);
/* Of a file in CLF_WAY_CACHE. */
int clf_way_count(struct clf_open *f, int manager, struct clf_manager_counts *counts);
/* As clf_move, in the way that has been chosen. */
int64_t clf_way_move(struct clf_open *f, bool write, void *buf, uint64_t n, int64_t at);
/* The context of the messages that a collective one waits for. */
int clf_way_context(const struct clf_open *f);
/* Before the file is closed, or after a fork: what the way has is given back. */
void clf_way_end(struct clf_open *f, bool forked);

/* ---- clf_list.c ---- */

#define CLF_LIST_CALL 11u

/* The byte of a pattern's one element behind those that lie at `places` places from its byte `from` on; at most `end`.
 */
int64_t clf_list_end(const struct pattern *p, int64_t from, int64_t end, uint32_t places);
/* The places of bytes from .. end-1. Returns how many they are. */
uint32_t clf_list_make(const struct pattern *p, int64_t from, int64_t end, struct clf_list_place *place);

/* ---- clf_types.c ---- */

/* The type's bytes as a view. With clf_why's line. */
int clf_type_view(clf_type type, int64_t displ, int64_t period, struct pattern **view);
