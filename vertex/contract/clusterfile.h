/*
 * Requests to the servers of Clusterfile's files [P3 chapter 3]: a family of nsdisk (nsdisk/serve/family.h), 0x8050 to
 * 0x805f, replies 0x80d0 to 0x80df. docs/clusterfile.md tells how the parts work together.
 *
 *   request     tag type N_CLF_xxx            struct clf_request, then names or data
 *   reply       tag type N_REPLY(N_CLF_xxx)   struct file_reply, then the result's payload
 *
 * The client drives what needs several servers; no server waits for another. Where a file's bytes are:
 *
 *   metadata volume    the name: a text file in the volume's tree, which says how the file is laid out
 *   every volume       /.clf/INODE.AGE/I      subfile I, if it is whole, in a private file (EXT2_PRIVATE);
 *                      /.clf/INODE.AGE/I.S    what the file's volume S has of subfile I, if it is striped
 *
 * INODE is the name's on the metadata volume, and AGE differs from that of every other file there with this inode. A
 * part that has never been written need not exist; it has no bytes.
 *
 *   request        fields                                        reply payload          status >= 0
 *   N_CLF_NAME     op(enum clf_name_op) bytes (of the name)      struct clf_named,      0
 *                  second (bytes of a text behind it) offset     the layout's text
 *   N_CLF_ATTACH   handle part; view: a cache manager's node + 1 struct clf_attached    0
 *   N_CLF_DETACH   attachment                                                           0
 *   N_CLF_VIEW     attachment view data (its bytes; none: drop                          0
 *                  it), as those of N_FVIEW (proto.h)
 *   N_CLF_READ     attachment view offset bytes                  data                   bytes; fewer: the part's end
 *   N_CLF_WRITE    attachment view offset bytes data                                    bytes; fewer: it is full
 *   N_CLF_SIZE     attachment; op 1: it is to be `offset`        uint64_t: bytes        0
 *   N_CLF_SYNC     attachment: all that the volume has is on                            0
 *                  the medium
 *   N_CLF_FREE     handle: nothing of the file is left here                             0
 *   N_CLF_GROUP    attachment handle (a group's number): it joins                       0
 *                  the group, as its member `offset`; 0: it leaves;
 *                  op 1: which of the group's members has ended          uint32_t: its  0
 *                                                                        number + 1; 0: none
 *   N_CLF_MANAGER  attachment; to a cache manager                struct clf_manager     0
 *                  attachment offset (the client's node in its   int32_t[]: nodes of    how many
 *                  job); to a server                             the job's managers
 *                                                                that have the part
 *
 * The status of N_CLF_WRITE, and of N_CLF_SIZE with op 1, has the bit CLF_MANAGED if cache managers have attachments of
 * the part and the client is none: it has them drop what they have of the file.
 *
 * N_CLF_READ and N_CLF_WRITE with an op of enum clf_turn are collective: they wait until all attachments of their
 * part's group have such a request, and are carried out together in the order of the part's file [P3 section 7.2]. They
 * may be of no bytes. Of a call that takes several, all but the last are CLF_TURN; the others do not wait for one that
 * has sent CLF_TURN_LAST, until all have, and its next one waits for that. One that ends or leaves is waited for no
 * longer. A server without memory for one more carries out some before the others have come; -N_EAGAIN: there was none
 * for a request of the next call, which is to be sent again, as all members have sent CLF_TURN_LAST now.
 *
 * `drive` is the drive's number at its I/O node. An attachment is one client's, and ends with it. View 0 is the part
 * itself; an attachment has CLF_VIEWS others, from 1 on.
 *
 * Errors: -N_EPROTO: a malformed request, a name that is no file of Clusterfile, a private file that is missing its
 * mark; -N_EBADF: an attachment that is not this client's, or of another drive; -N_ESTALE: the file has been removed;
 * -N_EINVAL: no such view, or a bad one; an unknown op; a collective request without a group, a second one, or a read
 * among writes; -N_E2BIG, -N_EOVERFLOW: a view, as for N_FVIEW; -N_EACCES: a
 * name under /.clf; -N_ENFILE: CLF_ATTACHMENTS_MAX; -N_ENOSPC, -N_EFBIG, -N_EROFS, -N_EIO, -N_ENOMEM; those of names
 * are ext2's.
 */
