/*
 * Each step is drawn, done to the streams in memory, and to the file; then what the call says is compared.
 */
#include "tests/libpio/star_program.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define LENGTH_MAX 6000 /* of a stream */
#define MOVE_MAX   64   /* bytes of a VP in one call */

struct run {
    struct star_program *p;
    uint64_t state;
    uint32_t step;
    struct cs_shape *shape;
    CS_FILE *f;
    long local;
    long *number;     /* [local] */
    char *memory;     /* [local] elements of `stride` bytes */
    const char *type; /* of the open file */
    bool ended[200];  /* EOF of each VP */
};

static uint32_t draw(struct run *r, uint32_t below)
{
    r->state = r->state * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(r->state >> 33) % below;
}

__attribute__((format(printf, 2, 3))) static bool fail(struct run *r, const char *format, ...)
{
    va_list arguments;
    int n = snprintf(r->p->why, sizeof r->p->why, "seed %u, step %u: ", r->p->seed, r->step);

    va_start(arguments, format);
    vsnprintf(r->p->why + n, sizeof r->p->why - (size_t)n, format, arguments);
    va_end(arguments);
    return false;
}

static unsigned char byte_of(uint32_t step, long vp, long i)
{
    return (unsigned char)(((uint32_t)vp * 2654435761u + step * 40503u + (uint32_t)i * 2246822519u) >> 21 | 1);
}

static bool reads(const struct run *r)
{
    return r->type[0] == 'r' || strchr(r->type, '+');
}

static bool writes(const struct run *r)
{
    return r->type[0] != 'r' || strchr(r->type, '+');
}

/* ---- The streams ---- */

static void stream_write(struct star_stream *s, bool appends, uint32_t step, long vp, long n)
{
    s->at = appends ? s->length : s->at;
    for (long i = 0; i < n; i++)
        s->bytes[s->at + i] = byte_of(step, vp, i);
    s->at += n;
    s->length = s->at > s->length ? s->at : s->length;
}

static long stream_read(struct star_stream *s, unsigned char *to, long n)
{
    long left = s->length > s->at ? s->length - s->at : 0;

    n = n < left ? n : left;
    memcpy(to, s->bytes + s->at, (size_t)n);
    s->at += n;
    return n;
}

/* ---- Calls ---- */

static struct cs_par variable(const struct run *r, long stride)
{
    return (struct cs_par){r->memory, stride, r->shape};
}

static bool write_some(struct run *r, int size, int nitems, long stride, bool by_par)
{
    long n = (long)size * nitems, done = nitems;

    for (long i = 0; i < r->local; i++)
        for (long k = 0; k < n; k++)
            r->memory[i * stride + k] = (char)byte_of(r->step, r->number[i], k);
    if (!r->p->only_streams && by_par) {
        int *numbers = malloc((size_t)(3 * r->local + 1) * sizeof *numbers), *items = numbers + 2 * r->local;

        for (long i = 0; i < r->local; i++)
            numbers[i] = size, numbers[r->local + i] = nitems, items[i] = -7;
        done = cs_fwrite_par(variable(r, stride), numbers, numbers + r->local, r->f, items) < 0 ? -1 : nitems;
        for (long i = 0; i < r->local; i++)
            done = n > 0 && done >= 0 && items[i] != nitems ? items[i] : done;
        free(numbers);
    } else if (!r->p->only_streams) {
        done = cs_fwrite(variable(r, stride), size, nitems, r->f);
    }
    if (!writes(r))
        return r->p->only_streams || (done == -1 && errno == EBADF) ||
               fail(r, "written %ld to a file for reading", done);
    if (done != nitems)
        return fail(r, "written %ld of %d items of %d bytes: %s", done, nitems, size, strerror(errno));
    for (long vp = 0; vp < r->p->vps && n > 0; vp++)
        stream_write(&r->p->stream[vp], r->type[0] == 'a', r->step, vp, n);
    return true;
}

