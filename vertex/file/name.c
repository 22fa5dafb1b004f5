/*
 * The system calls that name a file, except open, and the requests that carry names (name.h).
 */
#include "vertex/file/name.h"

#include <stddef.h>

#include "vertex/contract/errors.h"
#include "vertex/file/file.h"
#include "vertex/file/path.h"
#include "vertex/file/request.h"
#include "vertex/memory/copy.h"
#include "vertex/memory/kmem.h"
#include "vertex/message/buffers.h"
#include "vertex/trap/syscall.h"

/* ---- The server of a name ---- */

static bool same_name(const char *a, const char *b)
{
    for (uint32_t i = 0; i < VOLUME_NAME_BYTES; i++) {
        if (a[i] != b[i])
            return false;
        if (a[i] == '\0')
            return true;
    }
    return true;
}

static const struct load_volume *find_volume(const struct proc *p, const char *name)
{
    for (uint32_t i = 0; i < p->volumes; i++)
        if (same_name(p->volume[i].name, name))
            return &p->volume[i];
    return NULL;
}

/* The name that path_parse has found. -N_ENOENT: there is no such volume. */
static int find_server(const struct proc *p, const struct path_parts *parts, struct target *t)
{
    const struct load_volume *v = parts->on_volume ? find_volume(p, parts->volume) : NULL;

    if (parts->on_volume && !v)
        return -N_ENOENT;
    *t = (struct target){.node = NODE_HOST, .name = parts->name, .bytes = parts->name_bytes};
    if (v) {
        t->node = v->node;
        t->drive = v->drive;
    }
    return 0;
}

int name_find(struct proc *p, uint64_t path, int slot, struct target *t)
{
    struct path_parts parts;
    int64_t length = vm_copy_string(&p->vm, p->path[slot], path, sizeof p->path[slot]);

    if (length < 0)
        return length;
    int error = p->directory ? path_prepend(p->directory, p->path[slot], sizeof p->path[slot]) : 0;
    if (!error)
        error = path_parse(p->path[slot], &parts);
    return error ? error : find_server(p, &parts, t);
}

/* A volume's names begin with '/': "//df00" and "//df00/" are its root. The front end gets names as the program
 * gave them, relative to its root or absolute. */
static bool needs_slash(const struct target *t)
{
    return t->node != NODE_HOST && (t->bytes == 0 || t->name[0] != '/');
}

static uint32_t wire_bytes(const struct target *t)
{
    return t->bytes + needs_slash(t);
}

static void add_name(struct message *m, const struct target *t)
{
    if (needs_slash(t))
        request_add(m, "/", 1);
    request_add(m, t->name, t->bytes);
}

int name_request(struct proc *p, const struct target *first, const struct target *second, struct file_request fields,
                 uint32_t room, struct message **m)
{
    uint32_t bytes = wire_bytes(first), bytes2 = second ? wire_bytes(second) : 0;

    if (bytes > FILE_NAME_MAX_BYTES || bytes2 > FILE_NAME_MAX_BYTES)
        return -N_ENAMETOOLONG;
    fields.drive = first->drive;
    fields.name_bytes = bytes;
    fields.name2_bytes = bytes2;
    int error = request_new(p, &fields, bytes + bytes2 + room, m);
    if (error)
        return error;
    add_name(*m, first);
    if (second)
        add_name(*m, second);
    return 0;
}

int64_t name_call(struct proc *p, uint32_t type, const struct target *first, const struct target *second,
                  struct file_request fields, const void *data, struct message **reply)
{
    struct message *m;

    if (reply)
        *reply = NULL;
    int error = name_request(p, first, second, fields, data ? fields.bytes : 0, &m);
    if (error)
        return error;
    if (data)
        request_add(m, data, fields.bytes);
    return request_call(p, m, first->node, type, reply);
}

/* ---- The second way to name a volume ---- */

bool name_turn_to_volume(struct proc *p, struct target *t)
{
    const struct file_request fields = {.flags = N_O_NOFOLLOW};
    struct path_parts parts;
    struct target on_volume;

    if (t->node != NODE_HOST || t->name[0] != '/' || path_parse_volume(t->name + 1, &parts) != 0 ||
        find_server(p, &parts, &on_volume) != 0)
        return false;
    const struct target top = {.node = NODE_HOST, .name = t->name, .bytes = parts.name - t->name};
    if (name_call(p, N_FSTATNAME, &top, NULL, fields, NULL, NULL) != -N_ENOENT)
        return false;
    *t = on_volume;
    return true;
}

