#include "images/lib/devices/local_pipe.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "images/lib/traps/result.h"
#include "vertex/contract/traps.h"

int pipe2(int fd[2], int flags)
{
    int ufid[2], before = errno;
    long result = flags & ~(O_CLOEXEC | O_NONBLOCK) ? -EINVAL : trap_pipe(ufid);

    if (result < 0)
        return (int)result_to_errno(result);
    for (int i = 0; i < 2; i++) {
        if (flags & O_NONBLOCK)
            trap_pipe_state(ufid[i], ABI_PIPE_DIRECT);
        fd[i] = ndevice_open_state(&ndevice_file, (void *)(long)ufid[i], flags | (i == 0 ? O_RDONLY : O_WRONLY));
    }
    if (fd[0] >= 0 && fd[1] >= 0) {
        errno = before;
        return 0;
    }
    for (int i = 0; i < 2; i++) {
        trap_close(ufid[i]);
        if (fd[i] >= 0)
            ndevice_table[fd[i]].device = NULL;
    }
    return (int)result_to_errno(-EMFILE);
}

int pipe(int fd[2])
{
    return pipe2(fd, 0);
}

static int ask(int fd, enum abi_pipe_request request)
{
    long ufid = ndevice_ufid(fd);

    if (ufid == -ENOTSUP || (ufid >= 0 && ufid < ABI_PIPE_UFID))
        return -ENOSTR;
    return (int)(ufid < 0 ? ufid : trap_pipe_state(ufid, request));
}

int local_pipe_end(int fd)
{
    return ask(fd, ABI_PIPE_END);
}

int local_pipe_is_unused(int fd)
{
    return ask(fd, ABI_PIPE_UNUSED);
}

int local_pipe_number(int fd)
{
    return ask(fd, ABI_PIPE_NUMBER);
}

static int check_unused(int fd)
{
    int unused = local_pipe_is_unused(fd);

    return unused == 0 ? -EBUSY : unused < 0 ? unused : 0;
}

int local_pipe_take(int fd)
{
    int error = check_unused(fd);

    if (!error)
        close(fd);
    return error;
}

int local_pipe_replace(int fd, const struct ndevice *device, void *state)
{
    int error = check_unused(fd);
    long ufid = ndevice_ufid(fd);

    if (error)
        return error;
    ndevice_replace(&ndevice_table[fd], device, state);
    trap_close(ufid);
    return 0;
}
