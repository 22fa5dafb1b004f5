/*
 * The files of "/tmp" when no folder is served, or one without a folder tmp: in the memory of this process, so that they
 * are gone with it whatever its end. One flat folder. A file that is open lives on after its name is removed.
 */
#ifndef NCUBE_TMPFILES_H
#define NCUBE_TMPFILES_H

#include <stdint.h>
#include <sys/types.h>

#define TMP_FILES_MAX      256u           /* names at a time; then -N_ENOSPC */
#define TMP_FILE_MAX_BYTES (256ull << 20) /* of one; then -N_EFBIG */

struct tmp_file {
    char *name;
    int fd;          /* memory without a name on the host */
    uint64_t number; /* 1 and up in the order in which they were made: the host's numbers vary from run to run */
};

struct tmp_files { /* all zero: none */
    struct tmp_file file[TMP_FILES_MAX];
    uint32_t n;
    uint64_t last_number;
};

void tmp_files_free(struct tmp_files *t);

/* NULL: no file has that name. Valid until the next change. */
const struct tmp_file *tmp_files_find(const struct tmp_files *t, const char *name);

/* Opens a file with the host's O_ flags, of which O_CREAT, O_EXCL and O_TRUNC are looked after, and of a new one the
 * mode. A descriptor that the caller closes, and the file's number; or -N_ENOENT, -N_EEXIST, -N_ENOSPC, -N_EACCES,
 * -N_ENFILE (the host's descriptors). */
int tmp_files_open(struct tmp_files *t, const char *name, int flags, mode_t mode, uint64_t *number);

/* 0, or -N_ENOENT. */
int32_t tmp_files_unlink(struct tmp_files *t, const char *name);
/* Replaces a file of the new name. 0, or -N_ENOENT, -N_ENOMEM. */
int32_t tmp_files_rename(struct tmp_files *t, const char *from, const char *to);

#endif
