/*
 * Opens host files below one folder, and none outside it, by names that nodes send.
 *
 * The folder is the root of all names and of absolute symbolic links; its ".." is the folder itself, like that of a
 * Unix system's root. Every lookup is openat2 with RESOLVE_IN_ROOT and RESOLVE_NO_MAGICLINKS, so that the host's kernel
 * enforces this whatever a name, a link or a race does.
 */
#pragma once

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct beneath {
    int root; /* descriptor of the folder; -1: there is none, and every name is -N_EACCES */
};

/* Opens the folder, or none for NULL. 0, or -1 with errno: ENOENT, ENOTDIR, EACCES; ENOSYS when the kernel has no
 * openat2 (Linux before 5.6). */
int beneath_open_folder(struct beneath *b, const char *folder);
void beneath_close_folder(struct beneath *b);

/* Opens a name with the host's flags and mode; a file that it makes has this mode, whatever the umask of ncube's user
 * is. Returns a descriptor that the caller closes, or a negative n_error. */
int beneath_open(const struct beneath *b, const char *name, int flags, mode_t mode);

/* These act like the system calls of their names, on the name itself and not on the target of a symbolic link at its
 * end. A name with a final slash must be a folder's. 0, or a negative n_error: one of beneath_open, one of the system
 * call, or -N_EINVAL (-N_EEXIST for mkdir and symlink) if the name ends in "." or "..". */
/* flags: 0 as unlink, AT_REMOVEDIR as rmdir. */
int32_t beneath_remove(const struct beneath *b, const char *name, int flags);
/* mkdir and symlink also describe the folder or link that they have made. mkdir ignores the umask, too. */
int32_t beneath_mkdir(const struct beneath *b, const char *name, mode_t mode, struct stat *made);
int32_t beneath_symlink(const struct beneath *b, const char *text, const char *name, struct stat *made);
/* Reads at most `bytes` bytes of a link's text. Their number, or a negative n_error: -N_EINVAL if it is no symbolic
 * link. */
int32_t beneath_readlink(const struct beneath *b, const char *name, char *text, size_t bytes);
int32_t beneath_rename(const struct beneath *b, const char *from, const char *to);
int32_t beneath_link(const struct beneath *b, const char *from, const char *to);
