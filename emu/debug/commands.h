/*
 * The commands of gdb's remote serial protocol, as far as this target has them: each packet's answer.
 *
 * A node is a thread: its number is that of the node in the program, plus 1, since 0 has another meaning for gdb. gdb
 * lets all go on, or only some (its scheduler-locking), and all stand still when one has stopped.
 */
#ifndef NCUBE_COMMANDS_H
#define NCUBE_COMMANDS_H

#include "emu/debug/rsp.h"
#include "emu/debug/travel.h"

enum command_result {
    COMMAND_LEAVE_VIEW, /* the machine is to go where the view is (trail.h); then the command is to be repeated */
    COMMAND_FIND_HITS,  /* the hits before the present are to be found; likewise */
    COMMAND_ANSWERED,   /* the answer has been made */
    COMMAND_GO,         /* the nodes go on, as `go` says; the answer comes when one has stopped */
    COMMAND_STEP_BACK,  /* the node `back` goes one instruction back; the answer comes when it is there */
    COMMAND_GO_BACK,    /* all nodes go back to the last breakpoint, or watchpoint of the node `back`; likewise */
    COMMAND_DETACHED,   /* the answer has been made; gdb leaves */
    COMMAND_KILLED,     /* gdb leaves, and the program is to end; there is no answer */
};

struct session { /* with one gdb */
    struct target *target;
    struct rsp *rsp;
    uint32_t current;      /* node of the registers and memory that gdb means */
    uint32_t stopped;      /* node that has stopped last, */
    char stop[64];         /* and the packet that said so */
    struct target_go *go;  /* by node, of the last COMMAND_GO */
    struct travel *travel; /* the run can be repeated, so gdb may go back in it; NULL: it cannot */
    uint32_t chosen;       /* node that gdb's "Hc" has chosen; TARGET_NO_SLOT: any */
    uint32_t back;         /* for the commands above; */
    bool back_alone;       /* no other one is to stop */
    char *document;        /* that gdb reads piece by piece; NULL: none */
    size_t document_bytes;
    bool no_acks;
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
/* Makes the packet that says that the program has ended. */
void session_ended(struct session *s, int status);

/* Prints a line of text in gdb. */
void session_print(void *session, const char *line);

/* Executes the packet in s->rsp. */
enum command_result command_execute(struct session *s);

#endif
