/* Files in memory (memory_file.h): where they are mapped, and copies of them. */
#include "emu/base/memory_file.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#define LINE_MOST (4096 + 128) /* of /proc/self/maps: a path, and what stands before it */

static bool is_mapped(const struct stat *file, unsigned major, unsigned minor, uint64_t inode)
{
    return inode == file->st_ino && makedev(major, minor) == file->st_dev;
}

/* QEMU has all its memory left out of a fork: the rest is taken in again. */
int memory_file_find(struct memory_file *found, int fd)
{
    char line[LINE_MOST];
    struct stat file;
    FILE *f = fopen("/proc/self/maps", "re");

    *found = (struct memory_file){.fd = fd};
    if (!f || fstat(fd, &file) != 0)
        return errno;
    while (found->n < MEMORY_MAPPINGS_MOST && fgets(line, sizeof line, f)) {
        uint64_t start, end, offset, inode;
        unsigned major, minor;

        if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %*s %" SCNx64 " %x:%x %" SCNu64, &start, &end, &offset, &major,
                   &minor, &inode) != 6)
            continue;
        if (is_mapped(&file, major, minor, inode))
            found->mapping[found->n++] = (struct memory_mapping){(uint8_t *)start, end - start, (off_t)offset};
        else
            madvise((void *)start, end - start, MADV_DOFORK); /* refused for the kernel's own */
    }
    fclose(f);
    return found->n < MEMORY_MAPPINGS_MOST ? 0 : E2BIG;
}

bool memory_file_map(const struct memory_file *f, int fd)
{
    for (uint32_t k = 0; k < f->n; k++)
        if (mmap(f->mapping[k].start, f->mapping[k].bytes, PROT_READ | PROT_WRITE,
                 MAP_SHARED | MAP_FIXED | MAP_NORESERVE, fd, f->mapping[k].offset) == MAP_FAILED)
            return false;
    return true;
}

/* Copies a file, and leaves its holes. Returns 0 or an errno. */
static int copy_bytes(int from, int to, off_t bytes)
{
    if (ftruncate(to, bytes) != 0)
        return errno;
    for (off_t at = 0, end; (at = lseek(from, at, SEEK_DATA)) >= 0; at = end) {
        end = lseek(from, at, SEEK_HOLE);
        for (off_t next = at; next < end;)
            if (lseek(to, next, SEEK_SET) < 0 || sendfile(to, from, &next, (size_t)(end - next)) <= 0)
                return errno;
    }
    return errno == ENXIO ? 0 : errno; /* no more data */
}

static bool is_of(int fd, const struct stat *file)
{
    struct stat st;

    return fstat(fd, &st) == 0 && st.st_dev == file->st_dev && st.st_ino == file->st_ino;
}

int descriptors_each(const struct stat *file, int (*act)(int fd, void *ctx), void *ctx)
{
    DIR *d = opendir("/proc/self/fd");
    int error = d ? 0 : errno;

    for (struct dirent *e; error == 0 && (e = readdir(d));)
        if (e->d_name[0] != '.' && is_of(atoi(e->d_name), file))
            error = act(atoi(e->d_name), ctx);
    if (d)
        closedir(d);
    return error;
}

int descriptor_replace(int fd, void *by)
{
    return dup3(*(int *)by, fd, fcntl(fd, F_GETFD) & FD_CLOEXEC ? O_CLOEXEC : 0) < 0 ? errno : 0;
}

int memory_file_own(const struct memory_file *f)
{
    struct stat file;
    int own = memfd_create("ncube-copy", MFD_CLOEXEC), error = own < 0 || fstat(f->fd, &file) != 0 ? errno : 0;

    if (error == 0)
        error = copy_bytes(f->fd, own, file.st_size);
    if (error == 0 && !memory_file_map(f, own))
        error = errno;
    if (error == 0)
        error = descriptors_each(&file, descriptor_replace, &own);
    if (own >= 0)
        close(own);
    return error;
}

uint64_t memory_file_bytes(int fd)
{
    struct stat file;

    return fstat(fd, &file) == 0 ? (uint64_t)file.st_blocks * 512 : 0;
}