static bool have_one_server(const struct target *a, const struct target *b)
{
    return a->node == b->node && a->drive == b->drive;
}

/* As name_call, for names that may name volumes in either way. -N_EXDEV. */
static int64_t call_either_way(struct proc *p, uint32_t type, struct target *first, struct target *second,
                               struct file_request fields, const void *data, struct message **reply)
{
    bool parted = second && !have_one_server(first, second);
    int64_t status = parted ? -N_ENOENT : name_call(p, type, first, second, fields, data, reply);

    if (status != -N_ENOENT)
        return status;
    bool turned = name_turn_to_volume(p, first);
    if (second && name_turn_to_volume(p, second))
        turned = true;
    if (second && !have_one_server(first, second))
        return -N_EXDEV;
    if (!turned)
        return status;
    if (reply && *reply)
        message_release(*reply);
    return name_call(p, type, first, second, fields, data, reply);
}

/* ---- Calls with names ---- */

static int64_t call_name_with(struct proc *p, uint32_t type, uint64_t path, struct file_request fields,
                              struct message **reply)
{
    struct target t;
    int error = name_find(p, path, 0, &t);

    if (reply)
        *reply = NULL;
    return error ? error : call_either_way(p, type, &t, NULL, fields, NULL, reply);
}

static int64_t call_name(struct proc *p, uint32_t type, uint64_t path, uint32_t mode, struct message **reply)
{
    return call_name_with(p, type, path, (struct file_request){.mode = mode}, reply);
}

static int64_t call_two_names(struct proc *p, uint32_t type, uint64_t path, uint64_t path2)
{
    struct target t, t2;
    int error = name_find(p, path, 0, &t);

    if (!error)
        error = name_find(p, path2, 1, &t2);
    return error ? error : call_either_way(p, type, &t, &t2, (struct file_request){0}, NULL, NULL);
}

static int64_t stat_name(struct proc *p, const uint64_t *arg, uint32_t flags)
{
    struct message *reply;
    int64_t status = call_name_with(p, N_FSTATNAME, arg[0], (struct file_request){.flags = flags}, &reply);

    return reply_give_structure(p, status, reply, arg[1], sizeof(struct file_stat));
}

/* A trap that is one request. */
#define SYS_BY_NAME(name, request)                          \
    int64_t sys_##name(struct proc *p, const uint64_t *arg) \
    {                                                       \
        return request;                                     \
    }

SYS_BY_NAME(stat, stat_name(p, arg, 0))
SYS_BY_NAME(lstat, stat_name(p, arg, N_O_NOFOLLOW))
SYS_BY_NAME(unlink, call_name(p, N_FUNLINK, arg[0], 0, NULL))
SYS_BY_NAME(mkdir, call_name(p, N_FMKDIR, arg[0], arg[1], NULL))
SYS_BY_NAME(rmdir, call_name(p, N_FRMDIR, arg[0], 0, NULL))
SYS_BY_NAME(access, call_name(p, N_FACCESS, arg[0], arg[1], NULL))
SYS_BY_NAME(rename, call_two_names(p, N_FRENAME, arg[0], arg[1]))
SYS_BY_NAME(link, call_two_names(p, N_FLINK, arg[0], arg[1]))

/* ---- Directories by name ---- */

void name_free(char *path)
{
    if (path)
        kmem_free(MEM_PROCESS, path, path_length(path) + 1);
}

static char *copy_of(const char *path, uint32_t bytes)
{
    char *copy = kmem_alloc(MEM_PROCESS, bytes);

    if (copy)
        copy_bytes(copy, path, bytes);
    return copy;
}

char *name_copy(struct proc *p)
{
    if (path_prepend("/", p->path[0], sizeof p->path[0]) != 0)
        return NULL;
    uint32_t bytes = path_simplify(p->path[0]) + 1;
    return copy_of(p->path[0], bytes);
}

char *name_clone(const char *path)
{
    return copy_of(path, path_length(path) + 1);
}

static int64_t check_directory(struct proc *p, uint64_t path)
{
    struct file_stat stat;
    struct message *reply;
    int64_t status = call_name(p, N_FSTATNAME, path, 0, &reply);

    status = reply_take_structure(status, reply, &stat, sizeof stat);
    if (status < 0)
        return status;
    return (stat.mode & FILE_MODE_TYPE) == FILE_MODE_DIRECTORY ? 0 : -N_ENOTDIR;
}

