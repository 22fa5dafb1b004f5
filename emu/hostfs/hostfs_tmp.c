/*
 * Requests that name a file in "/tmp", where that is in memory (tmpfiles.h) and not in the served folder. Each function
 * runs one operation of the table in hostfs.c; its request has been checked.
 */
#include "emu/hostfs/hostfs_calls.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Returns the part of a name behind "/tmp/", "" for the folder itself, or NULL if the name is elsewhere. */
const char *hostfs_name_in_tmp(const struct hostfs *s, const char *name)
{
    if (!s->has_tmp)
        return NULL;
    while (name[0] == '/' || (name[0] == '.' && name[1] == '/'))
        name++;
    if (strncmp(name, "tmp", 3) != 0 || (name[3] != '/' && name[3] != '\0'))
        return NULL;
    name += 3;
    return name + strspn(name, "/");
}

int32_t hostfs_tmp_open(struct hostfs *s, struct hostfs_call *c)
{
    const char *name = hostfs_name_in_tmp(s, c->name);
    uint64_t number;
    int32_t index = hostfs_begin_open(s, c);

    if (index < 0)
        return index;
    if (name[0] == '\0')
        return (c->request.flags & N_O_ACCMODE) == N_O_RDONLY ? -N_EACCES : -N_EISDIR;
    if (c->request.flags & N_O_DIRECTORY)
        return tmp_files_find(&s->tmp, name) ? -N_ENOTDIR : -N_ENOENT;
    bool made = !tmp_files_find(&s->tmp, name);
    int fd =
        tmp_files_open(&s->tmp, name, hostfs_host_flags(c->request.flags), c->request.mode & HOSTFS_MODE_BITS, &number);
    return fd < 0 ? fd : hostfs_end_open(s, c, index, fd, made, number);
}

int32_t hostfs_tmp_stat(struct hostfs *s, struct hostfs_call *c)
{
    const char *name = hostfs_name_in_tmp(s, c->name);
    const struct tmp_file *f = tmp_files_find(&s->tmp, name);
    const struct file_stat folder = {
        .ino = HOSTFS_TMP_INO, .mode = S_IFDIR | 01777, .nlink = 2, .block_bytes = SEEN_BLOCK_BYTES, .dev = HOSTFS_DEV};

    if (name[0] != '\0')
        return f ? hostfs_return_stat(s, c, f->fd, f->number) : -N_ENOENT;
    hostfs_return_payload(c, &folder, sizeof folder);
    return 0;
}

int32_t hostfs_tmp_access(struct hostfs *s, struct hostfs_call *c)
{
    const char *name = hostfs_name_in_tmp(s, c->name);
    const struct tmp_file *f = tmp_files_find(&s->tmp, name);
    struct stat st = {.st_mode = S_IFDIR | 01777};

    if (name[0] != '\0' && !f)
        return -N_ENOENT;
    if (f)
        fstat(f->fd, &st); /* cannot fail: it is open */
    return hostfs_check_access(st.st_mode, c->request.mode);
}

int32_t hostfs_tmp_unlink(struct hostfs *s, struct hostfs_call *c)
{
    const char *name = hostfs_name_in_tmp(s, c->name);

    return name[0] == '\0' ? -N_EISDIR : tmp_files_unlink(&s->tmp, name);
}

int32_t hostfs_tmp_rename(struct hostfs *s, struct hostfs_call *c)
{
    const char *from = hostfs_name_in_tmp(s, c->name), *to = hostfs_name_in_tmp(s, c->name2);

    if (!from || !to)
        return -N_EXDEV;
    if (from[0] == '\0' || to[0] == '\0')
        return -N_EBUSY;
    return strchr(to, '/') ? -N_ENOENT : tmp_files_rename(&s->tmp, from, to);
}

int32_t hostfs_tmp_make_folder(struct hostfs *s, struct hostfs_call *c)
{
    return hostfs_name_in_tmp(s, c->name)[0] == '\0' ? -N_EEXIST : -N_EPERM;
}

int32_t hostfs_tmp_readlink(struct hostfs *s, struct hostfs_call *c)
{
    const char *name = hostfs_name_in_tmp(s, c->name);

    return name[0] == '\0' || tmp_files_find(&s->tmp, name) ? -N_EINVAL : -N_ENOENT;
}

int32_t hostfs_tmp_set_attributes(struct hostfs *s, struct hostfs_call *c)
{
    const struct tmp_file *f = tmp_files_find(&s->tmp, hostfs_name_in_tmp(s, c->name));

    return f ? hostfs_set_attributes_of(s, c, f->fd) : -N_ENOENT;
}
