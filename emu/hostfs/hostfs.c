/*
 * Requests to the host's files: decoding them, and the life of the server.
 *
 * A request is decoded against file_parts.h's table of parts before anything acts on it. The
 * functions are in hostfs_io.c, hostfs_names.c and hostfs_tmp.c, in pairs where a standard stream differs from a file.
 */
#include "emu/hostfs/hostfs.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "emu/base/oneline.h"
#include "emu/hostfs/hostfs_calls.h"
#include "vertex/shared/file_parts.h"

_Static_assert(STREAM_IN == SFID_STDIN && STREAM_OUT == SFID_STDOUT && STREAM_ERR == SFID_STDERR, "streams' SFIDs");

/* ---- Decoding --------------------------------------------------------------------------------- */

struct operation {
    hostfs_call_fn *act;       /* NULL: only volumes have it */
    hostfs_call_fn *on_stream; /* runs in place of act if the SFID is a stream's; NULL: that is answered by `stream` */
    hostfs_call_fn *on_tmp; /* runs in place of act if a name is in a "/tmp" in memory; NULL: refused with -N_EPERM */
    int32_t stream;
};

#define INDEX(type) ((type)-N_FOPEN)

static const struct operation operations[] = {
    [INDEX(N_FOPEN)] = {hostfs_open, NULL, hostfs_tmp_open},
    [INDEX(N_FCLOSE)] = {hostfs_close},
    [INDEX(N_FREAD)] = {hostfs_read, hostfs_stream_read},
    [INDEX(N_FWRITE)] = {hostfs_write, hostfs_stream_write},
    [INDEX(N_FSTAT)] = {hostfs_stat, hostfs_stream_stat},
    [INDEX(N_FTRUNCATE)] = {hostfs_truncate, .stream = -N_EINVAL},
    [INDEX(N_FSYNC)] = {hostfs_sync, .stream = -N_EINVAL},
    [INDEX(N_FSTATNAME)] = {hostfs_stat_name, NULL, hostfs_tmp_stat},
    [INDEX(N_FUNLINK)] = {hostfs_unlink, NULL, hostfs_tmp_unlink},
    [INDEX(N_FRENAME)] = {hostfs_rename, NULL, hostfs_tmp_rename},
    [INDEX(N_FLINK)] = {hostfs_link},
    [INDEX(N_FMKDIR)] = {hostfs_make_folder, NULL, hostfs_tmp_make_folder},
    [INDEX(N_FRMDIR)] = {hostfs_remove_folder},
    [INDEX(N_FREADDIR)] = {hostfs_read_folder, .stream = -N_ENOTDIR},
    [INDEX(N_FACCESS)] = {hostfs_access, NULL, hostfs_tmp_access},
    [INDEX(N_FEXIT)] = {hostfs_exit},
    [INDEX(N_FFORK)] = {hostfs_fork},
    [INDEX(N_FPOLL)] = {hostfs_poll, hostfs_poll},
    [INDEX(N_FSTATFS)] = {hostfs_stat_folder},
    [INDEX(N_FSYMLINK)] = {hostfs_symlink},
    [INDEX(N_FREADLINK)] = {hostfs_readlink, NULL, hostfs_tmp_readlink},
    [INDEX(N_FSETATTR)] = {hostfs_set_attributes, .stream = -N_EINVAL},
    [INDEX(N_FSYNCALL)] = {hostfs_sync_all},
    [INDEX(N_FVIEW)] = {.stream = -N_ENOTSUP},
    [INDEX(N_FREADNAME)] = {NULL},
    [INDEX(N_FMAKE)] = {NULL},
    [INDEX(N_FOPENREAD)] = {NULL},
    [INDEX(N_FADD)] = {hostfs_add, .stream = -N_EINVAL},
    [INDEX(N_FSETATTRNAME)] = {hostfs_set_attributes_of_name, NULL, hostfs_tmp_set_attributes},
};

_Static_assert(sizeof operations / sizeof *operations == FILE_OPERATIONS, "every request has its entry");

static int32_t decode(struct hostfs_call *c, uint32_t parts, const uint8_t *bytes, size_t n)
{
    const struct file_request *r = &c->request;
    struct file_parts split;
    int32_t wrong = file_parts_split(r, parts, bytes, n, &split);

    if (wrong < 0)
        return wrong;
    if (r->name_bytes > FILE_NAME_MAX_BYTES || r->name2_bytes > FILE_NAME_MAX_BYTES)
        return -N_EPROTO;
    memcpy(c->name, split.name, r->name_bytes);
    memcpy(c->name2, split.name2, r->name2_bytes);
    c->data = split.data;
    if (r->view != 0 && (parts & PART_FILE))
        return -N_ENOTSUP;
    if (r->drive != 0)
        return -N_ENODEV;
    return (parts & PART_OFFSET) && r->offset > INT64_MAX ? -N_EINVAL : 0;
}

