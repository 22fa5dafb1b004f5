/* What a copy of the process is given (copied.h). */
#include "emu/machine/copied.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <unistd.h>

#include "emu/base/signals.h"
#include "emu/debug/stub.h"

#define TRANSFER_S 10 /* of the host: another process that says nothing for so long has failed */

/* ---- The memory of a copy ---- */

/* Returns false if there is no trace, or none in a file. */
static bool find_trace(const struct machine *m, struct stat *file)
{
    const char *path = m->options->trace.path;

    return m->trace && path && stat(path, file) == 0 && S_ISREG(file->st_mode);
}

bool copied_is_possible(const struct machine *m)
{
    struct stat file;

    return !m->options->trace.path || find_trace(m, &file);
}

static int find_end(int fd, void *end)
{
    *(off_t *)end = lseek(fd, 0, SEEK_CUR);
    return 0;
}

int copied_find(const struct machine *m, struct copied_memory *s)
{
    struct stat file;
    int error = memory_file_find(&s->ram, m->cabinet[0].ram_fd);

    s->traced = -1;
    if (error == 0)
        error = memory_file_find(&s->control, m->harts.fd);
    return error == 0 && find_trace(m, &file) ? descriptors_each(&file, find_end, &s->traced) : error;
}

/* What is behind that stays: the run writes the same there again, and a later checkpoint goes on behind it. */
static int go_back_to(int fd, void *end)
{
    return lseek(fd, *(off_t *)end, SEEK_SET) < 0 ? errno : 0;
}

static int find_descriptor(int fd, void *found)
{
    *(int *)found = fd;
    return 0;
}

int copied_hold_trace(const struct machine *m)
{
    struct stat file;
    int fd = -1;

    if (!find_trace(m, &file) || descriptors_each(&file, find_descriptor, &fd) != 0 || fd < 0)
        return -1;
    return fcntl(fd, F_DUPFD_CLOEXEC, 0);
}

void copied_end_trace(const struct machine *m, int held)
{
    off_t end = held >= 0 && !m->behind ? lseek(held, 0, SEEK_CUR) : -1;

    if (end >= 0 && ftruncate(held, end) != 0)
        fprintf(stderr, "ncube: %s: %s; it has more than the run\n", m->options->trace.path, strerror(errno));
    if (held >= 0)
        close(held);
}

int copied_trace(const struct machine *m, const struct copied_memory *s)
{
    struct stat file;
    off_t end = s->traced;

    if (end < 0 || !find_trace(m, &file))
        return 0;
    if (!m->behind)
        return descriptors_each(&file, go_back_to, &end);
    int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC),
        error = nowhere < 0 ? errno : descriptors_each(&file, descriptor_replace, &nowhere);
    if (nowhere >= 0)
        close(nowhere);
    return error;
}

/* Returns the next drive from place *i on, and moves that behind it; NULL: there are no more. */
static struct disk *next_disk(const struct machine *m, uint32_t *i)
{
    struct disk *d = NULL;

    while (!d && *i < m->config.topo.n_io * DRIVE_MAX)
        d = m->disk[(*i)++];
    return d;
}

static int own_images(const struct machine *m)
{
    struct disk *d;
    int error = 0;

    for (uint32_t i = 0; error == 0 && (d = next_disk(m, &i));)
        error = disk_own(d);
    return error;
}

int copied_own(struct machine *m, const struct copied_memory *s)
{
    int error = memory_file_own(&s->ram);

    if (error == 0)
        error = memory_file_own(&s->control);
    if (error == 0)
        error = own_images(m);
    signals_keep_to(gettid());
    m->cabinet[0].pid = getpid();
    return error;
}

void copied_mark(struct machine *m)
{
    struct disk *d;

    for (uint32_t i = 0; !m->behind && (d = next_disk(m, &i));)
        disk_mark(d);
}

uint64_t copied_bytes(const struct machine *m)
{
    uint64_t bytes = memory_file_bytes(m->cabinet[0].ram_fd) + memory_file_bytes(m->harts.fd);
    struct disk *d;

    for (uint32_t i = 0; (d = next_disk(m, &i));)
        bytes += disk_own_bytes(d);
    return bytes;
}

/* ---- Between the processes ---- */

bool copied_open(struct copied_link *c)
{
    const struct timeval limit = {.tv_sec = TRANSFER_S};
    int pair[2];

    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
        return false;
    setsockopt(pair[0], SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit);
    setsockopt(pair[1], SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit);
    *c = (struct copied_link){pair[0], pair[1]};
    return true;
}

void copied_close(const struct copied_link *c)
{
    close(c->near);
    close(c->far);
}

void copied_answer(const struct copied_link *c, int32_t what)
{
    if (send(c->far, &what, sizeof what, MSG_NOSIGNAL) != sizeof what)
        _exit(EXIT_FAILURE);
}

int32_t copied_await_answer(const struct copied_link *c, pid_t pid)
{
    struct pollfd p[2] = {{.fd = c->near, .events = POLLIN}, {.fd = pidfd_open(pid, 0), .events = POLLIN}};
    int32_t what = -1;

    while (p[1].fd >= 0 && poll(p, 2, -1) < 0 && errno == EINTR && signals_end() == 0)
        ;
    if (!(p[0].revents & POLLIN) || recv(c->near, &what, sizeof what, MSG_DONTWAIT) != sizeof what)
        what = -1;
    if (p[1].fd >= 0)
        close(p[1].fd);
    return what;
}

