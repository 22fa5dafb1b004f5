#include "emu/hostfs/seen.h"

#include <stdlib.h>
#include <string.h>

#include "vertex/contract/machine.h"

#define LAST_RESERVED 15u /* the standard streams have numbers below */
#define FIRST_CHAINS  64u
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
    for (uint32_t i = 0; i < s->chains; i++)
        for (struct seen_file *f; (f = SLIST_FIRST(&s->chain[i]));) {
            SLIST_REMOVE_HEAD(&s->chain[i], in_chain);
            free(f);
        }
    free(s->chain);
    free(s->spare);
    memset(s, 0, sizeof *s);
}

static struct seen_chain *chain_of(struct seen_chain *chain, uint32_t chains, dev_t dev, ino_t ino)
{
    return &chain[(ino ^ dev) % chains];
}

static bool grow(struct seen *s)
{
    uint32_t chains = s->chains ? 2 * s->chains : FIRST_CHAINS;
    struct seen_chain *chain = calloc(chains, sizeof *chain);

    if (!chain)
        return false;
    for (uint32_t i = 0; i < s->chains; i++)
        for (struct seen_file *f; (f = SLIST_FIRST(&s->chain[i]));) {
            SLIST_REMOVE_HEAD(&s->chain[i], in_chain);
            SLIST_INSERT_HEAD(chain_of(chain, chains, f->dev, f->ino), f, in_chain);
        }
    free(s->chain);
    s->chain = chain;
    s->chains = chains;
    return true;
}

bool seen_reserve(struct seen *s)
{
    if (s->count >= s->chains && !grow(s))
        return false;
    if (!s->spare)
        s->spare = malloc(sizeof *s->spare);
    return s->spare != NULL;
}

static struct seen_file *find(struct seen *s, dev_t dev, ino_t ino)
{
    struct seen_chain *chain = chain_of(s->chain, s->chains, dev, ino);
    struct seen_file *f;

    SLIST_FOREACH(f, chain, in_chain)
        if (f->dev == dev && f->ino == ino)
            return f;
    f = s->spare;
    s->spare = NULL;
    *f = (struct seen_file){.dev = dev, .ino = ino, .number = ++s->last_number};
    SLIST_INSERT_HEAD(chain, f, in_chain);
    s->count++;
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
    f->is_timed = true;
    f->mtime_s = 0;
}

void seen_change(struct seen *s, dev_t dev, ino_t ino)
{
    struct seen_file *f = find(s, dev, ino);

    f->is_timed = true;
    f->mtime_s = 0;
}

void seen_set_time(struct seen *s, const struct stat *st, int64_t mtime_s)
{
    struct seen_file *f = find(s, st->st_dev, st->st_ino);

    f->is_timed = true;
    f->mtime_s = mtime_s;
}