/* The front end's root exists even if the front end serves no folder. */
int64_t sys_chdir(struct proc *p, const uint64_t *arg)
{
    struct target t;
    int64_t status = name_find(p, arg[0], 0, &t);

    if (status < 0)
        return status;
    char *directory = name_copy(p);
    if (!directory)
        return -N_ENOMEM;
    if (directory[1] != '\0')
        status = check_directory(p, arg[0]);
    if (status < 0) {
        name_free(directory);
        return status;
    }
    name_free(p->directory);
    p->directory = directory;
    return 0;
}

int64_t sys_fdpath(struct proc *p, const uint64_t *arg)
{
    struct file *f = file_get(p, arg[0]);
    bool own = (int32_t)arg[0] == -1;

    if (!own && !f)
        return -N_EBADF;
    if (!own && !f->directory)
        return -N_ENOTDIR;
    const char *path = own ? p->directory ? p->directory : "/" : f->path;
    if (!path)
        return -N_ENOMEM;
    uint32_t bytes = path_length(path);
    if (bytes >= arg[2])
        return -N_ERANGE;
    int error = vm_copy_out(&p->vm, arg[1], path, bytes + 1);
    return error ? error : (int64_t)bytes;
}

/* ---- All volumes ---- */

int64_t sys_striped(struct proc *p, const uint64_t *arg)
{
    uint64_t bytes = arg[1] < p->striped_bytes ? arg[1] : p->striped_bytes;
    int error = bytes > 0 ? vm_copy_out(&p->vm, arg[0], p->volume + p->volumes, bytes) : 0;

    return error ? error : (int64_t)p->striped_bytes;
}

static bool is_first_of_its_node(const struct proc *p, uint32_t volume)
{
    for (uint32_t i = 0; i < volume; i++)
        if (p->volume[i].node == p->volume[volume].node)
            return false;
    return true;
}

/* Asks one I/O node after the other, and goes on after a failure. */
int64_t sys_sync(struct proc *p, const uint64_t *arg)
{
    const struct file_request fields = {0};
    int64_t first_error = 0;

    (void)arg;
    for (uint32_t i = 0; i < p->volumes && !p->killed; i++) {
        if (!is_first_of_its_node(p, i))
            continue;
        int64_t status = request_ask(p, &fields, p->volume[i].node, N_FSYNCALL, NULL);
        first_error = first_error ? first_error : status;
    }
    return first_error;
}

/* ---- Symbolic links and attributes ---- */

/* Sends a request that carries a name and data, and waits for its reply. */
static int64_t call_name_with_data(struct proc *p, uint32_t type, uint64_t path, uint32_t flags, const void *data,
                                   uint32_t bytes)
{
    const struct file_request fields = {.flags = flags, .bytes = bytes};
    struct target t;
    int error = name_find(p, path, 0, &t);

    return error ? error : call_either_way(p, type, &t, NULL, fields, data, NULL);
}

int64_t sys_symlink(struct proc *p, const uint64_t *arg)
{
    int64_t length = vm_copy_string(&p->vm, p->path[1], arg[0], sizeof p->path[1]);

    if (length <= 0)
        return length < 0 ? length : -N_ENOENT;
    return call_name_with_data(p, N_FSYMLINK, arg[1], 0, p->path[1], length);
}

int64_t sys_readlink(struct proc *p, const uint64_t *arg)
{
    uint64_t bytes = arg[2] < FILE_NAME_MAX_BYTES ? arg[2] : FILE_NAME_MAX_BYTES;
    struct message *reply;

    if (bytes == 0)
        return -N_EINVAL;
    int64_t status = call_name_with(p, N_FREADLINK, arg[0], (struct file_request){.bytes = bytes}, &reply);
    status = reply_give_data(p, status, reply, arg[1], bytes);
    reply_release(reply);
    return status;
}

int64_t sys_setattr(struct proc *p, const uint64_t *arg)
{
    struct file_attr attr;

    if (vm_copy_in(&p->vm, &attr, arg[2], sizeof attr) != 0)
        return -N_EFAULT;
    return call_name_with_data(p, N_FSETATTRNAME, arg[0], arg[1], &attr, sizeof attr);
}
