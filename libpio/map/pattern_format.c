/* Patterns printed as text that pattern_parse reads (pattern_text.c has the grammar). */
#include <stdarg.h>
#include <string.h>

#include "libpio/map/pattern.h"
#include "vertex/shared/text.h"

#define PIECE_BYTES 80 /* the longest that one call prints, with room */

struct printer {
    char *to;
    size_t size, used;
};

__attribute__((format(printf, 2, 3))) static void print(struct printer *p, const char *format, ...)
{
    char piece[PIECE_BYTES];
    va_list list;

    va_start(list, format);
    size_t n = text_print_list(piece, sizeof piece, format, list);
    va_end(list);
    if (p->used < p->size) {
        size_t fits = n < p->size - p->used ? n : p->size - p->used - 1;

        memcpy(p->to + p->used, piece, fits);
        p->to[p->used + fits] = '\0';
    }
    p->used += n;
}

static void print_list(struct printer *p, const struct falls_set *set, int32_t first, int32_t n, int32_t element)
{
    for (int32_t i = first; i < first + n; i++) {
        const struct falls *f = &set->node[i];

        print(p, "%s(%lld,%lld,", i > first ? "," : "", (long long)f->left, (long long)(f->left + f->length - 1));
        if (f->count > 1)
            print(p, "%lld,%lld", (long long)f->stride, (long long)f->count);
        else
            print(p, "-,1");
        if (f->children > 0) {
            print(p, ",{");
            print_list(p, set, f->child, f->children, -1);
            print(p, "}");
        }
        print(p, ")");
        if (element >= 0)
            print(p, "@%d", element);
    }
}

size_t falls_format(const struct falls_set *set, char *text, size_t bytes)
{
    struct printer to = {.to = text, .size = bytes};

    if (bytes > 0)
        text[0] = '\0'; /* of a set without nodes */
    print_list(&to, set, set->top, set->tops, -1);
    return to.used;
}

/* True if each element e has exactly the bytes e*B to (e+1)*B - 1. */
static bool is_stripe(const struct pattern *p)
{
    int64_t block = p->element[0].bytes;

    for (int32_t e = 0; e < p->elements; e++) {
        const struct falls_set *set = &p->element[e];
        const struct falls *f = &set->node[set->top];

        if (set->tops != 1 || f->children > 0 || f->count != 1 || f->left != e * block || f->length != block)
            return false;
    }
    return p->period == block * p->elements;
}

static bool covers(const struct pattern *p)
{
    int64_t all = 0;

    for (int32_t e = 0; e < p->elements; e++)
        all += p->element[e].bytes;
    return all == p->period;
}

static bool all_ascend(const struct pattern *p)
{
    for (int32_t e = 0; e < p->elements; e++)
        if (!p->element[e].ascending)
            return false;
    return true;
}

/* The file's bits one by one: where byte 1 << i lies tells what bit i is. Groups are named by their first and last
 * bit. */
static void print_bits(struct printer *to, const struct pattern *p)
{
    bool names = false;
    int first = -1, last = -1;

    print(to, "bits");
    for (int64_t x = p->period / 2; x > 0; x /= 2) {
        int64_t offset;
        int32_t e;

        pattern_place(p, p->displacement + x, &e, &offset);
        bool here_names = offset == 0;
        int bit = __builtin_ctzll((unsigned long long)(here_names ? e : offset));
        if (first >= 0 && names == here_names && bit == last - 1) {
            last = bit;
            continue;
        }
        if (first >= 0)
            print(to, " %c%d-%d", names ? 'p' : 'o', first, last);
        names = here_names;
        first = last = bit;
    }
    print(to, " %c%d-%d", names ? 'p' : 'o', first, last);
}

size_t pattern_format(const struct pattern *p, char *text, size_t bytes)
{
    struct printer to = {.to = text, .size = bytes};
    bool any = false;

    if (is_stripe(p)) {
        print(&to, "cyclic %lld %d", (long long)p->element[0].bytes, p->elements);
    } else if (all_ascend(p)) {
        print(&to, "%s %lld {", covers(p) ? "falls" : "view", (long long)p->period);
        for (int32_t e = 0; e < p->elements; e++)
            if (p->element[e].tops > 0) {
                print(&to, "%s", any ? "," : "");
                print_list(&to, &p->element[e], p->element[e].top, p->element[e].tops, e);
                any = true;
            }
        print(&to, "}");
    } else {
        print_bits(&to, p);
    }
    if (p->displacement)
        print(&to, " +%lld", (long long)p->displacement);
    return to.used;
}
