#include "emu/front/repeats.h"

#include <string.h>

#include "emu/base/alike.h"

/* The kind of a line, made if it is new; NULL if there is no room for it. */
static struct repeat *find_kind(struct repeats *r, uint32_t from, const char *shape)
{
    for (uint32_t i = 0; i < r->kinds; i++)
        if (r->kind[i].from == from && strcmp(r->kind[i].shape, shape) == 0)
            return &r->kind[i];
    if (r->kinds == REPEATS_KINDS)
        return NULL;
    struct repeat *k = &r->kind[r->kinds++];
    *k = (struct repeat){.from = from};
    strcpy(k->shape, shape);
    return k;
}

static void copy_line(char first[REPEATS_SHAPE_BYTES], const char *text, size_t n)
{
    size_t used = 0;

    for (; used < n && used + 1 < REPEATS_SHAPE_BYTES && text[used] != '\n'; used++)
        first[used] = text[used];
    first[used] = '\0';
}

static bool is_power_of_ten(uint64_t n)
{
    while (n > 1 && n % 10 == 0)
        n /= 10;
    return n == 1;
}

uint64_t repeats_note(struct repeats *r, uint32_t from, const char *text, size_t n)
{
    char shape[REPEATS_SHAPE_BYTES];

    alike_shape(text, n, shape, sizeof shape);
    struct repeat *k = find_kind(r, from, shape);
    if (!k)
        return 1;
    if (k->count++ == 0)
        copy_line(k->first, text, n);
    if (k->count > REPEATS_SHOWN && !is_power_of_ten(k->count))
        return 0;
    k->shown = k->count;
    return k->count;
}

void repeats_tell(struct repeats *r, void (*tell)(void *ctx, const struct repeat *kind), void *ctx)
{
    for (uint32_t i = 0; i < r->kinds; i++) {
        struct repeat *k = &r->kind[i];

        if (k->shown < k->count)
            tell(ctx, k);
        k->shown = k->count;
    }
}
