/*
 * Open files of the host, one descriptor for each file and way of access, however many have it
 * open: 8192 nodes that read one file take one descriptor. That works because nobody uses a
 * descriptor's offset (pread, pwrite).
 *
 * Files are told by device and inode. On an overlay, the first open for writing moves a file to
 * another layer, and what was open before goes on showing the old one: so descriptors from before
 * an open for writing are not shared any more.
 */
#ifndef NCUBE_HOSTFILES_H
#define NCUBE_HOSTFILES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct host_file {
    int fd; /* host_files_release closes it */
    /* private */
    struct host_file *next;
    dev_t dev;
    ino_t ino;
    int access;  /* O_RDONLY, O_WRONLY or O_RDWR */
    bool shared; /* those who open it from now on get this one */
    uint32_t users;
};

#define HOST_FILES_CHAINS 1024u

struct host_files { /* all zero: none is open */
    struct host_file *chain[HOST_FILES_CHAINS];
    uint32_t count; /* descriptors */
};

/* Takes over an open descriptor; gives the file that stands for it, which need not be this
 * descriptor. Every call needs its host_files_release. NULL: no memory, or it cannot be looked at;
 * it is closed then, errno says why. */
struct host_file *host_files_take(struct host_files *h, int fd);

/* The last user's release closes the descriptor. 0, or -1 with the errno of that. */
int host_files_release(struct host_files *h, struct host_file *f);

#endif
