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
    off_t d_off; /* where the next record is: of seekdir */
    unsigned short d_reclen;
    unsigned char d_type;
    unsigned char d_namlen;
    char d_name[MAXNAMLEN + 1];
};

typedef struct dir_stream DIR;

DIR *opendir(const char *path);
struct dirent *readdir(DIR *dir); /* the entry is the stream's, until the next call */
DIR *fdopendir(int fd);           /* the descriptor is the stream's from then on */
/* As readdir, into the caller's entry: *result is it, or NULL at the end. 0, or the error. */
int readdir_r(DIR *dir, struct dirent *entry, struct dirent **result);
int closedir(DIR *dir);
int dirfd(DIR *dir);
void rewinddir(DIR *dir);
long telldir(DIR *dir);
void seekdir(DIR *dir, long position);

/* The entries that `select` takes (NULL: all), in the order of `compare` (NULL: the directory's own). Returns how many,
 * or -1 with errno. The array and each of its entries are the caller's to free. */
int scandir(const char *path, struct dirent ***names, int (*select)(const struct dirent *),
            int (*compare)(const struct dirent **, const struct dirent **));
int alphasort(const struct dirent **a, const struct dirent **b);

#endif
