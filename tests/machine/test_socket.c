/*
 * Clients other than xnc at the socket of a machine that is kept up: wrong messages, too many or too
 * few descriptors, more users than the machine has descriptors. Each gets one line, and its link is
 * closed; no descriptor stays open, and other clients are not affected.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "emu/link/launch.h"
#include "emu/link/link.h"
#include "tests/machine/booted.h"

TestSuite(socket, .timeout = 600);

#define MAGIC     0x4e435543u /* emu/link/link.c */
#define ANSWER_MS 60000
#define FDS_MOST  253

/* ---- A client by hand ---- */

static int connect_to(const struct booted *b)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int n = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "ncube/%u/%s", (unsigned)geteuid(), b->name);
    int fd = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);

    cr_assert_eq(connect(fd, (struct sockaddr *)&address, (socklen_t)(sizeof(sa_family_t) + 1 + n)), 0);
    return fd;
}

/* One message of these bytes with so many descriptors, all of /dev/null. */
static void send_raw(int fd, const void *bytes, size_t n, int fds)
{
    static union {
        struct cmsghdr head;
        char room[CMSG_SPACE(FDS_MOST * sizeof(int))];
    } control;
    int null = open("/dev/null", O_RDWR | O_CLOEXEC);
    struct iovec part = {(void *)bytes, n};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};

    if (fds > 0) {
        m.msg_control = &control;
        m.msg_controllen = CMSG_SPACE((size_t)fds * sizeof(int));
        struct cmsghdr *c = CMSG_FIRSTHDR(&m);
        c->cmsg_level = SOL_SOCKET;
        c->cmsg_type = SCM_RIGHTS;
        c->cmsg_len = CMSG_LEN((size_t)fds * sizeof(int));
        for (int i = 0; i < fds; i++)
            memcpy(CMSG_DATA(c) + (size_t)i * sizeof(int), &null, sizeof null);
    }
    sendmsg(fd, &m, MSG_NOSIGNAL); /* which may have been hung up on */
    close(null);
}

static void send_kind(int fd, uint32_t kind, const void *content, size_t n, int fds)
{
    static uint8_t bytes[LINK_MESSAGE_MAX_BYTES + 8];
    const uint32_t head[2] = {MAGIC, kind};

    memcpy(bytes, head, sizeof head);
    memcpy(bytes + sizeof head, content, n);
    send_raw(fd, bytes, sizeof head + n, fds);
}

/* The text of the machine's answer; "" without one. Waits until it has hung up. */
static char *take_answer(int fd)
{
    struct pollfd p = {.fd = fd, .events = POLLIN};
    char *text = strdup("");
    struct link_message m;

    for (;;) {
        cr_assert_eq(poll(&p, 1, ANSWER_MS), 1, "the machine neither answers nor hangs up");
        int got = link_receive(fd, &m);
        if (got <= 0)
            break;
        if (m.kind == LINK_STATUS && m.bytes > sizeof(struct link_status) && !*text) {
            free(text);
            text = strdup((const char *)m.content + sizeof(struct link_status));
        }
        link_message_free(&m);
    }
    close(fd);
    return text;
}

static uint8_t *pack(const char *program, const char *word, size_t *n)
{
    char *path = build_path(program), *argv[] = {path, (char *)word, NULL};
    const struct job_program p = {.path = path, .argv = argv, .argc = word ? 2 : 1};
    const struct job_options o = {.program = &p, .programs = 1};
    uint8_t *bytes = launch_pack(&o, "/", n);

    cr_assert_not_null(bytes);
    free(path);
    return bytes;
}

/* ---- One wrong thing at a time ---- */

enum content { EMPTY, LAUNCH, CUT_LAUNCH, NOISE };

static const struct message_case {
    const char *name;
    uint32_t kind;
    enum content content;
    int fds;
    int times;          /* the same message again */
    const char *answer; /* part of it; NULL: hung up on without a word */
} cases[] = {
    {"no descriptors", LINK_RUN, LAUNCH, 0, 1, "three descriptors"},
    {"two descriptors", LINK_RUN, LAUNCH, 2, 1, "three descriptors"},
    {"four descriptors", LINK_RUN, LAUNCH, 4, 1, "three descriptors"},
    {"as many as there can be", LINK_RUN, LAUNCH, FDS_MOST, 1, "three descriptors"},
    {"a second launch", LINK_RUN, LAUNCH, 3, 2, "one link runs one program"},
    {"an empty launch", LINK_RUN, EMPTY, 3, 1, "does not understand"},
    {"a launch that is cut off", LINK_RUN, CUT_LAUNCH, 3, 1, "does not understand"},
    {"noise for a launch", LINK_RUN, NOISE, 3, 1, "does not understand"},
    {"a kind that is the machine's", LINK_STATUS, NOISE, 0, 1, "takes no such message"},
    {"a kind that is not there", 77, EMPTY, 0, 1, "takes no such message"},
    {"descriptors with a kind that is not there", 77, EMPTY, 9, 1, "takes no such message"},
    {"a cube without a dimension", LINK_OPEN, EMPTY, 3, 1, "does not understand"},
    {"noise for a cube", LINK_OPEN, NOISE, 3, 1, "does not understand"},
    {"a program for a cube that is not open", LINK_LOAD, LAUNCH, 0, 1, "takes no such message"},
    {"mail for a cube that is not open", LINK_MAIL, NOISE, 0, 1, "takes no such message"},
    {"a wait for a cube that is not open", LINK_WAIT, EMPTY, 0, 1, "takes no such message"},
};

