/*
 * Ends of pipes in poll and select, and in the child of a fork.
 */
#include <errno.h>
#include <ndevices.h>
#include <poll.h>

#include "libpio/pipes/pipe.h"

enum { NOTHING = -1 };

/* Goes as far as the set-up goes without waiting. Returns the kind of the message that it waits for, or NOTHING: the
 * end is ready, or the next call fails at once. */
static int await_set_up(struct pipe_end *e)
{
    if (e->ready || e->error)
        return NOTHING;
    if (!e->map && e->nodes == 1)
        pipe_set_map(e, NULL);
    if (!e->map || e->error)
        return NOTHING;
    if (pipe_know(e, false) == -EAGAIN)
        return PIPE_PEER;
    if (e->error || e->other.nodes == 0)
        return NOTHING;
    pipe_announce(e);
    return pipe_has_come(e, PIPE_MAP) ? NOTHING : PIPE_MAP;
}

/* Messages by getmsg and putmsg are not looked at: the end counts as ready. */
int pipe_poll(void *end, int events, struct nawaited *message)
{
    struct pipe_end *e = end;
    int kind, state = 0;

    if (pipe_is_for_messages(e))
        return events & (POLLIN | POLLRDNORM | POLLOUT | POLLWRNORM);
    kind = await_set_up(e);
    if (kind == NOTHING) {
        state = e->writes ? pipe_poll_write(e) : pipe_poll_read(e);
        kind = e->writes ? PIPE_ROOM : PIPE_DATA;
    }
    *message = (struct nawaited){.context = CONTEXT_PIPE, .source = -1, .type = PIPE_TYPE(e->number, kind)};
    return state;
}

/* The end is the parent's, and what the child does with its copy must not reach the other end. */
void pipe_forked(void *end)
{
    struct pipe_end *e = end;

    e->is_parents = true;
    e->error = -EBADF;
}
