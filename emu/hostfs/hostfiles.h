/*
 * Open files of the host: one descriptor for each file and way of access, however many clients have it open. 8192 nodes
 * that read one file take one descriptor. That works because nothing uses a descriptor's offset (pread, pwrite).
 *
 * A file is identified by device and inode. On an overlay, the first open for writing moves a file to another layer,
 * and descriptors from before go on showing the old one. So a descriptor from before an open for writing is no longer
 * shared.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>
#include <sys/queue.h>
#include <sys/types.h>

struct host_file {
    int fd;    /* host_files_release closes it */
    dev_t dev; /* the file's */
    ino_t ino;
    /* private */
    LIST_ENTRY(host_file) entry;
    int access;  /* O_RDONLY, O_WRONLY or O_RDWR */
    bool shared; /* later opens get this one */
    uint32_t users;
};

#define HOST_FILES_CHAINS 1024u

struct host_files { /* all zero: none is open */
    LIST_HEAD(host_file_chain, host_file) chain[HOST_FILES_CHAINS];
    uint32_t count; /* descriptors */
};

/* Takes over an open descriptor and returns the host file to use in its place, perhaps with another descriptor. Each
 * call needs its host_files_release. NULL, with errno set and the descriptor closed, if there is no memory or the host
 * refuses to describe the descriptor. */
struct host_file *host_files_take(struct host_files *h, int fd);

/* Gives a file back; the last user's release closes the descriptor. 0, or -1 with the errno of the close. */
int host_files_release(struct host_files *h, struct host_file *f);
