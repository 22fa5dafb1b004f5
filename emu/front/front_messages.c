/*
 * Messages to the front end. Each type has its handler in one table; a handler checks the sender and the sizes, then
 * changes the state, then checks whether the phase is over. This file also handles the front end's messages that could
 * not be delivered.
 */
#include "emu/front/front.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/hostfs/console.h"
#include "emu/front/front_parts.h"
#include "emu/job/hosted.h"
#include "emu/job/lives.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"
#include "vertex/shared/node_name.h"

/* ---- Exits -------------------------------------------------------------------------------------- */

static const char *receive_io_exit(struct front *f, uint32_t from, const uint8_t *bytes, size_t n)
{
    const char *wrong = io_nodes_receive_exit(&f->io, from, bytes, n);

    if (wrong)
        return wrong;
    if (f->phase == PHASE_UP) {
        front_tell_users(f, from);
        front_kill_jobs(f);
    }
    front_leave_mounting(f);
    front_finish_if_stopped(f);
    return NULL;
}

static const char *receive_exit(struct front *f, uint32_t from, const uint8_t *bytes, size_t n)
{
    struct job *j = front_job_of(f, from);

    if (front_has_io_node(f, from))
        return receive_io_exit(f, from, bytes, n);
    if (!j)
        return "that node is not in a job";
    const char *wrong = job_receive_exit(j, from, bytes, n);
    if (wrong)
        return wrong;
    pipes_drop_node(&f->pipes, from);
    front_kill_partners(f, j);
    front_end_if_exited(f, j);
    return NULL;
}

static const char *receive_started(struct front *f, uint32_t from, const uint8_t *bytes, size_t n)
{
    struct job *j = front_job_of(f, from);

    return j ? lives_receive_started(j->lives, from, bytes, n) : "that node is not in a job";
}

static const char *receive_mounted(struct front *f, uint32_t from, const uint8_t *bytes, size_t n)
{
    const char *wrong = io_nodes_receive_mounted(&f->io, from, bytes, n);

    if (!wrong)
        front_leave_mounting(f);
    return wrong;
}

static const char *receive_shutdown(struct front *f, uint32_t from, const uint8_t *bytes, size_t n)
{
    const char *wrong = io_nodes_receive_shutdown(&f->io, from, bytes, n);

    if (!wrong)
        front_finish_if_stopped(f);
    return wrong;
}

/* ---- Other messages ---------------------------------------------------------------------------- */

/* Prints a line of an I/O node. If it repeats, prints only some of them, with their number (repeats.h). */
static void print_repeated(struct front *f, uint32_t from, const char *name, const char *text, size_t n)
{
    char line[CONSOLE_LINE_BYTES + 64];
    uint64_t number = repeats_note(&f->repeats, from, text, n);

    if (number == 0)
        return;
    if (number <= REPEATS_SHOWN) {
        console_print(&f->streams, name, text, n);
        return;
    }
    while (n > 0 && text[n - 1] == '\n')
        n--;
    int shown = n < CONSOLE_LINE_BYTES ? (int)n : (int)CONSOLE_LINE_BYTES;
    snprintf(line, sizeof line, "%.*s (the %" PRIu64 "th line of this kind)", shown, text, number);
    console_print(&f->streams, name, line, strlen(line));
}

static const char *receive_console(struct front *f, uint32_t from, const uint8_t *bytes, size_t n)
{
    char name[NODE_NAME_BYTES];
    struct job *j = front_job_of(f, from);

    node_name(from, name);
    if (j)
        console_print(&j->streams, name, (const char *)bytes, n);
    else
        print_repeated(f, from, name, (const char *)bytes, n);
    return NULL;
}

static const char *receive_request(struct front *f, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    struct job *j = front_job_of(f, from);
    const void *reply;

    if (j && TAG_TYPE(tag) == N_PIPE)
        return pipes_request(&f->pipes, j->id, from, tag, bytes, n);
    if (j)
        return job_receive_request(j, from, tag, bytes, n);
    if (!front_has_io_node(f, from))
        return "that node is not in a job";
    size_t reply_bytes = hostfs_request(f->files, from, TAG_FROM(tag), TAG_TYPE(tag), bytes, n, &reply);
    if (reply_bytes == 0)
        return "it is too short";
    f->ops.job.send(f->ctx, from, TAG(N_REPLY(TAG_TYPE(tag)), 0, TAG_FROM(tag)), reply, reply_bytes);
    return NULL;
}

