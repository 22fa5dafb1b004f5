/* Volumes in memory behind libpio's transport (fake.h): names, files, the I/O nodes' queues, and faults on request. */
#include "tests/libpio/fake.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/file/change.h"
#include "libpio/file/file.h"
#include "libpio/file/store.h"
#include "libpio/file/transport.h"
#include "libpio/map/pattern.h"

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

static struct volume {
    bool present, read_only, unsynced, moved; /* names have changed, or a part has moved, and that is not durable */
    int node, calls_error;
    int64_t capacity, largest;
    int fail_in, fail_error;
    int refuse_in, refuse_error;
} volumes[FAKE_VOLUMES];

static struct inode inodes[INODES];
static struct name names[NAMES];
static struct fd fds[FDS];
static struct request requests[REQUESTS]; /* in the order of issue, over all nodes */
static int n_requests, lose_in, view_error;
static int at_call_in;
static bool locked;         /* a process has a lock, which it gives back at the end of its call */
static bool writes_arrived; /* it has been said since the last wait */
static void (*at_call_action)(void);
static int (*choose_node)(int options);
static struct fake_counts counts;

static int choose_first(int options)
{
    (void)options;
    return 0;
}

/* ---- The volumes --------------------------------------------------------------------------- */

static void count_call(void)
{
    counts.calls++;
    if (at_call_in >= 0 && at_call_in-- == 0)
        at_call_action();
}

/* Splits "//dfNN/name". Returns the volume or a negative error. */
static int split(const char *path, const char **name)
{
    int volume;

    if (sscanf(path, "//df%02d/", &volume) != 1 || volume >= FAKE_VOLUMES || !volumes[volume].present)
        return -ENOENT;
    *name = path + strlen("//df00");
    return volumes[volume].calls_error ? volumes[volume].calls_error : volume;
}

static int check_writable(int volume)
{
    return volumes[volume].read_only ? -EROFS : 0;
}

static struct name *find_name(int volume, const char *path)
{
    for (int i = 0; i < NAMES; i++)
        if (names[i].path[0] && names[i].volume == volume && strcmp(names[i].path, path) == 0)
            return &names[i];
    return NULL;
}

static void add_name(int volume, const char *path, int inode)
{
    int i = 0;

    while (names[i].path[0])
        i++;
    names[i] = (struct name){.volume = volume, .inode = inode};
    snprintf(names[i].path, sizeof names[i].path, "%s", path);
}

static int new_inode(int volume)
{
    for (int i = 0; i < INODES; i++)
        if (!inodes[i].data) {
            inodes[i] = (struct inode){.data = calloc(1, 1), .volume = volume, .mode = 0644};
            return i;
        }
    abort();
}

static void set_size(struct inode *inode, int64_t size)
{
    char *data = calloc(1, size + 1);

    memcpy(data, inode->data, size < inode->size ? size : inode->size);
    free(inode->data);
    inode->data = data;
    inode->size = size;
}

static int64_t used_bytes(int volume)
{
    int64_t used = 0;

    for (int i = 0; i < INODES; i++)
        if (inodes[i].data && inodes[i].volume == volume)
            used += inodes[i].size;
    return used;
}

static int write_bytes(struct inode *inode, int64_t offset, const char *data, int n)
{
    int64_t left = volumes[inode->volume].largest - offset;
    int64_t room = volumes[inode->volume].capacity - used_bytes(inode->volume) + inode->size - offset;

    if (n > 0 && left <= 0)
        return -EFBIG;
    if (n > left)
        n = left;
    if (offset + n > inode->size && n > room)
        n = room < 0 ? 0 : room;
    if (n > 0 && offset + n > inode->size)
        set_size(inode, offset + n);
    memcpy(inode->data + offset, data, n);
    return n;
}

static int read_bytes(const struct inode *inode, int64_t offset, char *data, int n)
{
    int64_t left = inode->size - offset;

    if (left < 0)
        left = 0;
    if (n > left)
        n = left;
    if (n > 0)
        memcpy(data, inode->data + offset, n);
    return n;
}

/* Byte by byte: the reference for what a server does by runs. */
static int write_view(struct inode *inode, const struct pattern *view, int64_t offset, const char *data, int n)
{
    int done = 0;

    while (done < n && write_bytes(inode, pattern_file(view, 0, offset + done), data + done, 1) == 1)
        done++;
    return done;
}

