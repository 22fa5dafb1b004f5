/*
 * The one list of errors that cross a message or trap boundary: name, number, text.
 *
 * The numbers are newlib's errno values, so a program sets errno = -status; the host translates its own errno by name.
 * Replies and trap results carry an error as the negative number.
 */
#ifndef NCUBE_ERRORS_H
#define NCUBE_ERRORS_H

#define ERROR_LIST(X)                                    \
    X(EPERM, 1, "operation not permitted")               \
    X(ENOENT, 2, "no such file, directory or volume")    \
    X(ESRCH, 3, "no such process or node")               \
    X(EINTR, 4, "interrupted")                           \
    X(EIO, 5, "I/O error")                               \
    X(E2BIG, 7, "argument list too long")                \
    X(ENOEXEC, 8, "not an executable")                   \
    X(EBADF, 9, "bad file descriptor")                   \
    X(ECHILD, 10, "no such child process")               \
    X(EAGAIN, 11, "try again")                           \
    X(ENOMEM, 12, "out of memory")                       \
    X(EACCES, 13, "permission denied")                   \
    X(EFAULT, 14, "bad address")                         \
    X(EBUSY, 16, "busy")                                 \
    X(EEXIST, 17, "exists already")                      \
    X(EXDEV, 18, "crosses volumes")                      \
    X(ENODEV, 19, "no such drive")                       \
    X(ENOTDIR, 20, "not a directory")                    \
    X(EISDIR, 21, "is a directory")                      \
    X(EINVAL, 22, "invalid argument")                    \
    X(ENFILE, 23, "server's file table is full")         \
    X(EMFILE, 24, "too many open files")                 \
    X(ENOTTY, 25, "no such request for this descriptor") \
    X(EFBIG, 27, "file too large")                       \
    X(ENOSPC, 28, "no space left on volume")             \
    X(ESPIPE, 29, "cannot seek")                         \
    X(EROFS, 30, "read-only volume")                     \
    X(EMLINK, 31, "too many links")                      \
    X(EPIPE, 32, "broken pipe")                          \
    X(ERANGE, 34, "result out of range")                 \
    X(ENOSTR, 60, "no endpoint of messages")             \
    X(EPROTO, 71, "malformed message")                   \
    X(ENOSYS, 88, "no such call")                        \
    X(ENOTEMPTY, 90, "directory not empty")              \
    X(ENAMETOOLONG, 91, "name too long")                 \
    X(ELOOP, 92, "too many symbolic links")              \
    X(ETIMEDOUT, 116, "timed out")                       \
    X(EHOSTDOWN, 117, "node is down")                    \
    X(EHOSTUNREACH, 118, "no way to that node")          \
    X(EDESTADDRREQ, 121, "no destination")               \
    X(EMSGSIZE, 122, "message does not fit")             \
    X(EADDRNOTAVAIL, 125, "no such address")             \
    X(ESTALE, 133, "stale file identifier")              \
    X(ENOTSUP, 134, "not supported")                     \
    X(EOVERFLOW, 139, "value too large")

#define ERROR_ENUM(name, number, text) N_##name = number,
enum n_error { ERROR_LIST(ERROR_ENUM) };
#undef ERROR_ENUM

#endif
