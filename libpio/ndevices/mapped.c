/*
 * The mapped driver (mapped.h).
 *
 * Byte y of an element lies at byte x of the file, by the pattern ("effectively seeks through the file", [P1 section
 * 2.6]). A transfer of [y, y + n) is a list of runs: bytes that lie together in both. A driver whose server knows views
 * gets the element once, and the server moves the runs. For another driver, writes go run by run, since other processes
 * write what lies between at the same time; reads of short runs take what lies between along, and leave it.
 */
#include "libpio/ndevices/mapped.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define SIEVE_BYTES 16384 /* read at once for short runs */
#define SHORT_BYTES 2048  /* runs from this length on are read straight to where they belong */

struct mapped {
    const struct ndevice *below;
    void *state;
    const struct pattern *pattern;
    int32_t element;
    struct plan *plan; /* what the element has of it; NULL: there is no such element, which has nothing */
    off_t at;          /* the descriptor's offset, in the element */
    bool viewed;       /* the driver below sees the element */
    bool has_all;      /* the element has the whole file, from the displacement on */
};

const struct pattern *mapped_pattern(const struct mapped *m)
{
    return m->pattern;
}

const struct ndevice *mapped_below(const struct mapped *m, void **state)
{
    *state = m->state;
    return m->below;
}

void mapped_end(struct mapped *m)
{
    if (m->viewed)
        m->below->setview(m->state, NULL, 0);
    mapped_free(m);
}

/* Gives the element to the driver below, if it takes it. What it had before is gone in any case. */
static void set_view(struct mapped *m)
{
    int64_t bytes = pattern_pack(m->pattern, m->element, NULL, 0);
    void *packed = bytes > 0 ? malloc((size_t)bytes) : NULL;

    if (packed && pattern_pack(m->pattern, m->element, packed, (size_t)bytes) == bytes)
        m->viewed = m->below->setview(m->state, packed, (size_t)bytes) == 0;
    if (!m->viewed)
        m->below->setview(m->state, NULL, 0);
    free(packed);
}

void mapped_free(struct mapped *m)
{
    if (m->plan)
        plan_free(m->plan);
    free(m);
}

/* Makes the plan of an element, and lets the driver below see it if that can. */
static int map_element(struct mapped *m)
{
    const struct pattern *pattern = m->pattern;
    int result = plan_make_file(pattern, m->element, &m->plan);

    if (result < 0)
        return result;
    m->has_all = pattern->element[m->element].ascending && pattern->element[m->element].bytes == pattern->period;
    if (!m->has_all && m->below->setview)
        set_view(m);
    return 0;
}

int mapped_new(const struct ndevice *below, void *state, const struct pattern *pattern, int32_t element,
               struct mapped **mapped)
{
    if (element < 0)
        return -EINVAL;
    if (!below->pread || !below->pwrite)
        return -ENOTSUP;
    if (below->lseek && below->lseek(state, 0, SEEK_CUR) == -ESPIPE)
        return -ESPIPE; /* a terminal, or a pipe of Unix */
    struct mapped *m = calloc(1, sizeof *m);
    if (!m)
        return -ENOMEM;
    *m = (struct mapped){.below = below, .state = state, .pattern = pattern, .element = element};
    int result = element < pattern->elements ? map_element(m) : 0;
    if (result < 0) {
        mapped_free(m);
        return result;
    }
    if (below->setview && !m->viewed)
        below->setview(state, NULL, 0);
    *mapped = m;
    return 0;
}

/* ---- Transfers ---- */

struct transfer {
    const struct mapped *m;
    bool write;
    char *buf;              /* of the caller, for own bytes from..to-1 */
    int64_t from, to;       /* in the element */
    int64_t stop;           /* the lowest own byte that could not be moved; `to` if there is none */
    int error;              /* the reason: a negative errno, or 0 at the file's end */
    struct plan_run joined; /* runs that touch, not moved yet */
    int64_t end;            /* of the file range that the transfer spans */
    char *sieve;            /* SIEVE_BYTES, or NULL: nothing was sieved */
    int64_t sieve_at, sieve_bytes;
};

static void stop_at(struct transfer *t, int64_t own, ssize_t result)
{
    if (own >= t->stop)
        return;
    t->stop = own;
    t->error = result < 0 ? (int)result : 0;
}

/* Moves n bytes between buf and the file, in as many calls as it takes. Returns how many, and the last call's result.
 */
