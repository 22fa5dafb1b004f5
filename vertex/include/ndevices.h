/*
 * nDEVICES: drivers in user code behind the calls on descriptors and paths [P1 2.3, Figure 8].
 *
 *     open, read, stat, dup, fprintf ...        the C library's calls
 *                    |
 *                 switch                        descriptor -> (driver, state); path -> driver
 *               /    |    \
 *          yours   rot13   file                 drivers; `file` is always there and takes what no other driver matches
 *
 * A driver is a table of functions. The functions may call open, read and so on themselves, so that one driver can lie
 * on top of another. A program adds its drivers with ndevice_add, before main if it does so in a constructor:
 *
 *     static const struct ndevice zeros = {.name = "zeros", .match = match, .open = open_zeros, .read = read_zeros};
 *
 *     __attribute__((constructor)) static void add(void) { ndevice_add(&zeros); }
 *
 * Every function returns >= 0, or the negative of an errno, such as -ENOSPC; the switch sets errno. A path is the one
 * that the program gave. `state` is the driver's own word for one open file: open sets it, close is the last call that
 * sees it. Descriptors that dup makes share it.
 */
#ifndef _NDEVICES_H
#define _NDEVICES_H

#include <dirent.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/types.h>
#include <time.h>

struct strbuf; /* <stropts.h> */

/* What setattr changes. */
#define N_ATTR_MODE  1
#define N_ATTR_UID   2
#define N_ATTR_GID   4
#define N_ATTR_ATIME 8
#define N_ATTR_MTIME 16

struct pattern; /* <pattern.h> */
struct nawaited;

struct nattr {
    unsigned what; /* N_ATTR_ */
    mode_t mode;
    uid_t uid;
    gid_t gid;
    time_t atime, mtime; /* seconds since 1970 */
};

/* A message of this program, or of a group in its context: from a process, or -1: any; of a type, or -1: any. */
struct nawaited {
    int context, source, type;
};

/* A NULL function fails with ENOTSUP, but for these: close returns 0; lseek fails with ESPIPE, ioctl with ENOTTY,
 * getmsg and putmsg with ENOSTR, lstat is stat. */
struct ndevice {
    const char *name;

    /* Whether the driver takes this path. Called for each call with a path; must not be NULL. */
    int (*match)(const char *path);
    /* flags: O_; mode: permissions without the umask's. Sets *state. Returns 0. */
    int (*open)(const char *path, int flags, mode_t mode, void **state);

    /* On an open file. Counts and offsets are bytes; read and write return the number of bytes moved. */
    int (*close)(void *state);
    ssize_t (*read)(void *state, void *buf, size_t n);
    ssize_t (*write)(void *state, const void *buf, size_t n);
    ssize_t (*pread)(void *state, void *buf, size_t n, off_t at);
    ssize_t (*pwrite)(void *state, const void *buf, size_t n, off_t at);
    /* Makes pread and pwrite see one element of a file only, as pattern_pack of <pattern.h> has written it: offsets and
     * counts are the element's. No bytes: the file again. NULL: whoever maps the file moves each run by itself. */
    int (*setview)(void *state, const void *packed, size_t n);
    /* Gives an end of a pipe its mapping, for N_SETMAP; without a map, node 0 gets all bytes, for global mode. NULL: a
     * mapping is laid on pread and pwrite. */
    int (*setmap)(void *state, const struct pattern *map);
    /* Of a descriptor that all nodes share (nglobal): from now on each node's calls are its own, as a mapping lies on
     * it; `on` = 0 ends that. NULL: they always are. */
    int (*alone)(void *state, int on);
    /* For poll and select: those of POLLIN, POLLOUT, POLLHUP and POLLERR that hold now; never waits. If none does, sets
     * *message to one whose arrival may change that. NULL: a descriptor is ready for whatever it was opened for. */
    int (*poll)(void *state, int events, struct nawaited *message);
    /* Called in the child of a fork, whose memory has a copy of the state. NULL: the copy is as good. */
    void (*forked)(void *state);
    off_t (*lseek)(void *state, off_t offset, int whence);
    int (*fstat)(void *state, struct stat *st);
    int (*fstatfs)(void *state, struct statfs *st);
    int (*ftruncate)(void *state, off_t size);
    int (*fsync)(void *state);
    int (*fsetattr)(void *state, const struct nattr *attr);
    /* The next entry of a folder, with d_off the offset, as of lseek, of the one behind it. 1; 0: there is no more. */
    int (*readdir)(void *state, struct dirent *entry);
    /* Writes the path by which a folder was opened, and a NUL, to path[0 .. bytes). Returns its length. */
    int (*path)(void *state, char *path, size_t bytes);
    int (*ioctl)(void *state, int request, void *arg);
    int (*getmsg)(void *state, struct strbuf *ctl, struct strbuf *data, int *flags); /* NULL: ENOSTR */
    int (*putmsg)(void *state, const struct strbuf *ctl, const struct strbuf *data, int flags);
    int (*readstart)(void *state, int n); /* these six: nio(3n) */
    int (*preadstart)(void *state, int n, off_t at);
    int (*readend)(void *state, void *buf);
    int (*writestart)(void *state, const void *buf, int n);
    int (*pwritestart)(void *state, const void *buf, int n, off_t at);
    int (*writeend)(void *state);
    int (*ionode)(void *state);
    int (*iochannel)(void *state, int channel);

    /* On a path. The switch calls rename and link only if the driver takes both paths; else they fail with EXDEV. */
    int (*stat)(const char *path, struct stat *st);
    int (*lstat)(const char *path, struct stat *st);
    int (*access)(const char *path, int mode);
    int (*unlink)(const char *path);
    int (*rename)(const char *from, const char *to);
    int (*link)(const char *path, const char *new_path);
    int (*mkdir)(const char *path, mode_t mode);
    int (*rmdir)(const char *path);
    int (*symlink)(const char *text, const char *path);
    ssize_t (*readlink)(const char *path, char *buf, size_t size);
    int (*setattr)(const char *path, int flags, const struct nattr *attr); /* flags: 0, or AT_SYMLINK_NOFOLLOW */
};

/* Adds a driver, which must stay valid. The switch asks the latest driver first whether it takes a path. Returns 0, or
 * -1 with errno: EINVAL: match or open is NULL; EEXIST: a driver with this name is there; ENFILE: 16 drivers are there.
 */
int ndevice_add(const struct ndevice *device);

#endif