/* A signal would break a transfer off: it waits. */
static sigset_t hold_signals(void)
{
    sigset_t all, before;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    return before;
}

void copied_clear(const struct copied_link *c)
{
    char bytes[4096];

    while (recv(c->near, bytes, sizeof bytes, MSG_DONTWAIT) > 0 || recv(c->far, bytes, sizeof bytes, MSG_DONTWAIT) > 0)
        ;
}

static bool let_go(const struct copied_link *c)
{
    return send(c->near, "", 1, MSG_NOSIGNAL) == 1;
}

bool copied_await_go(const struct copied_link *c)
{
    sigset_t before = hold_signals();
    char byte;
    bool goes = recv(c->far, &byte, 1, 0) == 1;

    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return goes;
}

/* With a descriptor, or -1. */
static bool send_descriptor(int socket, int fd)
{
    char control[CMSG_SPACE(sizeof fd)] = {0}, byte = fd >= 0;
    struct iovec data = {&byte, 1};
    struct msghdr message = {.msg_iov = &data, .msg_iovlen = 1};

    if (fd >= 0) {
        message.msg_control = control;
        message.msg_controllen = sizeof control;
        *CMSG_FIRSTHDR(&message) =
            (struct cmsghdr){.cmsg_len = CMSG_LEN(sizeof fd), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
        memcpy(CMSG_DATA(CMSG_FIRSTHDR(&message)), &fd, sizeof fd);
    }
    return sendmsg(socket, &message, MSG_NOSIGNAL) == 1;
}

static bool receive_descriptor(int socket, int *fd)
{
    char control[CMSG_SPACE(sizeof *fd)] = {0}, byte = 0;
    struct iovec data = {&byte, 1};
    struct msghdr message = {
        .msg_iov = &data, .msg_iovlen = 1, .msg_control = control, .msg_controllen = sizeof control};

    *fd = -1;
    if (recvmsg(socket, &message, MSG_CMSG_CLOEXEC) != 1)
        return false;
    const struct cmsghdr *head = CMSG_FIRSTHDR(&message);
    if (byte && head && head->cmsg_type == SCM_RIGHTS)
        memcpy(fd, CMSG_DATA(head), sizeof *fd);
    return !byte || *fd >= 0;
}

static bool send_descriptors(const struct machine *m, int socket)
{
    const int *list;
    size_t n = recording_descriptors(m->options->recording, &list);
    bool sent =
        send_descriptor(socket, stub_connection(m->stub)) && send(socket, &n, sizeof n, MSG_NOSIGNAL) == sizeof n;

    for (size_t i = 0; i < n && sent; i++)
        sent = send_descriptor(socket, list[i]);
    return sent;
}

static bool receive_descriptors(const struct machine *m, int socket, int *connection)
{
    size_t n = 0;
    int fd;
    bool received = receive_descriptor(socket, connection) && recv(socket, &n, sizeof n, MSG_WAITALL) == sizeof n;

    for (size_t i = 0; i < n && received; i++) {
        received = receive_descriptor(socket, &fd);
        if (received)
            recording_take_descriptor(m->options->recording, i, fd);
    }
    return received;
}

static bool give_pasts(const struct machine *m, FILE *to)
{
    bool given = true;
    struct disk *d;

    for (uint32_t i = 0; given && (d = next_disk(m, &i));)
        given = disk_give(d, to);
    return given;
}

static bool take_pasts(const struct machine *m, FILE *from)
{
    bool taken = true;
    struct disk *d;

    for (uint32_t i = 0; taken && (d = next_disk(m, &i));)
        taken = disk_take(d, from);
    return taken;
}

static bool send_all(const struct machine *m, const struct copied_link *c, bool to_present)
{
    sigset_t before = hold_signals();
    int end = dup(c->near);
    FILE *f = end >= 0 ? fdopen(end, "w") : NULL;
    bool sent = f && send_descriptors(m, end) && fwrite(&m->gdb_kills, sizeof m->gdb_kills, 1, f) == 1 &&
                stub_give(m->stub, f) && (to_present || (recording_give(m->options->recording, f) && give_pasts(m, f)));

    sent = f && fclose(f) == 0 && sent;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return sent;
}

bool copied_receive(struct machine *m, const struct copied_link *c, bool is_present)
{
    sigset_t before = hold_signals();
    int fd = -1, end = dup(c->far);
    FILE *f = end >= 0 ? fdopen(end, "r") : NULL;
    bool received = f && receive_descriptors(m, end, &fd);

    if (f)
        setvbuf(f, NULL, _IONBF, 0); /* nothing of what a later process gets */
    received = received && fread(&m->gdb_kills, sizeof m->gdb_kills, 1, f) == 1 && stub_take(m->stub, fd, f) &&
               (is_present || (recording_take(m->options->recording, f) && take_pasts(m, f)));
    if (f)
        fclose(f);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return received;
}

bool copied_hand_over(const struct machine *m, const struct copied_link *c, pid_t pid, bool to_present)
{
    return let_go(c) && copied_await_answer(c, pid) == 0 && send_all(m, c, to_present) &&
           copied_await_answer(c, pid) > 0 && let_go(c);
}

void copied_say_gone_on(const struct copied_link *c)
{
    copied_answer(c, getpid());
    copied_await_go(c);
}