static int64_t move_all(const struct mapped *m, bool write, int64_t file, char *buf, int64_t n, ssize_t *result)
{
    const struct ndevice *d = m->below;
    int64_t done = 0;

    *result = 0;
    while (done < n) {
        *result = write ? d->pwrite(m->state, buf + done, (size_t)(n - done), file + done)
                        : d->pread(m->state, buf + done, (size_t)(n - done), file + done);
        if (*result <= 0)
            break;
        done += *result;
    }
    return done;
}

/* Reads the file around a short run into the sieve. False: there is no memory for one. */
static bool fill_sieve(struct transfer *t, int64_t file, ssize_t *result)
{
    int64_t n = t->end - file < SIEVE_BYTES ? t->end - file : SIEVE_BYTES;

    if (!t->sieve)
        t->sieve = malloc(SIEVE_BYTES);
    if (!t->sieve)
        return false;
    t->sieve_at = file;
    t->sieve_bytes = move_all(t->m, t->write, file, t->sieve, n, result);
    return true;
}

/* Reads a short run by the sieve. Returns the bytes that came. */
static int64_t read_sieved(struct transfer *t, const struct plan_run *run, char *buf, ssize_t *result)
{
    int64_t done = 0;

    *result = 0;
    while (done < run->bytes) {
        int64_t at = run->file + done - t->sieve_at, left = t->sieve_bytes - at;

        if (at < 0 || left <= 0) {
            if (!fill_sieve(t, run->file + done, result))
                return done + move_all(t->m, t->write, run->file + done, buf + done, run->bytes - done, result);
            if (t->sieve_bytes == 0)
                break;
            continue;
        }
        int64_t n = left < run->bytes - done ? left : run->bytes - done;
        memcpy(buf + done, t->sieve + at, (size_t)n);
        done += n;
    }
    return done;
}

/* Moves the joined run. */
static void move_joined(struct transfer *t)
{
    struct plan_run *run = &t->joined;
    char *buf = t->buf + (run->in[PLAN_B] - t->from);
    ssize_t result;

    if (run->bytes == 0)
        return;
    int64_t done = t->write || run->bytes >= SHORT_BYTES ? move_all(t->m, t->write, run->file, buf, run->bytes, &result)
                                                         : read_sieved(t, run, buf, &result);
    if (done < run->bytes)
        stop_at(t, run->in[PLAN_B] + done, result);
    run->bytes = 0;
}

/* Transfers the part of one run that lies between from and to. After the end of the file the walk goes on only for a
 * permutation, whose order is not the file's: further runs may lie before the end. */
static bool take_run(void *ctx, const struct plan_run *run)
{
    struct transfer *t = ctx;
    struct plan_run *joined = &t->joined;
    int64_t own = run->in[PLAN_B], cut = own < t->from ? t->from - own : 0;
    int64_t bytes = (own + run->bytes < t->to ? own + run->bytes : t->to) - own - cut;

    if (bytes <= 0)
        return true;
    if (joined->bytes > 0 && joined->file + joined->bytes == run->file + cut &&
        joined->in[PLAN_B] + joined->bytes == own + cut) {
        joined->bytes += bytes;
        return true;
    }
    move_joined(t);
    *joined = (struct plan_run){run->file + cut, {0, own + cut}, bytes};
    return t->stop == t->to || (t->error == 0 && !t->m->pattern->element[t->m->element].ascending);
}

/* The file range in which own bytes from..to-1 lie. False: the element has none. */
static bool find_span(const struct mapped *m, int64_t from, int64_t to, int64_t *begin, int64_t *end)
{
    const struct falls_set *set = &m->pattern->element[m->element];

    if (set->bytes == 0)
        return false;
    if (set->ascending) {
        *begin = pattern_file(m->pattern, m->element, from);
        *end = pattern_file(m->pattern, m->element, to - 1) + 1;
    } else { /* somewhere in these periods */
        *begin = m->pattern->displacement + from / set->bytes * m->pattern->period;
        *end = m->pattern->displacement + ((to - 1) / set->bytes + 1) * m->pattern->period;
    }
    return true;
}

