/*
 * nfailed of <nio.h>.
 */
#include <n_errno.h>
#include <nio.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "images/lib/traps/failure.h"
#include "vertex/contract/traps.h"
#include "vertex/shared/node_name.h"

#define TEXT_BYTES   512
#define VOLUME_BYTES 16

/* Finds the volume in "//volume/...", or that of the working directory. Returns false for a file of the front end. */
static bool find_volume(const char *path, char *volume)
{
    char directory[FILE_NAME_MAX_BYTES + 1];

    if (path[0] != '/' && trap_fdpath(-1, directory, sizeof directory) >= 0)
        path = directory;
    if (strncmp(path, "//", 2) != 0)
        return false;
    size_t n = strcspn(path + 2, "/");
    if (n >= VOLUME_BYTES)
        n = VOLUME_BYTES - 1;
    memcpy(volume, path + 2, n);
    volume[n] = '\0';
    return true;
}

static bool volume_is_missing(const char *volume)
{
    char root[VOLUME_BYTES + 3];
    struct file_stat st;

    snprintf(root, sizeof root, "//%s", volume);
    return trap_stat(root, &st) == -N_ENOENT;
}

/* The front end's root can be opened only if it serves a folder. */
static bool serves_no_folder(void)
{
    struct file_stat st;

    return trap_stat("/", &st) == -N_EACCES;
}

/* Writes " on I/O node 3 of board 1", for a descriptor that is still open. */
static void describe_node(int fd, char *text, size_t bytes)
{
    int node = fd < 0 ? -1 : ionode(fd);
    char name[NODE_NAME_BYTES] = "";

    if (node >= 0 && NODE_IS_IO((uint32_t)node))
        node_name((uint32_t)node, name);
    snprintf(text, bytes, "%s%s", name[0] ? " on " : "", name);
}

static void describe_why(const struct failure *f, char *text, size_t bytes)
{
    char volume[VOLUME_BYTES], node[48];

    if (f->path[0] == '\0' && f->fd < 0) { /* of the node itself */
        snprintf(text, bytes, "%s", n_strerror(f->error));
    } else if (!find_volume(f->path, volume)) {
        if (f->error == N_EACCES && serves_no_folder()) {
            snprintf(text, bytes, "front end: no folder is served: give --serve DIR");
            return;
        }
        bool of_node = f->error == N_EBADF || f->error == N_EFAULT; /* errors of the node itself */
        snprintf(text, bytes, "%s%s", of_node ? "" : "front end: ", n_strerror(f->error));
    } else if (f->fd < 0 && f->error == N_ENOENT && volume_is_missing(volume)) {
        snprintf(text, bytes, "there is no volume %s in this machine", volume);
    } else {
        describe_node(f->fd, node, sizeof node);
        snprintf(text, bytes, "volume %s%s: %s", volume, node, n_strerror(f->error));
    }
}

const char *nfailed(void)
{
    static char text[TEXT_BYTES];
    const struct failure *f = failure_last();
    char why[TEXT_BYTES / 4];

    text[0] = '\0';
    if (!f->call)
        return text;
    describe_why(f, why, sizeof why);
    if (f->path[0] == '\0' && f->fd >= 0)
        snprintf(text, sizeof text, "%s descriptor %d: %s", f->call, f->fd, why);
    else if (f->path[0] == '\0')
        snprintf(text, sizeof text, "%s: %s", f->call, why);
    else
        snprintf(text, sizeof text, "%s %.*s: %s", f->call, FAILURE_PATH_BYTES, f->path, why);
    return text;
}
