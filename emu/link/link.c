/* The link: addresses in the abstract namespace, clients that are accepted or turned away, and messages, each one
 * packet of a SOCK_SEQPACKET socket: struct head, then the content. */
#include "emu/link/link.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "emu/base/nearest.h"
#include "emu/base/oneline.h"

#define MAGIC     0x4e435543u /* also a version: it changes with the format */
#define BACKLOG   64
#define ADMITTED  253        /* descriptors of one message, as many as Linux lets a sender send (SCM_MAX_FD) */
#define LISTENING (1u << 16) /* among the flags of /proc/net/unix: the kernel's __SO_ACCEPTCON */

struct head {
    uint32_t magic, kind;
};

/* ---- Names and users ----------------------------------------------------------------------------- */

bool link_name_is_sound(const char *name)
{
    size_t n = strlen(name);

    for (size_t i = 0; i < n; i++)
        if (!isalnum((unsigned char)name[i]) && !strchr("_-.", name[i]))
            return false;
    return n > 0 && n <= LINK_NAME_MAX;
}

static socklen_t make_address(const char *name, struct sockaddr_un *address)
{
    *address = (struct sockaddr_un){.sun_family = AF_UNIX};
    int n = snprintf(address->sun_path + 1, sizeof address->sun_path - 1, "ncube/%u/%s", (unsigned)geteuid(), name);

    return (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n);
}

static bool is_same_user(int fd)
{
    struct ucred peer;
    socklen_t n = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 && peer.uid == geteuid();
}

/* `text` has the machine's name and, if it wants it, the reason that errno gives. */
static int fail(int fd, const char *text, const char *name, char *error, size_t error_bytes)
{
    snprintf(error, error_bytes, text, name, strerror(errno));
    if (fd >= 0)
        close(fd);
    return -1;
}

int link_listen(const char *name, char *error, size_t error_bytes)
{
    struct sockaddr_un address;
    socklen_t n = make_address(name, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);

    if (fd >= 0 && bind(fd, (struct sockaddr *)&address, n) == 0 && listen(fd, BACKLOG) == 0)
        return fd;
    if (errno == EADDRINUSE)
        return fail(fd, "a machine called '%s' is already up; give another --name, or end it with ncube down", name,
                    error, error_bytes);
    return fail(fd, "cannot make a socket for the machine '%s': %s", name, error, error_bytes);
}

/* As link_try_connect. */
static int try_connect(const char *name, int flags)
{
    struct sockaddr_un address;
    socklen_t n = make_address(name, &address);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | flags, 0);
    int reason = fd < 0 || connect(fd, (struct sockaddr *)&address, n) != 0 ? errno : is_same_user(fd) ? 0 : EPERM;

    if (reason == 0)
        return fd;
    if (fd >= 0)
        close(fd);
    errno = reason;
    return -1;
}

int link_try_connect(const char *name)
{
    return try_connect(name, SOCK_NONBLOCK);
}

/* Parses a line of /proc/net/unix: "address: references protocol flags type state inode name", all numbers but the
 * inode in hex. Returns true if it is a machine's listening socket; *name points into the line. */
static bool parse_socket(char *line, uid_t *user, const char **name)
{
    unsigned flags, type;
    int at = 0;

    line[strcspn(line, "\n")] = '\0';
    if (sscanf(line, "%*x: %*x %*x %x %x %*x %*u @ncube/%u/%n", &flags, &type, user, &at) != 3 || at == 0)
        return false;
    *name = line + at;
    return flags & LISTENING && type == SOCK_SEQPACKET && link_name_is_sound(*name);
}

int link_list(void (*found)(void *ctx, uid_t user, const char *name), void *ctx)
{
    FILE *f = fopen("/proc/net/unix", "re");
    char *line = NULL;
    const char *name;
    size_t room = 0;
    uid_t user;

    if (!f)
        return -1;
    while (getline(&line, &room, f) > 0)
        if (parse_socket(line, &user, &name))
            found(ctx, user, name);
    free(line);
    fclose(f);
    return 0;
}

