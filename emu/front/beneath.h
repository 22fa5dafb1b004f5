/*
 * One host folder and nothing outside it: how a name that a node sent becomes a host file.
 *
 * The folder is the root of names, absolute or not, and of absolute symbolic links; above it is the folder itself, as
 * above the root of a Unix system. Every lookup is openat2 with RESOLVE_IN_ROOT and RESOLVE_NO_MAGICLINKS, so that the
 * kernel itself sees to it whatever a name, a link or a race does.
 */
#ifndef NCUBE_BENEATH_H
#define NCUBE_BENEATH_H

#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

struct beneath {
    int root; /* the folder, or -1: none, every name is -N_EACCES */
};

/* Opens the folder; NULL is none. 0, or -1 with errno: ENOENT, ENOTDIR, EACCES; ENOSYS when the kernel has no
 * openat2 (Linux before 5.6). */
int beneath_open_folder(struct beneath *b, const char *folder);
void beneath_close_folder(struct beneath *b);

/* openat2 with the host's flags and mode; a file that it makes has this mode, whatever the umask of ncube's user is.
 * Returns a descriptor that the caller closes, or a negative n_error. */
int beneath_open(const struct beneath *b, const char *name, int flags, mode_t mode);

/* As the system calls of these names, of the name itself, not of what a symbolic link at its end points to. A final
 * slash says that the name is a folder's. 0, or a negative n_error: as beneath_open; -N_EINVAL when the name ends in
 * "." or ".." (-N_EEXIST for mkdir); what the call gives. */
int32_t beneath_unlink(const struct beneath *b, const char *name);
int32_t beneath_rmdir(const struct beneath *b, const char *name);
/* mkdir and symlink also describe what they have made; mkdir looks at no umask either. */
int32_t beneath_mkdir(const struct beneath *b, const char *name, mode_t mode, struct stat *made);
int32_t beneath_symlink(const struct beneath *b, const char *text, const char *name, struct stat *made);
/* Bytes of the link's text, cut to so many. -N_EINVAL: no symbolic link. */
int32_t beneath_readlink(const struct beneath *b, const char *name, char *text, size_t bytes);
int32_t beneath_rename(const struct beneath *b, const char *from, const char *to);
int32_t beneath_link(const struct beneath *b, const char *from, const char *to);

#endif
