/* Requests that name a file or a folder below the served folder. Each function runs one operation of the table in
 * hostfs.c; its request has been checked. Every host name goes through beneath.c. */
#include "emu/hostfs/hostfs_calls.h"

#include <fcntl.h>
#include <unistd.h>

#include "emu/hostfs/errmap.h"

/* Opens the file of the call's name, or with N_O_NOFOLLOW the symbolic link itself. A descriptor or a negative
 * n_error. */
static int open_named(const struct hostfs *s, const struct hostfs_call *c)
{
    return hostfs_open_host(s, c->name, O_PATH | (c->request.flags & N_O_NOFOLLOW ? O_NOFOLLOW : 0), 0);
}

int32_t hostfs_stat_name(struct hostfs *s, struct hostfs_call *c)
{
    int fd = open_named(s, c);

    if (fd < 0)
        return fd;
    int32_t result = hostfs_return_stat(s, c, fd, 0);
    close(fd);
    return result;
}

int32_t hostfs_access(struct hostfs *s, struct hostfs_call *c)
{
    struct stat st;
    int fd = hostfs_open_host(s, c->name, O_PATH, 0);

    if (fd < 0)
        return fd;
    int32_t result = errmap_result(fstat(fd, &st));
    close(fd);
    return result < 0 ? result : hostfs_check_access(st.st_mode, c->request.mode);
}

int32_t hostfs_unlink(struct hostfs *s, struct hostfs_call *c)
{
    return beneath_remove(&s->folder, c->name, 0);
}

int32_t hostfs_remove_folder(struct hostfs *s, struct hostfs_call *c)
{
    return beneath_remove(&s->folder, c->name, AT_REMOVEDIR);
}

int32_t hostfs_make_folder(struct hostfs *s, struct hostfs_call *c)
{
    struct stat made;
    int32_t result = beneath_mkdir(&s->folder, c->name, c->request.mode & HOSTFS_MODE_BITS, &made);

    if (result == 0)
        seen_make(&s->seen, &made);
    return result;
}

int32_t hostfs_rename(struct hostfs *s, struct hostfs_call *c)
{
    return beneath_rename(&s->folder, c->name, c->name2);
}

int32_t hostfs_link(struct hostfs *s, struct hostfs_call *c)
{
    return beneath_link(&s->folder, c->name, c->name2);
}

int32_t hostfs_symlink(struct hostfs *s, struct hostfs_call *c)
{
    char text[FILE_NAME_MAX_BYTES + 1];
    struct stat made;

    if (c->request.bytes > FILE_NAME_MAX_BYTES)
        return -N_ENAMETOOLONG;
    if (!hostfs_take_name(text, c->data, c->request.bytes))
        return -N_EPROTO;
    int32_t result = beneath_symlink(&s->folder, text, c->name, &made);
    if (result == 0)
        seen_make(&s->seen, &made);
    return result;
}

int32_t hostfs_readlink(struct hostfs *s, struct hostfs_call *c)
{
    int32_t n = beneath_readlink(&s->folder, c->name, (char *)c->payload, c->request.bytes);

    c->payload_bytes = n < 0 ? 0 : n;
    return n;
}

/* Does nothing: all written bytes are in the host's kernel. */
int32_t hostfs_sync_all(struct hostfs *s, struct hostfs_call *c)
{
    (void)s, (void)c;
    return 0;
}

int32_t hostfs_set_attributes_of_name(struct hostfs *s, struct hostfs_call *c)
{
    int fd = open_named(s, c);

    if (fd < 0)
        return fd;
    int32_t result = hostfs_set_attributes_of(s, c, fd);
    close(fd);
    return result;
}

/* The free space of the host's disk varies from run to run. So every host's disk has a terabyte, all free. */
int32_t hostfs_stat_folder(struct hostfs *s, struct hostfs_call *c)
{
    static const struct file_statfs out = {
        .blocks = 1u << 28,
        .blocks_free = 1u << 28,
        .inodes = 1u << 28,
        .inodes_free = 1u << 28,
        .block_bytes = SEEN_BLOCK_BYTES,
    };

    if (s->folder.root < 0)
        return -N_EACCES;
    hostfs_return_payload(c, &out, sizeof out);
    return 0;
}
