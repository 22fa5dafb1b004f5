#include "emu/hostfs/seen.h"

#include <stdlib.h>
#include <string.h>

#include "vertex/contract/machine.h"

#define LAST_RESERVED 15u /* the standard streams have numbers below */
#define MODE_BITS     (S_IFMT | 0777u)

struct seen_file {
    SLIST_ENTRY(seen_file) in_chain;
    dev_t dev;
    ino_t ino;
    uint64_t number;
    int64_t mtime_s; /* if is_timed */
    bool is_timed;   /* by the program; else by the host */
};

void seen_start(struct seen *s)
{
    s->last_number = LAST_RESERVED;
    clock_gettime(CLOCK_REALTIME,
                  &s->began); /* the exact clock: a coarse one lies behind files that were just written */
}

void seen_free(struct seen *s)
{
    for (uint32_t i = 0; i < SEEN_CHAINS; i++)
        for (struct seen_file *f; (f = SLIST_FIRST(&s->chain[i]));) {
            SLIST_REMOVE_HEAD(&s->chain[i], in_chain);
            free(f);
        }
    free(s->spare);
    memset(s, 0, sizeof *s);
}

bool seen_reserve(struct seen *s)
{
    if (!s->spare)
        s->spare = malloc(sizeof *s->spare);
    return s->spare != NULL;
}

static struct seen_file *find(struct seen *s, dev_t dev, ino_t ino)
{
    struct seen_chain *chain = &s->chain[(ino ^ dev) % SEEN_CHAINS];
    struct seen_file *f;

    SLIST_FOREACH(f, chain, in_chain)
        if (f->dev == dev && f->ino == ino)
            return f;
    f = s->spare;
    s->spare = NULL;
    *f = (struct seen_file){.dev = dev, .ino = ino, .number = ++s->last_number};
    SLIST_INSERT_HEAD(chain, f, in_chain);
    return f;
}

uint64_t seen_number(struct seen *s, const struct stat *st)
{
    return find(s, st->st_dev, st->st_ino)->number;
}

/* A time before the start of the machine is input, like the file's bytes. A later time would depend on the host's
 * clock. */
static int64_t host_time(const struct seen *s, const struct timespec *t)
{
    bool later = t->tv_sec > s->began.tv_sec || (t->tv_sec == s->began.tv_sec && t->tv_nsec > s->began.tv_nsec);

    return later ? 0 : t->tv_sec;
}

void seen_describe(struct seen *s, const struct stat *st, struct file_stat *out)
{
    const struct seen_file *f = find(s, st->st_dev, st->st_ino);
    bool folder = S_ISDIR(st->st_mode), device = S_ISCHR(st->st_mode);
    uint64_t size = folder ? SEEN_BLOCK_BYTES : (uint64_t)st->st_size;
    int64_t time = f->is_timed ? f->mtime_s : !S_ISREG(st->st_mode) ? 0 : host_time(s, &st->st_mtim);

    *out = (struct file_stat){
        .size_bytes = size,
        .blocks_512 = (size + 511) / 512,
        .ino = f->number,
        .mode = device ? S_IFCHR | 0666 : st->st_mode & MODE_BITS,
        .nlink = device   ? 1
                 : folder ? 2
                          : st->st_nlink,
        .block_bytes = SEEN_BLOCK_BYTES,
        .dev = NODE_HOST << 8,
        .atime_s = time, /* reading does not change it */
        .mtime_s = time,
        .ctime_s = time, /* the host's says when the file was copied to this host */
    };
}

void seen_make(struct seen *s, const struct stat *st)
{
    uint64_t last = s->last_number;
    struct seen_file *f = find(s, st->st_dev, st->st_ino);

    if (f->number <= last)
        f->number = ++s->last_number;
    seen_change(s, st->st_dev, st->st_ino);
}

void seen_change(struct seen *s, dev_t dev, ino_t ino)
{
    struct seen_file *f = find(s, dev, ino);

    f->is_timed = true;
    f->mtime_s = 0;
}

void seen_set_time(struct seen *s, const struct stat *st, int64_t mtime_s)
{
    seen_change(s, st->st_dev, st->st_ino);
    find(s, st->st_dev, st->st_ino)->mtime_s = mtime_s;
}
