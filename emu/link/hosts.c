/* What host programs ask of a machine, and what they are told. */
#include "emu/link/hosts.h"

#include <stdlib.h>
#include <string.h>

#include "emu/link/launch.h"
#include "emu/link/life_acts.h"
#include "emu/job/hosted.h"
#include "emu/job/lives.h"
#include "vertex/contract/errors.h"

#define ERROR_BYTES 512u

/* ---- Requests --------------------------------------------------------------------------------------- */

bool hosts_take_open(struct host *h, struct job_options *o, const struct link_message *m)
{
    struct link_open open;

    *h = (struct host){0};
    if (m->bytes != sizeof open)
        return false;
    memcpy(&open, m->content, sizeof open);
    *o = (struct job_options){.dim = open.dim, .hosted = true};
    return true;
}

static bool load_launch(struct host *h, struct machine *machine, struct job *j, int fd, const struct link_part *part,
                        struct launch *launch)
{
    char error[ERROR_BYTES];

    if (launch->job.programs != 1)
        return false;
    launch->program[0].nodes = part->nodes;
    int32_t life = life_load(machine, j, part->first, launch->program, error, sizeof error);
    if (life < 0)
        link_tell(fd, LINK_LOADED, (struct link_status){.status = -N_EINVAL}, error);
    else
        h->life = (uint32_t)life;
    return true;
}

static bool load(struct host *h, struct machine *machine, struct job *j, int fd, const struct link_message *m)
{
    struct link_part part;
    struct launch launch;

    if (m->bytes < sizeof part || h->life != 0)
        return false;
    memcpy(&part, m->content, sizeof part);
    if (launch_unpack(&launch, m->content + sizeof part, m->bytes - sizeof part) < 0)
        return false;
    bool sound = load_launch(h, machine, j, fd, &part, &launch);
    launch_free(&launch);
    return sound;
}

/* Adds a part to the message for nodes. NULL: it would be too long, or there is no memory. */
static uint8_t *mail_add(struct host *h, const uint8_t *bytes, size_t n)
{
    uint8_t *mail = h->mail_bytes + n > HOSTED_WAITS_BYTES ? NULL : realloc(h->mail, h->mail_bytes + n + 1);

    if (!mail)
        return NULL;
    memcpy(mail + h->mail_bytes, bytes, n);
    h->mail = mail;
    h->mail_bytes += n;
    return mail;
}

static bool take_mail(struct host *h, struct machine *machine, struct job *j, const struct link_message *m)
{
    struct link_mail mail;

    if (m->bytes < sizeof mail)
        return false;
    memcpy(&mail, m->content, sizeof mail);
    if ((mail.node >= j->nodes && mail.node != LINK_ALL_NODES) || mail.type > 0xffff ||
        !mail_add(h, m->content + sizeof mail, m->bytes - sizeof mail))
        return false;
    if (mail.left > 0)
        return true;
    life_mail(machine, j, mail.node, mail.type, h->mail, h->mail_bytes);
    hosts_free(h);
    return true;
}

void hosts_free(struct host *h)
{
    free(h->mail);
    h->mail = NULL;
    h->mail_bytes = 0;
}

bool hosts_act(struct host *h, struct machine *machine, struct job *j, int fd, const struct link_message *m)
{
    if (m->kind != LINK_LOAD && m->kind != LINK_MAIL && m->kind != LINK_WAIT)
        return false;
    if (!j || !j->hosted || !h->opened)
        return false;
    if (j->killed)
        return true; /* the host program is about to be told */
    switch (m->kind) {
    case LINK_LOAD:
        return load(h, machine, j, fd, m);
    case LINK_MAIL:
        return take_mail(h, machine, j, m);
    default:
        return h->waits = true;
    }
}

/* ---- Serving ---------------------------------------------------------------------------------------- */

/* Passes the oldest message on, in parts. False when the link takes no more now. */
static bool pass_message(struct host *h, struct machine *machine, struct job *j, int fd)
{
    const struct hosted_message *m = hosted_first(j);
    uint8_t message[LINK_MESSAGE_MAX_BYTES];

    do {
        size_t left = m->bytes - h->passed, n = left < LINK_MAIL_BYTES ? left : LINK_MAIL_BYTES;
        const struct link_mail mail = {.node = m->node, .type = m->type, .left = (uint32_t)(left - n)};

        memcpy(message, &mail, sizeof mail);
        memcpy(message + sizeof mail, m->content + h->passed, n);
        if (link_send(fd, LINK_MAIL, message, sizeof mail + n, false) != 0)
            return false; /* for now; a link that is closed is noticed elsewhere */
        h->passed += n;
    } while (h->passed < m->bytes);
    h->passed = 0;
    life_pass(machine, j);
    return true;
}

static void tell_result(struct host *h, struct job *j, int fd)
{
    int32_t error;

    if (!lives_has_begun(j->lives, h->life, &error))
        return;
    link_tell(fd, LINK_LOADED, (struct link_status){.status = error ? error : (int32_t)h->life},
              error ? "a node has no memory for the program" : "");
    h->life = 0;
}

void hosts_serve(struct host *h, struct machine *machine, struct job *j, int fd)
{
    if (!j || !j->hosted || !j->loaded)
        return;
    if (!h->opened)
        link_tell(fd, LINK_OPENED, (struct link_status){0}, "");
    h->opened = true;
    while (hosts_have_mail(j) && pass_message(h, machine, j, fd))
        ;
    if (h->life != 0)
        tell_result(h, j, fd);
    if (!h->waits || h->life != 0 || hosts_have_mail(j) || lives_exits(j->lives) < j->nodes)
        return;
    if (j->killed)
        return; /* it is about to be told how the job has ended */
    link_tell(fd, LINK_IDLE, (struct link_status){.status = job_status(j)}, "");
    h->waits = false;
}

bool hosts_have_mail(const struct job *j)
{
    return j->hosted && hosted_first(j);
}
