/* The sockets are those among the descriptors of this process: Open MPI does not tell them. If it makes one later, for
 * long messages by another network, what comes there is found when the time is up. */
#include "emu/rack/ranks_sockets.h"

#include <dirent.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <xxhash.h>

#include "emu/base/memory.h"

#define TRANSPORT "OMPI_MCA_btl"
#define ENGINE    "OMPI_MCA_pml"
#define NOT_IPV   "OMPI_MCA_btl_tcp_disable_family"
#define GOES_ON   "OMPI_MCA_mpi_ft_enable" /* Open MPI 5: a process does not end because a connection has ended */

static struct pollfd *sockets; /* the first is the caller's descriptor */
static uint32_t *owner;        /* of each: the rank at its other end, 0: is not known */
static nfds_t n_sockets;       /* 0: Open MPI speaks something else */
static size_t room, owner_room;
static uint32_t lost; /* a rank whose connection has ended */

static bool has_network(void)
{
    struct ifaddrs *list;
    bool any = false;

    if (getifaddrs(&list) != 0)
        return false;
    for (const struct ifaddrs *i = list; i; i = i->ifa_next)
        any |= i->ifa_addr && i->ifa_addr->sa_family == AF_INET && !(i->ifa_flags & IFF_LOOPBACK) &&
               (i->ifa_flags & IFF_UP);
    freeifaddrs(list);
    return any;
}

static bool speaks_tcp_alone(void)
{
    const char *transport = getenv(TRANSPORT), *engine = getenv(ENGINE);

    return transport && engine && strcmp(engine, "ob1") == 0 &&
           (strcmp(transport, "self,tcp") == 0 || strcmp(transport, "tcp,self") == 0);
}

void ranks_sockets_ask(void)
{
    if (!getenv(TRANSPORT) && !getenv(ENGINE) && has_network())
        setenv(TRANSPORT, "self,tcp", false);
    if (!getenv(TRANSPORT) || !strstr(getenv(TRANSPORT), "tcp"))
        return;
    setenv(ENGINE, "ob1", false);
    if (has_network())
        setenv(NOT_IPV, "6", false); /* Open MPI 5.0.7 connects nobody where interfaces have addresses of both kinds */
    if (speaks_tcp_alone())
        setenv(GOES_ON, "1", false);
}

static void add(int fd)
{
    fcntl(fd, F_SETFD, FD_CLOEXEC); /* QEMUs have no use for them */
    sockets = memory_grow(sockets, &room, n_sockets + 1, sizeof *sockets);
    owner = memory_grow(owner, &owner_room, n_sockets + 1, sizeof *owner);
    owner[n_sockets] = 0;
    sockets[n_sockets++] = (struct pollfd){.fd = fd, .events = POLLIN | POLLRDHUP};
}

static bool is_connection(int fd)
{
    struct sockaddr_storage peer;
    socklen_t n = sizeof peer;

    return getpeername(fd, (struct sockaddr *)&peer, &n) == 0 &&
           (peer.ss_family == AF_INET || peer.ss_family == AF_INET6);
}

void ranks_sockets_find(void)
{
    DIR *all = speaks_tcp_alone() ? opendir("/proc/self/fd") : NULL;

    if (!all)
        return;
    add(-1);
    for (struct dirent *e; (e = readdir(all));)
        if (e->d_name[0] != '.' && is_connection(atoi(e->d_name)))
            add(atoi(e->d_name));
    closedir(all);
}

uint64_t ranks_sockets_name(uint32_t k)
{
    struct sockaddr_storage here = {0}, there = {0};
    socklen_t here_bytes = sizeof here, there_bytes = sizeof there;

    if (1 + k >= n_sockets || getsockname(sockets[1 + k].fd, (struct sockaddr *)&here, &here_bytes) != 0 ||
        getpeername(sockets[1 + k].fd, (struct sockaddr *)&there, &there_bytes) != 0)
        return 0;
    return XXH3_64bits(&here, here_bytes) + XXH3_64bits(&there, there_bytes);
}

void ranks_sockets_belongs(uint32_t k, uint32_t rank)
{
    owner[1 + k] = rank;
}

uint32_t ranks_sockets_lost(void)
{
    return lost;
}

/* Open MPI does not tell, and may have closed its socket. */
static void look_for_ends(void)
{
    for (nfds_t k = 1; k < n_sockets && lost == 0; k++)
        if (owner[k] != 0 && sockets[k].revents & (POLLRDHUP | POLLHUP | POLLERR | POLLNVAL))
            lost = owner[k];
}

bool ranks_sockets_sleep(int fd, unsigned limit_us)
{
    if (n_sockets == 0)
        return false;
    sockets[0].fd = fd;
    if (ppoll(sockets, n_sockets,
              &(struct timespec){.tv_sec = limit_us / 1000000, .tv_nsec = limit_us % 1000000 * 1000l}, NULL) > 0)
        look_for_ends();
    return true;
}
