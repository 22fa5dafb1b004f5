/*
 * The switch of nDEVICES [P1 2.3]: the table of descriptors, the list of drivers, and the calls that change them: open,
 * close, dup and its family, fcntl.
 *
 * A descriptor is not a UFID: dup gives a file a second descriptor, a driver's files have no UFID. Until a program
 * does either, the two numbers are equal.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "images/lib/devices/locks.h"
#include "images/lib/devices/ndevice_switch.h"
#include "images/lib/traps/result.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/system.h"
#include "vertex/contract/traps.h"

enum { DRIVERS = 16, NESTED_OPENS = 16 };

int _open(const char *path, int flags, ...);
int _close(int fd);

struct ndevice_slot ndevice_table[NDEVICE_DESCRIPTORS];
static const struct ndevice *added[DRIVERS];
static int drivers;
static bool has_outermost; /* the last driver stays the last */

void (*ndevice_end)(void);
const struct load_pipes *program_pipes;

/* Fills the table here, not by an initialiser: that would put the whole table into every program's file. */
void ndevice_start(void)
{
    for (long fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
        ndevice_table[fd] = (struct ndevice_slot){&ndevice_file, (void *)fd, fd == STDIN_FILENO ? O_RDONLY : O_WRONLY,
                                                  .standard = true};
}

long ndevice_ufid(int fd)
{
    const struct ndevice_slot *slot = ndevice_slot(fd);

    if (!slot)
        return -EBADF;
    return slot->device == &ndevice_file ? (long)slot->state : -ENOTSUP;
}

long ndevice_path(int fd, char *path, size_t bytes)
{
    const struct ndevice_slot *slot = ndevice_slot(fd);
    long ufid = ndevice_ufid(fd);

    if (slot && slot->device->path)
        return slot->device->path(slot->state, path, bytes);
    return ufid < 0 ? ufid : trap_fdpath(ufid, path, (long)bytes);
}

/* Whether a path may be looked at. What is no address at all is left to the kernel, whose answer is EFAULT. */
static bool may_be_read(const char *path)
{
    return (uintptr_t)path >= USER_TEXT_VA && (uintptr_t)path < USER_STACK_TOP;
}

/* Whether the machine has striped volumes. On one without, the program's text was loaded without the striped driver
 * (images/program.ld). */
static bool machine_stripes(void)
{
    static long bytes = -1; /* of the text that describes them; -1: not asked yet */

    if (bytes < 0)
        bytes = trap_striped(NULL, 0);
    return bytes > 0;
}

/* Whether the machine has a Concurrent File System. The same holds for its driver. */
static bool machine_has_cfs(void)
{
    char begin[sizeof LOAD_STRIPED_CFS - 1];

    return trap_striped(begin, sizeof begin) > (long)sizeof begin && memcmp(begin, LOAD_STRIPED_CFS, sizeof begin) == 0;
}

/* The latest of the first n drivers that takes the path. */
static const struct ndevice *find_driver(const char *path, int n)
{
    for (int i = n; path && i > 0; i--)
        if (added[i - 1]->match(path))
            return added[i - 1];
    if (!may_be_read(path) || path[0] != '/')
        return &ndevice_file;
    if (path[1] != '/')
        return path[1] == 'c' && strncmp(path, "/cfs", 4) == 0 && machine_has_cfs() && ndevice_cfs_segment.match(path)
                   ? &ndevice_cfs_segment
                   : &ndevice_file;
    if (program_pipes && program_pipes->has_driver && ndevice_pipe.match(path))
        return &ndevice_pipe;
    return machine_stripes() && ndevice_striped.match(path) ? &ndevice_striped : &ndevice_file;
}

const struct ndevice *ndevice_of(const char *path)
{
    return find_driver(path, drivers);
}

/* A directory that is opened belongs to one node, in global mode too: readdir knows files only. */
static const struct ndevice *opener_of(const char *path, int flags)
{
    return flags & O_DIRECTORY ? find_driver(path, drivers - has_outermost) : ndevice_of(path);
}

int ndevice_add(const struct ndevice *device)
{
    if (!device->match || !device->open)
        return (int)result_to_errno(-EINVAL);
    for (int i = 0; i < drivers; i++)
        if (strcmp(added[i]->name, device->name) == 0)
            return (int)result_to_errno(-EEXIST);
    if (drivers == DRIVERS)
        return (int)result_to_errno(-ENFILE);
    added[drivers] = device;
    if (has_outermost) { /* it stays the last, and so the first to be asked */
        added[drivers] = added[drivers - 1];
        added[drivers - 1] = device;
    }
    drivers++;
    return 0;
}

int ndevice_add_outermost(const struct ndevice *device)
{
    int result = ndevice_add(device);

    has_outermost = has_outermost || result == 0;
    return result;
}

void ndevice_replace(struct ndevice_slot *slot, const struct ndevice *device, void *state)
{
    const struct ndevice_slot before = *slot;

    for (struct ndevice_slot *s = ndevice_table; s < ndevice_table + NDEVICE_DESCRIPTORS; s++)
        if (s->device == before.device && s->state == before.state) {
            s->device = device;
            s->state = state;
        }
}

/* ---- Open and close ---- */

/* The lowest free descriptor from `least` on, or -EMFILE. */
static int find_free(int least)
{
    for (int fd = least; fd < NDEVICE_DESCRIPTORS; fd++)
        if (!ndevice_table[fd].device)
            return fd;
    return -EMFILE;
}

int ndevice_opens_at_top;

static int find_for_open(void)
{
    if (ndevice_opens_at_top == 0)
        return find_free(0);
    for (int fd = NDEVICE_DESCRIPTORS - 1; fd >= 0; fd--)
        if (!ndevice_table[fd].device)
            return fd;
    return -EMFILE;
}

int ndevice_open_state(const struct ndevice *device, void *state, int flags)
{
    int fd = find_for_open();

    if (fd >= 0)
        ndevice_table[fd] = (struct ndevice_slot){device, state, flags, .close_on_exec = (flags & O_CLOEXEC) != 0};
    return fd;
}

static int open_through(const struct ndevice *device, const char *path, int flags, mode_t mode)
{
    void *state = NULL;
    int fd = find_for_open();
    int result = fd < 0 ? fd : device->open(path, flags, mode, &state);

    if (result < 0)
        return result;
    fd = ndevice_open_state(device, state, flags); /* the driver may have opened files */
    if (fd < 0 && device->close)
        device->close(state);
    return fd;
}

/* As umask has set it; 022 before the first call. */
static mode_t mask = S_IWGRP | S_IWOTH;

mode_t umask(mode_t new)
{
    mode_t before = mask;

    mask = new &ACCESSPERMS;
    return before;
}

int _open(const char *path, int flags, ...)
{
    static int nested; /* calls under way, as a driver's open may call open itself */
    mode_t mode = 0;

    if (flags & O_CREAT) {
        va_list args;

        va_start(args, flags);
        mode = va_arg(args, mode_t) & ~mask;
        va_end(args);
    }
    nested++;
    long fd = nested > NESTED_OPENS ? -ELOOP : open_through(opener_of(path, flags), path, flags, mode);
    nested--;
    if (failure_of_path("open", path, fd) >= 0)
        failure_name(fd, path);
    return (int)result_to_errno(fd);
}

int mkdir(const char *path, mode_t mode)
{
    return (int)result_to_errno(NDEVICE_ON_PATH("mkdir", path, mkdir, path, mode & ~mask));
}

static bool has_twin(const struct ndevice_slot *slot)
{
    for (const struct ndevice_slot *s = ndevice_table; slot->shared && s < ndevice_table + NDEVICE_DESCRIPTORS; s++)
        if (s != slot && s->device == slot->device && s->state == slot->state)
            return true;
    return false;
}

int _close(int fd)
{
    struct ndevice_slot *slot = ndevice_slot(fd);
    long result = slot ? 0 : -EBADF;

    if (slot && !has_twin(slot) && slot->device->close)
        result = slot->device->close(slot->state);
    if (slot)
        slot->device = NULL;
    failure_of_fd("close", fd, result);
    failure_forget(fd);
    return (int)result_to_errno(result);
}

/* ---- Copies ---- */

/* Makes `to` a copy of `from`, which is open. Returns `to`. */
static int copy(int from, int to, bool close_on_exec)
{
    ndevice_table[from].shared = true;
    ndevice_table[to] = ndevice_table[from];
    ndevice_table[to].close_on_exec = close_on_exec;
    failure_copy_name(from, to);
    return to;
}

static int copy_from(int fd, int least, bool close_on_exec)
{
    int to = least < 0 || least >= NDEVICE_DESCRIPTORS ? -EINVAL : find_free(least);

    return to < 0 ? (int)result_to_errno(to) : copy(fd, to, close_on_exec);
}

int dup(int fd)
{
    return ndevice_slot(fd) ? copy_from(fd, 0, false) : (int)result_to_errno(failure_of_fd("dup", fd, -EBADF));
}

static int copy_to(int from, int to, bool close_on_exec)
{
    int before = errno;

    if (!ndevice_slot(from) || (unsigned)to >= NDEVICE_DESCRIPTORS)
        return (int)result_to_errno(failure_of_fd("dup2", from, -EBADF));
    if (ndevice_slot(to))
        close(to); /* its error is ignored, as by dup2 of Unix */
    errno = before;
    return copy(from, to, close_on_exec);
}

int dup2(int from, int to)
{
    return from == to && ndevice_slot(from) ? to : copy_to(from, to, false);
}

int dup3(int from, int to, int flags)
{
    if (from == to || (flags & ~O_CLOEXEC))
        return (int)result_to_errno(-EINVAL);
    return copy_to(from, to, (flags & O_CLOEXEC) != 0);
}

/* ---- fcntl ---- */

#define ON_OPEN_ONLY (O_CREAT | O_EXCL | O_TRUNC | O_NOCTTY | O_CLOEXEC | O_DIRECTORY | O_NOFOLLOW)

static bool is_pipe(const struct ndevice_slot *slot)
{
    return slot->device == &ndevice_file && (long)slot->state >= ABI_PIPE_UFID;
}

/* Of a pipe's end O_NONBLOCK belongs to all that share it, in whatever process. */
static int flags_of(const struct ndevice_slot *slot)
{
    int flags = slot->flags & ~ON_OPEN_ONLY;

    if (!is_pipe(slot))
        return flags;
    return (flags & ~O_NONBLOCK) | (trap_pipe_state((long)slot->state, ABI_PIPE_IS_DIRECT) == 1 ? O_NONBLOCK : 0);
}

/* O_NONBLOCK is stored but has no effect on files, as in open. O_APPEND and O_SYNC cannot change: the server got them
 * at open. */
static int set_flags(struct ndevice_slot *slot, int flags)
{
    const int settable = O_NONBLOCK;

    if ((slot->flags ^ flags) & (O_APPEND | O_SYNC))
        return -ENOTSUP;
    if (is_pipe(slot))
        trap_pipe_state((long)slot->state, flags & O_NONBLOCK ? ABI_PIPE_DIRECT : ABI_PIPE_WAITING);
    for (struct ndevice_slot *s = ndevice_table; s < ndevice_table + NDEVICE_DESCRIPTORS; s++)
        if (s->device == slot->device && s->state == slot->state)
            s->flags = (s->flags & ~settable) | (flags & settable);
    return 0;
}

/* newlib's own fails with ENOSYS. */
int fcntl(int fd, int command, ...)
{
    struct ndevice_slot *slot = ndevice_slot(fd);
    int result = 0;
    va_list args;

    va_start(args, command);
    long arg = va_arg(args, long); /* an int, or an address */
    va_end(args);

    if (!slot)
        return (int)result_to_errno(failure_of_fd("fcntl", fd, -EBADF));
    switch (command) {
    case F_DUPFD:
    case F_DUPFD_CLOEXEC:
        return copy_from(fd, (int)arg, command == F_DUPFD_CLOEXEC);
    case F_GETFD:
        return slot->close_on_exec ? FD_CLOEXEC : 0;
    case F_SETFD:
        slot->close_on_exec = (arg & FD_CLOEXEC) != 0;
        return 0;
    case F_GETFL:
        return flags_of(slot);
    case F_SETFL:
        result = set_flags(slot, (int)arg);
        break;
    case F_GETLK:
    case F_SETLK:
    case F_SETLKW:
        result = lock_range(slot->flags, command, (struct flock *)arg);
        break;
    default: /* owners */
        result = -EINVAL;
    }
    return (int)result_to_errno(failure_of_fd("fcntl", fd, result));
}

/* newlib's strerror asks for what it has no text for. It is here, as its own library has one, too: this object is in
 * every program that can get the error. */
char *_user_strerror(int error, int internal, int *errptr);

char *_user_strerror(int error, int internal, int *errptr)
{
    (void)internal;
    (void)errptr;
    return error == ESTALE ? "Stale file handle" : NULL;
}
