/* Requests on open files and standard streams: opening and closing, reading and writing. Each function runs one
 * operation of the table in hostfs.c; its request has been checked. */
#include "emu/hostfs/hostfs_calls.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/hostfs/errmap.h"
#include "vertex/contract/system.h"
#include "vertex/shared/file_parts.h"

static bool is_served_type(mode_t mode)
{
    return S_ISREG(mode) || S_ISDIR(mode);
}

/* ---- Opening and closing --------------------------------------------------------------------- */

/* Refuses other devices and pipes before they are opened, because opening one can have an effect. Returns 0, 1 if there
 * is no file of this name, or a negative n_error. */
static int32_t check_name_type(const struct hostfs *s, const char *name)
{
    struct stat st;
    int fd = beneath_open(&s->folder, name, O_PATH, 0);

    if (fd < 0)
        return fd == -N_ENOENT ? 1 : fd;
    int32_t result = errmap_result(fstat(fd, &st));
    close(fd);
    if (result == 0 && !is_served_type(st.st_mode))
        return -N_EACCES;
    return result;
}

/* Opens a regular file or a folder. A descriptor, or a negative n_error. Sets *made if it has made the file. */
static int open_host_file(const struct hostfs *s, const struct hostfs_call *c, bool *made)
{
    struct stat st;
    bool device = hostfs_device(c->name) != NULL;
    int32_t checked = device ? 0 : check_name_type(s, c->name);

    *made = checked == 1;
    if (checked < 0)
        return checked;
    int fd = hostfs_open_host(s, c->name, hostfs_host_flags(c->request.flags), c->request.mode & HOSTFS_MODE_BITS);
    if (fd < 0)
        return fd;
    int32_t result = errmap_result(fstat(fd, &st));
    if (result == 0 && (device || is_served_type(st.st_mode)))
        return fd;
    close(fd);
    return result < 0 ? result : -N_EACCES;
}

int32_t hostfs_open(struct hostfs *s, struct hostfs_call *c)
{
    bool made;
    int32_t index = hostfs_begin_open(s, c);
    int fd = index < 0 ? index : open_host_file(s, c, &made);

    return fd < 0 ? fd : hostfs_end_open(s, c, index, fd, made, 0);
}

int32_t hostfs_close(struct hostfs *s, struct hostfs_call *c)
{
    return open_files_close(&s->files, c->file, c->procid);
}

int32_t hostfs_exit(struct hostfs *s, struct hostfs_call *c)
{
    open_files_drop_client(&s->files, c->node, c->procid);
    return 0;
}

int32_t hostfs_fork(struct hostfs *s, struct hostfs_call *c)
{
    if (c->request.mode >= PROCS_MAX)
        return -N_EINVAL;
    open_files_share(&s->files, c->node, c->procid, c->request.mode);
    return 0;
}

int32_t hostfs_poll(struct hostfs *s, struct hostfs_call *c)
{
    (void)s;
    return c->request.mode != FILE_POLL_FORGET;
}

/* ---- Reading and writing --------------------------------------------------------------------- */

int32_t hostfs_read(struct hostfs *s, struct hostfs_call *c)
{
    size_t done = 0;

    (void)s;
    if (c->request.offset >= HOSTFS_FILE_MAX_BYTES)
        return 0;
    while (done < c->request.bytes) {
        ssize_t got = pread(c->file->fd, c->payload + done, c->request.bytes - done, c->request.offset + done);

        if (got < 0 && done == 0)
            return errmap_from_host(errno);
        if (got <= 0)
            break;
        done += got;
    }
    c->payload_bytes = done;
    return done;
}

static int32_t find_write_offset(const struct hostfs_call *c, uint64_t *offset)
{
    struct stat st;

    *offset = c->request.offset;
    if (!(c->request.flags & N_O_APPEND))
        return 0;
    if (fstat(c->file->fd, &st) < 0)
        return errmap_from_host(errno);
    *offset = st.st_size;
    return 0;
}

static uint64_t file_max_bytes(const struct hostfs_call *c)
{
    return c->file->tmp_number ? TMP_FILE_MAX_BYTES : HOSTFS_FILE_MAX_BYTES;
}

/* Writes what fits below the largest size. */
int32_t hostfs_write(struct hostfs *s, struct hostfs_call *c)
{
    uint64_t offset, bytes = c->request.bytes, most = file_max_bytes(c);
    size_t done = 0;
    int32_t found = find_write_offset(c, &offset);

    if (found < 0)
        return found;
    if (offset >= most && bytes > 0)
        return -N_EFBIG;
    if (bytes > 0 && bytes > most - offset)
        bytes = most - offset;
    while (done < bytes) {
        ssize_t put = pwrite(c->file->fd, c->data + done, bytes - done, offset + done);

        if (put < 0 && done == 0)
            return errmap_from_host(errno);
        if (put <= 0)
            break;
        done += put;
    }
    if (done > 0)
        seen_change(&s->seen, c->file->host->dev, c->file->host->ino);
    const struct file_appended appended = {offset + done};
    if (c->request.flags & N_O_APPEND)
        hostfs_return_payload(c, &appended, sizeof appended);
    return done;
}

