/*
 * The file table, open, and the system calls that take a UFID, except the asynchronous ones (file.h).
 */
#include "vertex/file/file.h"

#include <stddef.h>

#include "vertex/contract/errors.h"
#include "vertex/file/ask.h"
#include "vertex/file/async.h"
#include "vertex/file/name.h"
#include "vertex/file/node_pipe.h"
#include "vertex/file/request.h"
#include "vertex/memory/copy.h"
#include "vertex/memory/kmem.h"
#include "vertex/message/queue.h"
#include "vertex/trap/event.h"
#include "vertex/trap/syscall.h"

enum { SEEK_FROM_START, SEEK_FROM_HERE, SEEK_FROM_END };

/* ---- The table ---- */

struct file *file_get(struct proc *p, uint64_t ufid)
{
    return ufid < PROC_FILES_MAX ? p->file[ufid] : NULL;
}

static int free_ufid(const struct proc *p)
{
    for (int i = 0; i < (int)PROC_FILES_MAX; i++)
        if (!p->file[i])
            return i;
    return -N_EMFILE;
}

/* Adds an entry to the table. Returns its UFID. */
static int add_file(struct proc *p, const struct file *f)
{
    int ufid = free_ufid(p);
    struct file *entry = ufid < 0 ? NULL : kmem_alloc(MEM_PROCESS, sizeof *entry);

    if (ufid < 0)
        return ufid;
    if (!entry)
        return -N_ENOMEM;
    *entry = *f;
    p->file[ufid] = entry;
    return ufid;
}

static void remove_file(struct proc *p, uint64_t ufid)
{
    struct file *f = p->file[ufid];

    async_drop(p, ufid);
    p->file[ufid] = NULL;
    if (f->sharers > 0) {
        f->sharers--;
        return;
    }
    name_free(f->path);
    kmem_free(MEM_PROCESS, f, sizeof *f);
}

int file_open_standard(struct proc *p)
{
    static const uint64_t sfid[] = {SFID_STDIN, SFID_STDOUT, SFID_STDERR};

    for (unsigned i = 0; i < 3; i++) {
        struct file f = {.node = NODE_HOST, .sfid = sfid[i], .short_at = FILE_NOT_SHORT};

        f.standard = f.stream = true;
        int ufid = add_file(p, &f);
        if (ufid < 0)
            return ufid;
    }
    return 0;
}

static void remove_files_of(struct proc *p, uint32_t node)
{
    for (uint64_t i = 0; i < PROC_FILES_MAX; i++)
        if (p->file[i] && !p->file[i]->standard && p->file[i]->node == node)
            remove_file(p, i);
}

void file_close_all(struct proc *p)
{
    for (uint64_t i = 0; i < PROC_FILES_MAX; i++)
        if (p->file[i] && !p->file[i]->standard) {
            uint32_t node = p->file[i]->node;

            request_ask(p, &(struct file_request){0}, node, N_FEXIT, NULL);
            remove_files_of(p, node);
        }
}

void file_free_all(struct proc *p)
{
    for (uint64_t i = 0; i < PROC_FILES_MAX; i++)
        if (p->file[i])
            remove_file(p, i);
    ask_drop_all(p);
    name_free(p->directory);
    p->directory = NULL;
}

int file_share_all(struct proc *child, const struct proc *parent)
{
    file_free_all(child);
    if (parent->directory && !(child->directory = name_clone(parent->directory)))
        return -N_ENOMEM;
    for (uint64_t i = 0; i < PROC_FILES_MAX; i++)
        if (parent->file[i]) {
            child->file[i] = parent->file[i];
            child->file[i]->sharers++;
        }
    return 0;
}

/* ---- Open and close ---- */

static int finish_open(struct proc *p, struct file *f, const struct message *reply)
{
    const struct file_opened *o = reply_data(reply);
    struct file_opened opened;

    if (reply_bytes(reply) < sizeof opened)
        return -N_EPROTO;
    copy_bytes(&opened, o, sizeof opened);
    uint32_t type = opened.stat.mode & FILE_MODE_TYPE;
    f->sfid = opened.sfid;
    f->directory = type == FILE_MODE_DIRECTORY;
    f->stream = type != FILE_MODE_REGULAR && !f->directory;
    if (f->directory)
        f->path = name_copy(p);
    return 0;
}

