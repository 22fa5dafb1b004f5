/*
 * Directories. Stands in for newlib's header, which has no version for RISC-V.
 */
#ifndef _DIRENT_H_
#define _DIRENT_H_

#include <sys/types.h>

#define MAXNAMLEN 255

enum { DT_UNKNOWN = 0, DT_DIR = 4, DT_REG = 8, DT_LNK = 10 };

struct dirent {
    ino_t d_ino;
    off_t d_off; /* position of the next record, for seekdir */
    unsigned short d_reclen;
    unsigned char d_type;
    unsigned char d_namlen;
    char d_name[MAXNAMLEN + 1];
};

typedef struct dir_stream DIR;

DIR *opendir(const char *path);
struct dirent *readdir(DIR *dir); /* the entry is valid until the next call on the same stream */
DIR *fdopendir(int fd);           /* the stream takes over the descriptor, and closedir closes it */
/* As readdir, into the caller's entry; *result points to it, or is NULL at the end. Returns 0 or an errno value. */
int readdir_r(DIR *dir, struct dirent *entry, struct dirent **result);
int closedir(DIR *dir);
int dirfd(DIR *dir);
void rewinddir(DIR *dir);
long telldir(DIR *dir);
void seekdir(DIR *dir, long position);

/* Stores in *names an array of the entries for which `select` is not 0 (NULL: all), sorted by `compare` (NULL: in the
 * directory's order). Returns their number, or -1 with errno. The caller frees each entry and the array. */
int scandir(const char *path, struct dirent ***names, int (*select)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **));
int alphasort(const struct dirent **a, const struct dirent **b);

#endif
