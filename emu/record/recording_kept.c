/* A recording that is kept in memory, for a run in which gdb goes back: it is given again whenever the run begins. */
#include <string.h>
#include <sys/mman.h>

#include "emu/record/recording_parts.h"

struct recording *recording_new_kept(uint64_t most_bytes)
{
    struct recording *r = recording_new(NULL);

    r->kept_in_memory = true;
    r->most_bytes = most_bytes;
    r->replies.fd = memfd_create("replies", MFD_CLOEXEC);
    if (r->replies.fd < 0)
        recording_lose(r, "there is no memory for going back");
    return r;
}

void recording_reach(struct recording *r, uint64_t cycles)
{
    if (cycles > r->reached_cycles)
        r->reached_cycles = cycles;
}

void recording_repeat(struct recording *r, uint64_t cycles)
{
    struct recorded_calls *c;
    struct recorded_input *in;

    recording_reach(r, cycles);
    SLIST_FOREACH(c, &r->calls, entry)
        c->calls = c->taken = 0;
    SLIST_FOREACH(in, &r->inputs, entry)
        in->taken = 0;
    r->replies.taken = r->served_taken = 0;
}

bool recording_is_behind(const struct recording *r, uint64_t *cycles)
{
    const struct recorded_calls *c;
    bool behind = r->replies.taken < r->replies.n || r->served_taken < r->programs;

    SLIST_FOREACH(c, &r->calls, entry)
        behind = behind || c->calls < c->noted;
    *cycles = r->reached_cycles;
    return behind;
}