#pragma once

#include "vertex/contract/drive_cache.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

#define CLF_OPS(X)          \
    X(N_CLF_NAME, 0x8050)   \
    X(N_CLF_ATTACH, 0x8051) \
    X(N_CLF_DETACH, 0x8052) \
    X(N_CLF_VIEW, 0x8053)   \
    X(N_CLF_READ, 0x8054)   \
    X(N_CLF_WRITE, 0x8055)  \
    X(N_CLF_SIZE, 0x8056)   \
    X(N_CLF_SYNC, 0x8057)   \
    X(N_CLF_FREE, 0x8058)   \
    X(N_CLF_GROUP, 0x8059)  \
    X(N_CLF_MANAGER, 0x805a)

#define CLF_OP_ENUM(name, number) name = number,
enum clf_op { CLF_OPS(CLF_OP_ENUM) };
enum { CLF_OPERATIONS = 0 CLF_OPS(OP_ONE) };
#undef CLF_OP_ENUM

#define N_IS_CLUSTERFILE(type) ((uint32_t)(type) >= TYPES_CLUSTERFILE && (uint32_t)(type) <= TYPES_CLUSTERFILE_LAST)
_Static_assert(N_IS_CLUSTERFILE(0x8050) && N_IS_CLUSTERFILE(0x805f) && N_IS_FAMILY_REQUEST(0x8050) &&
                   N_IS_FILE_REQUEST(0x805f) && N_IS_FILE_REPLY(N_REPLY(0x8050)) && N_IS_FILE_REPLY(N_REPLY(0x805f)),
               "programs make them, and all who look at messages know them as requests");

#define CLF_VOLUMES_MAX     256u /* of a machine that can be servers, and of a file */
#define CLF_SUBFILES_MAX    8192u
#define CLF_TEXT_BYTES      8192u /* most of a layout's text */
#define CLF_LIST_BYTES      4096u /* most of a reply to CLF_NAME_LIST */
#define CLF_VIEWS           2u    /* of an attachment: one that holds, and one that is to take its place */
#define CLF_ATTACHMENTS_MAX 4096u /* at an I/O node */

/* A part: a subfile, and its volume's number in the file's list; CLF_WHOLE: the subfile is not striped. */
#define CLF_WHOLE              0xffffu
#define CLF_PART(subfile, s)   ((uint32_t)(subfile) << 16 | (uint32_t)(s))
#define CLF_PART_SUBFILE(part) ((uint32_t)(part) >> 16)
#define CLF_PART_VOLUME(part)  ((uint32_t)(part)&0xffffu)

/* A file: its name's inode, and its age. */
#define CLF_HANDLE(inode, age)   ((uint64_t)(age) << 32 | (uint32_t)(inode))
#define CLF_HANDLE_INODE(handle) ((uint32_t)(handle))
#define CLF_HANDLE_AGE(handle)   ((uint32_t)((uint64_t)(handle) >> 32))

struct clf_request {
    uint32_t seq;
    uint16_t drive, op;
    uint64_t handle;
    uint64_t offset;
    uint32_t part;
    uint32_t attachment;
    uint32_t bytes;
    uint16_t second, view;
};
_Static_assert(sizeof(struct clf_request) == 40, "clf_request layout");

/* A view's number that stands for a list: `second` places of the part, which lie before the data of the request; the
 * request's bytes are theirs, one after the other, and `offset` is not used. */
#define CLF_VIEW_LIST   0xffffu
#define CLF_LIST_PLACES 64u

