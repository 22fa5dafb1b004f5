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

#include "emu/base/memory.h"

#define TRANSPORT "OMPI_MCA_btl"
#define ENGINE    "OMPI_MCA_pml"

static struct pollfd *sockets; /* the first is the caller's descriptor */
static nfds_t n_sockets;       /* 0: Open MPI speaks something else */
static size_t room;

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

void ranks_sockets_ask(void)
{
    if (!getenv(TRANSPORT) && !getenv(ENGINE) && has_network())
        setenv(TRANSPORT, "self,tcp", false);
    if (getenv(TRANSPORT) && strstr(getenv(TRANSPORT), "tcp"))
        setenv(ENGINE, "ob1", false);
}

static bool speaks_tcp_alone(void)
{
    const char *transport = getenv(TRANSPORT), *engine = getenv(ENGINE);

    return transport && engine && strcmp(engine, "ob1") == 0 &&
           (strcmp(transport, "self,tcp") == 0 || strcmp(transport, "tcp,self") == 0);
}

static void add(int fd)
{
    fcntl(fd, F_SETFD, FD_CLOEXEC); /* QEMUs have no use for them */
    sockets = memory_grow(sockets, &room, n_sockets + 1, sizeof *sockets);
    sockets[n_sockets++] = (struct pollfd){.fd = fd, .events = POLLIN};
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

bool ranks_sockets_sleep(int fd, unsigned limit_us)
{
    if (n_sockets == 0)
        return false;
    sockets[0].fd = fd;
    ppoll(sockets, n_sockets, &(struct timespec){.tv_sec = limit_us / 1000000, .tv_nsec = limit_us % 1000000 * 1000l},
          NULL);
    return true;
}