static bool read_some(struct run *r, int size, int nitems, long stride)
{
    long n = (long)size * nitems, least = nitems, done = 0;
    unsigned char wanted[MOVE_MAX], *at = (unsigned char *)r->memory;

    if (!r->p->only_streams)
        done = cs_fread(variable(r, stride), size, nitems, r->f);
    if (!reads(r))
        return r->p->only_streams || (done == -1 && errno == EBADF) || fail(r, "read %ld of a file for writing", done);
    for (long vp = 0, i = 0; vp < r->p->vps; vp++) {
        long got = stream_read(&r->p->stream[vp], wanted, n);

        r->ended[vp] = r->ended[vp] || got < n;
        if (r->p->only_streams || i >= r->local || r->number[i] != vp)
            continue;
        if (got == n && memcmp(at + i * stride, wanted, (size_t)n) != 0)
            return fail(r, "VP %ld has not read its bytes %ld to %ld", vp, r->p->stream[vp].at - n,
                        r->p->stream[vp].at);
        least = size > 0 && got / size < least ? got / size : least;
        i++;
    }
    return r->p->only_streams || done == least || fail(r, "read %ld items, not %ld: %s", done, least, strerror(errno));
}

static bool seek_some(struct run *r, long offset, int whence)
{
    if (!r->p->only_streams && cs_fseek(r->f, offset, whence) < 0)
        return fail(r, "seek to %ld, %d: %s", offset, whence, strerror(errno));
    for (long vp = 0; vp < r->p->vps; vp++) {
        struct star_stream *s = &r->p->stream[vp];

        s->at = offset + (whence == SEEK_SET ? 0 : whence == SEEK_CUR ? s->at : s->length);
        r->ended[vp] = false;
    }
    return true;
}

/* What each node can ask without the others. */
static bool look(struct run *r)
{
    long *at = malloc((size_t)(r->local + 1) * sizeof *at);
    bool *is = malloc((size_t)r->local + 1), same = true;

    if (r->p->only_streams)
        goto end;
    cs_ftell(r->f, at);
    for (long i = 0; i < r->local && same; i++)
        same = at[i] == r->p->stream[r->number[i]].at ||
               fail(r, "VP %ld is at %ld, not %ld", r->number[i], at[i], r->p->stream[r->number[i]].at);
    cs_feof(r->f, is);
    for (long i = 0; i < r->local && same; i++)
        same = is[i] == r->ended[r->number[i]] || fail(r, "VP %ld: EOF is %d", r->number[i], is[i]);
    cs_ferror(r->f, is);
    for (long i = 0; i < r->local && same; i++)
        same = !is[i] || fail(r, "VP %ld has an error", r->number[i]);
end:
    free(at);
    free(is);
    return same;
}

static bool open_file(struct run *r, const char *type)
{
    r->type = type;
    if (!r->p->only_streams)
        r->f = cs_fopen_with(r->p->name, type, NULL, r->p->o);
    for (long vp = 0; vp < r->p->vps; vp++) {
        r->p->stream[vp].at = type[0] == 'a' ? r->p->stream[vp].length : 0;
        r->ended[vp] = false;
    }
    return r->f || r->p->only_streams || fail(r, "open for %s: %s", type, strerror(errno));
}

static bool close_file(struct run *r)
{
    if (!r->p->only_streams && cs_fclose(r->f) < 0)
        return fail(r, "close: %s", strerror(errno));
    return true;
}

static bool reopen(struct run *r)
{
    static const char *const types[] = {"r", "r+", "a", "a+", "r+b", "rb"};
    const char *type = types[draw(r, sizeof types / sizeof *types)];

    return close_file(r) && open_file(r, type);
}

static bool one_byte(struct run *r)
{
    int *c = (int *)r->memory;
    struct cs_par v = {(char *)c, sizeof *c, r->shape};

    if (draw(r, 2) && writes(r) && r->p->stream[0].length < LENGTH_MAX - MOVE_MAX &&
        r->p->stream[0].at < LENGTH_MAX - MOVE_MAX) {
        for (long i = 0; i < r->local; i++)
            c[i] = byte_of(r->step, r->number[i], 0) | 0x4200;
        if (!r->p->only_streams && cs_fputc(v, r->f) != 0)
            return fail(r, "putc: %s", strerror(errno));
        for (long vp = 0; vp < r->p->vps; vp++)
            stream_write(&r->p->stream[vp], r->type[0] == 'a', r->step, vp, 1);
    } else if (reads(r)) {
        if (!r->p->only_streams && cs_fgetc(v, r->f) != 0)
            return fail(r, "getc: %s", strerror(errno));
        for (long vp = 0, i = 0; vp < r->p->vps; vp++) {
            unsigned char byte;
            int wanted = stream_read(&r->p->stream[vp], &byte, 1) == 1 ? byte : EOF;

            r->ended[vp] = r->ended[vp] || wanted == EOF;
            if (!r->p->only_streams && i < r->local && r->number[i] == vp && c[i++] != wanted)
                return fail(r, "getc of VP %ld gives %d, not %d", vp, c[i - 1], wanted);
        }
    }
    return true;
}

