/*
 * Patterns as text (pattern.h has the forms): one parser (pattern_format.c is the printer), for machine files,
 * descriptions, shells and tests.
 *
 *   pattern := form ["+" number]
 *   form    := ("cyclic" | "stripe") number number
 *            | "array" number {"x" number} kind {"," kind} ["on" number {"x" number}]     kind: * | block | cyclic, (k)
 *            | "bits" group {group}                                                      group: (o | p) high "-" [low]
 *            | "falls" [number] set | set | "view" [number] set
 *   set     := falls {falls} | "{" falls {"," falls} "}"
 *   falls   := "(" l "," r "," s "," n ["," d "," p] ["," set] ")" ["@" number]
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/map/falls.h"
#include "libpio/map/places.h"
#include "vertex/shared/text.h"

struct parser {
    const char *text, *at;
    char *why;
    int error;
};

/* Notes the first error, with the column at which it was found. */
__attribute__((format(printf, 3, 4))) static void fail(struct parser *p, int error, const char *format, ...)
{
    va_list list;

    if (p->error)
        return;
    p->error = error;
    size_t n = text_print(p->why, PATTERN_WHY_BYTES, "column %d: ", (int)(p->at - p->text) + 1);
    va_start(list, format);
    text_print_list(p->why + n, PATTERN_WHY_BYTES - n, format, list);
    va_end(list);
}

static void skip_space(struct parser *p)
{
    while (*p->at == ' ' || *p->at == '\t')
        p->at++;
}

static bool take(struct parser *p, const char *token)
{
    skip_space(p);
    if (strncmp(p->at, token, strlen(token)) != 0)
        return false;
    p->at += strlen(token);
    return true;
}

static void expect(struct parser *p, const char *token)
{
    if (!take(p, token))
        fail(p, -EINVAL, "'%s' expected", token);
}

static bool at_number(struct parser *p)
{
    skip_space(p);
    return isdigit((unsigned char)*p->at);
}

/* A number from low to high. */
static int64_t number(struct parser *p, int64_t low, int64_t high, const char *what)
{
    const char *start;
    int64_t value = 0;
    bool large = false;

    if (!at_number(p)) {
        fail(p, -EINVAL, "%s expected", what);
        return low;
    }
    for (start = p->at; isdigit((unsigned char)*p->at); p->at++)
        large |= __builtin_mul_overflow(value, 10, &value) || __builtin_add_overflow(value, *p->at - '0', &value);
    if (large || value < low || value > high) {
        int length = (int)(p->at - start);

        p->at = start;
        fail(p, large || value > PATTERN_OFFSET_MAX ? -EOVERFLOW : -EINVAL, "%s is %.*s; it must be %lld to %lld", what,
             length, start, (long long)low, (long long)high);
        return low;
    }
    return value;
}

/* ---- cyclic, array, bits ---- */

static struct pattern *made(struct parser *p, int error, struct pattern *pattern, const char *what)
{
    if (error)
        fail(p, error, "%s: %s", what,
             error == -E2BIG       ? "too many elements or nodes"
             : error == -EOVERFLOW ? "larger than a file can be"
             : error == -ENOMEM    ? "no memory"
                                   : "sizes and grid do not fit");
    return error ? NULL : pattern;
}

static struct pattern *parse_stripe(struct parser *p)
{
    struct pattern *pattern;
    int64_t block = number(p, 1, PATTERN_OFFSET_MAX / PATTERN_ELEMENTS_MAX, "the size of a block");
    int32_t elements = (int32_t)number(p, 1, PATTERN_ELEMENTS_MAX, "the number of elements");

    if (p->error)
        return NULL;
    int error = pattern_stripe(block, elements, &pattern);
    return made(p, error, pattern, "cyclic");
}