/* Messages of programs are for a host program. */
static const char *receive_message(struct front *f, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    struct job *j = front_job_of(f, from);

    if (!j || !j->hosted || !TAG_IS_PROGRAM(tag))
        return "the front end reads no messages of programs";
    const char *wrong = hosted_receive(j, from, tag, bytes, n);
    if (hosted_must_end(j))
        front_kill_job(f, j->id);
    return wrong;
}

static bool is_in_machine(const struct front *f, uint32_t node)
{
    return NODE_IS_COMPUTE(node) ? node < 1u << f->options.topo->dim : front_has_io_node(f, node);
}

/* A handler returns NULL, or its reason for refusing the message, in which case it has changed nothing. */
static const struct handler {
    uint32_t type;
    const char *(*receive)(struct front *f, uint32_t from, const uint8_t *bytes, size_t n);
} handlers[] = {
    {N_EXIT, receive_exit},       {N_STARTED, receive_started},
    {N_MOUNTED, receive_mounted}, {N_REPLY(N_SHUTDOWN), receive_shutdown},
    {N_CONSOLE, receive_console},
};

static const char *handle(struct front *f, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    uint32_t type = TAG_TYPE(tag);

    if (!is_in_machine(f, from))
        return "there is no such node";
    if (N_IS_FILE_REQUEST(type))
        return receive_request(f, from, tag, bytes, n);
    for (size_t i = 0; i < sizeof handlers / sizeof *handlers; i++)
        if (handlers[i].type == type)
            return handlers[i].receive(f, from, bytes, n);
    return TAG_IS_SYSTEM(tag) ? "there is no such type" : receive_message(f, from, tag, bytes, n);
}

/* On a machine that is kept up, a program may send any number of such messages from every node. So the lines about
 * programs' messages are counted as lines that repeat. */
static void refuse(struct front *f, uint32_t from, uint32_t tag, const char *why)
{
    char name[NODE_NAME_BYTES], nth[48] = "";
    uint64_t number = TAG_IS_SYSTEM(tag) ? 1 : repeats_note(&f->repeats, NODE_HOST, why, strlen(why));

    if (number == 0)
        return;
    if (number > REPEATS_SHOWN)
        snprintf(nth, sizeof nth, " (the %" PRIu64 "th line of this kind)", number);
    console_say(&f->streams, "a message of type 0x%x from %s is refused: %s%s", TAG_NUMBER(tag), node_name(from, name),
                why, nth);
}

void front_receive(struct front *f, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    const char *wrong = handle(f, from, tag, bytes, n);

    if (wrong)
        refuse(f, from, tag, wrong);
}

/* ---- Messages that did not arrive ------------------------------------------------------------- */

static void lose_io_node(struct front *f, uint32_t node)
{
    if (!io_nodes_lose(&f->io, node))
        return;
    front_leave_mounting(f);
    front_finish_if_stopped(f);
}

static void lose_message(struct front *f, struct job *j, uint32_t to, uint32_t type)
{
    if (type == N_KILL)
        job_lose_node(j, to);
    else if (type >= N_LOAD_BEGIN && type <= N_LOAD_START)
        job_fail_load(j, to);
    else
        return;
    front_end_if_exited(f, j);
}

static void tell_lost_reply(struct front *f, uint32_t to, uint32_t tag, const void *bytes)
{
    struct lost_notice notice = {.tag = tag, .count = 1};

    memcpy(&notice.sequence, bytes, sizeof notice.sequence);
    f->ops.job.send(f->ctx, to, TAG(N_LOST, 0, TAG_TO(tag)), &notice, sizeof notice);
}

static void send_owed(struct front *f, const struct owed_notice *n)
{
    if (front_has_io_node(f, n->to) || front_job_of(f, n->to))
        f->ops.job.send(f->ctx, n->to, n->tag, &n->notice, sizeof n->notice);
}

void front_recovered(struct front *f)
{
    struct owed all;

    owed_move(&all, &f->owed);
    for (struct owed_notice *n; (n = owed_take(&all));) {
        send_owed(f, n);
        free(n);
    }
}

void front_undeliverable(struct front *f, uint32_t to, uint32_t tag, const void *bytes, size_t n)
{
    struct job *j = front_job_of(f, to);

    if (N_IS_FILE_REPLY(TAG_TYPE(tag)) && n >= sizeof(struct file_reply))
        tell_lost_reply(f, to, tag, bytes);
    else if (TAG_TYPE(tag) == N_LOST && n >= sizeof(struct lost_notice))
        owed_keep(&f->owed, to, tag, bytes);
    else if (TAG_TYPE(tag) == N_SHUTDOWN && front_has_io_node(f, to))
        lose_io_node(f, to);
    else if (j && j->loaded)
        lose_message(f, j, to, TAG_TYPE(tag));
}
