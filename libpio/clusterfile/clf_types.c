/*
 * Types, of which views are made [P3 section 6.4]: MPI's vector and struct, counted as FALLS. A type is kept as the
 * text of a set (libpio/map/pattern_text.c), which the engine checks when one is made of another.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/clusterfile/clf_client.h"
#include "vertex/contract/errors.h"
#include "vertex/shared/text.h"

#define TYPES      256
#define TEXT_BYTES 65536u /* most of a type's text */

struct type {
    char *set; /* NULL: free; "": no bytes */
    int64_t extent;
    bool is_block; /* has every byte of its extent */
};

static struct type types[TYPES] = {{"(0,0,1,1)", 1, true}};

static const struct type *type_of(clf_type type)
{
    return type >= 0 && type < TYPES && types[type].set ? &types[type] : NULL;
}

/* ---- Text ---- */

struct writing {
    char *text;
    size_t n;
};

static void add(struct writing *w, const char *format, ...) __attribute__((format(printf, 2, 3)));
static void add(struct writing *w, const char *format, ...)
{
    va_list args;

    va_start(args, format);
    w->n += text_print_list(w->text + w->n, TEXT_BYTES - w->n, format, args);
    va_end(args);
}

/* Adds n blocks of `count` of a type, from byte `left` on, `stride` bytes apart. */
static void add_blocks(struct writing *w, const struct type *t, int64_t left, int64_t count, int64_t stride, int64_t n)
{
    const int64_t bytes = count * t->extent;
    const char *comma = w->n > 0 ? "," : "";

    if (count == 0 || n == 0 || t->extent == 0)
        return;
    add(w, "%s(%lld,%lld,%lld,%lld", comma, (long long)left, (long long)(left + bytes - 1),
        (long long)(n > 1 ? stride : bytes), (long long)n);
    if (t->is_block)
        add(w, ")");
    else
        add(w, ",{(0,%lld,%lld,%lld,{%s})})", (long long)(t->extent - 1), (long long)t->extent, (long long)count,
            t->set);
}

/* ---- Making ---- */

static int parse(const char *set, int64_t displ, int64_t period, struct pattern **view)
{
    char why[PATTERN_WHY_BYTES];
    char *text = malloc(strlen(set) + 64);

    if (!text)
        return -N_ENOMEM;
    text_print(text, strlen(set) + 64, "view %lld {%s} +%lld", (long long)period, set, (long long)displ);
    int error = pattern_parse(text, view, why);
    free(text);
    return error < 0 ? clf_fail(error, "%s", why) : 0;
}

/* Takes the text. */
static clf_type keep(struct writing *w, int64_t extent, bool is_block)
{
    struct pattern *p = NULL;
    int i = 1,
        error = w->n + 1 < TEXT_BYTES ? 0 : clf_fail(-N_E2BIG, "a type of more than %u bytes of text", TEXT_BYTES);

    while (i < TYPES && types[i].set)
        i++;
    if (error == 0 && i == TYPES)
        error = -N_ENOSPC;
    if (error == 0 && extent > 0)
        error = parse(w->text, 0, extent, &p);
    pattern_free(p);
    char *set = error == 0 ? malloc(w->n + 1) : NULL;
    if (set)
        types[i] = (struct type){strcpy(set, w->text), extent, is_block};
    else if (error == 0)
        error = -N_ENOMEM;
    free(w->text);
    errno = error < 0 ? -error : errno;
    return error < 0 ? -1 : i;
}

static clf_type fail(int error)
{
    errno = -error;
    return -1;
}

static bool begin(struct writing *w)
{
    clf_why_begin();
    *w = (struct writing){malloc(TEXT_BYTES), 0};
    if (w->text)
        w->text[0] = '\0';
    return w->text != NULL;
}

clf_type clf_vector(int64_t l, int64_t r, int64_t s, int64_t n, clf_type old)
{
    const struct type *t = type_of(old);
    int64_t extent, most;
    struct writing w;

    clf_why_begin();
    if (!t || l < 0 || r < l || n < 0 || (n > 1 && s <= r - l))
        return fail(clf_fail(-N_EINVAL, !t ? "no type %d" : "l, r, s, n are no FALLS of type %d", (int)old));
    if (n > 1 && __builtin_mul_overflow(n - 1, s, &most))
        return fail(-N_EOVERFLOW);
    most = n > 1 ? most : 0;
    if (__builtin_add_overflow(most, r, &most) || most == INT64_MAX ||
        __builtin_mul_overflow(most + 1, t->extent, &extent) || extent > PATTERN_OFFSET_MAX)
        return fail(-N_EOVERFLOW);
    if (!begin(&w))
        return fail(-N_ENOMEM);
    add_blocks(&w, t, l * t->extent, r - l + 1, s * t->extent, n);
    return keep(&w, n > 0 ? extent : 0, t->is_block && l == 0 && n == 1);
}

/* The extent of one element more. False: it is no such, or too large. */
static bool add_extent(const struct type *t, int64_t length, int64_t displ, int64_t *extent)
{
    int64_t end;

    if (!t || length < 0 || displ < 0 || __builtin_mul_overflow(length, t->extent, &end) ||
        __builtin_add_overflow(end, displ, &end) || end > PATTERN_OFFSET_MAX)
        return false;
    if (length > 0 && t->extent > 0)
        *extent = end > *extent ? end : *extent;
    return true;
}

clf_type clf_struct(int count, const int64_t *length, const int64_t *displ, const clf_type *type)
{
    int64_t extent = 0;
    struct writing w;

    if (!begin(&w))
        return fail(-N_ENOMEM);
    for (int i = 0; i < count || count < 0; i++) {
        const struct type *t = count < 0 ? NULL : type_of(type[i]);

        if (!add_extent(t, t ? length[i] : 0, t ? displ[i] : 0, &extent)) {
            free(w.text);
            return fail(clf_fail(-N_EINVAL, "element %d of a struct of %d", i, count));
        }
        add_blocks(&w, t, displ[i], length[i], 0, 1);
    }
    return keep(&w, extent, false);
}

int64_t clf_type_extent(clf_type type)
{
    const struct type *t = type_of(type);

    return t ? t->extent : fail(-N_EINVAL);
}

int clf_type_free(clf_type type)
{
    if (type == CLF_BYTE || !type_of(type))
        return fail(-N_EINVAL);
    free(types[type].set);
    types[type].set = NULL;
    return 0;
}

int clf_type_view(clf_type type, int64_t displ, int64_t period, struct pattern **view)
{
    const struct type *t = type_of(type);

    if (!t || t->extent == 0)
        return clf_fail(-N_EINVAL, t ? "a view without a byte" : "no type %d", (int)type);
    if (displ < 0 || period < 0 || (period > 0 && period < t->extent))
        return clf_fail(-N_EINVAL, "displacement %lld, period %lld, extent %lld", (long long)displ, (long long)period,
                        (long long)t->extent);
    return parse(t->set, displ, period > 0 ? period : t->extent, view);
}