/* Whether the first part of a name of several is a file. */
static bool names_file_in_tmp(const struct hostfs *s, const char *name)
{
    char first[FILE_NAME_MAX_BYTES + 1];
    size_t n = strcspn(name, "/");

    memcpy(first, name, n);
    first[n] = '\0';
    return tmp_files_find(&s->tmp, first) != NULL;
}

/* "/tmp" in memory has no folders. */
static int32_t run_in_tmp(struct hostfs *s, struct hostfs_call *c, const struct operation *op)
{
    const char *name = hostfs_name_in_tmp(s, c->name);

    if (name && strchr(name, '/'))
        return names_file_in_tmp(s, name) ? -N_ENOTDIR : -N_ENOENT;
    return op->on_tmp ? op->on_tmp(s, c) : op->act ? -N_EPERM : -N_ENOTSUP;
}

/* Tells the user, once, on the program's error stream, that --serve is missing. */
static int32_t refuse_name(struct hostfs *s, const struct hostfs_call *c)
{
    char text[FILE_NAME_MAX_BYTES + 120], name[FILE_NAME_MAX_BYTES + 1];

    if (!s->refused) {
        snprintf(name, sizeof name, "%s", c->name);
        int n =
            snprintf(text, sizeof text, "ncube: %s is a file of the host, but no folder is served; give --serve DIR\n",
                     one_line(name));
        streams_write(s->streams, STREAM_ERR, text, (size_t)n);
    }
    s->refused = true;
    return -N_EACCES;
}

static bool is_in_tmp(const struct hostfs *s, const struct hostfs_call *c)
{
    return hostfs_name_in_tmp(s, c->name) || hostfs_name_in_tmp(s, c->name2);
}

/* Runs what depends on the host, or on what it has answered before. */
static int32_t run_on_host(struct hostfs *s, struct hostfs_call *c, const struct operation *op, uint32_t parts)
{
    if ((parts & PART_FILE)) {
        int32_t found = open_files_find(&s->files, c->request.sfid, c->node, c->procid, &c->file);

        if (found < 0)
            return found;
    }
    if (!seen_reserve(&s->seen))
        return -N_ENOMEM;
    if (is_in_tmp(s, c))
        return run_in_tmp(s, c, op);
    return op->act ? op->act(s, c) : -N_ENOTSUP;
}

#define CHECKED_BYTES 256u /* of a request: all but data */

static int32_t run_recorded(struct hostfs *s, struct hostfs_call *c, const struct operation *op, uint32_t parts,
                            const struct recorded_request *q)
{
    if (recording_gives_reply(s->recording))
        return recording_take_reply(s->recording, q, c->payload, FILE_IO_MAX_BYTES, &c->payload_bytes);
    int32_t status = run_on_host(s, c, op, parts);
    recording_note_reply(s->recording, q, status, c->payload, c->payload_bytes);
    return status;
}

/* The streams have a place of their own in a recording (streams_record). */
static int32_t run(struct hostfs *s, struct hostfs_call *c, uint32_t type, const uint8_t *bytes, size_t n)
{
    uint32_t parts;

    if (!file_parts_of(type, &parts))
        return -N_ENOSYS;

    const struct operation *op = &operations[INDEX(type)];
    int32_t decoded = decode(c, parts, bytes, n);
    if (decoded < 0)
        return decoded;
    if ((parts & PART_FILE) && c->request.sfid <= SFID_STDERR)
        return op->on_stream ? op->on_stream(s, c) : op->stream;
    if ((parts & PART_NAME) && !s->serves && !hostfs_device(c->name) && !is_in_tmp(s, c))
        return refuse_name(s, c);
    if (!s->recording)
        return run_on_host(s, c, op, parts);
    const struct recorded_request q = {c->node, c->procid, type,
                                       (uint32_t)crc32(0, bytes, n < CHECKED_BYTES ? (unsigned)n : CHECKED_BYTES)};
    return run_recorded(s, c, op, parts, &q);
}

