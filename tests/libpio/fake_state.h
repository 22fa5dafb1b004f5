/*
 * The fake machine's own state (fake.h), of which tests see nothing: names, inodes, descriptors, requests under way.
 *
 * fake.c has what tests do to it, fake_volumes.c the files, fake_calls.c the calls of libpio's transport, and
 * fake_transfers.c those that are asynchronous.
 */
#pragma once

#include <sys/types.h>

#include "libpio/file/transport.h"
#include "libpio/map/pattern.h"
#include "tests/libpio/fake.h"

#define INODES   64
#define NAMES    64
#define FDS      128
#define REQUESTS 4096
#define FOLDER   INODES /* in the place of an inode: the name is a folder's */

struct inode {
    char *data;
    int64_t size;
    int volume;
    mode_t mode;
};

struct name {
    char path[128]; /* within the volume; "": unused */
    int volume, inode;
};

struct fd {
    bool open;
    int inode, flags;
    int64_t offset;
    struct pattern *view; /* NULL: the file */
};

struct request {
    enum pio_op op;
    int volume, inode, bytes, error;
    int64_t offset;
    char *data;
    const struct pattern *view; /* of its descriptor, when it was issued */
};

struct volume {
    bool present, read_only, unsynced, moved; /* names have changed, or a part has moved, and that is not durable */
    int node, calls_error;
    int64_t capacity, largest;
    int fail_in, fail_error;
    int refuse_in, refuse_error;
};

extern struct volume volumes[FAKE_VOLUMES];
extern struct inode inodes[INODES];
extern struct name names[NAMES];
extern struct fd fds[FDS];
extern struct request requests[REQUESTS]; /* in the order of issue, over all nodes */
extern int n_requests, lose_in, view_error;
extern int at_call_in;
extern bool locked;         /* a process has a lock, which it gives back at the end of its call */
extern bool writes_arrived; /* it has been said since the last wait */
extern void (*at_call_action)(void);
extern int (*choose_node)(int options);
extern struct fake_counts counts;

/* ---- fake_volumes.c ---- */

void fake_count_call(void);
/* Splits "//dfNN/name". Returns the volume or a negative error. */
int fake_split(const char *path, const char **name);
int fake_check_writable(int volume);
struct name *fake_find_name(int volume, const char *path);
void fake_add_name(int volume, const char *path, int inode);
int fake_new_inode(int volume);
void fake_set_size(struct inode *inode, int64_t size);
int fake_write_bytes(struct inode *inode, int64_t offset, const char *data, int n);
int fake_read_bytes(const struct inode *inode, int64_t offset, char *data, int n);
int fake_write_view(struct inode *inode, const struct pattern *view, int64_t offset, const char *data, int n);
int fake_read_view(const struct inode *inode, const struct pattern *view, int64_t offset, char *data, int n);

/* ---- fake_calls.c ---- */

int fake_open(const char *path, int flags, mode_t mode);
int fake_close(int fd);
int fake_unlink(const char *path);

/* ---- fake_transfers.c ---- */

int fake_read_start(int fd, int64_t offset, int n);
int fake_write_start(int fd, int64_t offset, const void *buf, int n);
int fake_wait(enum pio_op op, void *comm, size_t comm_bytes, struct pio_ack *ack);
int fake_arrived(enum pio_op op);
void fake_work(bool begins);