static void send_case(int fd, const struct message_case *m)
{
    static const uint8_t noise[200] = {1, 2, 3};
    size_t n;
    uint8_t *launch = pack("guest/ends", "spins", &n); /* it still runs when the next message comes, however late */

    for (int i = 0; i < m->times; i++) {
        if (m->content == LAUNCH || m->content == CUT_LAUNCH)
            send_kind(fd, m->kind, launch, m->content == LAUNCH ? n : n - 1, m->fds);
        else
            send_kind(fd, m->kind, noise, m->content == NOISE ? sizeof noise : 0, m->fds);
    }
    free(launch);
}

Test(socket, what_xnc_does_not_send_is_answered_and_hung_up_on_and_leaves_no_descriptor)
{
    struct booted b = booted_up(WORDS("-d", "2"));
    size_t before = booted_descriptors(&b);

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int fd = connect_to(&b);

        send_case(fd, &cases[i]);
        char *answer = take_answer(fd);
        cr_expect_not_null(strstr(answer, cases[i].answer), "%s: '%s'", cases[i].name, answer);
        free(answer);
        booted_expect_descriptors(&b, before, cases[i].name);
    }
    xnc_expect(&b, "", WORDS("examples/hello"), 0, "hello from node 0 of 1\n", "");
    booted_down(&b);
}

Test(socket, bytes_that_are_no_message_are_answered_and_hung_up_on)
{
    static const uint8_t big[LINK_MESSAGE_MAX_BYTES + 100];
    static const size_t lengths[] = {0, 1, 7, 8, 100, sizeof big};
    struct booted b = booted_up(WORDS("-d", "0"));
    size_t before = booted_descriptors(&b);

    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        int fd = connect_to(&b);

        send_raw(fd, big, lengths[i], 5);
        char *answer = take_answer(fd);
        cr_expect_not_null(strstr(answer, "not a message for a machine"), "%zu bytes: '%s'", lengths[i], answer);
        free(answer);
    }
    booted_expect_descriptors(&b, before, "no message");
    booted_down(&b);
}

/* ---- Many wrong things ---- */

static unsigned draw(unsigned *state, unsigned below)
{
    *state = *state * 1664525u + 1013904223u;
    return (*state >> 8) % below;
}

/* A launch with some bytes changed, or cut, or noise; any kind but LINK_DOWN; any number of
 * descriptors. */
static void send_at_random(int fd, const uint8_t *launch, size_t n, unsigned *state)
{
    static uint8_t bytes[LINK_MESSAGE_MAX_BYTES];
    static const uint32_t kinds[] = {LINK_RUN, LINK_RUN, LINK_RUN, LINK_KILL, LINK_STATUS, 0, 99, ~0u};

    memcpy(bytes, launch, n);
    for (unsigned k = draw(state, 4); k > 0; k--)
        bytes[draw(state, (unsigned)n)] = (uint8_t)draw(state, 256);
    size_t length = draw(state, 3) ? n : draw(state, (unsigned)n);
    send_kind(fd, kinds[draw(state, 8)], bytes, length, draw(state, 3) ? 3 : (int)draw(state, 8));
}

Test(socket, random_messages_do_no_harm)
{
    struct booted b = booted_up(WORDS("-d", "2"));
    size_t before = booted_descriptors(&b), n;
    uint8_t *launch = pack("examples/hello", NULL, &n);
    unsigned state = 5;

    for (int i = 0; i < 300; i++) {
        int fd = connect_to(&b);

        for (unsigned k = 1 + draw(&state, 4); k > 0; k--)
            send_at_random(fd, launch, n, &state);
        close(fd);
    }
    booted_expect_descriptors(&b, before, "300 clients");
    xnc_expect(&b, "", WORDS("-d2", "examples/hello"), 0, NULL, "");
    free(launch);
    booted_down(&b);
}

/* ---- Host programs ---- */

static void expect_opened(int fd)
{
    struct link_message m;

    cr_assert_eq(link_receive(fd, &m), 1);
    cr_assert_eq(m.kind, LINK_OPENED);
    link_message_free(&m);
}