#define UP_BYTES 128u

struct near_name {
    const char *name, *best;
    char text[LINK_NAME_MAX + 1];
    char up[UP_BYTES]; /* "'one', 'two'": the user's, or as many as there is room for */
};

static void find_near(void *ctx, uid_t user, const char *name)
{
    struct near_name *n = ctx;

    size_t used = strlen(n->up);

    if (user != geteuid())
        return;
    if (used + strlen(name) + sizeof ", '', ..." < sizeof n->up)
        snprintf(n->up + used, sizeof n->up - used, "%s'%s'", used > 0 ? ", " : "", name);
    else if (used > 0 && n->up[used - 1] != '.')
        snprintf(n->up + used, sizeof n->up - used, ", ...");
    if (nearest_word(n->name, n->best, name) != name)
        return;
    snprintf(n->text, sizeof n->text, "%s", name);
    n->best = n->text;
}

void link_say_missing(const char *name, char *error, size_t error_bytes)
{
    struct near_name near = {.name = name};

    link_list(find_near, &near);
    if (near.best)
        snprintf(error, error_bytes, "no machine called '%s' is up; did you mean '%s'?", name, near.best);
    else if (near.up[0] != '\0')
        snprintf(error, error_bytes, "no machine called '%s' is up; those that are: %s", name, near.up);
    else
        snprintf(error, error_bytes, "no machine called '%s' is up; start one with ncube boot", name);
}

int link_connect(const char *name, char *error, size_t error_bytes)
{
    int fd = try_connect(name, 0);

    if (fd >= 0)
        return fd;
    if (errno == EPERM)
        return fail(fd, "the machine called '%s' is another user's", name, error, error_bytes);
    if (errno != ECONNREFUSED)
        return fail(fd, "cannot connect to the machine '%s': %s", name, error, error_bytes);
    link_say_missing(name, error, error_bytes);
    return -1;
}

pid_t link_peer(int fd)
{
    struct ucred peer;
    socklen_t n = sizeof peer;

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &peer, &n) == 0 ? peer.pid : 0;
}

int link_accept(int listening)
{
    int fd = accept4(listening, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd < 0 || is_same_user(fd))
        return fd;
    close(fd);
    errno = EAGAIN;
    return -1;
}

int link_spare(void)
{
    return open("/dev/null", O_RDONLY | O_CLOEXEC);
}

bool link_turn_away(int listening, int *spare)
{
    if (*spare < 0)
        *spare = link_spare();
    if (*spare < 0)
        return false;
    close(*spare);
    int fd = link_accept(listening);
    if (fd >= 0) {
        link_tell(fd, LINK_STATUS, (struct link_status){.status = 1}, LINK_FULL_TEXT);
        close(fd);
    }
    *spare = link_spare();
    return fd >= 0;
}

/* ---- Messages ------------------------------------------------------------------------------------ */

/* Room for more descriptors than a message should have: those that do not fit would be lost unnoticed, those that fit
 * can be closed. */
union control {
    struct cmsghdr head;
    char room[CMSG_SPACE(ADMITTED * sizeof(int))];
};

static void add_streams(struct msghdr *m, union control *control)
{
    static const int streams[LINK_DESCRIPTORS] = {0, 1, 2};

    m->msg_control = control;
    m->msg_controllen = CMSG_SPACE(sizeof streams);
    struct cmsghdr *c = CMSG_FIRSTHDR(m);
    c->cmsg_level = SOL_SOCKET;
    c->cmsg_type = SCM_RIGHTS;
    c->cmsg_len = CMSG_LEN(sizeof streams);
    memcpy(CMSG_DATA(c), streams, sizeof streams);
}

