/* The volumes of the fake machine: names and files in memory. */
#include "tests/libpio/fake_state.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct volume volumes[FAKE_VOLUMES];
struct inode inodes[INODES];
struct name names[NAMES];
struct fd fds[FDS];
struct request requests[REQUESTS];
int n_requests, lose_in, view_error;
int at_call_in;
bool locked;
bool writes_arrived;
void (*at_call_action)(void);
int (*choose_node)(int options);
struct fake_counts counts;

void fake_count_call(void)
{
    counts.calls++;
    if (at_call_in >= 0 && at_call_in-- == 0)
        at_call_action();
}

int fake_split(const char *path, const char **name)
{
    int volume;

    if (sscanf(path, "//df%02d/", &volume) != 1 || volume >= FAKE_VOLUMES || !volumes[volume].present)
        return -ENOENT;
    *name = path + strlen("//df00");
    return volumes[volume].calls_error ? volumes[volume].calls_error : volume;
}

int fake_check_writable(int volume)
{
    return volumes[volume].read_only ? -EROFS : 0;
}

struct name *fake_find_name(int volume, const char *path)
{
    for (int i = 0; i < NAMES; i++)
        if (names[i].path[0] && names[i].volume == volume && strcmp(names[i].path, path) == 0)
            return &names[i];
    return NULL;
}

void fake_add_name(int volume, const char *path, int inode)
{
    int i = 0;

    while (names[i].path[0])
        i++;
    names[i] = (struct name){.volume = volume, .inode = inode};
    snprintf(names[i].path, sizeof names[i].path, "%s", path);
}

int fake_new_inode(int volume)
{
    for (int i = 0; i < INODES; i++)
        if (!inodes[i].data) {
            inodes[i] = (struct inode){.data = calloc(1, 1), .volume = volume, .mode = 0644};
            return i;
        }
    abort();
}

void fake_set_size(struct inode *inode, int64_t size)
{
    char *data = calloc(1, size + 1);

    memcpy(data, inode->data, size < inode->size ? size : inode->size);
    free(inode->data);
    inode->data = data;
    inode->size = size;
}

static int64_t used_bytes(int volume)
{
    int64_t used = 0;

    for (int i = 0; i < INODES; i++)
        if (inodes[i].data && inodes[i].volume == volume)
            used += inodes[i].size;
    return used;
}

int fake_write_bytes(struct inode *inode, int64_t offset, const char *data, int n)
{
    int64_t left = volumes[inode->volume].largest - offset;
    int64_t room = volumes[inode->volume].capacity - used_bytes(inode->volume) + inode->size - offset;

    if (n > 0 && left <= 0)
        return -EFBIG;
    if (n > left)
        n = left;
    if (offset + n > inode->size && n > room)
        n = room < 0 ? 0 : room;
    if (n > 0 && offset + n > inode->size)
        fake_set_size(inode, offset + n);
    memcpy(inode->data + offset, data, n);
    return n;
}

int fake_read_bytes(const struct inode *inode, int64_t offset, char *data, int n)
{
    int64_t left = inode->size - offset;

    if (left < 0)
        left = 0;
    if (n > left)
        n = left;
    if (n > 0)
        memcpy(data, inode->data + offset, n);
    return n;
}

/* Byte by byte: the reference for what a server does by runs. */
int fake_write_view(struct inode *inode, const struct pattern *view, int64_t offset, const char *data, int n)
{
    int done = 0;

    while (done < n && fake_write_bytes(inode, pattern_file(view, 0, offset + done), data + done, 1) == 1)
        done++;
    return done;
}

int fake_read_view(const struct inode *inode, const struct pattern *view, int64_t offset, char *data, int n)
{
    int done = 0;

    while (done < n && fake_read_bytes(inode, pattern_file(view, 0, offset + done), data + done, 1) == 1)
        done++;
    return done;
}