static int read_view(const struct inode *inode, const struct pattern *view, int64_t offset, char *data, int n)
{
    int done = 0;

    while (done < n && read_bytes(inode, pattern_file(view, 0, offset + done), data + done, 1) == 1)
        done++;
    return done;
}

/* ---- Calls ----------------------------------------------------------------------------------- */

static int new_fd(int inode, int flags)
{
    for (int i = 0; i < FDS; i++)
        if (!fds[i].open) {
            fds[i] = (struct fd){.open = true, .inode = inode, .flags = flags};
            counts.open_files++;
            return i;
        }
    return -EMFILE;
}

/* Begins a call on a name: counts it. Returns the name's volume, or why there is none; *found is what has the name
 * there, or NULL. */
static int begin_call(const char *path, const char **name, struct name **found)
{
    count_call();
    int volume = split(path, name);
    *found = volume < 0 ? NULL : find_name(volume, *name);
    return volume;
}

static int fake_open(const char *path, int flags, mode_t mode)
{
    const char *name;
    struct name *found;

    (void)mode;
    int volume = begin_call(path, &name, &found);
    if (volume < 0)
        return volume;
    if (found && (flags & O_EXCL))
        return -EEXIST;
    if (!found && !(flags & O_CREAT))
        return -ENOENT;
    if (volumes[volume].read_only && (!found || (flags & O_ACCMODE) != O_RDONLY))
        return -EROFS;
    if (!found) {
        if (volumes[volume].capacity == 0)
            return -ENOSPC;
        add_name(volume, name, new_inode(volume));
        found = find_name(volume, name);
    }
    if (flags & O_TRUNC)
        set_size(&inodes[found->inode], 0);
    return new_fd(found->inode, flags);
}

static int check_fd(int fd)
{
    count_call();
    if (fd < 0 || fd >= FDS || !fds[fd].open) {
        counts.bad_fds++;
        return -EBADF;
    }
    return volumes[inodes[fds[fd].inode].volume].calls_error;
}

/* Frees an inode without a name that nobody has open. */
static void drop_unused(int inode)
{
    int users = 0;

    for (int i = 0; i < NAMES; i++)
        users += names[i].path[0] && names[i].inode == inode;
    for (int i = 0; i < FDS; i++)
        users += fds[i].open && fds[i].inode == inode;
    if (users == 0) {
        free(inodes[inode].data);
        inodes[inode].data = NULL;
    }
}

static int fake_close(int fd)
{
    int error = check_fd(fd);

    if (error != -EBADF) {
        pattern_free(fds[fd].view);
        fds[fd].open = false;
        counts.open_files--;
        drop_unused(fds[fd].inode);
    }
    return error;
}

static void fill_stat(const struct inode *inode, struct stat *st)
{
    memset(st, 0, sizeof *st);
    st->st_mode = S_IFREG | inode->mode;
    st->st_size = inode->size;
    st->st_blocks = (inode->size + 511) / 512;
    st->st_mtime = 1000 + inode->volume;
}

static int fake_stat(const char *path, struct stat *st)
{
    const char *name;

    count_call();
    int volume = split(path, &name);
    if (volume < 0)
        return volume;
    if (strcmp(name, "/") == 0)
        return 0;
    char folder[128];
    size_t n = strlen(name);
    bool wants_folder = n > 2 && strcmp(name + n - 2, "/.") == 0;
    snprintf(folder, sizeof folder, "%.*s", (int)(wants_folder ? n - 2 : n), name);
    struct name *found = find_name(volume, folder);
    if (!found)
        return -ENOENT;
    if (found->inode == FOLDER || wants_folder)
        return found->inode == FOLDER ? 0 : -ENOTDIR;
    fill_stat(&inodes[found->inode], st);
    return 0;
}

static int fake_fstat(int fd, struct stat *st)
{
    int error = check_fd(fd);

    if (!error)
        fill_stat(&inodes[fds[fd].inode], st);
    return error;
}

static int fake_ftruncate(int fd, int64_t bytes)
{
    int error = check_fd(fd);

    if (!error && (fds[fd].flags & O_ACCMODE) == O_RDONLY)
        error = -EINVAL;
    if (!error)
        set_size(&inodes[fds[fd].inode], bytes);
    return error;
}

static int fake_cut(int fd, int64_t bytes, int64_t from_bytes)
{
    int error = check_fd(fd);

    if (!error && inodes[fds[fd].inode].size != from_bytes)
        error = -EAGAIN;
    if (!error)
        set_size(&inodes[fds[fd].inode], bytes);
    return error;
}

