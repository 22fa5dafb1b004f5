/*
 * The call poll: which of several UFIDs and messages a read or write could go on with at once. Files always could, as
 * their servers answer in any case; ends of local pipes and messages are looked at. Of the standard input the front end
 * is asked, and asked again to answer once there is some (N_FPOLL); a wait that ends without this answer takes the
 * question back. Under ncube run the first answer is always yes, as the machine stops until there is input.
 */
#include <stdbool.h>

#include "vertex/contract/errors.h"
#include "vertex/file/file.h"
#include "vertex/file/node_pipe.h"
#include "vertex/file/request.h"
#include "vertex/message/buffers.h"
#include "vertex/process/proc.h"
#include "vertex/trap/signal.h"
#include "vertex/trap/syscall.h"
#include "vertex/trap/timer.h"

#define ENTRIES_MAX PROC_FILES_MAX

/* A lost message is one to be read: its read fails. */
static uint32_t message_state(struct proc *p, const struct abi_poll *e)
{
    const uint64_t select[] = {0, 0, (uint64_t)(int64_t)e->ufid, (uint64_t)(int64_t)e->type, e->context};
    int64_t bytes = e->context == CONTEXT_PROGRAM ? sys_ntest(p, select) : sys_ctest(p, select);

    return bytes == -N_EINVAL ? ABI_POLL_INVALID : bytes == -N_EAGAIN ? 0 : ABI_POLL_IN;
}

/* ---- The standard input ---- */

struct input {     /* what is known of it in one call */
    bool is_asked; /* an entry is about it */
    bool ready;
    uint32_t held; /* sequence of the question that the front end keeps; 0: none */
};

static bool is_input(const struct file *f)
{
    return f && f->standard && f->sfid == SFID_STDIN;
}

static struct file_request question(enum file_poll mode)
{
    return (struct file_request){.sfid = SFID_STDIN, .mode = mode, .bytes = FILE_IO_BYTES};
}

static int64_t ask_front_end(struct proc *p, enum file_poll mode)
{
    const struct file_request fields = question(mode);

    return request_ask(p, &fields, NODE_HOST, N_FPOLL, NULL);
}

/* A front end that does not answer fails the read. */
static void ask_now(struct proc *p, struct input *input)
{
    input->ready = ask_front_end(p, FILE_POLL_NOW) != 0;
}

static void ask_for_later(struct proc *p, struct input *input)
{
    const struct file_request fields = question(FILE_POLL_HOLD);
    struct message *m;

    if (request_new(p, &fields, 0, &m) == 0)
        p->awaited = input->held = request_send(p, m, NODE_HOST, N_FPOLL);
}

/* Takes the answer to the question that the front end has kept, if it has come. */
static void look_for_answer(struct proc *p, struct input *input)
{
    const struct message_pattern reply = pattern_reply(NODE_HOST, N_REPLY(N_FPOLL), input->held);
    struct message *m = input->held ? queue_find(&p->inbox, &reply) : NULL;

    if (!m)
        return;
    queue_remove(&p->inbox, m);
    message_release(m);
    p->awaited = input->held = 0;
    input->ready = true;
}

static void forget(struct proc *p, struct input *input)
{
    look_for_answer(p, input);
    if (!input->held)
        return;
    p->awaited = 0;
    ask_front_end(p, FILE_POLL_FORGET);
}

/* ---- One look ---- */

static uint32_t ufid_state(struct proc *p, uint64_t ufid, struct input *input)
{
    const struct file *f = file_get(p, ufid);
    int state = f ? ABI_POLL_IN | ABI_POLL_OUT : node_pipe_poll(p, ufid);

    if (is_input(f)) {
        input->is_asked = true;
        state = input->ready ? ABI_POLL_IN : 0;
    }

    return state < 0 ? ABI_POLL_INVALID : (uint32_t)state;
}

static uint32_t state_of(struct proc *p, const struct abi_poll *e, struct input *input)
{
    uint32_t always = ABI_POLL_ERROR | ABI_POLL_HANGUP | ABI_POLL_INVALID;

    switch (e->kind) {
    case ABI_POLL_NOTHING:
        return 0;
    case ABI_POLL_UFID:
        return ufid_state(p, (uint64_t)(int64_t)e->ufid, input) & (e->events | always);
    case ABI_POLL_MESSAGE:
        return message_state(p, e) & (e->events | always);
    default:
        return ABI_POLL_INVALID;
    }
}

/* Writes what is ready to each entry. Returns how many have something; -N_EFAULT. */
static int64_t look(struct proc *p, uint64_t entries, uint64_t n, struct input *input)
{
    struct abi_poll e;
    int64_t ready = 0;

    for (uint64_t i = 0; i < n; i++) {
        uint64_t at = entries + i * sizeof e;

        if (vm_copy_in(&p->vm, &e, at, sizeof e) != 0)
            return -N_EFAULT;
        e.ready = (uint16_t)state_of(p, &e, input);
        if (vm_copy_out(&p->vm, at, &e, sizeof e) != 0)
            return -N_EFAULT;
        ready += e.ready != 0;
    }
    return ready;
}

/* The first look shows whether the standard input is among the entries. */
static int64_t first_look(struct proc *p, uint64_t entries, uint64_t n, uint64_t until, struct input *input)
{
    int64_t result = look(p, entries, n, input);

    if (!input->is_asked || result < 0)
        return result;
    ask_now(p, input);
    result = look(p, entries, n, input);
    if (result == 0 && until != 0)
        ask_for_later(p, input);
    return result;
}

static int64_t wait_until_ready(struct proc *p, uint64_t entries, uint64_t n, uint64_t until)
{
    struct input input = {.is_asked = false};
    int64_t result = first_look(p, entries, n, until, &input);

    timer_set(p, until != 0 && until <= INT64_MAX ? until : NCU_TIMER_NONE);
    while (result == 0 && until != 0 && !p->timed_out) {
        if (signal_is_due(p)) {
            result = -N_EINTR;
            break;
        }
        result = proc_wait(p, NCU_WAIT_POLL, NCU_WAIT_ANY, NCU_WAIT_ANY);
        if (result != 0)
            break;
        look_for_answer(p, &input);
        result = look(p, entries, n, &input);
    }
    timer_clear(p); /* it is also that of requests */
    forget(p, &input);
    return result;
}

/* The messages that are looked at change the frame, and with it the arguments. */
int64_t sys_poll(struct proc *p, const uint64_t *arg)
{
    const uint64_t entries = arg[0], n = arg[1], until = arg[2], mask = arg[3];
    const uint32_t before = p->sig_blocked;

    if (n > ENTRIES_MAX)
        return -N_EINVAL;
    if (mask & ABI_POLL_MASK)
        signal_set_blocked(p, (uint32_t)mask);
    int64_t result = wait_until_ready(p, entries, n, until);
    if ((mask & ABI_POLL_MASK) && result == -N_EINTR)
        signal_suspended(p, before);
    else if (mask & ABI_POLL_MASK)
        signal_set_blocked(p, before);
    return result;
}