static bool step(struct run *r)
{
    static const int sizes[] = {1, 2, 3, 4, 8, 8, 8, 16, 21};
    int size = sizes[draw(r, 9)], nitems = (int)draw(r, (uint32_t)(MOVE_MAX / size) + 1);
    long stride = (long)size * nitems + (draw(r, 3) == 0 ? draw(r, 9) : 0), most = 0;

    if (draw(r, 3) > 0) /* often the same: NB */
        size = 8, nitems = 1, stride = 8;
    for (long vp = 0; vp < r->p->vps; vp++) {
        long at = r->type[0] == 'a' ? r->p->stream[vp].length : r->p->stream[vp].at;
        most = at > most ? at : most;
    }
    switch (draw(r, 16)) {
    case 0:
        return seek_some(r, (long)draw(r, 300) * (draw(r, 2) ? 8 : 1), SEEK_SET);
    case 1:
        return seek_some(r, draw(r, 2) ? 0 : -(long)draw(r, (uint32_t)r->p->stream[0].length + 1), SEEK_END);
    case 2:
        return seek_some(r, (long)draw(r, 9), draw(r, 4) ? SEEK_CUR : SEEK_END);
    case 3:
        return reopen(r);
    case 4:
        return r->p->only_streams || cs_fflush(r->f) == 0 || fail(r, "flush: %s", strerror(errno));
    case 5:
        return one_byte(r);
    case 6:
        return look(r);
    case 7:
    case 8:
    case 9:
    case 10:
        return read_some(r, size, nitems, stride);
    default:
        return most > LENGTH_MAX - MOVE_MAX || write_some(r, size, nitems, stride, draw(r, 4) == 0);
    }
}

static bool run_steps(struct run *r)
{
    bool passes = open_file(r, draw(r, 2) ? "w+" : "wb+");

    for (r->step = 1; passes && (int)r->step <= r->p->steps; r->step++)
        passes = step(r);
    return passes && look(r) && close_file(r);
}

static bool make_shape(struct run *r)
{
    struct star_program *p = r->p;
    int grid[2] = {1, p->nodes};

    while (grid[0] < 2 && grid[1] % 2 == 0)
        grid[0] *= 2, grid[1] /= 2;
    r->shape = p->nodes > 0 ? cs_shape_grid(2, p->extent, grid) : cs_shape(2, p->extent);
    if (!r->shape)
        return fail(r, "shape: %s", strerror(errno));
    r->local = cs_local(r->shape);
    return true;
}

bool star_program_run(struct star_program *p)
{
    struct run *r = calloc(1, sizeof *r);
    bool passes = true;

    *r = (struct run){.p = p, .state = p->seed * 7919u + 1};
    p->extent[0] = 1 + draw(r, 9);
    p->extent[1] = 1 + draw(r, 13);
    p->vps = p->extent[0] * p->extent[1];
    p->stream = calloc((size_t)p->vps, sizeof *p->stream);
    for (long vp = 0; vp < p->vps; vp++)
        p->stream[vp].bytes = calloc(1, LENGTH_MAX + 1);
    if (!p->only_streams)
        passes = make_shape(r);
    r->memory = malloc((size_t)r->local * (MOVE_MAX + 16) + 1);
    r->number = malloc((size_t)(r->local + 1) * sizeof *r->number);
    for (long i = 0; i < r->local; i++)
        r->number[i] = cs_number(r->shape, i);
    if (passes && p->only_streams)
        passes = run_steps(r);
    else if (passes)
        CS_WITH(r->shape) passes = run_steps(r);
    cs_shape_free(r->shape);
    free(r->memory);
    free(r->number);
    free(r);
    return passes;
}

void star_program_free(struct star_program *p)
{
    for (long vp = 0; vp < p->vps; vp++)
        free(p->stream[vp].bytes);
    free(p->stream);
    p->stream = NULL;
}
