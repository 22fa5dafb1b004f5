/*
 * The files of "/tmp" where no folder is served, or one without a folder tmp. They are in the memory of this process,
 * so that they vanish with it, however it ends. "/tmp" has no folders. An open file stays after its name is removed.
 */
#pragma once

#include <stdint.h>
#include <sys/types.h>

#define TMP_FILES_MAX      256u           /* at most so many names at a time; then -N_ENOSPC */
#define TMP_FILE_MAX_BYTES (256ull << 20) /* at most in one file; then -N_EFBIG */

struct tmp_file {
    char *name;
    int fd;          /* memory without a name on the host */
    uint64_t number; /* from 1, in the order in which files were made: the host's inode numbers vary from run to run */
};

struct tmp_files { /* all zero: none */
    struct tmp_file file[TMP_FILES_MAX];
    uint32_t n;
    uint64_t last_number;
};

void tmp_files_free(struct tmp_files *t);

/* The file of that name, valid until the next change; NULL if there is none. */
const struct tmp_file *tmp_files_find(const struct tmp_files *t, const char *name);

/* Opens a file with the host's O_ flags (the access mode, O_CREAT, O_EXCL and O_TRUNC; others are ignored); a new file
 * gets the mode. A descriptor that the caller closes, and the file's number; or -N_ENOENT, -N_EEXIST, -N_ENOSPC,
 * -N_EACCES, -N_ENFILE (the host's descriptors). */
int tmp_files_open(struct tmp_files *t, const char *name, int flags, mode_t mode, uint64_t *number);

/* Removes a name. 0, or -N_ENOENT. */
int32_t tmp_files_unlink(struct tmp_files *t, const char *name);
/* Renames a file, replacing one of the new name. 0, or -N_ENOENT, -N_ENOMEM. */
int32_t tmp_files_rename(struct tmp_files *t, const char *from, const char *to);
