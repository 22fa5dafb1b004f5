/*
 * What the calls of hostfs share: replies that describe a file, the flags of an open, attributes, and names.
 */
#define _GNU_SOURCE
#include "emu/front/hostfs_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "emu/front/errmap.h"

#define OPEN_FLAGS (N_O_ACCMODE | N_O_APPEND | N_O_CREAT | N_O_TRUNC | N_O_EXCL | N_O_DIRECTORY)

bool hostfs_take_name(char *name, const uint8_t *bytes, size_t n)
{
    memcpy(name, bytes, n);
    name[n] = '\0';
    return strlen(name) == n;
}

int32_t hostfs_host_result(int result)
{
    return result < 0 ? errmap_from_host(errno) : 0;
}

/* A time from before the machine is input like the file itself; a later one would bring the host's clock in. */
static int64_t steady_time(const struct hostfs *s, const struct timespec *t)
{
    bool later = t->tv_sec > s->began.tv_sec || (t->tv_sec == s->began.tv_sec && t->tv_nsec > s->began.tv_nsec);

    return later ? 0 : t->tv_sec;
}

void hostfs_pack_stat(const struct hostfs *s, const struct stat *st, struct file_stat *out)
{
    *out = (struct file_stat){
        .size_bytes = st->st_size,
        .blocks_512 = ((uint64_t)st->st_size + 511) / 512,
        .ino = st->st_ino,
        .mode = st->st_mode,
        .nlink = st->st_nlink,
        .uid = st->st_uid,
        .gid = st->st_gid,
        .block_bytes = st->st_blksize,
        .dev = HOSTFS_DEV,
        .atime_s = steady_time(s, &st->st_mtim), /* reading a file does not change what it looks like */
        .mtime_s = steady_time(s, &st->st_mtim),
        .ctime_s = steady_time(s, &st->st_ctim),
    };
}

void hostfs_return_payload(struct hostfs_call *c, const void *bytes, size_t n)
{
    memcpy(c->payload, bytes, n);
    c->payload_bytes = n;
}

/* The host numbers what has no name anew in each run. */
void hostfs_correct_tmp(struct file_stat *st, uint64_t number)
{
    st->ino = HOSTFS_TMP_INO + number;
    st->nlink = 1;
}

int32_t hostfs_return_stat(const struct hostfs *s, struct hostfs_call *c, int fd, uint64_t tmp_number)
{
    struct stat st;
    struct file_stat out;

    if (fstat(fd, &st) < 0)
        return errmap_from_host(errno);
    hostfs_pack_stat(s, &st, &out);
    if (tmp_number)
        hostfs_correct_tmp(&out, tmp_number);
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

int32_t hostfs_check_open_flags(uint32_t flags)
{
    bool writes = (flags & N_O_ACCMODE) != N_O_RDONLY;
    bool valid = !(flags & ~(uint32_t)OPEN_FLAGS) && (flags & N_O_ACCMODE) != N_O_ACCMODE &&
                 (writes || !(flags & N_O_TRUNC)) && !((flags & N_O_CREAT) && (flags & N_O_DIRECTORY));

    return valid ? 0 : -N_EINVAL;
}

/* By its name in /proc: a descriptor for the path alone has no other way. */
int32_t hostfs_set_attributes_of(const struct hostfs_call *c, int fd)
{
    struct file_attr a;
    char name[40];

    if (c->request.bytes != sizeof a)
        return -N_EPROTO;
    memcpy(&a, c->data, sizeof a);
    if (a.what & ~(uint32_t)FILE_ATTR_ALL)
        return -N_EINVAL;
    if (a.what & (FILE_ATTR_UID | FILE_ATTR_GID))
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
    return hostfs_host_result(utimensat(AT_FDCWD, name, times, 0));
}