static void fake_tell_failure(const char *call, const char *path, int error)
{
    if (strncmp(call, "pio_", 4) != 0 || path == NULL || error >= 0)
        abort();
}

static int fake_fsync(int fd)
{
    return check_fd(fd);
}

static void drop_name(struct name *name)
{
    volumes[name->volume].unsynced = true;
    name->path[0] = '\0';
    drop_unused(name->inode);
}

static int fake_unlink(const char *path)
{
    const char *name;
    struct name *found;

    int volume = begin_call(path, &name, &found);
    if (volume < 0)
        return volume;
    int error = found ? check_writable(volume) : -ENOENT;
    for (int k = 0; k < FAKE_VOLUMES && strcmp(name, PIO_CHANGE_NAME) == 0; k++)
        counts.early += volumes[k].unsynced;
    counts.early += found && strncmp(name, "/.pio-old-", 10) == 0 && volumes[0].moved;
    if (!error)
        drop_name(found);
    return error;
}

static bool is_empty(int volume, const char *name);

static int rename_folder(struct name *found, struct name *before, const char *to)
{
    size_t n = strlen(found->path);
    char from[128], rest[128];

    if (before && (before->inode != FOLDER || !is_empty(before->volume, to)))
        return before->inode != FOLDER ? -ENOTDIR : -ENOTEMPTY;
    if (volumes[found->volume].read_only)
        return -EROFS;
    if (before)
        before->path[0] = '\0';
    volumes[found->volume].unsynced = true;
    strcpy(from, found->path);
    for (int i = 0; i < NAMES; i++)
        if (names[i].path[0] && names[i].volume == found->volume && strncmp(names[i].path, from, n) == 0 &&
            (names[i].path[n] == '/' || names[i].path[n] == '\0')) {
            strcpy(rest, names[i].path + n);
            snprintf(names[i].path, sizeof names[i].path, "%s%s", to, rest);
        }
    return 0;
}

static int fake_rename(const char *from, const char *to)
{
    const char *from_name, *to_name;

    count_call();
    int volume = split(from, &from_name);
    if (volume < 0 || split(to, &to_name) != volume)
        return volume < 0 ? volume : -EXDEV;
    struct name *found = find_name(volume, from_name), *before = find_name(volume, to_name);
    if (!found)
        return -ENOENT;
    if (found->inode == FOLDER)
        return rename_folder(found, before, to_name);
    if (volumes[volume].read_only)
        return -EROFS;
    if (before)
        drop_name(before);
    for (int k = 1; k < FAKE_VOLUMES && volume == 0 && !strstr(from_name, PIO_DESCRIPTION_SUFFIX); k++)
        counts.early += volumes[k].unsynced && find_name(k, "/.pio-old-df00") && !strstr(to_name, "/.pio-");
    snprintf(found->path, sizeof found->path, "%s", to_name);
    volumes[volume].unsynced = true;
    volumes[volume].moved |= !strstr(from_name, PIO_DESCRIPTION_SUFFIX);
    return 0;
}

/* ---- Questions --------------------------------------------------------------------------------- */

static int make_file(const char *path, const void *bytes, size_t n)
{
    int fd = fake_open(path, O_WRONLY | O_CREAT | O_EXCL, 0644);

    if (fd < 0)
        return fd;
    int put = write_bytes(&inodes[fds[fd].inode], 0, bytes, n);
    fds[fd].open = false;
    counts.open_files--;
    if (put == (int)n)
        return 0;
    fake_unlink(path);
    return -ENOSPC;
}

static int read_file(const char *path, void *bytes, size_t n)
{
    const char *name;
    struct name *found;

    int volume = begin_call(path, &name, &found);
    if (volume < 0)
        return volume;
    return found ? read_bytes(&inodes[found->inode], 0, bytes, n) : -ENOENT;
}

static int open_and_read(struct pio_question *q, const char *described)
{
    char path[PIO_PATH_MAX_BYTES];
    int bytes = read_file(described, q->buffer, q->bytes);

    if (bytes < 0)
        return bytes;
    pio_path(path, q->volume, q->name, "");
    q->fd = fake_open(path, q->flags, 0);
    if (q->fd < 0)
        return q->fd;
    q->node = volumes[inodes[fds[q->fd].inode].volume].node;
    q->size_bytes = inodes[fds[q->fd].inode].size;
    return bytes;
}

static int volume_of(const struct pio_question *q)
{
    return atoi(q->volume + strlen("df"));
}