int file_begin_open(struct proc *p, uint32_t node, uint16_t drive, uint32_t flags)
{
    struct file f = {.node = node, .drive = drive, .flags = flags, .short_at = FILE_NOT_SHORT};

    event_reap(); /* sends that have ended may hold the memory for the entry */
    return add_file(p, &f);
}

int64_t file_end_open(struct proc *p, uint64_t ufid, int64_t status, const struct message *reply)
{
    if (status >= 0 && finish_open(p, p->file[ufid], reply) != 0)
        status = -N_EPROTO;
    if (status < 0 && !p->killed)
        remove_file(p, ufid);
    return status;
}

/* Adds the entry before it sends the request: if the process is killed while it waits, its end then also closes the
 * file that the server may have opened. */
int64_t sys_open(struct proc *p, const uint64_t *arg)
{
    struct file_request fields = {.flags = arg[1] & ~(uint64_t)N_O_SYNC, .mode = arg[2]};
    struct message *reply;
    struct target t;
    int error = name_find(p, arg[0], 0, &t);

    if (error)
        return error;
    int ufid = file_begin_open(p, t.node, t.drive, arg[1]);
    if (ufid < 0)
        return ufid;
    int64_t status = name_call(p, N_FOPEN, &t, NULL, fields, NULL, &reply);
    if (status == -N_ENOENT && name_turn_to_volume(p, &t)) {
        reply_release(reply);
        p->file[ufid]->node = t.node;
        p->file[ufid]->drive = t.drive;
        status = name_call(p, N_FOPEN, &t, NULL, fields, NULL, &reply);
    }
    status = file_end_open(p, ufid, status, reply);
    reply_release(reply);
    return status < 0 ? status : ufid;
}

static int64_t call_file(struct proc *p, uint32_t type, const struct file *f, struct file_request fields,
                         struct message **reply)
{
    fields.drive = f->drive;
    fields.sfid = f->sfid;
    return request_ask(p, &fields, f->node, type, reply);
}

/* The server answers in order: when the reply to the close arrives, the replies to readstarts and writestarts have
 * arrived, too, and remove_file drops them. */
int64_t sys_close(struct proc *p, const uint64_t *arg)
{
    struct file *f = file_get(p, arg[0]);
    int64_t status = 0;

    if (!f)
        return node_pipe_close(p, arg);
    if (!f->standard)
        status = call_file(p, N_FCLOSE, f, (struct file_request){0}, NULL);
    if (!p->killed)
        remove_file(p, arg[0]);
    return status;
}

/* ---- Reading and writing ---- */

/* Transfers one piece of a file, from `offset` on, by one request. */
typedef int64_t piece_function(struct proc *p, struct file *f, uint64_t address, uint64_t bytes, uint64_t offset);

static int64_t read_piece(struct proc *p, struct file *f, uint64_t to, uint64_t bytes, uint64_t offset)
{
    struct message *reply;
    int error = vm_check(&p->vm, to, bytes, PTE_W);

    if (error)
        return error;
    int64_t status =
        call_file(p, N_FREAD, f, (struct file_request){.view = f->view, .offset = offset, .bytes = bytes}, &reply);
    status = reply_give_data(p, status, reply, to, bytes);
    reply_release(reply);
    return status;
}

uint64_t file_appended_end(const struct message *reply)
{
    struct file_appended appended;

    if (reply_bytes(reply) < sizeof appended)
        return 0;
    copy_bytes(&appended, reply_data(reply), sizeof appended);
    return appended.end;
}

static int64_t write_with_flags(struct proc *p, const struct file *f, uint32_t flags, uint64_t from, uint64_t bytes,
                                uint64_t offset, struct message **reply)
{
    struct message *m;
    int error = async_write_request(p, f, flags, from, bytes, offset, &m);

    if (error)
        return error;
    int64_t status = request_call(p, m, f->node, N_FWRITE, reply);
    return status > (int64_t)bytes ? -N_EPROTO : status;
}

static int64_t write_piece(struct proc *p, struct file *f, uint64_t from, uint64_t bytes, uint64_t offset)
{
    return write_with_flags(p, f, 0, from, bytes, offset, NULL);
}

static int64_t append_piece(struct proc *p, struct file *f, uint64_t from, uint64_t bytes, uint64_t offset)
{
    struct message *reply = NULL;
    int64_t status = write_with_flags(p, f, N_O_APPEND, from, bytes, offset, &reply);

    if (status > 0)
        f->appended_end = file_appended_end(reply);
    reply_release(reply);
    return status;
}

