/* `ncube ps`: the machines of this host that are kept up (boot.c), and what runs on them. The kernel lists them; all
 * machines of the user are asked at the same time and have ANSWER_MS to answer. */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "emu/base/host.h"
#include "emu/base/memory.h"
#include "emu/base/order.h"
#include "emu/link/link.h"
#include "emu/link/machine_report.h"
#include "emu/base/options.h"
#include "emu/base/json_text.h"
#include "emu/cmd/commands.h"
#include "emu/cmd/job_options.h"

#define ANSWER_MS 2000 /* a machine looks up every 10 ms (boot.c), on a busy host later */

struct peer {
    char name[LINK_NAME_MAX + 1];
    uid_t user;
    pid_t pid;
    int fd;              /* -1: no answer is awaited */
    json_t *report;      /* NULL: none */
    const char *trouble; /* why there is no report */
};

struct peers {
    struct peer *peer;
    struct pollfd *poll;
    size_t n;
};

/* ---- Machines ---- */

static void add_peer(void *ctx, uid_t user, const char *name)
{
    struct peers *p = ctx;

    p->peer = memory_resize(p->peer, p->n + 1, sizeof *p->peer);
    p->peer[p->n] = (struct peer){.user = user, .fd = -1};
    snprintf(p->peer[p->n++].name, sizeof p->peer->name, "%s", name);
}

static int by_user_and_name(const void *a, const void *b)
{
    const struct peer *x = a, *y = b;

    return order(x->user, y->user) ?: strcmp(x->name, y->name);
}

static void forget(struct peers *p, size_t i)
{
    memmove(&p->peer[i], &p->peer[i + 1], (--p->n - i) * sizeof *p->peer);
}

/* ---- Asking ---- */

static void ask(struct peer *p)
{
    if (p->user != geteuid()) {
        p->trouble = "another user's";
        return;
    }
    p->fd = link_try_connect(p->name);
    if (p->fd < 0)
        p->trouble = errno == EPERM ? "another user's, under a name of yours" : "does not answer";
    else {
        p->pid = link_peer(p->fd);
        link_send(p->fd, LINK_ASK, NULL, 0, false);
    }
}

/* Returns true if a machine has turned this client away (link_turn_away). */
static bool is_turned_away(const struct link_message *m)
{
    return m->kind == LINK_STATUS && m->bytes > sizeof(struct link_status) &&
           strcmp((const char *)m->content + sizeof(struct link_status), LINK_FULL_TEXT) == 0;
}

static void take_answer(struct peer *p)
{
    struct link_message m;
    int got = link_receive(p->fd, &m);

    if (got < 0 && (errno == EAGAIN || errno == EINTR))
        return;
    if (got > 0 && m.kind == LINK_REPORT)
        p->report = report_parse(m.content, m.bytes);
    if (!p->report && (got == 0 || (got < 0 && errno == ECONNRESET)))
        p->trouble = "has just gone down";
    else if (got > 0 && is_turned_away(&m))
        p->trouble = LINK_FULL_TEXT;
    else if (!p->report)
        p->trouble = "sends a malformed report; check that it and ncube are of the same version";
    if (got > 0)
        link_message_free(&m);
    close(p->fd);
    p->fd = -1;
}

static bool awaits_answers(const struct peers *p)
{
    for (size_t i = 0; i < p->n; i++)
        if (p->peer[i].fd >= 0)
            return true;
    return false;
}

static void await_answers(struct peers *p)
{
    const int64_t end = (int64_t)host_ms() + ANSWER_MS;

    for (int64_t left; awaits_answers(p) && (left = end - (int64_t)host_ms()) > 0;) {
        for (size_t i = 0; i < p->n; i++)
            p->poll[i] = (struct pollfd){.fd = p->peer[i].fd, .events = POLLIN};
        if (poll(p->poll, p->n, (int)left) <= 0)
            continue;
        for (size_t i = 0; i < p->n; i++)
            if (p->poll[i].revents)
                take_answer(&p->peer[i]);
    }
    for (size_t i = 0; i < p->n; i++)
        if (p->peer[i].fd >= 0) {
            p->peer[i].trouble = "does not answer";
            close(p->peer[i].fd);
        }
}