/* What an open cube gets from a host program: loads, mail and waits, some of them damaged. */
static void send_to_cube(int fd, const uint8_t *launch, size_t n, unsigned *state)
{
    static uint8_t bytes[LINK_MESSAGE_MAX_BYTES];
    static const uint32_t kinds[] = {LINK_LOAD, LINK_MAIL, LINK_WAIT};
    const uint32_t kind = kinds[draw(state, 3)];
    const struct link_part part = {.first = draw(state, 5), .nodes = draw(state, 6)};
    const struct link_mail mail = {
        .node = draw(state, 4) ? draw(state, 5) : LINK_ALL_NODES, .type = draw(state, 1 << 17), .left = draw(state, 2)};
    size_t head = kind == LINK_LOAD ? sizeof part : sizeof mail;

    if (kind == LINK_LOAD)
        memcpy(bytes, &part, sizeof part);
    else
        memcpy(bytes, &mail, sizeof mail);
    memcpy(bytes + head, launch, n);
    for (unsigned k = draw(state, 3); k > 0; k--)
        bytes[draw(state, (unsigned)(head + n))] = (uint8_t)draw(state, 256);
    send_kind(fd, kind, bytes, draw(state, 4) ? head + n : draw(state, (unsigned)(head + n)), 0);
}

Test(socket, a_host_program_that_sends_nonsense_does_no_harm)
{
    struct booted b = booted_up(WORDS("-d", "2"));
    size_t before = booted_descriptors(&b), n;
    uint8_t *launch = pack("examples/hello", NULL, &n);
    const struct link_open open = {.dim = 2};
    unsigned state = 9;

    for (int i = 0; i < 100; i++) {
        int fd = connect_to(&b);

        send_kind(fd, LINK_OPEN, &open, sizeof open, 3);
        expect_opened(fd);
        for (unsigned k = 1 + draw(&state, 6); k > 0; k--)
            send_to_cube(fd, launch, n, &state);
        close(fd);
        booted_expect_descriptors(&b, before, "a host program");
    }
    xnc_expect(&b, "", WORDS("-d2", "examples/hello"), 0, NULL, "");
    free(launch);
    booted_down(&b);
}

/* ---- No descriptors left ---- */

#define CROWD 60

static unsigned long ticks_of(pid_t pid)
{
    char path[64], text[1024] = "";
    unsigned long user = 0, system = 0;

    snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
    FILE *f = fopen(path, "re");
    cr_assert_not_null(f);
    cr_assert_not_null(fgets(text, sizeof text, f));
    fclose(f);
    cr_assert_eq(sscanf(strrchr(text, ')'), ") %*c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %lu %lu", &user, &system),
                 2);
    return user + system;
}

/* ncube boot with at most so many descriptors. */
static struct booted boot_limited(int descriptors)
{
    struct booted b;

    snprintf(b.name, sizeof b.name, "socket-%d", (int)getpid());
    char *line = format("ulimit -n %d; exec %s boot -d 1 --name %s", descriptors, build_path("bin/ncube"), b.name);
    b.command = command_start((char *[]){"/bin/sh", "-c", line, NULL}, NULL, 0);
    free(line);
    booted_await(&b);
    return b;
}

Test(socket, a_crowd_that_takes_all_descriptors_is_told_so_and_the_machine_neither_spins_nor_ends)
{
    struct booted b = boot_limited(48);
    int fd[CROWD], told = 0;

    for (int i = 0; i < CROWD; i++)
        fd[i] = connect_to(&b);
    for (int i = 0; i < CROWD; i++) {
        struct pollfd p = {.fd = fd[i], .events = POLLIN};
        struct link_message m;

        if (poll(&p, 1, i == CROWD - 1 ? ANSWER_MS : 0) == 1 && link_receive(fd[i], &m) == 1) {
            told += m.bytes > sizeof(struct link_status) &&
                    strstr((char *)m.content + sizeof(struct link_status), "no descriptor left") != NULL;
            link_message_free(&m);
        }
    }
    cr_expect_gt(told, 0, "nobody is told");
    unsigned long before = ticks_of(command_find_machine(&b.command));
    poll(NULL, 0, 600);
    unsigned long used = ticks_of(command_find_machine(&b.command)) - before;
    cr_expect_lt(used, (unsigned long)sysconf(_SC_CLK_TCK) / 5, "%lu ticks in 0.6 s", used);
    xnc_expect(&b, "", WORDS("examples/hello"), 1, "", "no descriptor left");
    outcome_must_be(command_run((char *[]){build_path("bin/ncube"), "down", "--name", b.name, NULL}, NULL),
                    "ncube down", 1, "", "no descriptor left");
    struct outcome ps = command_run((char *[]){build_path("bin/ncube"), "ps", NULL}, NULL);
    char *line = format("%s: the machine has no descriptor left for another client", b.name);
    cr_expect(ps.status == 1 && strstr(ps.out, line), "status %d: %s", ps.status, ps.out);
    free(line);
    outcome_free(&ps);
    size_t full = booted_descriptors(&b);
    close(fd[0]); /* one for the link, one of three for the streams */
    close(fd[1]);
    booted_expect_descriptors(&b, full - 2, "two of the crowd have gone");
    xnc_expect(&b, "", WORDS("examples/hello"), 2, "", "no descriptors left for this program's streams");
    for (int i = 2; i < CROWD; i++)
        close(fd[i]);
    booted_expect_descriptors(&b, 30, "the crowd has gone");
    xnc_expect(&b, "", WORDS("examples/hello"), 0, "hello from node 0 of 1\n", "");
    booted_down(&b);
}
