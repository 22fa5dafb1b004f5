/*
 * The calls that libpio makes to the system: files on volumes, and asynchronous reads and writes. Acknowledgements of
 * different I/O nodes arrive in any order; those of one I/O node, in the order of the requests.
 *
 * On a node transport_vertex.c provides it with Vertex's calls; on the host the tests provide a fake one.
 * Every function returns >= 0, or a negative errno. Paths are "//volume/name".
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

enum pio_op { PIO_OP_READ, PIO_OP_WRITE };

/* Room for the system's part of a read acknowledgement, before its data. */
#define PIO_ACK_HEADER_BYTES 8

struct pio_ack {
    int node;         /* address of the I/O node that sent it: all that an acknowledgement says of its sender */
    int status;       /* bytes read or written, or a negative errno */
    const void *data; /* of a read, status bytes within the communication buffer */
};

/* A question about a file of a volume. */
enum pio_question_kind {
    PIO_ASK_STAT, /* size_bytes, mode: the file's */
    PIO_ASK_READ, /* buffer gets the file's first `bytes` bytes; result: how many it has of them */
    PIO_ASK_MAKE, /* makes the file with the `bytes` bytes of buffer. It appears whole, and is durable then. -EEXIST: a
                       file is there, and nothing changes */
    PIO_ASK_UNLINK,   /* mode: not 0: then all of the volume is durable, also where there is no such name */
    PIO_ASK_WRITABLE, /* 0, or -EROFS */
    PIO_ASK_VIEW, /* makes the offsets of read_start and write_start on fd those of a view, the bytes of one element of
                       a pattern over the subfile, as pattern_pack wrote it to buffer; no bytes: of the subfile
                       again. -ENOTSUP where the server knows no views */
    PIO_ASK_OPEN, /* opens the file without `suffix` by `flags`, an O_ACCMODE: fd, node and size_bytes; and, at the same
                       moment, as PIO_ASK_READ. Where either fails, nothing is open. -ENOTSUP: cannot be asked */
};

#define PIO_QUESTIONS_MAX 16 /* at the same time */

struct pio_question {
    enum pio_question_kind kind;
    const char *volume, *name, *suffix; /* as for pio_path */
    mode_t mode;
    int flags;
    char *buffer;
    size_t bytes;
    int64_t size_bytes;
    int fd, node;
    int result;
};

struct pio_transport {
    int (*open)(const char *path, int flags, mode_t mode); /* a descriptor */
    int (*close)(int fd);
    int (*fstat)(int fd, struct stat *st);
    int (*ftruncate)(int fd, int64_t bytes);
    int (*fsync)(int fd);
    int (*cut)(int fd, int64_t bytes, int64_t from_bytes); /* ftruncate if it has from_bytes now; -EAGAIN: it has not */

    /* Asks n <= PIO_QUESTIONS_MAX questions at the same time, and returns when each has its result: >= 0, or a negative
     * errno. */
    void (*ask)(struct pio_question *questions, int n);

    int (*rename)(const char *from, const char *to); /* paths are "//volume/name" */
    int (*mkdir)(const char *path, mode_t mode);
    int (*rmdir)(const char *path, mode_t none);
    int (*chmod)(const char *path, mode_t mode);

    /* Waits for one of the volume's locks, which one process has at a time; 0 excludes all others. A process that ends
     * has it no longer. -ETIMEDOUT: the one that has it does not give it back. */
    int (*lock)(const char *volume, uint32_t key);
    void (*unlock)(int lock);

    /* A public call fails with a negative errno, at a path or "": nfailed can say so. */
    void (*tell_failure)(const char *call, const char *path, int error);

    int (*node)(int fd); /* address of the I/O node that serves the file */
    int (*read_start)(int fd, int64_t offset, int n);
    int (*write_start)(int fd, int64_t offset, const void *buf, int n); /* buf is free again at return */

    /* Waits for the next acknowledgement of that kind from any I/O node. comm is the communication buffer, of
     * comm_bytes = PIO_ACK_HEADER_BYTES + the largest read under way. A failed operation is an acknowledgement
     * with a negative status; a negative result means that acknowledgements can no longer be had. */
    int (*wait)(enum pio_op op, void *comm, size_t comm_bytes, struct pio_ack *ack);

    /* From here on, or no longer, the library moves blocks that lie in one piece: their way through library and kernel
     * has a stated cost (vertex/contract/stated.h). */
    void (*work)(bool begins);

    /* 1 if such an acknowledgement has arrived, so that wait returns at once; else 0. One is under way. */
    int (*arrived)(enum pio_op op);
};

/* The transport in use. transport_vertex.c sets it on a node. */
extern const struct pio_transport *pio_transport;