/* ---- Printing ---- */

static bool is_own(const struct peer *p)
{
    return p->user == geteuid();
}

static void print_text(const struct peers *p)
{
    for (size_t i = 0; i < p->n; i++) {
        const struct peer *peer = &p->peer[i];

        if (peer->report)
            report_print(peer->report);
        else if (peer->pid)
            printf("%s: %s (ncube %d)\n", peer->name, peer->trouble, (int)peer->pid);
        else
            printf("%s: %s (user %u)\n", peer->name, peer->trouble, (unsigned)peer->user);
    }
    if (p->n == 0)
        puts("no machine is up; ncube boot starts one");
}

static int print_json(const struct peers *p)
{
    json_t *list = json_array();

    for (size_t i = 0; i < p->n; i++) {
        const struct peer *peer = &p->peer[i];

        json_array_append_new(list, peer->report ? json_incref(peer->report)
                                                 : json_pack("{s:s, s:I, s:i, s:s}", "name", peer->name, "user",
                                                             (json_int_t)peer->user, "pid", (int)peer->pid, "trouble",
                                                             peer->trouble));
    }
    return json_print(list);
}

/* ---- Command line ---- */

struct arguments {
    const char *name;
    bool json;
};

static const struct options options = {
    .command = "ncube ps",
    .usage = "[OPTION...]",
    .summary = "Lists the machines that ncube boot keeps up on this host, and what runs on them: nodes, virtual\n"
               "time, command line and the process of its xnc; then the programs that wait for a subcube. Exits\n"
               "with 1 if one of the user's machines does not answer within 2 seconds.",
    .line = (const struct option_line[]){{"machine", "NAME", "only this machine",
                                          OPTION_INTO(OPTION_TEXT, struct arguments, name), .letter = 'm'},
                                         {OPTION_JSON(struct arguments, json)},
                                         {0}},
};

/* Keeps the machine of that name alone. Returns false, and says so, if it is not up. */
static bool choose(struct peers *p, const char *name)
{
    char error[256];

    for (size_t i = 0; i < p->n;)
        if (strcmp(p->peer[i].name, name) == 0)
            i++;
        else
            forget(p, i);
    if (p->n > 0)
        return true;
    link_say_missing(name, error, sizeof error);
    options_fail(&options, "%s", error);
    return false;
}

int ps_command(int argc, char **argv)
{
    struct peers p = {0};
    struct arguments a = {.json = false};
    int status = 0;

    options_parse(&options, &a, argc, argv);
    a.name = a.name ? options_machine_name(&options, a.name) : NULL;
    if (link_list(add_peer, &p) != 0)
        return options_fail(&options, "/proc/net/unix: %s", strerror(errno));
    if (a.name && !choose(&p, a.name))
        return 1;
    order_sort(p.peer, p.n, sizeof *p.peer, by_user_and_name);
    for (size_t i = 0; i < p.n;) {
        ask(&p.peer[i]);
        if (p.peer[i].fd < 0 && is_own(&p.peer[i]) && errno == ECONNREFUSED) /* it has ended meanwhile */
            forget(&p, i);
        else
            i++;
    }
    p.poll = memory_new(p.n, sizeof *p.poll);
    await_answers(&p);
    for (size_t i = 0; i < p.n; i++)
        status |= is_own(&p.peer[i]) && !p.peer[i].report;
    if (a.json)
        status |= print_json(&p);
    else
        print_text(&p);
    for (size_t i = 0; i < p.n; i++)
        json_decref(p.peer[i].report);
    free(p.poll);
    free(p.peer);
    return status;
}
