/* A session with one gdb: what it has chosen, and the packets that tell it of stops. */
#pragma once

#include "emu/debug/rsp.h"
#include "emu/debug/travel.h"

#define SESSION_STOP_BYTES 64u

struct session_resume { /* how gdb has let nodes go on */
    enum { RESUME_OTHER, RESUME_ALONE, RESUME_BACK } how;
    uint32_t node; /* RESUME_ALONE: that one alone, which then was */
    uint64_t next; /* in front of the instruction before this one; 0: it may go elsewhere */
};

struct session { /* with one gdb */
    struct target *target;
    struct rsp *rsp;
    uint32_t current;              /* node of the registers and memory that gdb means */
    uint32_t stopped;              /* node that has stopped last, */
    enum debug_why why;            /* for this; DEBUG_NOT: for none of a node's, */
    char stop[SESSION_STOP_BYTES]; /* and the packet that said so */
    struct target_go *go;          /* by node, of the last COMMAND_GO; */
    size_t goes;                   /* so many */
    struct travel *travel;         /* the run can be repeated, so gdb may go back in it; NULL: it cannot */
    struct session_resume resume;  /* the last one */
    uint32_t chosen;               /* node that gdb's "Hc" has chosen; TARGET_NO_SLOT: any */
    uint32_t back;                 /* for the commands above; */
    bool back_alone;               /* no other one is to stop */
    char *document;                /* that gdb reads piece by piece; NULL: none */
    size_t document_bytes;
    bool no_acks;
    bool changed; /* gdb has written to memory, and may go back: the run is another one in this machine */
    /* Sends the answer that has been made, at once, when more will follow. */
    void (*send)(void *ctx);
    void *ctx;
};

void session_init(struct session *s, struct target *t, struct rsp *rsp, void (*send)(void *ctx), void *ctx);
void session_free(struct session *s);

/* Notes that a node has stopped for an event (target.h), or with `signal` for another reason, and makes the packet that
 * says so. */
void session_stopped(struct session *s, const struct target_event *e);
/* Likewise, at the begin of the program, which gdb has come to from behind. */
void session_at_begin(struct session *s, uint32_t node);
void session_interrupted(struct session *s, int signal);
/* Makes the packet of an earlier stop of that node again. */
void session_again(struct session *s, uint32_t node, enum debug_why why, const char *stop);
/* Makes the packet that says that the program has ended. */
void session_ended(struct session *s, int status);

/* Prints a line of text in gdb. */
void session_print(void *session, const char *line);
/* Returns true if gdb has made another run of a kept one, which is not repeated. */
bool session_is_another_run(const struct session *s);
/* Returns true if gdb can go back; else it has been told why not, and what to type instead. */
bool session_goes_back(struct session *s);