/* Transfers piece by piece until everything is done or a piece comes short. */
static int64_t transfer(struct proc *p, struct file *f, const uint64_t *arg, uint64_t offset, piece_function *piece)
{
    uint64_t bytes = arg[2], done = 0, n;
    int64_t status = 0;

    if (bytes > INT64_MAX)
        return -N_EINVAL;
    do {
        n = bytes - done < FILE_IO_BYTES ? bytes - done : FILE_IO_BYTES;
        if (n > 0)
            status = piece(p, f, arg[1] + done, n, offset + done);
        if (status < 0)
            return node_pipe_break_off(p, done, status);
        done += status;
    } while (done < bytes && (uint64_t)status == n);
    return done;
}

/* Transfers at the file's offset, and moves it. */
static int64_t transfer_here(struct proc *p, const uint64_t *arg, piece_function *piece)
{
    struct file *f = file_get(p, arg[0]);

    if (!f)
        return piece == read_piece ? node_pipe_read(p, arg) : node_pipe_write(p, arg);
    int64_t done = transfer(p, f, arg, f->offset, piece);
    if (done > 0)
        f->offset += done;
    return done;
}

static int64_t transfer_at(struct proc *p, const uint64_t *arg, piece_function *piece)
{
    struct file *f = file_get(p, arg[0]);

    if (!f)
        return node_pipe_refuse(p, arg, -N_ESPIPE);
    if (f->stream)
        return -N_ESPIPE;
    return (int64_t)arg[3] < 0 ? -N_EINVAL : transfer(p, f, arg, arg[3], piece);
}

int64_t sys_read(struct proc *p, const uint64_t *arg)
{
    return transfer_here(p, arg, read_piece);
}

/* Moves the file's offset to the end of the appended bytes, which only the server knows: other processes append,
 * too. */
static int64_t append(struct proc *p, const uint64_t *arg, struct file *f)
{
    int64_t done = transfer(p, f, arg, f->offset, append_piece);

    if (done > 0)
        f->offset = f->appended_end;
    f->appended_end = 0;
    return done;
}

/* Ends a write that has written `done` bytes: with N_O_SYNC, waits until they are on the disk. */
static int64_t settle(struct proc *p, const struct file *f, int64_t done)
{
    int64_t status = 0;

    if (f && f->flags & N_O_SYNC && done > 0)
        status = call_file(p, N_FSYNC, f, (struct file_request){0}, NULL);
    return status < 0 ? status : done;
}

int64_t sys_write(struct proc *p, const uint64_t *arg)
{
    struct file *f = file_get(p, arg[0]);

    return settle(p, f, f && f->flags & N_O_APPEND ? append(p, arg, f) : transfer_here(p, arg, write_piece));
}

int64_t sys_pread(struct proc *p, const uint64_t *arg)
{
    return transfer_at(p, arg, read_piece);
}

int64_t sys_pwrite(struct proc *p, const uint64_t *arg)
{
    return settle(p, file_get(p, arg[0]), transfer_at(p, arg, write_piece));
}

/* ---- Position and attributes ---- */

static int64_t size_of(struct proc *p, const struct file *f)
{
    struct file_stat stat;
    struct message *reply;
    int64_t status = call_file(p, N_FSTAT, f, (struct file_request){0}, &reply);

    status = reply_take_structure(status, reply, &stat, sizeof stat);
    return status < 0 ? status : (int64_t)stat.size_bytes;
}

int64_t sys_lseek(struct proc *p, const uint64_t *arg)
{
    struct file *f = file_get(p, arg[0]);
    int64_t offset = arg[1], from = 0, to;

    if (!f)
        return node_pipe_refuse(p, arg, -N_ESPIPE);
    if (f->stream)
        return -N_ESPIPE;
    if (arg[2] > SEEK_FROM_END)
        return -N_EINVAL;
    if (arg[2] == SEEK_FROM_HERE)
        from = f->offset;
    else if (arg[2] == SEEK_FROM_END)
        from = size_of(p, f);
    if (from < 0)
        return from;
    if (__builtin_add_overflow(from, offset, &to))
        return -N_EOVERFLOW;
    if (to < 0)
        return -N_EINVAL;
    f->offset = to;
    return to;
}

/* Asks for a structure of this size, and gives it to the program. */
static int64_t give_structure(struct proc *p, uint32_t type, const struct file *f, uint64_t to, uint64_t bytes)
{
    struct message *reply;
    int64_t status = call_file(p, type, f, (struct file_request){0}, &reply);

    return reply_give_structure(p, status, reply, to, bytes);
}

