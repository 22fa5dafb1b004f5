#include "emu/hostfs/hostfiles.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

static struct host_file_chain *chain_of(struct host_files *h, dev_t dev, ino_t ino)
{
    return &h->chain[(ino ^ dev) % HOST_FILES_CHAINS];
}

static bool is_same(const struct host_file *f, const struct host_file *other)
{
    return f->dev == other->dev && f->ino == other->ino;
}

static struct host_file *find(struct host_files *h, const struct host_file *wanted)
{
    for (struct host_file *f = LIST_FIRST(chain_of(h, wanted->dev, wanted->ino)); f; f = LIST_NEXT(f, entry))
        if (f->shared && is_same(f, wanted) && f->access == wanted->access)
            return f;
    return NULL;
}

static void stop_sharing(struct host_files *h, const struct host_file *written)
{
    for (struct host_file *f = LIST_FIRST(chain_of(h, written->dev, written->ino)); f; f = LIST_NEXT(f, entry))
        if (is_same(f, written) && f->access == O_RDONLY)
            f->shared = false;
}

static int look_at(int fd, struct host_file *f)
{
    struct stat st;
    int flags = fcntl(fd, F_GETFL);

    if (flags < 0 || fstat(fd, &st) < 0)
        return -1;
    *f = (struct host_file){
        .fd = fd, .dev = st.st_dev, .ino = st.st_ino, .access = flags & O_ACCMODE, .shared = true, .users = 1};
    return 0;
}

static struct host_file *add(struct host_files *h, const struct host_file *fresh)
{
    struct host_file *f = malloc(sizeof *f);

    if (!f)
        return NULL;
    if (fresh->access != O_RDONLY)
        stop_sharing(h, fresh);
    *f = *fresh;
    LIST_INSERT_HEAD(chain_of(h, f->dev, f->ino), f, entry);
    h->count++;
    return f;
}

struct host_file *host_files_take(struct host_files *h, int fd)
{
    struct host_file fresh, *f;

    if (look_at(fd, &fresh) == 0) {
        if ((f = find(h, &fresh))) {
            f->users++;
            close(fd);
            return f;
        }
        if ((f = add(h, &fresh)))
            return f;
    }
    int reason = errno;
    close(fd);
    errno = reason;
    return NULL;
}

int host_files_release(struct host_files *h, struct host_file *f)
{
    if (--f->users > 0)
        return 0;
    LIST_REMOVE(f, entry);
    int result = close(f->fd), reason = errno;
    free(f);
    h->count--;
    errno = reason;
    return result;
}