static void parse_kind(struct parser *p, struct pattern_dimension *d)
{
    d->kind = take(p, "*") ? '*' : take(p, "block") ? 'b' : take(p, "cyclic") ? 'c' : 0;
    if (!d->kind)
        fail(p, -EINVAL, "'*', 'block' or 'cyclic' expected");
    if (d->kind != '*' && take(p, "(")) {
        d->k = number(p, 1, PATTERN_OFFSET_MAX, "the size of a block");
        expect(p, ")");
    }
}

static struct pattern *parse_array(struct parser *p)
{
    struct pattern_dimension dimension[PATTERN_DEPTH_MAX] = {0};
    struct pattern *pattern;
    int64_t size[PATTERN_DEPTH_MAX + 1];
    int dims = 0;

    do {
        if (dims > PATTERN_DEPTH_MAX)
            fail(p, -E2BIG, "more than %d dimensions", PATTERN_DEPTH_MAX);
        else
            size[dims++] = number(p, 1, PATTERN_OFFSET_MAX, "a size");
    } while (!p->error && take(p, "x"));
    if (--dims < 1)
        fail(p, -EINVAL, "an array has sizes and an item's size, such as 100x100x8");
    for (int d = 0; d < dims && !p->error; d++) {
        dimension[d].size = size[d];
        dimension[d].procs = 1;
        if (d > 0)
            expect(p, ",");
        parse_kind(p, &dimension[d]);
    }
    if (!p->error && take(p, "on"))
        for (int d = 0; d < dims && !p->error; d++) {
            if (d > 0)
                expect(p, "x");
            dimension[d].procs = (int32_t)number(p, 1, PATTERN_ELEMENTS_MAX, "the grid's size");
            if (dimension[d].kind == '*' && dimension[d].procs != 1)
                fail(p, -EINVAL, "dimension %d is not distributed: its grid has 1", d);
        }
    if (p->error)
        return NULL;
    int error = pattern_array(dims, dimension, size[dims], &pattern);
    return made(p, error, pattern, "array");
}

/* "o10-": from bit 10 up is the rest of the offset. Only the first group may be open. */
static struct pattern *parse_bits(struct parser *p)
{
    uint8_t bit[PATTERN_BIT_ELEMENT]; /* from the top */
    struct pattern *pattern;
    int bits = 0;
    bool first = true, open = false;
    int64_t rest = 0;

    for (;; first = false) {
        bool names = take(p, "p");

        if (!names && !take(p, "o"))
            break;
        int64_t high = number(p, 0, 62, "a bit"), low = 0;
        expect(p, "-");
        if (at_number(p))
            low = number(p, 0, high, "the group's lowest bit");
        else if (first && !names)
            open = true;
        else
            fail(p, -EINVAL, "only the first group, of offset bits, may be open");
        if (open && first)
            rest = high;
        else
            for (int64_t i = high; i >= low && !p->error; i--) {
                if (bits == PATTERN_BIT_ELEMENT)
                    fail(p, -EOVERFLOW, "more than %d bits", PATTERN_BIT_ELEMENT);
                else
                    bit[bits++] = (uint8_t)(names ? PATTERN_BIT_ELEMENT + i : i);
            }
        if (p->error)
            return NULL;
    }
    if (bits == 0)
        fail(p, -EINVAL, "a group of bits such as o9-0 or p2-0 expected");
    int64_t offset_bits = 0;
    for (int i = 0; i < bits; i++)
        offset_bits += bit[i] < PATTERN_BIT_ELEMENT;
    if (open && rest != offset_bits)
        fail(p, -EINVAL, "o%d- does not follow on the %d offset bits below it", (int)rest, (int)offset_bits);
    for (int i = 0; i < bits / 2; i++) {
        uint8_t swap = bit[i];

        bit[i] = bit[bits - 1 - i];
        bit[bits - 1 - i] = swap;
    }
    if (p->error)
        return NULL;
    int error = pattern_bits(bits, bit, &pattern);
    if (error == -EINVAL)
        fail(p, error, "each bit must be there once, none left out");
    return error ? made(p, error, NULL, "bits") : pattern;
}