int64_t sys_fstat(struct proc *p, const uint64_t *arg)
{
    const struct file *f = file_get(p, arg[0]);

    return f ? give_structure(p, N_FSTAT, f, arg[1], sizeof(struct file_stat)) : node_pipe_fstat(p, arg);
}

int64_t sys_statfs(struct proc *p, const uint64_t *arg)
{
    const struct file *f = file_get(p, arg[0]);

    return f ? give_structure(p, N_FSTATFS, f, arg[1], sizeof(struct file_statfs)) : -N_EBADF;
}

int64_t sys_ftruncate(struct proc *p, const uint64_t *arg)
{
    struct file *f = file_get(p, arg[0]);

    if (!f)
        return node_pipe_refuse(p, arg, -N_EINVAL);
    if ((int64_t)arg[1] < 0 || arg[2] > UINT32_MAX)
        return -N_EINVAL;
    return call_file(p, N_FTRUNCATE, f, (struct file_request){.offset = arg[1], .bytes = arg[2]}, NULL);
}

int64_t sys_fsync(struct proc *p, const uint64_t *arg)
{
    struct file *f = file_get(p, arg[0]);

    return f ? call_file(p, N_FSYNC, f, (struct file_request){0}, NULL) : node_pipe_refuse(p, arg, -N_EINVAL);
}

int64_t sys_fsetattr(struct proc *p, const uint64_t *arg)
{
    struct file *f = file_get(p, arg[0]);
    struct message *m;

    if (!f)
        return -N_EBADF;
    const struct file_request fields = {.drive = f->drive, .sfid = f->sfid, .bytes = sizeof(struct file_attr)};
    int error = async_request_with(p, &fields, arg[1], &m);
    return error ? error : request_call(p, m, f->node, N_FSETATTR, NULL);
}

int64_t sys_fadd(struct proc *p, const uint64_t *arg)
{
    struct file *f = file_get(p, arg[0]);
    struct message *m, *reply;

    if (!f)
        return -N_EBADF;
    const struct file_request fields = {.drive = f->drive, .sfid = f->sfid, .bytes = sizeof(struct file_counter)};
    int error = async_request_with(p, &fields, arg[1], &m);
    if (error)
        return error;
    int64_t status = request_call(p, m, f->node, N_FADD, &reply);
    return reply_give_structure(p, status, reply, arg[1], sizeof(struct file_counter));
}

int64_t sys_ionode(struct proc *p, const uint64_t *arg)
{
    struct file *f = file_get(p, arg[0]);

    return f ? (int64_t)f->node : -N_EBADF;
}

int64_t sys_iochannel(struct proc *p, const uint64_t *arg)
{
    struct file *f = file_get(p, arg[0]);
    int64_t channel = (int32_t)arg[1];

    if (!f)
        return -N_EBADF;
    if (!NODE_IS_IO(f->node) || channel < -1 || channel >= (int64_t)NCU_SI_CHANNELS)
        return -N_EINVAL;
    return request_choose_channel(p, f->node, channel);
}

/* ---- Directories ---- */

/* Returns the last record's `next`, or -N_EPROTO if the bytes are not records. */
static int64_t next_offset(const void *records, uint64_t bytes)
{
    struct file_dirent d = {0};

    for (uint64_t at = 0; at < bytes; at += d.record_bytes) {
        if (bytes - at < sizeof d)
            return -N_EPROTO;
        copy_bytes(&d, (const char *)records + at, sizeof d);
        if (d.record_bytes < sizeof d || d.record_bytes > bytes - at)
            return -N_EPROTO;
    }
    return d.next;
}

int64_t sys_readdir(struct proc *p, const uint64_t *arg)
{
    struct file *f = file_get(p, arg[0]);
    uint64_t bytes = arg[2] < FILE_IO_BYTES ? arg[2] : FILE_IO_BYTES;
    struct message *reply;

    if (!f)
        return -N_EBADF;
    int64_t status = call_file(p, N_FREADDIR, f, (struct file_request){.offset = f->offset, .bytes = bytes}, &reply);
    status = reply_give_data(p, status, reply, arg[1], bytes);
    if (status > 0) {
        int64_t next = next_offset(reply_data(reply), status);

        if (next < 0)
            status = next;
        else
            f->offset = next;
    }
    reply_release(reply);
    return status;
}