/* Moves n bytes of the element. Returns how many of them, from the first on, were moved, or a negative errno. */
static ssize_t transfer(const struct mapped *m, bool write, void *buf, size_t n, off_t at)
{
    int64_t begin;
    struct transfer t;

    if (at < 0 || (uint64_t)n > (uint64_t)(PATTERN_OFFSET_MAX / 2) || at > PATTERN_OFFSET_MAX / 2)
        return -EINVAL;
    if (!m->plan)
        return write && n > 0 ? -EINVAL : 0;
    if (m->viewed)
        return write ? m->below->pwrite(m->state, buf, n, at) : m->below->pread(m->state, buf, n, at);
    if (m->has_all) {
        ssize_t result;
        int64_t done = move_all(m, write, m->pattern->displacement + at, buf, (int64_t)n, &result);
        return done > 0 ? done : result;
    }
    t = (struct transfer){.m = m, .write = write, .buf = buf, .from = at};
    t.to = t.stop = at + (int64_t)n;
    if (n == 0)
        return 0;
    if (!find_span(m, at, t.to, &begin, &t.end))
        return write ? -EINVAL : 0;
    plan_runs(m->plan, begin, t.end, take_run, &t);
    move_joined(&t);
    free(t.sieve);
    return t.stop > t.from ? (ssize_t)(t.stop - t.from) : t.error;
}

/* ---- The driver ---- */

static ssize_t mapped_pread(void *state, void *buf, size_t n, off_t at)
{
    return transfer(state, false, buf, n, at);
}

static ssize_t mapped_pwrite(void *state, const void *buf, size_t n, off_t at)
{
    return transfer(state, true, (void *)buf, n, at); /* which a write only reads */
}

static ssize_t mapped_read(void *state, void *buf, size_t n)
{
    struct mapped *m = state;
    ssize_t got = transfer(m, false, buf, n, m->at);

    m->at += got > 0 ? got : 0;
    return got;
}

static ssize_t mapped_write(void *state, const void *buf, size_t n)
{
    struct mapped *m = state;
    ssize_t put = transfer(m, true, (void *)buf, n, m->at);

    m->at += put > 0 ? put : 0;
    return put;
}

/* Returns the number of own bytes below the file's end. */
static off_t own_end(const struct mapped *m)
{
    struct stat st;
    int result = m->below->fstat ? m->below->fstat(m->state, &st) : -ENOTSUP;

    return result < 0 ? result : m->plan ? plan_bytes(m->plan, st.st_size) : 0;
}

static off_t mapped_lseek(void *state, off_t offset, int whence)
{
    struct mapped *m = state;
    off_t base = whence == SEEK_CUR ? m->at : whence == SEEK_END ? own_end(m) : 0;

    if (base < 0)
        return base;
    if ((whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END) || offset < -base ||
        offset > PATTERN_OFFSET_MAX / 2 - base)
        return -EINVAL;
    return m->at = base + offset;
}

static int mapped_close(void *state)
{
    struct mapped *m = state;
    int result = m->below->close ? m->below->close(m->state) : 0;

    mapped_free(m);
    return result;
}

/* Calls that concern the whole file, not the element, are passed to the driver below. */
#define BELOW(type, entry, missing, parameters, ...)                                                \
    static type mapped_##entry parameters                                                           \
    {                                                                                               \
        const struct mapped *m = state;                                                             \
                                                                                                    \
        return m->below->entry ? m->below->entry(m->state __VA_OPT__(, ) __VA_ARGS__) : -(missing); \
    }

BELOW(int, fstat, ENOTSUP, (void *state, struct stat *st), st)
BELOW(int, fstatfs, ENOTSUP, (void *state, struct statfs *st), st)
BELOW(int, ftruncate, ENOTSUP, (void *state, off_t size), size)
BELOW(int, fsync, ENOTSUP, (void *state))
BELOW(int, fsetattr, ENOTSUP, (void *state, const struct nattr *attr), attr)
BELOW(int, ioctl, ENOTTY, (void *state, int request, void *arg), request, arg)
BELOW(int, ionode, ENOTSUP, (void *state))

const struct ndevice mapped_device = {
    .name = "mapped",
    .close = mapped_close,
    .read = mapped_read,
    .write = mapped_write,
    .pread = mapped_pread,
    .pwrite = mapped_pwrite,
    .lseek = mapped_lseek,
    .fstat = mapped_fstat,
    .fstatfs = mapped_fstatfs,
    .ftruncate = mapped_ftruncate,
    .fsync = mapped_fsync,
    .fsetattr = mapped_fsetattr,
    .ioctl = mapped_ioctl,
    .ionode = mapped_ionode,
};