static int set_view(int fd, const void *packed, size_t n)
{
    struct pattern *view = NULL;
    int error = check_fd(fd);

    if (!error && view_error)
        error = n > 0 ? view_error : 0;
    if (!error && n > 0)
        error = pattern_unpack(packed, n, &view);
    if (error)
        return error;
    pattern_free(fds[fd].view);
    fds[fd].view = view;
    return 0;
}

static int answer(struct pio_question *q)
{
    char path[PIO_PATH_MAX_BYTES];
    struct stat st = {0};
    int result;

    if (q->kind == PIO_ASK_VIEW)
        return set_view(q->fd, q->buffer, q->bytes);
    pio_path(path, q->volume, q->name, q->suffix);
    switch (q->kind) {
    case PIO_ASK_STAT:
        result = fake_stat(path, &st);
        q->size_bytes = st.st_size;
        q->mode = st.st_mode;
        return result;
    case PIO_ASK_WRITABLE:
        result = fake_stat(path, &st);
        return result ? result : check_writable(volume_of(q));
    case PIO_ASK_READ:
        return read_file(path, q->buffer, q->bytes);
    case PIO_ASK_OPEN:
        return open_and_read(q, path);
    case PIO_ASK_MAKE:
        result = make_file(path, q->buffer, q->bytes);
        volumes[volume_of(q)].unsynced &= result < 0;
        return result;
    default:
        result = fake_unlink(path);
        if (q->mode && (result == 0 || result == -ENOENT))
            volumes[volume_of(q)].unsynced = volumes[volume_of(q)].moved = false;
        return result;
    }
}

static void fake_ask(struct pio_question *questions, int n)
{
    counts.rounds++;
    for (int i = 0; i < n; i++)
        questions[i].result = answer(&questions[i]);
}

static int fake_node(int fd)
{
    return volumes[inodes[fds[fd].inode].volume].node;
}

/* ---- Asynchronous transfers -------------------------------------------------------------------- */

static void count_request(int volume)
{
    counts.requests++;
    counts.volume_requests[volume]++;
    if (++counts.in_flight > counts.max_in_flight)
        counts.max_in_flight = counts.in_flight;
    if (++counts.volume_in_flight[volume] > counts.volume_max_in_flight[volume])
        counts.volume_max_in_flight[volume] = counts.volume_in_flight[volume];
}

static int start(enum pio_op op, int fd, int64_t offset, const void *data, int n)
{
    int inode = fds[fd].inode;
    struct volume *volume = &volumes[inodes[inode].volume];

    if (volume->refuse_in >= 0 && volume->refuse_in-- == 0)
        return volume->refuse_error;
    struct request *request = &requests[n_requests++];
    *request =
        (struct request){.op = op, .inode = inode, .volume = inodes[inode].volume, .bytes = n, .view = fds[fd].view};
    request->offset = op == PIO_OP_WRITE && (fds[fd].flags & O_APPEND) ? inodes[inode].size : offset;
    if (volume->fail_in >= 0 && volume->fail_in-- == 0)
        request->error = volume->fail_error;
    if (op == PIO_OP_WRITE) {
        request->data = malloc(n);
        memcpy(request->data, data, n);
    }
    count_request(request->volume);
    return 0;
}

static int fake_read_start(int fd, int64_t offset, int n)
{
    return start(PIO_OP_READ, fd, offset, NULL, n);
}

static int fake_write_start(int fd, int64_t offset, const void *buf, int n)
{
    return start(PIO_OP_WRITE, fd, offset, buf, n);
}

/* Addresses of the I/O nodes that have a request of this kind, ascending. Requests of the other kind before it may have
 * been answered, too: a program that takes answers of one kind passes over those of the other. */
static int list_ready_nodes(enum pio_op op, int *ready)
{
    int n = 0;

    for (int node = 0x4000; node < 0x4000 + 2 * FAKE_VOLUMES; node++)
        for (int i = 0; i < n_requests; i++)
            if (volumes[requests[i].volume].node == node && requests[i].op == op) {
                ready[n++] = node;
                break;
            }
    return n;
}

static struct request take_request(enum pio_op op, int node)
{
    int i = 0;

    while (volumes[requests[i].volume].node != node || requests[i].op != op)
        i++;
    struct request request = requests[i];
    memmove(&requests[i], &requests[i + 1], (n_requests - i - 1) * sizeof request);
    n_requests--;
    counts.in_flight--;
    counts.volume_in_flight[request.volume]--;
    return request;
}