/* ---- Nested PITFALLS ---- */

struct pitfalls {
    int64_t left, length, stride, count, distance;
    int32_t procs, first; /* first: the element of process 0, of an outermost one */
    int32_t child, children;
};

struct tree {
    struct pitfalls *node;
    int32_t nodes, room;
};

static int32_t new_nodes(struct parser *p, struct tree *t, int32_t n)
{
    if (t->nodes + n > PATTERN_NODES_MAX) {
        fail(p, -E2BIG, "more than %d nodes", PATTERN_NODES_MAX);
        return 0;
    }
    if (t->nodes + n > t->room) {
        int32_t room = 2 * (t->nodes + n);
        struct pitfalls *larger = realloc(t->node, (size_t)room * sizeof *larger);

        if (!larger) {
            fail(p, -ENOMEM, "no memory");
            return 0;
        }
        t->node = larger;
        t->room = room;
    }
    t->nodes += n;
    return t->nodes - n;
}

static int32_t parse_set(struct parser *p, struct tree *t, int depth, int32_t *n);

/* One falls; node[at] is filled. `inside`: the bytes of the parent's block, or -1. */
static struct pitfalls parse_falls(struct parser *p, struct tree *t, int depth)
{
    struct pitfalls f = {.procs = 1, .first = -1};

    expect(p, "(");
    f.left = number(p, 0, PATTERN_OFFSET_MAX, "l");
    expect(p, ",");
    f.length = number(p, f.left, PATTERN_OFFSET_MAX, "r") - f.left + 1;
    expect(p, ",");
    f.stride = take(p, "-") ? 0 : number(p, 1, PATTERN_OFFSET_MAX, "s");
    expect(p, ",");
    f.count = number(p, 1, PATTERN_OFFSET_MAX, "n");
    if (f.count > 1 && f.stride < f.length)
        fail(p, -EINVAL, "s is %lld: blocks of %lld bytes overlap", (long long)f.stride, (long long)f.length);
    if (take(p, ",") && at_number(p)) {
        f.distance = number(p, 0, PATTERN_OFFSET_MAX, "d");
        expect(p, ",");
        f.procs = (int32_t)number(p, 1, PATTERN_ELEMENTS_MAX, "p");
        take(p, ",");
    }
    skip_space(p);
    if (!p->error && (*p->at == '{' || *p->at == '('))
        f.child = parse_set(p, t, depth + 1, &f.children);
    expect(p, ")");
    if (take(p, "@"))
        f.first = (int32_t)number(p, 0, PATTERN_ELEMENTS_MAX - 1, "the first element");
    if (f.count == 1)
        f.stride = f.length;
    int64_t end;
    if (!p->error &&
        (__builtin_mul_overflow(f.count - 1, f.stride, &end) || end > PATTERN_OFFSET_MAX - f.length - f.left))
        fail(p, -EOVERFLOW, "beyond the end of what a file can be");
    return f;
}

static int32_t parse_set(struct parser *p, struct tree *t, int depth, int32_t *n)
{
    bool braces = take(p, "{");
    struct pitfalls *list = NULL;
    int32_t used = 0, first;

    if (depth > PATTERN_DEPTH_MAX)
        fail(p, -E2BIG, "more than %d levels", PATTERN_DEPTH_MAX);
    do {
        struct pitfalls f = p->error ? (struct pitfalls){0} : parse_falls(p, t, depth);
        struct pitfalls *larger =
            (used & (used - 1)) == 0 ? realloc(list, (size_t)(used ? 2 * used : 1) * sizeof *list) : list;

        if (!larger) {
            fail(p, -ENOMEM, "no memory");
            break;
        }
        list = larger;
        list[used++] = f;
        skip_space(p);
    } while (!p->error && used < PATTERN_NODES_MAX && (braces ? take(p, ",") : *p->at == '('));
    if (braces)
        expect(p, "}");
    first = p->error ? 0 : new_nodes(p, t, used);
    if (!p->error) {
        memcpy(&t->node[first], list, (size_t)used * sizeof *list);
        *n = used;
    }
    free(list);
    return first;
}