struct clf_list_place {
    uint32_t low, high; /* where they begin */
    uint32_t bytes;
};
_Static_assert(sizeof(struct clf_list_place) == 12, "clf_list_place layout");

enum clf_turn { CLF_ALONE, CLF_TURN, CLF_TURN_LAST, CLF_TURNS };

/* Operations of N_CLF_NAME: what offset is, and the second text.
 *
 *   OPEN       N_O_CREAT and N_O_EXCL, mode << 32; the layout's text, for a file that is made; none: of that name must
 *              be a file or a folder
 *   UNLINK     the reply is about the file that had the name: the client drops what its volumes have of it
 *   RENAME     the new name; the reply is about the file that had it before, if there was one
 *   MKDIR      mode
 *   LIST       where to go on, 0 first; the reply is struct file_dirent, and the status their bytes */
enum clf_name_op {
    CLF_NAME_OPEN,
    CLF_NAME_STAT,
    CLF_NAME_UNLINK,
    CLF_NAME_RENAME,
    CLF_NAME_MKDIR,
    CLF_NAME_RMDIR,
    CLF_NAME_LIST,
    CLF_NAME_OPS
};

struct clf_named {
    struct file_stat stat; /* of the name: the size is not the file's */
    uint64_t handle;       /* 0: a folder, or nothing */
    uint32_t made;         /* 1: by this request */
    uint32_t pad;
};
_Static_assert(sizeof(struct clf_named) == 88, "clf_named layout");

struct clf_attached {
    uint64_t size_bytes; /* of the part */
    uint32_t attachment;
    uint32_t io_bytes; /* most of one read or write */
};
_Static_assert(sizeof(struct clf_attached) == 16, "clf_attached layout");

/*
 * Cache managers [P3 section 3.1.3]: programs on compute nodes (nsdisk/managers/), to which blocks of a file
 * are dealt out in turn, take the same requests in messages of CONTEXT_GROUP. What a manager has of a file is its part:
 * to a client, a subfile that is whole; to the servers, the manager's view. Its `drive` is 0.
 *
 *   request   type CLF_TYPE_REQUEST         struct clf_asked, struct clf_request, then names or data
 *   reply     type CLF_TYPE_REPLY + slot    struct file_reply, then the result's payload
 *
 *   N_CLF_ATTACH   part CLF_PART(i, CLF_WHOLE), of `second` managers, in blocks of `offset` bytes; data, of `bytes`:
 *                  the managers' nodes, an int32_t each, and the layout's text. -N_EINVAL: the manager has the file in
 *                  other blocks, or as another one of them
 *   N_CLF_SIZE     op 1: what the manager has from there on is dropped; nothing is asked of the servers
 *   N_CLF_FREE     what the manager has of the file is dropped, and its size asked for anew
 *   N_CLF_NAME     -N_ENOSYS
 */
struct clf_asked {
    uint32_t type; /* N_CLF_xxx; 0: none, there is no reply */
    uint32_t pad;
};
#define CLF_ASKED_MAX   64u
#define CLF_ATTACH_MOST (2 * CLF_TEXT_BYTES) /* bytes of data */
/* A request's sequence number has its slot, too. */
#define CLF_SEQ(count, slot) ((uint32_t)(count)*CLF_ASKED_MAX + (slot))
#define CLF_SEQ_SLOT(seq)    ((seq) % CLF_ASKED_MAX)
#define CLF_BLOCK_MOST       (1 << 30) /* bytes */
#define CLF_MANAGED          (1 << 30)
_Static_assert(FILE_IO_MAX_BYTES < CLF_MANAGED, "a status has both");
#define CLF_LISTED_MOST 1024u /* managers of a reply */

struct clf_manager {
    uint64_t presence; /* the group at the server of the file's first part whose only member is the manager */
    struct manager_counts counts;
};
_Static_assert(sizeof(struct clf_manager) == 136, "clf_manager layout");
