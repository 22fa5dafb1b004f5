/*
 * libpio: user-level parallel file I/O. The other public header, <pattern.h>, maps the bytes of a file to processes or
 * disks.
 *
 * A PIO file is one logical file whose blocks lie on D volumes [P0 section 3]: block b on volume b mod D, at
 * subfile offset (b / D) * B. B bytes per block; C blocks in flight per volume. With a map of another kind a subfile
 * has the bytes of its volume's element, in file order, and a block is a part of a subfile that one message carries.
 * Functions return -1 and set errno on failure; pio_failed_path then names the file or volume in question.
 *
 * Names. "/dir/name" is the file whose subfiles are //df00/dir/name, //df01/dir/name, ... Its description,
 * //df00/dir/name.pio and so on, says where the rest lies; it is looked for on the volumes that the layout names,
 * or else on the default ones. "//volume/dir/name" is the same file, looked for on that volume alone. Names that
 * end in ".pio" are refused (EINVAL), so are those that end in "/" (EISDIR). Folders must exist on every volume.
 *
 * One process does one PIO call at a time, and has no readstart or writestart of its own under way meanwhile, nor while
 * transfers of PIO files that it has started are under way.
 * Several processes, on any nodes, may have one file open. What a pio_write has returned is seen by every read, size
 * and seek to the end that begins later, on any node; pio_close or nsync make no difference. Writes of disjoint bytes
 * do not disturb each other. Calls that overlap are not atomic towards each other: each volume has them in an order of
 * its own.
 */
#ifndef NCUBE_PIO_H
#define NCUBE_PIO_H

#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>

struct pio_layout {             /* 0 or NULL: the default */
    int disks;                  /* D: number of volumes, 1-256; default 8 */
    int block_size;             /* B: bytes per block, 1 byte - 1 MB; default 16384 */
    int buffers;                /* C: blocks in flight per volume; default 2. D*C <= 65536 */
    const char *const *volumes; /* D names, without slashes; default df00, df01, ... */
    const char *map; /* which volume has which byte, as text of <pattern.h>, such as "array 512x512x8 block,block on
                                   2x2": its D elements are the volumes. Default: stripes, "cyclic B D" */
};

/* Opens a PIO file with the layout of its description, or, with O_CREAT, makes one with the default layout
 * [P0 Figure 4]. flags: O_RDONLY, O_WRONLY or O_RDWR, with O_CREAT, O_EXCL, O_TRUNC, O_APPEND as for one Unix file.
 * Nodes that create a file at the same time with the same layout get the same file; with O_EXCL only one gets it.
 * Returns a PIO file descriptor, to be given back by pio_close; Vertex closes all when the process ends.
 *   ENOENT   no such file, folder or volume; or one of the file's volumes has lost its part
 *   EEXIST   O_CREAT and O_EXCL, and it exists
 *   EPROTO   not a PIO file: a description that contradicts the others, is on the wrong volume
 *            (volumes were exchanged) or is damaged; or a plain file of that name without description
 *   EMFILE   32 PIO files are open, or there are no D file descriptors left for the subfiles
 *   EINVAL   the name or flags;  ENAMETOOLONG, ENOMEM, and what the volumes report: ENOSPC, EIO, EROFS, EACCES ... */
int pio_open(const char *name, int flags, ... /* mode_t mode when O_CREAT */);

/* The same with a layout; NULL is the default one. On an existing file whatever of disks, block_size and volumes
 * is given must be as in its description, else EINVAL; buffers may be anything. *layout is the caller's and is not
 * used after the call. A map must give each byte to one of D elements, begin at byte 0 and keep the bytes of each
 * element in order; it has at most 1023 characters. Else: EINVAL. */
int pio_open_layout(const char *name, int flags, mode_t mode, const struct pio_layout *layout);

/* Reads up to n bytes at the file's offset and moves the offset on [P0 Figures 3 and 5]. Bytes never written, in
 * whichever subfile, are zeros up to the end of the logical file. Returns the bytes read: n, less at the end of the
 * file, 0 there. When a volume fails: the bytes before the first that could not be read, and the next call fails.
 *   EBADF    not a descriptor, or not open for reading
 *   EINVAL   n is beyond any file (2^62)
 *   EPROTO   a server answered with something that was not asked
 *   EIO ...  what the volume reports. After a failure of the message system itself every transfer fails with EIO. */
ssize_t pio_read(int pfd, void *buf, size_t n);

/* Writes n bytes at the file's offset, or with O_APPEND at its end, and moves the offset on. Returns the bytes
 * written from the start of buf without a gap: n, or less when a volume is full or fails; the next call then returns
 * the error. Bytes beyond the returned count may have been overwritten; the file does not grow because of them, except
 * to where the write began.
 *   EBADF    not a descriptor, or not open for writing
 *   ENOSPC   a volume is full: not even the first byte fits
 *   EFBIG    beyond the highest offset;  EINVAL, EPROTO, EIO ... as for pio_read */
ssize_t pio_write(int pfd, const void *buf, size_t n);

/* As pio_read and pio_write, at `offset`; the file's offset does not move, and O_APPEND makes no difference. EINVAL: an
 * offset below 0 or beyond any file, too. */
ssize_t pio_pread(int pfd, void *buf, size_t n, off_t offset);
ssize_t pio_pwrite(int pfd, const void *buf, size_t n, off_t offset);

/* As pio_read and pio_write, with `count` buffers taken one after the other, as one transfer: blocks go to all volumes
 * at the same time, however small the buffers are. EINVAL: count is not 1 to 1024, or the lengths add up to more than a
 * file holds. ENOMEM: no memory for a list of the buffers. */
ssize_t pio_readv(int pfd, const struct iovec *iov, int count);
ssize_t pio_writev(int pfd, const struct iovec *iov, int count);

