#include "emu/qemu/processors.h"

#include <stddef.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

static bool take(int fd, const char *space, int processor, uint32_t rank)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    int n = snprintf(address.sun_path + 1, sizeof address.sun_path - 1, "%s/%d/%u", space, processor, rank);

    return bind(fd, (struct sockaddr *)&address, (socklen_t)(offsetof(struct sockaddr_un, sun_path) + 1 + n)) == 0;
}

/* Claims a rank on `here`, else on the first other processor where it is free. Returns -1 if it is taken on all. */
static int take_rank(int fd, const char *space, const cpu_set_t *allowed, int here, uint32_t rank)
{
    if (CPU_ISSET(here, allowed) && take(fd, space, here, rank))
        return here;
    for (int processor = 0; processor < CPU_SETSIZE; processor++)
        if (processor != here && CPU_ISSET(processor, allowed) && take(fd, space, processor, rank))
            return processor;
    return -1;
}

/* Makes the best claim with a rank below `ranks`; its fd is -1 if there is none. */
static struct claim find(const char *space, const cpu_set_t *allowed, int here, uint32_t ranks)
{
    struct claim c = {.space = space, .fd = -1, .processor = here, .rank = PROCESSORS_RANKS};
    int fd = ranks > 0 ? socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0) : -1;

    for (uint32_t rank = 0; fd >= 0 && rank < ranks; rank++) {
        int processor = take_rank(fd, space, allowed, here, rank);

        if (processor >= 0)
            return (struct claim){.space = space, .fd = fd, .processor = processor, .rank = rank};
    }
    if (fd >= 0)
        close(fd);
    return c;
}

struct claim processors_claim(const char *space, const cpu_set_t *allowed, int here)
{
    return find(space, allowed, here, PROCESSORS_RANKS);
}

struct claim processors_claim_alone(const char *space, int processor)
{
    cpu_set_t only;

    CPU_ZERO(&only);
    CPU_SET(processor, &only);
    return find(space, &only, processor, 1);
}

bool processors_reclaim(struct claim *c, const cpu_set_t *allowed)
{
    int before = c->processor;
    struct claim better = find(c->space, allowed, before, c->rank);

    if (better.fd < 0)
        return false;
    processors_release(c);
    *c = better;
    return c->processor != before;
}

void processors_release(struct claim *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
}