/* Replies to reads fill a node's memory until they are taken, and keep those to writes out. */
static void note_wait(enum pio_op op)
{
    for (int i = 0; i < n_requests && !writes_arrived; i++)
        counts.waits_for_writes += op == PIO_OP_WRITE && requests[i].op == PIO_OP_READ;
    writes_arrived = false;
}

static int fake_wait(enum pio_op op, void *comm, size_t comm_bytes, struct pio_ack *ack)
{
    int ready[2 * FAKE_VOLUMES];
    char *data = (char *)comm + PIO_ACK_HEADER_BYTES;

    note_wait(op);
    if (lose_in >= 0 && lose_in-- == 0)
        return -EIO;
    int n = list_ready_nodes(op, ready);
    if (n == 0)
        abort(); /* libpio waits for an acknowledgement that will never arrive */
    int node = ready[choose_node(n)];
    struct request request = take_request(op, node);
    if (op == PIO_OP_READ && (size_t)request.bytes > comm_bytes - PIO_ACK_HEADER_BYTES)
        abort();
    *ack = (struct pio_ack){.node = node, .status = request.error, .data = data};
    if (!request.error && request.view)
        ack->status =
            op == PIO_OP_READ
                ? read_view(&inodes[request.inode], request.view, request.offset, data, request.bytes)
                : write_view(&inodes[request.inode], request.view, request.offset, request.data, request.bytes);
    else if (!request.error && op == PIO_OP_READ)
        ack->status = read_bytes(&inodes[request.inode], request.offset, data, request.bytes);
    else if (!request.error)
        ack->status = write_bytes(&inodes[request.inode], request.offset, request.data, request.bytes);
    free(request.data);
    return 0;
}

static void fake_work(bool begins)
{
    (void)begins;
}

static int fake_arrived(enum pio_op op)
{
    int ready[2 * FAKE_VOLUMES];

    bool arrived = list_ready_nodes(op, ready) > 0 && choose_node(2) == 0;
    writes_arrived = arrived && op == PIO_OP_WRITE;
    return arrived;
}

/* ---- Locks and folders ---- */

static int fake_mkdir(const char *path, mode_t mode)
{
    const char *name;
    struct name *found;

    (void)mode;
    int volume = begin_call(path, &name, &found);
    if (volume < 0)
        return volume;
    if (found)
        return -EEXIST;
    if (volumes[volume].read_only)
        return -EROFS;
    if (volumes[volume].capacity == 0)
        return -ENOSPC;
    add_name(volume, name, FOLDER);
    volumes[volume].unsynced = false;
    return 0;
}

static bool is_empty(int volume, const char *name)
{
    size_t n = strlen(name);

    for (int i = 0; i < NAMES; i++)
        if (names[i].path[0] && names[i].volume == volume && strncmp(names[i].path, name, n) == 0 &&
            names[i].path[n] == '/')
            return false;
    return true;
}

static int fake_rmdir(const char *path, mode_t none)
{
    const char *name;
    struct name *found;

    (void)none;
    int volume = begin_call(path, &name, &found);
    if (volume < 0)
        return volume;
    if (!found || found->inode != FOLDER)
        return found ? -ENOTDIR : -ENOENT;
    if (!is_empty(volume, name))
        return -ENOTEMPTY;
    if (volumes[volume].read_only)
        return -EROFS;
    found->path[0] = '\0';
    volumes[volume].unsynced = true;
    return 0;
}

static int fake_chmod(const char *path, mode_t mode)
{
    const char *name;
    struct name *found;

    int volume = begin_call(path, &name, &found);
    if (volume < 0)
        return volume;
    int error = found ? check_writable(volume) : -ENOENT;
    if (!error)
        inodes[found->inode].mode = mode;
    return error;
}

static int fake_lock(const char *volume, uint32_t key)
{
    (void)volume, (void)key;
    if (locked)
        return -EDEADLK; /* another node would wait for ever for one that stands still */
    locked = true;
    return 0;
}

static void fake_unlock(int lock)
{
    (void)lock;
    locked = false;
}

bool fake_is_locked(void)
{
    return locked;
}

void fake_unlock_all(void)
{
    locked = false;
}

