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
int closedir(DIR *dir);
int dirfd(DIR *dir);
void rewinddir(DIR *dir);
long telldir(DIR *dir);
void seekdir(DIR *dir, long position);

#endif
