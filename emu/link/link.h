/*
 * The link between a machine that is kept up (boot.c) and its clients (xnc, ncube down, ncube ps): a Unix socket that
 * carries messages. It has a name in the abstract namespace, "ncube/<uid>/<machine's name>", so that no file is left
 * however either side ends. Both sides accept only processes of the same user, which the kernel tells them
 * (SO_PEERCRED).
 *
 *   client -> machine   LINK_RUN      a launch (launch.h), with the descriptors of the standard streams
 *                       LINK_KILL     ends the job, after lines about its nodes: struct link_kill
 *                       LINK_DOWN     ends the machine: jobs are killed, I/O nodes shut down
 *                       LINK_ASK      asks for a report; with the text of machine_load.h, for the load, too
 *                       LINK_OPEN     opens a subcube for a host program (libnhost): struct link_open, with the
 *                                     descriptors of the standard streams; then
 *                       LINK_LOAD     struct link_part, then a launch of one program
 *                       LINK_MAIL     struct link_mail, then a message for a node, or a part of it
 *                       LINK_WAIT     asks to be told when no program runs
 *                       LINK_DEBUG    asks how gdb reaches a program: that of the node whose number comes with it, or
 *                                     the only one. If no program runs, asks that the next one waits for gdb
 *   machine -> client   LINK_STATUS   of the job, or of the machine's end, or the answer to LINK_DEBUG: struct
 *                                     link_status, then the text of an error or of the answer
 *                       LINK_REPORT   the report: JSON (machine_report.h)
 *                       LINK_OPENED   the subcube is there
 *                       LINK_LOADED   struct link_status: the program's number, above 0, or a negative
 *                                     n_error; then the text of an error
 *                       LINK_MAIL     struct link_mail, then a message of a node, or a part of it
 *                       LINK_IDLE     struct link_status: no program runs; the highest status so far
 *
 * When a client closes its end, in whatever way, its job is killed. A client that sends something wrong (bytes that are
 * no message, a kind that only machines send, a launch without three descriptors, a second launch) gets a LINK_STATUS
 * with the error, and the machine closes the link.
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LINK_NAME_MAX          64
#define LINK_MESSAGE_MAX_BYTES (128u << 10)
#define LINK_DESCRIPTORS       3    /* standard streams */
#define LINK_TEXT_BYTES        4608 /* of a status, at most */
#define LINK_FULL_TEXT \
    "the machine has no descriptor left for another client; wait, or raise ulimit -n before ncube boot"

enum link_kind {
    LINK_RUN = 1,
    LINK_KILL,
    LINK_DOWN,
    LINK_STATUS,
    LINK_ASK,
    LINK_REPORT,
    LINK_OPEN,
    LINK_LOAD,
    LINK_MAIL,
    LINK_WAIT,
    LINK_OPENED,
    LINK_LOADED,
    LINK_IDLE,
    LINK_DEBUG
};

struct link_status {
    int32_t status; /* exit status */
    uint32_t busy;  /* no subcube is free now, but one may be later */
};

struct link_kill {
    int32_t signal; /* that the client has got */
};

struct link_open {
    uint32_t dim;
};

struct link_part {
    uint32_t first, nodes;
};

struct link_mail {
    uint32_t node; /* in the subcube; LINK_ALL_NODES: all with a program */
    uint32_t type; /* 0 .. 0xffff */
    uint32_t left; /* bytes that follow in the next LINK_MAIL of this side */
};

#define LINK_ALL_NODES  0xffffu
#define LINK_MAIL_BYTES (LINK_MESSAGE_MAX_BYTES - sizeof(struct link_mail)) /* at most, in one */

/* A message as received. Content and descriptors belong to the caller of link_receive. */
struct link_message {
    uint32_t kind;
    size_t bytes;
    uint8_t *content; /* NULL: none */
    int fd[LINK_DESCRIPTORS];
    int fds;     /* how many of them there are */
    int surplus; /* further descriptors, which have been closed */
    bool cut;    /* descriptors were lost: this process, or the control buffer, had no room for them */
};

/* True for 1 to LINK_NAME_MAX letters, digits, '_', '-' and '.'. */
bool link_name_is_sound(const char *name);

/* Makes the machine's end, or a client's. Returns a descriptor, closed on exec; or -1 with one line in error: another
 * machine has the name, no machine has it, or the machine is another user's. */
int link_listen(const char *name, char *error, size_t error_bytes);
int link_connect(const char *name, char *error, size_t error_bytes);
/* Writes the line that says that no machine has the name, and which may have been meant. */
void link_say_missing(const char *name, char *error, size_t error_bytes);

/* As link_connect, but does not wait, and neither do reads of the descriptor. Returns -1 with errno: EAGAIN when too
 * many clients wait already, EPERM when the machine is another user's. */
int link_try_connect(const char *name);

/* Calls `found` with the user and the name of every machine that listens on this host. Returns 0, or -1 with errno.
 * Any user can listen under any such name; only connecting tells whose the machine is. */
int link_list(void (*found)(void *ctx, uid_t user, const char *name), void *ctx);

/* Returns the process that made the other end of a connection, or 0 if it is not known. */
pid_t link_peer(int fd);

/* Takes a client that waits at a listening descriptor, which does not block. Returns the client's descriptor; or -1
 * with errno: EAGAIN if none waits or it is another user's; EMFILE, ENFILE, ENOMEM or ENOBUFS if one waits but the
 * host has no descriptor or memory for it. */
int link_accept(int listening);

/* Turns away a client for which link_accept had no descriptor: closes *spare, so that the client can have its place,
 * sends LINK_FULL_TEXT and hangs up. Afterwards *spare is open again, or -1. Returns false if no client could be
 * taken. */
bool link_turn_away(int listening, int *spare);
/* Opens a descriptor that serves only as link_turn_away's spare. Returns -1 if there is none. */
int link_spare(void);

/* Sends one message, with the descriptors 0, 1 and 2 if with_streams. Returns 0, or -1 with errno. */
int link_send(int fd, enum link_kind kind, const void *content, size_t bytes, bool with_streams);

/* Takes one message, and waits for it if the descriptor blocks. Returns 1; 0 at the end of the link; or -1 with errno:
 * EAGAIN, ENOMEM, or EPROTO for something that is no message. Descriptors that come with it are closed on exec; those
 * for which struct link_message has no place are closed at once. */
int link_receive(int fd, struct link_message *m);
void link_message_free(struct link_message *m); /* closes descriptors that are not -1 */

/* Sends a status with its text, of which LINK_TEXT_BYTES fit. Errors are ignored: a link that is full or closed is
 * noticed later. */
void link_tell(int fd, enum link_kind kind, struct link_status s, const char *text);
/* Waits for the LINK_STATUS with which a machine answers `who`, one of ncube's commands. Returns its status, and its
 * text as one line; 1 and what is wrong if none comes. */
int link_await_status(int fd, const char *who, char text[LINK_TEXT_BYTES]);