static int64_t pitfalls_end(const struct pitfalls *f)
{
    return f->left + (f->procs - 1) * f->distance + (f->count - 1) * f->stride + f->length;
}

/* Returns how many elements a node and those inside it stand for. Siblings in a block must agree. */
static int32_t elements_in(struct parser *p, const struct tree *t, const struct pitfalls *f)
{
    int64_t inner = 1;

    for (int32_t i = 0; i < f->children && !p->error; i++) {
        const struct pitfalls *c = &t->node[f->child + i];
        int32_t here = elements_in(p, t, c);

        if (i > 0 && here != inner)
            fail(p, -EINVAL, "sets within one block have %d and %d elements", (int)inner, here);
        if (pitfalls_end(c) > f->length)
            fail(p, -EINVAL, "a set reaches byte %lld of a block of %lld", (long long)pitfalls_end(c) - 1,
                 (long long)f->length);
        inner = here;
    }
    if (f->procs * inner > PATTERN_ELEMENTS_MAX)
        fail(p, -E2BIG, "more than %d elements", PATTERN_ELEMENTS_MAX);
    return p->error ? 1 : (int32_t)(f->procs * inner);
}

/* Pushes the bytes of element `e` of those for which the nodes stand. Siblings must be in file order and not
 * interleave. */
static void push_element(struct parser *p, struct falls_build *b, const struct tree *t, int32_t first, int32_t n,
                         int32_t e, int32_t mark)
{
    int64_t end = 0;

    for (int32_t i = first; i < first + n && !p->error; i++) {
        const struct pitfalls *f = &t->node[i];
        int32_t all = elements_in(p, t, f), inner = all / f->procs, own = f->first >= 0 ? e - f->first : e;
        struct falls outer = {.stride = f->stride, .count = f->count};
        int32_t outer_mark = b->listed;

        if (own < 0 || own >= all)
            continue;
        outer.left = f->left + own / inner * f->distance;
        if (outer.left < end)
            fail(p, -EINVAL, "element %d: a set that begins at byte %lld interleaves with the one before it", e,
                 (long long)outer.left);
        end = outer.left + (f->count - 1) * f->stride + f->length;
        falls_lies_as_in_file(&outer);
        if (f->children > 0) {
            push_element(p, b, t, f->child, f->children, own % inner, outer_mark);
        } else {
            struct falls run = {.length = f->length, .count = 1};

            falls_push(b, outer_mark, &run);
        }
        falls_wrap(b, mark, outer_mark, &outer);
    }
}

/* Numbers the elements of the sets that do not say which are theirs. Returns how many elements there are; *end: behind
 * the sets' last byte. */
static int32_t number_elements(struct parser *p, struct tree *t, int32_t first, int32_t n, bool view, int64_t *end)
{
    int32_t elements = view ? 1 : 0, next = 0;

    *end = 0;
    for (int32_t i = first; i < first + n && !p->error; i++) {
        struct pitfalls *f = &t->node[i];
        int32_t here = elements_in(p, t, f);

        if (f->first < 0)
            f->first = view ? 0 : next;
        next = f->first + here;
        elements = next > elements ? next : elements;
        *end = pitfalls_end(f) > *end ? pitfalls_end(f) : *end;
    }
    return elements;
}

static void check_bounds(struct parser *p, int32_t elements, int64_t end, int64_t period, bool view)
{
    if (elements > PATTERN_ELEMENTS_MAX)
        fail(p, -E2BIG, "more than %d elements", PATTERN_ELEMENTS_MAX);
    if (view && elements > 1)
        fail(p, -EINVAL, "a view is one element, not %d", elements);
    if (period > 0 && end > period)
        fail(p, -EINVAL, "byte %lld is beyond the period of %lld", (long long)end - 1, (long long)period);
}

