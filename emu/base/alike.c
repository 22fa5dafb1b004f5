/* Reports about many nodes: entries are sorted into groups of equal texts, or of equal shapes, and each gives a
 * line. */
#include "emu/base/alike.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/base/memory.h"
#include "emu/base/order.h"

#define RANGES_MOST 8 /* of node numbers in a line */
#define LINE_BYTES  (ALIKE_TEXT_BYTES + 512u)

void alike_add(struct alike *a, uint32_t node, const char *text)
{
    a->entry = memory_grow(a->entry, &a->room, a->n + 1, sizeof *a->entry);
    a->entry[a->n++] = (struct alike_entry){node, memory_copy_text(text, ALIKE_TEXT_BYTES - 1)};
}

void alike_free(struct alike *a)
{
    for (uint32_t i = 0; i < a->n; i++)
        free(a->entry[i].text);
    free(a->entry);
    *a = (struct alike){0};
}

/* Digits are a number unless they end a name, as those of df00 do. */
static bool begins_number(const char *text, size_t i)
{
    return isdigit((unsigned char)text[i]) && (i == 0 || !isalnum((unsigned char)text[i - 1]));
}

void alike_shape(const char *text, size_t n, char *shape, size_t bytes)
{
    size_t used = 0;

    for (size_t i = 0; i < n && text[i] && used + 1 < bytes;) {
        bool number = begins_number(text, i);

        shape[used++] = number ? '#' : text[i];
        for (i++; number && i < n && isdigit((unsigned char)text[i]); i++)
            ;
    }
    shape[used] = '\0';
}

/* ---- Groups ---- */

struct group { /* entries first .. first + n - 1 of the sorted list, ascending by node */
    struct alike_entry **entry;
    uint32_t n;
};

typedef int (*compare_fn)(const char *a, const char *b);

static int compare_shapes(const char *a, const char *b)
{
    char x[ALIKE_TEXT_BYTES], y[ALIKE_TEXT_BYTES];

    alike_shape(a, strlen(a), x, sizeof x);
    alike_shape(b, strlen(b), y, sizeof y);
    return strcmp(x, y);
}

static int compare_entries(const void *a, const void *b, void *compare)
{
    const struct alike_entry *x = *(struct alike_entry *const *)a, *y = *(struct alike_entry *const *)b;

    return ((compare_fn)compare)(x->text, y->text) ?: order(x->node, y->node) ?: order((uintptr_t)x, (uintptr_t)y);
}

static int compare_groups(const void *a, const void *b)
{
    const struct alike_entry *x = *((const struct group *)a)->entry, *y = *((const struct group *)b)->entry;

    return order(x->node, y->node) ?: order((uintptr_t)x, (uintptr_t)y);
}

/* Sorts the entries so that equal ones are together, and returns the groups, sorted by their first nodes; the caller
 * frees them. */
static struct group *make_groups(struct alike_entry **sorted, uint32_t n, compare_fn compare, uint32_t *groups)
{
    struct group *group = memory_new(n, sizeof *group);

    *groups = 0;
    qsort_r(sorted, n, sizeof *sorted, compare_entries, (void *)compare);
    for (uint32_t i = 0; i < n; i++) {
        if (i == 0 || compare(sorted[i - 1]->text, sorted[i]->text) != 0)
            group[(*groups)++].entry = &sorted[i];
        group[*groups - 1].n++;
    }
    qsort(group, *groups, sizeof *group, compare_groups);
    return group;
}

/* ---- Text ---- */

struct writer { /* writes into a line, which is cut when it is full */
    char *at;
    size_t left;
};

__attribute__((format(printf, 2, 3))) static void put(struct writer *w, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int n = vsnprintf(w->at, w->left, format, arguments);
    va_end(arguments);
    size_t used = n < 0 ? 0 : (size_t)n < w->left ? (size_t)n : w->left - 1;
    w->at += used;
    w->left -= used;
}

static void put_nodes(struct writer *w, const struct group *g, const char *noun)
{
    uint32_t ranges = 0;

    put(w, "%ss ", noun);
    for (uint32_t i = 0, end; i < g->n; i = end, ranges++) {
        if (ranges == RANGES_MOST) {
            put(w, ", ... (%u nodes)", g->n);
            return;
        }
        for (end = i + 1; end < g->n && g->entry[end]->node <= g->entry[end - 1]->node + 1; end++)
            ;
        put(w, "%s%u", i > 0 ? ", " : "", g->entry[i]->node);
        if (g->entry[end - 1]->node > g->entry[i]->node)
            put(w, "-%u", g->entry[end - 1]->node);
    }
}

/* Returns where the next number of a text begins, from `at` on, or where the text ends. */
static size_t find_number(const char *text, size_t at)
{
    while (text[at] && !begins_number(text, at))
        at++;
    return at;
}

static size_t skip_digits(const char *text, size_t at)
{
    return at + strspn(text + at, "0123456789");
}

/* Returns the value of the number with that index in a text. */
static uint64_t number_in(const char *text, uint32_t index)
{
    size_t at = find_number(text, 0);

    while (index-- > 0)
        at = find_number(text, skip_digits(text, at));
    return strtoull(text + at, NULL, 10);
}

static void put_number(struct writer *w, const struct group *g, uint32_t index)
{
    uint64_t low = UINT64_MAX, high = 0;

    for (uint32_t i = 0; i < g->n; i++) {
        uint64_t number = number_in(g->entry[i]->text, index);

        low = number < low ? number : low;
        high = number > high ? number : high;
    }
    put(w, low == high ? "%" PRIu64 : "%" PRIu64 "..%" PRIu64, low, high);
}

/* Writes the text of a group, with a range in place of each number that differs. */
static void put_text(struct writer *w, const struct group *g)
{
    const char *text = g->entry[0]->text;

    for (size_t at = 0, index = 0; text[at];) {
        size_t number = find_number(text, at);

        put(w, "%.*s", (int)(number - at), text + at);
        if (text[number])
            put_number(w, g, (uint32_t)index++);
        at = skip_digits(text, number);
    }
}

static void write_line(const struct group *g, const char *program, char *line, size_t bytes)
{
    struct writer w = {line, bytes};
    const char *noun = program ? "PE" : "node", *of = program ? " of " : "";

    program = program ? program : "";
    if (g->entry[0]->node == g->entry[g->n - 1]->node) {
        put(&w, "%s %u%s%s ", noun, g->entry[0]->node, of, program);
        put_text(&w, g);
        return;
    }
    put_nodes(&w, g, noun);
    put(&w, "%s%s: each ", of, program);
    put_text(&w, g);
}

void alike_say(const struct alike *a, const char *rest, void (*say)(void *ctx, const char *line), void *ctx)
{
    struct alike_entry **sorted = memory_new(a->n, sizeof(struct alike_entry *));
    char line[LINE_BYTES];
    uint32_t groups, said = 0, nodes = 0, most = a->lines ? a->lines : ALIKE_LINES;

    for (uint32_t i = 0; i < a->n; i++)
        sorted[i] = &a->entry[i];
    struct group *group = make_groups(sorted, a->n, strcmp, &groups);
    if (groups > most) {
        free(group);
        group = make_groups(sorted, a->n, compare_shapes, &groups);
    }
    for (; said < groups && (said < most - 1 || groups <= most); said++) {
        write_line(&group[said], a->program, line, sizeof line);
        say(ctx, line);
        nodes += group[said].n;
    }
    if (said < groups) {
        snprintf(line, sizeof line, "and %u nodes of %u more kinds; %s", a->n - nodes, groups - said, rest);
        say(ctx, line);
    }
    free(group);
    free(sorted);
}
