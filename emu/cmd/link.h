/*
 * The way between a machine that is kept up (boot.c) and who uses it (xnc, ncube down, ncube ps): a Unix socket of
 * messages, in the abstract namespace, so that no ending of either side leaves a file. Both sides accept only their own
 * user, by the kernel's word (SO_PEERCRED). The name is "ncube/<uid>/<machine's name>".
 *
 *   client -> machine   LINK_RUN      a launch (launch.h); with it the descriptors of the standard streams
 *                       LINK_KILL     ends the job
 *                       LINK_DOWN     ends the machine: jobs are killed, I/O nodes shut down
 *                       LINK_ASK      asks what it does
 *   machine -> client   LINK_STATUS   of the job, or of the machine's end: struct link_status, text of an error
 *                       LINK_REPORT   what it does: JSON (machine_report.h)
 *
 * A client that closes its end, by any way, has its job killed. One that sends what it may not (no message, a kind that
 * is the machine's, a launch without three descriptors, a second launch) gets a LINK_STATUS that says so, and the end
 * of the link.
 */
#ifndef NCUBE_LINK_H
#define NCUBE_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#define LINK_NAME_MAX          64
#define LINK_MESSAGE_MAX_BYTES (128u << 10)
#define LINK_DESCRIPTORS       3 /* standard streams */
#define LINK_FULL_TEXT         "the machine has no descriptor left for another user; wait, or raise ulimit -n before ncube boot"

enum link_kind { LINK_RUN = 1, LINK_KILL, LINK_DOWN, LINK_STATUS, LINK_ASK, LINK_REPORT };

struct link_status {
    int32_t status; /* for the shell */
};

/* A message as received: content and descriptors belong to the caller of link_receive. */
struct link_message {
    uint32_t kind;
    size_t bytes;
    uint8_t *content; /* NULL: none */
    int fd[LINK_DESCRIPTORS];
    int fds;     /* those that are here */
    int surplus; /* that came beside them, and have been closed */
    bool cut;    /* there were more, which the host could not give us: it has no room for them, or we have not */
};

bool link_name_is_sound(const char *name);

/* Descriptors, closed on exec, or -1 with one clear line in error: another machine has the name, no machine has it,
 * it is another user's. */
int link_listen(const char *name, char *error, size_t error_bytes);
int link_connect(const char *name, char *error, size_t error_bytes);

/* The same without ever waiting, for the descriptor neither: -1 with errno, EAGAIN when too many wait at the machine
 * already, EPERM when it is another user's. */
int link_try_connect(const char *name);

/* Calls `found` with the user and the name of every machine that listens on this host. 0, or -1 with errno. Whoever
 * likes may listen under such a name: only link_connect tells whose it is. */
int link_list(void (*found)(void *ctx, uid_t user, const char *name), void *ctx);

/* The process at the other end of a connection, as it was when that was made; 0: not known. */
pid_t link_peer(int fd);

/* A client that waits at a listening descriptor, which does not block: its descriptor, or -1 with errno: EAGAIN, there
 * is none that may; else there is one, and nothing to take it with (EMFILE, ENFILE, ENOMEM, ENOBUFS). */
int link_accept(int listening);

/* For a client that link_accept had no descriptor for: takes it with *spare, an open descriptor that is given up for
 * it, tells it LINK_FULL_TEXT and hangs up. *spare is open again, or -1. Returns false if nobody could be taken. */
bool link_turn_away(int listening, int *spare);
/* A descriptor that is good for nothing but to be given up; -1: none. */
int link_spare(void);

/* Sends one message; with_streams: the descriptors 0, 1 and 2 with it. 0, or -1 with errno. */
int link_send(int fd, enum link_kind kind, const void *content, size_t bytes, bool with_streams);

/* Takes one message, waiting for it if the descriptor blocks. 1; 0 at the end of the link; -1 with errno (EAGAIN,
 * EPROTO: not a message of ours). Descriptors that come are closed on exec, and closed at once where the message has no
 * place for them. */
int link_receive(int fd, struct link_message *m);
void link_message_free(struct link_message *m); /* closes descriptors that are not -1 */

#endif
