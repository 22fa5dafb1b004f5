/*
 * The message calls by which buffers pass without a copy: ngetp, nwritep, nreadp, nrelp (calls.h).
 */
#include <stddef.h>

#include "vertex/contract/errors.h"
#include "vertex/memory/copy.h"
#include "vertex/message/buffers.h"
#include "vertex/message/calls.h"
#include "vertex/message/lost.h"
#include "vertex/process/proc.h"
#include "vertex/trap/event.h"
#include "vertex/trap/syscall.h"

/* As vm_map_buffer, but without memory tries again after freeing the sends that have ended. */
static uint64_t map_buffer(struct proc *p, const struct message *m)
{
    uint64_t va = vm_map_buffer(&p->vm, m->payload, m->capacity);

    if (va)
        return va;
    event_reap(); /* sends that have ended may hold the memory for tables */
    return vm_map_buffer(&p->vm, m->payload, m->capacity);
}

/* Returns the link to the buffer at this address; NULL: the program has no such buffer. */
static struct message **find_buffer(struct proc *p, uint64_t va)
{
    struct message **link = &p->buffers;

    while (*link && vm_buffer_address((*link)->payload) != va)
        link = &(*link)->next;
    return *link ? link : NULL;
}

/* Maps the buffer for the program. Returns its address, or -N_ENOMEM. */
static int64_t give_buffer(struct proc *p, struct message *m)
{
    uint64_t va = map_buffer(p, m);

    if (!va)
        return -N_ENOMEM;
    m->next = p->buffers;
    p->buffers = m;
    return va;
}

/* Takes the buffer back from the program. */
static struct message *take_buffer(struct proc *p, struct message **link)
{
    struct message *m = *link;

    *link = m->next;
    vm_unmap_buffer(&p->vm, m->payload, m->capacity);
    return m;
}

/* Clears the rest of the pages, so that the program does not see old data of other programs. */
static void clear_beyond(struct message *m, uint64_t from)
{
    copy_zero((char *)m->payload + from, PAGE_ROUND_UP(m->capacity) - from);
}

int64_t sys_ngetp(struct proc *p, const uint64_t *arg)
{
    struct message *m;

    if (arg[0] > MESSAGE_MAX_BYTES)
        return -N_EINVAL;
    int error = proc_new_message(p, arg[0], true, &m);
    if (error)
        return error;
    clear_beyond(m, 0);
    int64_t va = give_buffer(p, m);
    if (va < 0)
        message_release(m);
    return va;
}

int64_t sys_nwritep(struct proc *p, const uint64_t *arg)
{
    struct message **link = find_buffer(p, arg[0]);
    int32_t dest = arg[2], type = arg[3];

    if (!link)
        return -N_EFAULT;
    int error = arg[1] > (*link)->capacity || !is_context(arg[4]) ? -N_EINVAL : calls_check_send(p, arg[1], dest, type);
    if (!error)
        error = calls_earlier_failure(p, dest);
    if (error)
        return error;
    struct message *m = take_buffer(p, link);
    m->bytes = arg[1];
    calls_send(p, m, dest, full_type(p, type, arg[4]));
    return 0;
}

int64_t sys_nrelp(struct proc *p, const uint64_t *arg)
{
    struct message **link = find_buffer(p, arg[0]);

    if (!link)
        return -N_EFAULT;
    message_release(take_buffer(p, link));
    return 0;
}

/* Finds a buffer of whole pages: the message's own, or a new one with a copy, as a short message has no pages. */
static int buffer_for(struct proc *p, struct message *m, struct message **buffer)
{
    if (m->place == MESSAGE_PAGES && m->holds == 1) {
        *buffer = m;
        return 0;
    }
    int error = proc_new_message(p, m->bytes, true, buffer);
    if (!error)
        copy_bytes((*buffer)->payload, m->payload, m->bytes);
    return error;
}

/* Gives `buffer`, with the message in it, to the program; m leaves the queue. */
static int64_t hand_over(struct proc *p, struct message *m, struct message *buffer)
{
    int64_t bytes = m->bytes;

    if (buffer == m)
        m->holds++;
    uint64_t va = map_buffer(p, buffer);
    if (!va) {
        message_release(buffer);
        return -N_ENOMEM;
    }
    if (buffer == m) {
        p->monitor.mapped++;
    } else {
        p->monitor.copied++;
        message_note_copy();
    }
    calls_remove(p, m);
    message_release(m);
    buffer->next = p->buffers;
    p->buffers = buffer;
    p->frame->a[3] = va;
    return bytes;
}

int64_t sys_nreadp(struct proc *p, const uint64_t *arg)
{
    struct message_pattern pattern;
    struct message *m, *buffer;
    uint64_t most = arg[1];
    int64_t result = is_context(arg[4]) ? calls_make_pattern(p, arg[2], arg[3], arg[4], &pattern) : -N_EINVAL;

    if (!result && most >= LOST_BYTES)
        result = -N_EINVAL;
    if (!result)
        result = calls_await_queued(p, &pattern, &m);
    if (!result && m->bytes > most)
        result = calls_refuse(p, m);
    if (!result)
        result = buffer_for(p, m, &buffer);
    if (result)
        return result;
    clear_beyond(buffer, m->bytes);
    return hand_over(p, m, buffer);
}
