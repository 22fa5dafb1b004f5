/*
 * Functions that the calls of hostfs share: replies that describe a file, the flags of an open, attributes, and names.
 */
#include "emu/hostfs/hostfs_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emu/hostfs/errmap.h"

#define OPEN_FLAGS (N_O_ACCMODE | N_O_APPEND | N_O_CREAT | N_O_TRUNC | N_O_EXCL | N_O_DIRECTORY)

bool hostfs_take_name(char *name, const uint8_t *bytes, size_t n)
{
    memcpy(name, bytes, n);
    name[n] = '\0';
    return strlen(name) == n;
}

void hostfs_return_payload(struct hostfs_call *c, const void *bytes, size_t n)
{
    memcpy(c->payload, bytes, n);
    c->payload_bytes = n;
}

const char *hostfs_device(const char *name)
{
    static const char *const devices[] = {"/dev/null", "/dev/zero", "/dev/full"};

    while (name[0] == '/' || (name[0] == '.' && name[1] == '/'))
        name++;
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (strcmp(name, devices[i] + 1) == 0)
            return devices[i];
    return NULL;
}

int hostfs_open_host(const struct hostfs *s, const char *name, int flags, mode_t mode)
{
    const char *device = hostfs_device(name);

    if (!device)
        return beneath_open(&s->folder, name, flags, mode);
    int fd = open(device, flags | O_CLOEXEC, mode);
    return fd < 0 ? errmap_from_host(errno) : fd;
}

/* A file in "/tmp" has no name on the host: no link, and an inode number that differs from run to run. */
static void correct_tmp(struct file_stat *st, uint64_t number)
{
    st->ino = HOSTFS_TMP_INO + number;
    st->nlink = 1;
}

int32_t hostfs_return_stat(struct hostfs *s, struct hostfs_call *c, int fd, uint64_t tmp_number)
{
    struct stat st;
    struct file_stat out;

    if (fstat(fd, &st) < 0)
        return errmap_from_host(errno);
    seen_describe(&s->seen, &st, &out);
    if (tmp_number)
        correct_tmp(&out, tmp_number);
    hostfs_return_payload(c, &out, sizeof out);
    return 0;
}

int hostfs_host_flags(uint32_t flags)
{
    static const int access[] = {O_RDONLY, O_WRONLY, O_RDWR};
    int host = access[flags & N_O_ACCMODE] | O_NONBLOCK | O_NOCTTY;

    host |= flags & N_O_CREAT ? O_CREAT : 0;
    host |= flags & N_O_TRUNC ? O_TRUNC : 0;
    host |= flags & N_O_EXCL ? O_EXCL : 0;
    host |= flags & N_O_DIRECTORY ? O_DIRECTORY : 0;
    return host;
}

/* 0, or -N_EINVAL for a combination of N_O_ flags that no open may have. */
static int32_t check_open_flags(uint32_t flags)
{
    bool writes = (flags & N_O_ACCMODE) != N_O_RDONLY;
    bool valid = !(flags & ~(uint32_t)OPEN_FLAGS) && (flags & N_O_ACCMODE) != N_O_ACCMODE &&
                 (writes || !(flags & N_O_TRUNC)) && !((flags & N_O_CREAT) && (flags & N_O_DIRECTORY));

    return valid ? 0 : -N_EINVAL;
}

int32_t hostfs_begin_open(struct hostfs *s, const struct hostfs_call *c)
{
    int32_t flags = check_open_flags(c->request.flags);

    return flags < 0 ? flags : open_files_find_room(&s->files, c->node, c->procid);
}

int32_t hostfs_end_open(struct hostfs *s, struct hostfs_call *c, int32_t index, int fd, bool made, uint64_t tmp_number)
{
    struct file_opened opened;
    struct stat st;

    fstat(fd, &st); /* cannot fail: it is open */
    if (made)
        seen_make(&s->seen, &st);
    else if (c->request.flags & N_O_TRUNC)
        seen_change(&s->seen, st.st_dev, st.st_ino);
    opened.sfid = open_files_take(&s->files, index, c->node, c->procid, fd);
    if (!opened.sfid)
        return -N_ENOMEM;
    s->files.file[index].tmp_number = tmp_number;
    seen_describe(&s->seen, &st, &opened.stat);
    if (tmp_number)
        correct_tmp(&opened.stat, tmp_number);
    hostfs_return_payload(c, &opened, sizeof opened);
    return 0;
}

int32_t hostfs_check_access(mode_t mode, uint32_t wanted)
{
    if (wanted & ~(uint32_t)(R_OK | W_OK | X_OK))
        return -N_EINVAL;
    uint32_t given = (mode | mode >> 3 | mode >> 6) & (R_OK | W_OK | X_OK); /* to anyone */
    return wanted & ~given ? -N_EACCES : 0;
}

/* Uses the file's name in /proc, because an O_PATH descriptor allows no other call. */
int32_t hostfs_set_attributes_of(struct hostfs *s, const struct hostfs_call *c, int fd)
{
    struct file_attr a;
    struct stat st;
    char name[40];

    if (c->request.bytes != sizeof a)
        return -N_EPROTO;
    memcpy(&a, c->data, sizeof a);
    if (a.what & ~(uint32_t)FILE_ATTR_ALL)
        return -N_EINVAL;
    if (a.what & (FILE_ATTR_UID | FILE_ATTR_GID))
        return -N_EPERM;
    if (fstat(fd, &st) < 0)
        return errmap_from_host(errno);
    if (S_ISCHR(st.st_mode)) /* a device is the host's */
        return -N_EPERM;
    snprintf(name, sizeof name, "/proc/self/fd/%d", fd);
    if ((a.what & FILE_ATTR_MODE) && chmod(name, a.mode & HOSTFS_MODE_BITS) < 0)
        return errmap_from_host(errno);
    if (!(a.what & (FILE_ATTR_ATIME | FILE_ATTR_MTIME)))
        return 0;
    const struct timespec times[2] = {
        {.tv_sec = a.atime_s, .tv_nsec = a.what & FILE_ATTR_ATIME ? 0 : UTIME_OMIT},
        {.tv_sec = a.mtime_s, .tv_nsec = a.what & FILE_ATTR_MTIME ? 0 : UTIME_OMIT},
    };
    if (utimensat(AT_FDCWD, name, times, 0) < 0 || fstat(fd, &st) < 0)
        return errmap_from_host(errno);
    if (a.what & FILE_ATTR_MTIME)
        seen_set_time(&s->seen, &st, a.mtime_s);
    return 0;
}