size_t hostfs_request(struct hostfs *s, uint32_t node, uint32_t procid, uint32_t type, const void *bytes, size_t n,
                      const void **reply)
{
    struct hostfs_call c = {.node = node, .procid = procid, .payload = s->reply + sizeof(struct file_reply)};

    if (n < sizeof c.request)
        return 0;
    memcpy(&c.request, bytes, sizeof c.request);
    const struct file_reply head = {.seq = c.request.seq, .status = run(s, &c, type, bytes, n)};
    memcpy(s->reply, &head, sizeof head);
    *reply = s->reply;
    return sizeof head + c.payload_bytes;
}

/* ---- Life -------------------------------------------------------------------------------------- */

/* NULL: the reason needs no advice. */
static const char *explain_folder(int reason)
{
    switch (reason) {
    case ENOENT:
        return "does not exist; give a folder that does";
    case ENOTDIR:
        return "is not a folder; give one";
    case ENOSYS:
        return "can't be served: the kernel has no openat2; use Linux 5.6 or later";
    case EACCES:
        return "can't be entered; give a folder that may be read";
    default:
        return NULL;
    }
}

static int open_folder(struct hostfs *s, const char *folder)
{
    struct stat st;

    if (beneath_open_folder(&s->folder, folder) < 0)
        return -1;
    s->has_tmp = !folder || faccessat(s->folder.root, "tmp", F_OK, AT_SYMLINK_NOFOLLOW) < 0;
    if (!folder)
        return 0;
    if (fstat(s->folder.root, &st) < 0)
        return -1;
    s->root_dev = st.st_dev;
    s->root_ino = st.st_ino;
    return 0;
}

int hostfs_new(struct hostfs **hostfs, const char *folder, struct lines *lines, char *error, size_t error_bytes)
{
    struct hostfs *s = calloc(1, sizeof *s);

    *hostfs = NULL;
    if (s)
        s->reply = malloc(sizeof(struct file_reply) + FILE_IO_MAX_BYTES);
    if (!s || !s->reply) {
        snprintf(error, error_bytes, "no memory to serve files");
        free(s);
        return -1;
    }
    s->streams = lines->streams;
    s->lines = lines;
    s->serves = folder != NULL;
    seen_start(&s->seen);
    if (open_folder(s, folder) < 0) {
        const char *why = strerror(errno), *advice = explain_folder(errno);

        snprintf(error, error_bytes, "the folder to serve, %s, %s%s", folder,
                 advice ? advice : "can't be opened: ", advice ? "" : why);
        hostfs_free(s);
        return -1;
    }
    *hostfs = s;
    return 0;
}

static void release(void *hostfs)
{
    struct hostfs *s = hostfs;

    open_files_free(&s->files);
    tmp_files_free(&s->tmp);
    beneath_close_folder(&s->folder);
    seen_free(&s->seen);
    free(s->reply);
    free(s);
}

void hostfs_free(struct hostfs *s)
{
    if (s && recorded_calls_held(s->drops) != s)
        release(s);
}

void hostfs_record(struct hostfs *s, struct recording *r, bool serves)
{
    s->recording = r;
    s->serves = serves;
    s->drops = recording_calls(r, "nodes without files");
    if (recording_is_kept(r) && !recorded_calls_held(s->drops))
        recorded_calls_hold(s->drops, s, release);
}

struct hostfs *hostfs_held(struct recording *r, struct lines *lines)
{
    struct hostfs *s = recording_is_kept(r) ? recorded_calls_held(recording_calls(r, "nodes without files")) : NULL;

    if (!s)
        return NULL;
    s->lines = lines;
    s->streams = lines->streams;
    s->refused = false;
    return s;
}

struct host_file *hostfs_open_program(struct hostfs *s, const char *name)
{
    bool given = recording_gives_program(s->recording);
    int fd = given ? recording_take_program(s->recording)
                   : beneath_open(&s->folder, name, O_RDONLY | O_NONBLOCK | O_NOCTTY, 0);

    if (s->recording && !given)
        recording_note_program(s->recording, fd);

    return fd < 0 ? NULL : host_files_take(&s->files.host, fd);
}

void hostfs_close_program(struct hostfs *s, struct host_file *program)
{
    host_files_release(&s->files.host, program);
}

void hostfs_drop_node(struct hostfs *s, uint32_t node)
{
    int reason;

    if (recorded_calls_are_replayed(s->drops)) {
        recorded_calls_take(s->drops, 0, &reason);
        return;
    }
    open_files_drop_node(&s->files, node);
    if (s->drops)
        recorded_calls_note(s->drops, 0, 0, 0);
}