/* ---- Transfers in two halves ----
 *
 * A start returns when the first C blocks of each volume are under way. The rest follows whenever the process is in a
 * PIO call that waits, or in pio_iodone. So a program that computes in between computes while D*C blocks move. At most
 * PIO_STARTS_MAX transfers, of any files, may be started and not ended. Until a transfer has ended its memory is
 * libpio's. Transfers under way at the same time happen in any order: only reads may overlap each other, and a read
 * that meets the end of the file sees a write that moves this end, or does not. Calls about the whole file (pio_fstat,
 * SEEK_END, pio_ftruncate, pio_fsync, pio_preallocate) first wait until the descriptor's transfers have moved their
 * bytes. When the process ends, the bytes of a write that is under way may or may not be in the file. */
#define PIO_STARTS_MAX 32

/* As pio_read, pio_write, pio_pread and pio_pwrite, but return the id of a transfer that has started, and the file's
 * offset moves on by all n bytes at once. When some come short, it goes back to the lowest end of those once all that
 * have moved it have ended. An append begins where the file ends or where the descriptor's last append will.
 *   EAGAIN   PIO_STARTS_MAX transfers are started and not ended
 *   ENOMEM   no memory for one more;  what the calls of the other names say of the arguments */
int pio_iread(int pfd, void *buf, size_t n);
int pio_iwrite(int pfd, const void *buf, size_t n);
int pio_ipread(int pfd, void *buf, size_t n, off_t offset);
int pio_ipwrite(int pfd, const void *buf, size_t n, off_t offset);

/* Ends a transfer: waits for it, and returns what pio_read or pio_write would have. The id is no longer one.
 *   EINVAL   not the id of a transfer that is started and not ended;  as pio_read and pio_write */
ssize_t pio_iowait(int id);

/* 1: pio_iowait would return at once, but for what the end of the file needs; 0: it would wait. -1: EINVAL. */
int pio_iodone(int id);

/* The four calls of [P0 section 2], for PIO files: an end ends the most recent start of its kind on that descriptor
 * that has not ended. libpio keeps the data of a readstart, in memory for n bytes, until its readend, which copies
 * them. Errors of a start as pio_iread, of an end as pio_iowait; EINVAL: there is no such start. */
int pio_readstart(int pfd, size_t n);
ssize_t pio_readend(int pfd, void *buf);
int pio_writestart(int pfd, const void *buf, size_t n);
ssize_t pio_writeend(int pfd);

/* Moves the offset as lseek does: SEEK_SET, SEEK_CUR, SEEK_END. It may go beyond the end. Returns the new offset.
 *   EBADF; EINVAL: whence, or before the start; EOVERFLOW: too far; SEEK_END also what the volumes report */
off_t pio_lseek(int pfd, off_t offset, int whence);

/* Makes pio_read, pio_write and pio_lseek see one element of a pattern over the file only, n bytes that pattern_pack of
 * <pattern.h> has written: offsets and the end are the element's; the offset keeps its number. Each volume's server
 * gets its part of the element, so one request moves many runs, and data go straight to where they lie [P1 section 1.2,
 * Figure 5]. n = 0: the file again. Calls about the whole file are as before. After a failed write the file is not cut
 * back, as others write beside it. On failure the file has no view.
 *   EBADF;  EBUSY: a transfer is started and not ended;  EINVAL: not an element, or O_APPEND
 *   E2BIG: more nodes or levels than pattern_pack writes;  EOVERFLOW: too far;  ENOMEM, and what the volumes report */
int pio_setview(int pfd, const void *packed, size_t n);

/* Closes all subfiles [P0 Figure 4]. First waits for the transfers that the descriptor has started and not ended: they
 * end here. The descriptor is closed even on failure; reports an error of a write among those, else the first one. */
int pio_close(int pfd);

/* As fstat of one file: st_size is the logical size, st_blocks the sum over the subfiles, st_blksize one stripe D*B,
 * times the latest; the rest is of the first subfile. */
int pio_fstat(int pfd, struct stat *st);

/* Makes the file `size` bytes long; added bytes read as zeros. EBADF, EINVAL, or what the volumes report; then
 * some volumes may have been cut and others not. */
int pio_ftruncate(int pfd, off_t size);

/* Gives the n bytes from `offset` on their places on the volumes, so that later writes there find room: bytes that the
 * file has are written again, with what they hold, others with zeros. A shorter file becomes offset + n bytes long.
 * What another process writes there meanwhile may be lost. Returns 0. On failure the file is as long as before.
 *   EBADF    not open for writing; or there are bytes in the range, and it is not open for reading
 *   EINVAL   offset < 0 or n <= 0, or the descriptor has a view;  EFBIG: beyond the highest offset
 *   ENOSPC   a volume has no room;  ENOMEM, EIO ... as for pio_read and pio_write */
int pio_preallocate(int pfd, off_t offset, off_t n);

/* Returns when everything written is on the drives of all D volumes. */
int pio_fsync(int pfd);

/* Removes subfiles and descriptions. ENOENT if no description is found. If it fails, the file is whole. */
int pio_unlink(const char *name);

/* Gives a PIO file another name on its volumes, and removes the PIO file that has had that name. If it fails half way,
 * call it again. Open descriptors stay good.
 *   ENOENT   no such file;  EEXIST: a folder or a file that is no PIO file has the new name
 *   EXDEV    one name has a volume that the other has not;  EINVAL, ENAMETOOLONG, and what the volumes report */
int pio_rename(const char *from, const char *to);

/* "//volume/name" of the subfile, description or volume at which the last failed call failed; "" if it had nothing
 * to do with one. Static; valid until the next PIO call. */
const char *pio_failed_path(void);

#endif