/* Gives each element its bytes. Returns how many all have. */
static int64_t fill_elements(struct parser *p, const struct tree *t, int32_t first, int32_t n, struct pattern *pattern)
{
    int64_t all = 0;

    for (int32_t e = 0; e < pattern->elements && !p->error; e++) {
        struct falls_build b = {0};

        push_element(p, &b, t, first, n, e, 0);
        int error = p->error ? p->error : falls_finish_by_rank(&b, &pattern->element[e]);
        falls_build_free(&b);
        if (error)
            fail(p, error, "element %d has too many nodes", e);
        all += pattern->element[e].bytes;
    }
    return all;
}

/* Every byte belongs to one element. */
static void check_whole(struct parser *p, const struct pattern *pattern)
{
    char why[PATTERN_WHY_BYTES];
    int error = pattern_check(pattern, why);

    if (error)
        fail(p, error, "%s", error == -EINVAL ? why : "too large to be checked");
}

/* Makes the pattern. With `view` it has one element, which need not have every byte. */
static struct pattern *build_pitfalls(struct parser *p, struct tree *t, int32_t first, int32_t n, int64_t period,
                                      bool view)
{
    int64_t end;
    int32_t elements = number_elements(p, t, first, n, view, &end);

    check_bounds(p, elements, end, period, view);
    if (p->error)
        return NULL;
    struct pattern *pattern = pattern_new(0, 0, elements);
    if (!pattern) {
        fail(p, -ENOMEM, "no memory");
        return NULL;
    }
    int64_t bytes = fill_elements(p, t, first, n, pattern);
    pattern->period = period > 0 ? period : bytes > end ? bytes : end;
    if (!p->error && !view)
        check_whole(p, pattern);
    if (!p->error && places_of_runs(pattern) != 0)
        fail(p, -ENOMEM, "no memory");
    if (!p->error)
        return pattern;
    pattern_free(pattern);
    return NULL;
}

static struct pattern *parse_pitfalls(struct parser *p, bool view)
{
    int64_t period = at_number(p) ? number(p, 1, PATTERN_OFFSET_MAX, "the period") : 0;
    struct tree t = {0};
    struct pattern *pattern = NULL;
    const char *set = p->at;
    bool empty = view && period > 0 && take(p, "{") && take(p, "}"); /* a view of nothing */
    int32_t n = 0, first = 0;

    if (!empty) {
        p->at = set;
        first = parse_set(p, &t, 1, &n);
    }
    if (!p->error)
        pattern = build_pitfalls(p, &t, first, n, period, view);
    free(t.node);
    return pattern;
}

int pattern_parse(const char *text, struct pattern **pattern, char *why)
{
    struct parser p = {.text = text, .at = text, .why = why};
    struct pattern *made;

    why[0] = '\0';
    if (take(&p, "cyclic") || take(&p, "stripe"))
        made = parse_stripe(&p);
    else if (take(&p, "array"))
        made = parse_array(&p);
    else if (take(&p, "bits"))
        made = parse_bits(&p);
    else if (take(&p, "falls") || *p.at == '(' || *p.at == '{')
        made = parse_pitfalls(&p, false);
    else if (take(&p, "view"))
        made = parse_pitfalls(&p, true);
    else {
        fail(&p, -EINVAL, "'cyclic', 'array', 'bits', 'falls' or 'view' expected");
        made = NULL;
    }
    if (made && take(&p, "+"))
        made->displacement = number(&p, 0, PATTERN_OFFSET_MAX / 2, "the displacement");
    skip_space(&p);
    if (*p.at)
        fail(&p, -EINVAL, "nothing may follow");
    if (p.error) {
        pattern_free(made);
        return p.error;
    }
    *pattern = made;
    return 0;
}