int link_send(int fd, enum link_kind kind, const void *content, size_t bytes, bool with_streams)
{
    struct head head = {MAGIC, kind};
    struct iovec part[] = {{&head, sizeof head}, {(void *)content, bytes}};
    struct msghdr m = {.msg_iov = part, .msg_iovlen = 2};
    union control control = {{0}};

    if (with_streams)
        add_streams(&m, &control);
    return sendmsg(fd, &m, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

static void take_descriptor(struct link_message *m, int fd)
{
    if (m->fds < LINK_DESCRIPTORS) {
        m->fd[m->fds++] = fd;
        return;
    }
    close(fd);
    m->surplus++;
}

static void take_descriptors(struct link_message *m, struct msghdr *from)
{
    m->cut = from->msg_flags & MSG_CTRUNC;
    for (struct cmsghdr *c = CMSG_FIRSTHDR(from); c; c = CMSG_NXTHDR(from, c)) {
        if (c->cmsg_level != SOL_SOCKET || c->cmsg_type != SCM_RIGHTS)
            continue;
        size_t n = (c->cmsg_len - CMSG_LEN(0)) / sizeof(int);
        for (size_t i = 0; i < n; i++) {
            int fd;

            memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
            take_descriptor(m, fd);
        }
    }
}

void link_message_free(struct link_message *m)
{
    for (int i = 0; i < m->fds; i++)
        if (m->fd[i] >= 0)
            close(m->fd[i]);
    free(m->content);
    *m = (struct link_message){0};
}

static int refuse(struct link_message *m, int reason)
{
    link_message_free(m);
    errno = reason;
    return -1;
}

int link_receive(int fd, struct link_message *m)
{
    struct head head = {0};
    union control control;

    *m = (struct link_message){.content = malloc(LINK_MESSAGE_MAX_BYTES + 1)};
    if (!m->content)
        return refuse(m, ENOMEM);
    struct iovec part[] = {{&head, sizeof head}, {m->content, LINK_MESSAGE_MAX_BYTES}};
    struct msghdr from = {.msg_iov = part, .msg_iovlen = 2, .msg_control = &control, .msg_controllen = sizeof control};
    ssize_t n = recvmsg(fd, &from, MSG_CMSG_CLOEXEC);
    if (n < 0 && errno == ECONNRESET) /* reported once, before the last messages of a peer that has closed */
        n = recvmsg(fd, &from, MSG_CMSG_CLOEXEC);
    if (n < 0)
        return refuse(m, errno);
    take_descriptors(m, &from);
    if (n == 0 && m->fds == 0 && !m->cut) { /* the end, or a message without anything, which looks like it */
        link_message_free(m);
        return 0;
    }
    if ((size_t)n < sizeof head || head.magic != MAGIC || from.msg_flags & MSG_TRUNC)
        return refuse(m, EPROTO);
    m->kind = head.kind;
    m->bytes = (size_t)n - sizeof head;
    m->content[m->bytes] = '\0';
    return 1;
}

/* ---- Statuses ------------------------------------------------------------------------------------ */

void link_tell(int fd, enum link_kind kind, struct link_status s, const char *text)
{
    uint8_t message[sizeof s + LINK_TEXT_BYTES];
    size_t n = strnlen(text, LINK_TEXT_BYTES);

    memcpy(message, &s, sizeof s);
    memcpy(message + sizeof s, text, n);
    link_send(fd, kind, message, sizeof s + n, false);
}

int link_await_status(int fd, const char *who, char text[LINK_TEXT_BYTES])
{
    struct link_message m;
    struct link_status s = {.status = 1};

    if (link_receive(fd, &m) <= 0)
        snprintf(text, LINK_TEXT_BYTES, "the machine has gone down without an answer");
    else if (m.kind != LINK_STATUS || m.bytes < sizeof s)
        snprintf(text, LINK_TEXT_BYTES,
                 "the machine sent a malformed answer; check that the machine and %s are of the same version", who);
    else {
        memcpy(&s, m.content, sizeof s);
        snprintf(text, LINK_TEXT_BYTES, "%s", one_line((char *)m.content + sizeof s));
    }
    link_message_free(&m);
    return s.status;
}
