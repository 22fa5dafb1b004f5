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

/* ---- Which VPs, and how much: independent calls ---- */

enum kind { EQUAL, EQUAL_PAR, MASKED, UNEQUAL, KINDS };

static uint32_t hash(uint32_t step, long vp)
{
    return ((uint32_t)vp * 2654435761u ^ step * 40503u) >> 13;
}

static bool is_active(enum kind kind, uint32_t step, long vp)
{
    return kind < MASKED || hash(step, vp) % 3 > 0;
}

static int items_of(enum kind kind, uint32_t step, long vp, int nitems)
{
    return kind == UNEQUAL ? (int)(hash(step + 1, vp) % (uint32_t)(nitems + 1)) : nitems;
}

/* Half of the programs have such calls, late. */
static enum kind draw_kind(struct run *r)
{
    bool is_independent = r->p->seed % 2 == 0 && r->step > r->p->seed % 30;
    uint32_t kind = draw(r, is_independent ? KINDS : MASKED);

    return (enum kind)kind;
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

static long issue(struct run *r, bool is_write, enum kind kind, struct cs_par v, int size, int nitems, const int *sizes,
                  const int *many, int *items)
{
    if (kind == EQUAL || kind == MASKED)
        return is_write ? cs_fwrite(v, size, nitems, r->f) : cs_fread(v, size, nitems, r->f);
    return is_write ? cs_fwrite_par(v, sizes, many, r->f, items) : cs_fread_par(v, sizes, many, r->f, items);
}

/* The call itself, of all VPs with a mask or without; items[] of each, -7 where it has not been told. Returns what the
 * call returns. */
static long call(struct run *r, bool is_write, enum kind kind, int size, int nitems, long stride, int *items)
{
    int *numbers = malloc((size_t)(2 * r->local + 1) * sizeof *numbers);
    bool *mask = malloc((size_t)r->local + 1);
    struct cs_par v = variable(r, stride);
    long result = 0;

    for (long i = 0; i < r->local; i++) {
        mask[i] = is_active(kind, r->step, r->number[i]);
        numbers[i] = size;
        numbers[r->local + i] = items_of(kind, r->step, r->number[i], nitems);
        items[i] = -7;
    }
    const int *many = numbers + r->local;
    if (kind < MASKED && r->step % 3 > 0)
        result = issue(r, is_write, kind, v, size, nitems, numbers, many, items);
    else
        CS_WHERE(mask) result = issue(r, is_write, kind, v, size, nitems, numbers, many, items);
    free(numbers);
    free(mask);
    return result;
}

static bool write_some(struct run *r, enum kind kind, int size, int nitems, long stride)
{
    int *items = malloc((size_t)(r->local + 1) * sizeof *items);
    bool passes = true, is_par = kind == EQUAL_PAR || kind == UNEQUAL;

    for (long i = 0; i < r->local; i++)
        for (long k = 0; k < (long)size * nitems; k++)
            r->memory[i * stride + k] = (char)byte_of(r->step, r->number[i], k);
    if (!r->p->only_streams) {
        long done = call(r, true, kind, size, nitems, stride, items);

        if (!writes(r))
            passes = (done == -1 && errno == EBADF) || fail(r, "written %ld to a file for reading", done);
        else if (done != (is_par ? 0 : nitems))
            passes = fail(r, "written %ld of %d items of %d bytes: %s", done, nitems, size, strerror(errno));
        for (long i = 0; passes && writes(r) && is_par && i < r->local; i++) {
            bool active = is_active(kind, r->step, r->number[i]);

            passes = items[i] == (active ? items_of(kind, r->step, r->number[i], nitems) : -7) ||
                     fail(r, "VP %ld has written %d items", r->number[i], items[i]);
        }
    }
    for (long vp = 0; vp < r->p->vps && writes(r); vp++)
        if (is_active(kind, r->step, vp) && size * items_of(kind, r->step, vp, nitems) > 0)
            stream_write(&r->p->stream[vp], r->type[0] == 'a', r->step, vp,
                         (long)size * items_of(kind, r->step, vp, nitems));
    free(items);
    return passes;
}

static bool read_some(struct run *r, enum kind kind, int size, int nitems, long stride)
{
    int *items = malloc((size_t)(r->local + 1) * sizeof *items);
    bool passes = true, is_par = kind == EQUAL_PAR || kind == UNEQUAL;
    unsigned char wanted[MOVE_MAX], *at = (unsigned char *)r->memory;
    long least = nitems, done = 0;

    if (!r->p->only_streams)
        done = call(r, false, kind, size, nitems, stride, items);
    if (!reads(r)) {
        free(items);
        return r->p->only_streams || (done == -1 && errno == EBADF) || fail(r, "read %ld of a file for writing", done);
    }
    for (long vp = 0, i = 0; passes && vp < r->p->vps; vp++) {
        bool is_own = !r->p->only_streams && i < r->local && r->number[i] == vp;
        long n = (long)size * items_of(kind, r->step, vp, nitems), got;

        i += is_own;
        if (!is_active(kind, r->step, vp))
            continue;
        got = stream_read(&r->p->stream[vp], wanted, n);
        r->ended[vp] = r->ended[vp] || got < n;
        if (!is_own)
            continue;
        if (memcmp(at + (i - 1) * stride, wanted, (size_t)got) != 0 && (got == n || kind >= MASKED))
            passes =
                fail(r, "VP %ld has not read its bytes %ld to %ld", vp, r->p->stream[vp].at - got, r->p->stream[vp].at);
        if (is_par && n > 0 && items[i - 1] != got / size)
            passes = fail(r, "VP %ld has read %d items, not %ld", vp, items[i - 1], got / size);
        least = got / size < least ? got / size : least;
    }
    if (passes && !r->p->only_streams && done != (is_par ? 0 : least))
        passes = fail(r, "read %ld items, not %ld: %s", done, least, strerror(errno));
    free(items);
    return passes;
}

static long base_of(const struct star_stream *s, int whence)
{
    return whence == SEEK_SET ? 0 : whence == SEEK_CUR ? s->at : s->length;
}

/* To one place; or each active VP elsewhere. Back at most as far as all can go. */
static bool seek_some(struct run *r, enum kind kind, long offset, int whence)
{
    long *target = malloc((size_t)(r->local + 1) * sizeof *target);
    bool *mask = malloc((size_t)r->local + 1);
    int result = 0;

    for (long vp = 0; vp < r->p->vps; vp++)
        if (offset + base_of(&r->p->stream[vp], whence) < 0 ||
            offset + base_of(&r->p->stream[vp], whence) > LENGTH_MAX - 2 * MOVE_MAX)
            offset = 0, whence = SEEK_SET;
    for (long i = 0; i < r->local; i++) {
        mask[i] = is_active(kind, r->step, r->number[i]);
        target[i] = offset + items_of(kind, r->step, r->number[i], 5);
    }
    if (!r->p->only_streams)
        CS_WHERE(mask) result = kind == UNEQUAL ? cs_fseek_par(r->f, target, whence) : cs_fseek(r->f, offset, whence);
    free(target);
    free(mask);
    if (result < 0)
        return fail(r, "seek to %ld, %d: %s", offset, whence, strerror(errno));
    for (long vp = 0; vp < r->p->vps; vp++) {
        struct star_stream *s = &r->p->stream[vp];

        if (!is_active(kind, r->step, vp))
            continue;
        s->at = base_of(s, whence) + offset + (kind == UNEQUAL ? items_of(kind, r->step, vp, 5) : 0);
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

    if (draw(r, 2) && writes(r)) {
        for (long vp = 0; vp < r->p->vps; vp++)
            if (r->p->stream[vp].length > LENGTH_MAX - MOVE_MAX || r->p->stream[vp].at > LENGTH_MAX - MOVE_MAX)
                return true;
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
    long gap = draw(r, 3) == 0 ? draw(r, 9) : 0, stride = (long)size * nitems + gap, most = 0;

    if (draw(r, 3) > 0) /* often the same: NB */
        size = 8, nitems = 1, stride = 8;
    for (long vp = 0; vp < r->p->vps; vp++) {
        long at = r->type[0] == 'a' ? r->p->stream[vp].length : r->p->stream[vp].at;
        most = at > most ? at : most;
    }
    enum kind kind = draw_kind(r);
    uint32_t which = draw(r, 16), x = draw(r, 300), y = draw(r, 4),
             back = draw(r, (uint32_t)r->p->stream[0].length + 1);
    switch (which) {
    case 0:
        return seek_some(r, kind, (long)x * (y % 2 ? 8 : 1), SEEK_SET);
    case 1:
        return seek_some(r, kind, y % 2 ? 0 : -(long)back, SEEK_END);
    case 2:
        return seek_some(r, kind, (long)x % 9, y ? SEEK_CUR : SEEK_END);
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
        return read_some(r, kind, size, nitems, stride);
    default:
        return most > LENGTH_MAX - MOVE_MAX || write_some(r, kind, size, nitems, stride);
    }
}

static bool run_steps(struct run *r)
{
    bool is_new = r->p->rows == 0, is_binary = draw(r, 2) == 0,
         passes = open_file(r, is_new ? (is_binary ? "wb+" : "w+") : (is_binary ? "rb+" : "r+"));

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
    for (long vp = 0; vp < p->vps; vp++) {
        struct star_stream *s = &p->stream[vp];

        s->bytes = calloc(1, LENGTH_MAX + 1);
        s->length = 8 * p->rows;
        for (long i = 0; i < s->length; i++)
            s->bytes[i] = byte_of(0, vp, i);
    }
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

/* ---- One VP prints ---- */

#define PRINTERS    11
#define THE_PRINTER 5

#define EXPECT(condition)                                                                               \
    do                                                                                                  \
        if (!(condition)) {                                                                             \
            snprintf(p->why, sizeof p->why, "line %d: %s (%s)", __LINE__, #condition, strerror(errno)); \
            return false;                                                                               \
        }                                                                                               \
    while (0)

static void print(FILE *to, long vp) /* takes a FILE of either kind */
{
    fprintf(to, "VP %ld is %d\n", vp, 42);
}

static bool prints(struct star_program *p, struct cs_shape *s)
{
    double x[PRINTERS];
    CS_FILE *f = cs_fopen_with(p->name, "w", NULL, p->o);
    bool printed = false;

    EXPECT(f && cs_vp(f) == NULL && errno == EINVAL);
    CS_EACH(i) x[i] = (double)cs_number(s, i);
    EXPECT(cs_fwrite(CS_PAR(s, x), sizeof *x, 1, f) == 1 && cs_fmode(f) == CS_NB);
    long reductions = cs_fcounts(f)->reductions;
    CS_EACH(i)
    {
        if (cs_number(s, i) == THE_PRINTER) {
            print(cs_vp(f), cs_number(s, i));
            printed = true;
        }
    }
    EXPECT(cs_fmode(f) == (printed ? CS_IB : CS_NB)); /* this node alone, and no message */
    EXPECT(cs_fcounts(f)->reductions == reductions);
    EXPECT(cs_fwrite(CS_PAR(s, x), sizeof *x, 1, f) == 1 && cs_fmode(f) == CS_IB); /* all have heard of it */
    CS_EACH(i) print(cs_vp(f), cs_number(s, i));
    EXPECT(cs_fclose(f) == 0);
    return true;
}

static bool scans(struct star_program *p, struct cs_shape *s)
{
    double x[PRINTERS];
    CS_FILE *f = cs_fopen_with(p->name, "r", NULL, p->o);

    EXPECT(f && cs_fread(CS_PAR(s, x), sizeof *x, 1, f) == 1);
    CS_EACH(i)
    {
        FILE *own = cs_vp(f);
        long vp = -1;
        int value = 0;

        EXPECT(own && x[i] == (double)cs_number(s, i));
        if (cs_number(s, i) == THE_PRINTER)
            EXPECT(fscanf(own, "VP %ld is %d", &vp, &value) == 2 && vp == THE_PRINTER && getc(own) == '\n');
        EXPECT(fread(&x[i], sizeof *x, 1, own) == 1 && x[i] == (double)cs_number(s, i));
        int c = getc(own);
        EXPECT(c == 'V' && ungetc(c, own) == c);
        EXPECT(fscanf(own, "VP %ld is %d", &vp, &value) == 2 && vp == cs_number(s, i) && value == 42);
        EXPECT(getc(own) == '\n' && getc(own) == EOF && feof(own));
    }
    EXPECT(cs_fclose(f) == 0);
    return true;
}

bool star_program_prints(struct star_program *p)
{
    const long n = PRINTERS;
    struct cs_shape *s = cs_shape(1, &n);
    bool passes = false;

    CS_WITH(s) passes = prints(p, s) && scans(p, s);
    cs_shape_free(s);
    return passes;
}