int32_t hostfs_truncate(struct hostfs *s, struct hostfs_call *c)
{
    struct stat st;

    if (c->request.offset > file_max_bytes(c))
        return -N_EFBIG;
    if (c->request.bytes > 0 && fstat(c->file->fd, &st) < 0)
        return errmap_from_host(errno);
    if (c->request.bytes > 0 && (uint64_t)st.st_size != c->request.offset + c->request.bytes)
        return -N_EAGAIN;
    if (ftruncate(c->file->fd, c->request.offset) < 0)
        return errmap_from_host(errno);
    seen_change(&s->seen, c->file->host->dev, c->file->host->ino);
    return 0;
}

int32_t hostfs_sync(struct hostfs *s, struct hostfs_call *c)
{
    (void)s;
    return errmap_result(fsync(c->file->fd));
}

int32_t hostfs_stat(struct hostfs *s, struct hostfs_call *c)
{
    return hostfs_return_stat(s, c, c->file->fd, c->file->tmp_number);
}

static int32_t begin_listing(struct hostfs *s, struct open_file *f)
{
    struct stat st;
    struct listing fresh;

    if (fstat(f->fd, &st) < 0)
        return errmap_from_host(errno);
    if (!S_ISDIR(st.st_mode))
        return -N_ENOTDIR;
    int32_t result = listing_read(&fresh, f->fd, st.st_dev == s->root_dev && st.st_ino == s->root_ino, &s->seen);
    if (result < 0)
        return result;
    listing_free(&f->listing);
    f->listing = fresh;
    return 0;
}

int32_t hostfs_read_folder(struct hostfs *s, struct hostfs_call *c)
{
    if (c->request.offset == 0 || c->file->listing.n == 0) {
        int32_t begun = begin_listing(s, c->file);

        if (begun < 0)
            return begun;
    }
    int32_t bytes = listing_copy(&c->file->listing, c->request.offset, c->payload, c->request.bytes);
    c->payload_bytes = bytes < 0 ? 0 : bytes;
    return bytes;
}

/* ---- Attributes ------------------------------------------------------------------------------- */

int32_t hostfs_set_attributes(struct hostfs *s, struct hostfs_call *c)
{
    return hostfs_set_attributes_of(s, c, c->file->fd);
}

int32_t hostfs_add(struct hostfs *s, struct hostfs_call *c)
{
    struct file_counter k;

    if (c->request.bytes != sizeof k)
        return -N_EPROTO;
    memcpy(&k, c->data, sizeof k);
    const bool own = k.owner == 0;
    struct open_file *at = own ? c->file : open_files_at(&s->files, k.owner);
    if (!at || (!own && !at->counts))
        return -N_ESTALE;
    if (at->host->dev != c->file->host->dev || at->host->ino != c->file->host->ino)
        return -N_EBADF;
    int32_t error = file_counter_add(&at->counter, &k);
    if (error < 0)
        return error;
    at->counts = true;
    k.owner = own ? c->request.sfid : k.owner;
    memcpy(c->payload, &k, sizeof k);
    c->payload_bytes = sizeof k;
    return 0;
}

/* ---- Streams ---------------------------------------------------------------------------------- */

int32_t hostfs_stream_read(struct hostfs *s, struct hostfs_call *c)
{
    if (c->request.sfid != SFID_STDIN)
        return -N_EBADF;
    int64_t got = streams_read(s->streams, c->payload, c->request.bytes);
    c->payload_bytes = got < 0 ? 0 : got;
    return got;
}

int32_t hostfs_stream_write(struct hostfs *s, struct hostfs_call *c)
{
    if (c->request.sfid == SFID_STDIN)
        return -N_EBADF;
    return lines_write(s->lines, c->node, c->request.sfid == SFID_STDOUT ? STREAM_OUT : STREAM_ERR, c->data,
                       c->request.bytes);
}

/* Describes a file and a pipe alike, so that a program behaves the same with both. Only a terminal differs. */
int32_t hostfs_stream_stat(struct hostfs *s, struct hostfs_call *c)
{
    const struct file_stat st = {
        .ino = c->request.sfid,
        .mode = s->streams->terminal[c->request.sfid] ? FILE_TERMINAL_MODE : FILE_STREAM_MODE,
        .nlink = 1,
        .block_bytes = SEEN_BLOCK_BYTES,
        .dev = HOSTFS_DEV,
    };

    hostfs_return_payload(c, &st, sizeof st);
    return 0;
}
