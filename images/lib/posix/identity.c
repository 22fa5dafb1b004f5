/*
 * The user that a program runs as, and the machine it runs on. A program is the superuser: files have one owner.
 */
#include <errno.h>
#include <limits.h>
#include <nself.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <time.h>
#include <unistd.h>

#include "images/lib/traps/result.h"
#include "images/lib/traps/self.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/traps.h"

#define PAGE          4096
#define POSIX_VERSION 200112L /* of the options that there are */
#define FILES         256     /* PROC_FILES_MAX */

/* ---- Users ---- */

uid_t getuid(void)
{
    return 0;
}

uid_t geteuid(void) __attribute__((alias("getuid")));
gid_t getgid(void) __attribute__((alias("getuid")));
gid_t getegid(void) __attribute__((alias("getuid")));

int getgroups(int size, gid_t *list)
{
    (void)list;
    return size < 0 ? (int)result_to_errno(-EINVAL) : 0;
}

int issetugid(void)
{
    return 0;
}

/* No user logs in at a node. */
char *getlogin(void)
{
    errno = ENOTTY;
    return NULL;
}

/* Succeeds only for the superuser, the only user. */
int setuid(uid_t id)
{
    return id == 0 || id == (uid_t)-1 ? 0 : (int)result_to_errno(-EPERM);
}

int seteuid(uid_t id) __attribute__((alias("setuid")));
int setgid(gid_t id) __attribute__((alias("setuid")));
int setegid(gid_t id) __attribute__((alias("setuid")));

int setreuid(uid_t real, uid_t effective)
{
    return setuid(real) < 0 ? -1 : setuid(effective);
}

int setregid(gid_t real, gid_t effective) __attribute__((alias("setreuid")));

/* ---- Processes: those of a program form one group ---- */

pid_t getpgrp(void)
{
    return 1;
}

pid_t getpgid(pid_t pid)
{
    return pid == 0 || kill(pid, 0) == 0 ? 1 : -1;
}

/* There is no other group to go to. */
int setpgid(pid_t pid, pid_t group)
{
    if (group < 0)
        return (int)result_to_errno(-EINVAL);
    return getpgid(pid) < 0 ? -1 : group == getpgrp() ? 0 : (int)result_to_errno(-EPERM);
}

pid_t getsid(pid_t pid) __attribute__((alias("getpgid")));

/* ---- The machine ---- */

static void name_node(char *name, size_t size)
{
    snprintf(name, size, "node%d", N_NODE_OF(self_process()));
}

int gethostname(char *name, size_t size)
{
    char own[_UTSNAME_BYTES];

    name_node(own, sizeof own);
    if (strlen(own) >= size)
        return (int)result_to_errno(-ENAMETOOLONG);
    strcpy(name, own);
    return 0;
}

int getdomainname(char *name, size_t size)
{
    if (size == 0)
        return (int)result_to_errno(-EINVAL);
    name[0] = '\0';
    return 0;
}

int uname(struct utsname *name)
{
    if (!name)
        return (int)result_to_errno(-EFAULT);
    *name = (struct utsname){.sysname = "Vertex", .release = "3", .version = "ncube", .machine = "riscv64"};
    name_node(name->nodename, sizeof name->nodename);
    return 0;
}

int getpagesize(void)
{
    return PAGE;
}

int getdtablesize(void)
{
    return FILES;
}

/* As clock() and times(), counts all of the time as the process's. */
int getrusage(int who, struct rusage *usage)
{
    if (who != RUSAGE_SELF && who != RUSAGE_CHILDREN)
        return (int)result_to_errno(-EINVAL);
    long us = who == RUSAGE_SELF ? trap_cycles() / CYCLES_PER_US : 0;
    *usage = (struct rusage){.ru_utime = {us / 1000000, us % 1000000}};
    return 0;
}

/* ---- Limits ---- */

long sysconf(int name)
{
    switch (name) {
    case _SC_ARG_MAX:
        return ABI_ARGUMENTS_MAX_BYTES;
    case _SC_CLK_TCK:
        return CLOCKS_PER_SEC;
    case _SC_OPEN_MAX:
    case _SC_STREAM_MAX:
        return FILES;
    case _SC_PAGESIZE:
        return PAGE;
    case _SC_NPROCESSORS_CONF:
    case _SC_NPROCESSORS_ONLN:
        return 1;
    case _SC_HOST_NAME_MAX:
        return _UTSNAME_BYTES - 1;
    case _SC_IOV_MAX:
        return IOV_MAX;
    case _SC_SYMLOOP_MAX:
        return 40;
    case _SC_FSYNC:
    case _SC_TIMERS:
    case _SC_MONOTONIC_CLOCK:
    case _SC_REGEXP:
        return POSIX_VERSION;
    case _SC_NGROUPS_MAX:
    case _SC_CHILD_MAX:
        return 0;
    case _SC_VERSION: /* the library does not have all of any version */
    case _SC_ATEXIT_MAX:
    case _SC_LINE_MAX:
    case _SC_TZNAME_MAX:
    case _SC_JOB_CONTROL:
    case _SC_SAVED_IDS:
    case _SC_THREADS:
    case _SC_MAPPED_FILES:
    case _SC_PHYS_PAGES:
    case _SC_AVPHYS_PAGES:
        return -1; /* errno unchanged: no limit */
    default:
        return result_to_errno(-EINVAL);
    }
}

/* These limits are the same for volumes and for the front end. */
static long limit_of_files(int name)
{
    switch (name) {
    case _PC_LINK_MAX:
        return 32000;
    case _PC_NAME_MAX:
        return 255;
    case _PC_PATH_MAX:
        return FILE_NAME_MAX_BYTES + 1;
    case _PC_PIPE_BUF:
        return 8192;
    case _PC_NO_TRUNC:
    case _PC_2_SYMLINKS:
        return 1;
    case _PC_FILESIZEBITS:
        return 64;
    case _PC_SYMLINK_MAX:
        return 1023; /* on a volume with blocks of 1 KB */
    case _PC_MAX_CANON:
    case _PC_MAX_INPUT:
    case _PC_CHOWN_RESTRICTED:
    case _PC_VDISABLE:
    case _PC_SYNC_IO:
    case _PC_ASYNC_IO:
    case _PC_PRIO_IO:
        return -1;
    default:
        return result_to_errno(-EINVAL);
    }
}

long pathconf(const char *path, int name)
{
    return access(path, F_OK) < 0 ? -1 : limit_of_files(name);
}

long fpathconf(int fd, int name)
{
    struct stat st;

    return fstat(fd, &st) < 0 ? -1 : limit_of_files(name);
}
