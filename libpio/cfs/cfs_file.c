/* Names, and open files of the CFS: the name server's answer, then the header [P2 section 3.0]. */
#include <stdlib.h>
#include <string.h>

#include "libpio/cfs/cfs_client.h"
#include "vertex/contract/errors.h"

/* ---- Names ---- */

struct answer {
    struct cfs_named named;
    char list[CFS_DISKS_BYTES + 1];
};

static long ask_name(enum cfs_name_op op, const char *name, const char *second, uint64_t arg, struct answer *a)
{
    const size_t n = strlen(name), n2 = strlen(second), head = a ? sizeof a->named : 0;
    struct cfs_request r = {.op = (uint16_t)op, .bytes = (uint16_t)n, .offset = (uint16_t)n2, .arg = arg};

    if (cfs_machine()->n == 0)
        return -N_ENODEV;
    if (n > FILE_NAME_MAX_BYTES || n2 > FILE_NAME_MAX_BYTES)
        return -N_ENAMETOOLONG;
    char *text = malloc(n + n2 + 1);
    if (!text)
        return -N_ENOMEM;
    memcpy(text, name, n);
    memcpy(text + n, second, n2);
    if (a)
        memset(a, 0, sizeof *a);
    long number = cfs_start(0, N_CNAME, r, text, n + n2);
    free(text);
    return cfs_end(number, a ? &a->named : NULL, head, a ? a->list : NULL, a ? sizeof a->list - 1 : 0);
}

/* Which of the machine's disks those of a file are. -N_EPROTO: it has one that the machine has not. */
static int find_disks(const struct answer *a, struct cfs_open *f)
{
    const struct server_volumes *m = cfs_machine();

    for (const char *at = a->list; *at; f->disks++) {
        size_t n = strcspn(at, " ");
        uint32_t k = 0;

        while (k < m->n && (strlen(m->name[k]) != n || memcmp(m->name[k], at, n) != 0))
            k++;
        if (k == m->n || f->disks == CFS_DISKS_MAX)
            return -N_EPROTO;
        f->disk[f->disks] = k;
        at += n + (at[n] == ' ');
    }
    if (f->disks != a->named.disks || a->named.home >= f->disks)
        return -N_EPROTO;
    f->home = f->disk[a->named.home];
    f->handle = CFS_HANDLE(a->named.number, a->named.age);
    return 0;
}

static int open_header(struct cfs_open *f, bool made)
{
    const bool empties = (f->flags & N_O_TRUNC) && (f->flags & N_O_ACCMODE) != N_O_RDONLY;
    int error = cfs_file_header(f, N_CHEADER, made || (f->flags & N_O_CREAT), 0);

    if (error == -N_ESTALE) /* a machine that ended has left nothing but the name: it is a file of no bytes */
        error = cfs_file_header(f, N_CHEADER, 1, 0);
    if (error == -N_EROFS && !made)
        error = 0;
    if (error == 0 && !empties)
        cfs_file_check(f);
    if (error == 0 && empties && f->header.blocks > 0)
        error = cfs_file_truncate(f);
    return error;
}

int cfs_file_open(const char *name, uint32_t flags, uint32_t mode, struct cfs_open **out)
{
    struct answer a;
    long status = ask_name(CFS_NAME_OPEN, name, cfs_machine()->list, flags | (uint64_t)mode << 32, &a);
    struct cfs_open *f = status < 0 ? NULL : calloc(1, sizeof *f);

    if (!f)
        return status < 0 ? (int)status : -N_ENOMEM;
    f->flags = flags;
    f->name = strdup(name);
    f->stat = a.named.stat;
    if (a.named.number == 0)
        status = server_folder_open(name, flags, &f->folder);
    else if (flags & N_O_DIRECTORY)
        status = -N_ENOTDIR;
    else if ((status = find_disks(&a, f)) == 0)
        status = open_header(f, a.named.made != 0);
    if (status < 0)
        cfs_file_free(f);
    else
        *out = f;
    return (int)status;
}

void cfs_file_free(struct cfs_open *f)
{
    cfs_file_forget(f, 0, true);
    free(f->folder);
    free(f->name);
    free(f);
}

int cfs_file_stat(const char *name, struct file_stat *st)
{
    struct answer a;
    struct cfs_open f = {.handle = 0};
    long status = ask_name(CFS_NAME_STAT, name, "", 0, &a);

    if (status == 0 && a.named.number != 0) {
        status = find_disks(&a, &f);
        status = status < 0 ? status : cfs_file_header(&f, N_CHEADER, 0, 0);
        if (status == 0)
            cfs_file_check(&f);
        cfs_file_forget(&f, 0, true);
        status = status == -N_ESTALE ? 0 : status;
    }
    if (status < 0)
        return (int)status;
    *st = a.named.stat;
    st->size_bytes = f.header.size_bytes;
    st->blocks_512 = (uint64_t)f.header.blocks * (CFS_BLOCK_BYTES / 512);
    return 0;
}

/* The file that an answer tells of has no name any more: its parts go. */
static int remove_parts(const struct answer *a)
{
    struct cfs_open f = {.handle = 0};
    int error = a->named.number == 0 ? 0 : find_disks(a, &f);

    return error < 0 || a->named.number == 0 ? error : cfs_ask_all(f.disk, f.disks, N_CFREE, cfs_request_of(&f, 1, 0));
}

int cfs_file_unlink(const char *name)
{
    struct answer a;
    long status = ask_name(CFS_NAME_UNLINK, name, "", 0, &a);

    return status < 0 ? (int)status : remove_parts(&a);
}

int cfs_file_rename(const char *from, const char *to)
{
    struct answer a;
    long status = ask_name(CFS_NAME_RENAME, from, to, 0, &a);

    return status < 0 ? (int)status : remove_parts(&a);
}

int cfs_file_mkdir(const char *name, uint32_t mode)
{
    return (int)ask_name(CFS_NAME_MKDIR, name, "", mode, NULL);
}

int cfs_file_rmdir(const char *name)
{
    return (int)ask_name(CFS_NAME_RMDIR, name, "", 0, NULL);
}

int cfs_file_list(const char *folder, uint64_t *at, struct file_dirent *entry, char name[256])
{
    uint8_t records[CFS_BLOCK_BYTES + 1024];
    const size_t n = strlen(folder);
    const struct cfs_request r = {.op = CFS_NAME_LIST, .bytes = (uint16_t)n, .arg = *at};
    long bytes = cfs_end(cfs_start(0, N_CNAME, r, folder, n), NULL, 0, records, sizeof records);

    return server_folder_next(records, bytes, at, entry, name);
}

int cfs_file_sync(struct cfs_open *f)
{
    uint32_t disk[CFS_DISKS_MAX], n = 0;

    for (uint32_t d = 0; d < f->disks; d++)
        if (f->header.only_disks == 0 || f->header.only_disks >> d & 1 || f->disk[d] == f->home)
            disk[n++] = f->disk[d];
    return cfs_ask_all(disk, n, N_CSYNC, cfs_request_of(f, 0, 0));
}