static const struct pio_transport fake_transport = {
    .open = fake_open,
    .close = fake_close,
    .fstat = fake_fstat,
    .ftruncate = fake_ftruncate,
    .fsync = fake_fsync,
    .tell_failure = fake_tell_failure,
    .cut = fake_cut,
    .ask = fake_ask,
    .rename = fake_rename,
    .mkdir = fake_mkdir,
    .rmdir = fake_rmdir,
    .chmod = fake_chmod,
    .lock = fake_lock,
    .unlock = fake_unlock,
    .node = fake_node,
    .read_start = fake_read_start,
    .write_start = fake_write_start,
    .wait = fake_wait,
    .arrived = fake_arrived,
    .work = fake_work,
};

const struct pio_transport *pio_transport = &fake_transport;

/* ---- For the tests ------------------------------------------------------------------------------- */

void fake_reset(void)
{
    for (int i = 0; i < INODES; i++)
        free(inodes[i].data);
    memset(inodes, 0, sizeof inodes);
    memset(names, 0, sizeof names);
    memset(fds, 0, sizeof fds);
    for (int i = 0; i < n_requests; i++)
        free(requests[i].data);
    n_requests = 0;
    counts = (struct fake_counts){0};
    choose_node = choose_first;
    lose_in = at_call_in = -1;
    locked = false;
    for (int k = 0; k < FAKE_VOLUMES; k++)
        volumes[k] = (struct volume){.present = true,
                                     .node = 0x4000 + k,
                                     .capacity = INT64_MAX / 4,
                                     .largest = INT64_MAX / 4,
                                     .fail_in = -1,
                                     .refuse_in = -1};
}

void fake_set_node(int volume, int node)
{
    volumes[volume].node = node;
}

void fake_set_capacity(int volume, int64_t bytes)
{
    volumes[volume].capacity = bytes;
}

void fake_set_largest(int volume, int64_t bytes)
{
    volumes[volume].largest = bytes;
}

void fake_fail_request(int volume, int nth, int error)
{
    volumes[volume].fail_in = nth;
    volumes[volume].fail_error = error;
}

void fake_refuse_request(int volume, int nth, int error)
{
    volumes[volume].refuse_in = nth;
    volumes[volume].refuse_error = error;
}

void fake_lose_messages(int nth)
{
    lose_in = nth;
}

void fake_set_read_only(int volume, bool read_only)
{
    volumes[volume].read_only = read_only;
}

void fake_fail_calls(int volume, int error)
{
    volumes[volume].calls_error = error;
}

void fake_refuse_views(int error)
{
    view_error = error;
}

void fake_remove_volume(int volume)
{
    volumes[volume].present = false;
}

void fake_exchange_volumes(int a, int b)
{
    for (int i = 0; i < NAMES; i++)
        if (names[i].path[0] && (names[i].volume == a || names[i].volume == b))
            names[i].volume = a + b - names[i].volume;
    for (int i = 0; i < INODES; i++)
        if (inodes[i].data && (inodes[i].volume == a || inodes[i].volume == b))
            inodes[i].volume = a + b - inodes[i].volume;
}

void fake_set_chooser(int (*choose)(int options))
{
    choose_node = choose;
}

void fake_at_call(int nth, void (*action)(void))
{
    at_call_in = nth;
    at_call_action = action;
}

struct fake_counts *fake_counts(void)
{
    return &counts;
}

void fake_put_file(const char *path, const void *bytes, size_t n)
{
    int fd = fake_open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);

    write_bytes(&inodes[fds[fd].inode], 0, bytes, n);
    fake_close(fd);
}

int64_t fake_get_file(const char *path, void *bytes, size_t n)
{
    const char *name;
    int volume = split(path, &name);
    struct name *found = volume < 0 ? NULL : find_name(volume, name);

    if (!found)
        return -1;
    read_bytes(&inodes[found->inode], 0, bytes, n);
    return inodes[found->inode].size;
}

void fake_remove_file(const char *path)
{
    fake_unlink(path);
}

int fake_count_files(void)
{
    int n = 0;

    for (int i = 0; i < NAMES; i++)
        n += names[i].path[0] != '\0';
    return n;
}

static uint64_t mix(uint64_t hash, const void *bytes, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hash = (hash ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
    return hash;
}

uint64_t fake_digest(void)
{
    uint64_t sum = 0;

    for (int i = 0; i < NAMES; i++) {
        const struct name *name = &names[i];
        uint64_t hash = mix(14695981039346656037u, name->path, strlen(name->path));

        if (!name->path[0])
            continue;
        hash = mix(hash, &name->volume, sizeof name->volume);
        if (name->inode != FOLDER)
            hash = mix(hash, inodes[name->inode].data, (size_t)inodes[name->inode].size);
        sum += hash;
    }
    return sum;
}
