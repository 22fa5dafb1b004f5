/*
 * Positions in formats of printf: %2$s, %1$*2$d. ncc puts these functions in front of newlib's in programs that have
 * such a format; no other program has any of this.
 *
 * A format with positions becomes one without, and its arguments are put into the order in which that takes them. An
 * argument of a variable list has 8 bytes, a long double 16 at a multiple of 16 (lp64d).
 */
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

enum { POSITIONS = 32, FORMAT_BYTES = 1024 }; /* NL_ARGMAX of newlib */

struct _reent;

union slot {
    uint64_t word[2];
    long double quad; /* aligns */
};

struct plan {
    bool wide[POSITIONS + 1]; /* by position: a long double */
    int highest;
    char format[FORMAT_BYTES];
    size_t bytes;
    int order[2 * POSITIONS]; /* positions, as the new format takes them */
    int n;
};

static bool add_text(struct plan *p, const char *text, size_t n)
{
    if (n >= sizeof p->format - p->bytes)
        return false;
    memcpy(p->format + p->bytes, text, n);
    p->bytes += n;
    p->format[p->bytes] = '\0';
    return true;
}

/* Reads "12$". Returns the position, and moves on behind it; 0 if there is none. */
static int take_position(const char **at)
{
    const char *c = *at;
    int n = 0;

    while (*c >= '0' && *c <= '9' && n <= POSITIONS)
        n = n * 10 + *c++ - '0';
    if (*c != '$' || n == 0 || n > POSITIONS)
        return 0;
    *at = c + 1;
    return n;
}

static bool add_argument(struct plan *p, int position, bool wide)
{
    if (p->n == 2 * POSITIONS)
        return false;
    p->order[p->n++] = position;
    p->wide[position] = p->wide[position] || wide;
    p->highest = position > p->highest ? position : p->highest;
    return true;
}

/* One conversion, from behind its '%' on. Its flags, width and precision may have positions of their own. */
static bool plan_conversion(struct plan *p, const char **at)
{
    int position = take_position(at);
    const char *c = *at, *from = c;
    bool wide = false;

    if (position == 0 || !add_text(p, "%", 1))
        return false;
    for (; *c && strchr("-+ #'0123456789.*hlLqjzt", *c); c++) {
        wide = wide || *c == 'L';
        if (*c != '*')
            continue;
        const char *behind = c + 1;
        int other = take_position(&behind);
        if (other == 0 || !add_text(p, from, (size_t)(c + 1 - from)) || !add_argument(p, other, false))
            return false;
        from = behind;
        c = behind - 1;
    }
    wide = wide && *c && strchr("aAeEfFgG", *c);
    *at = c + (*c != '\0');
    return *c && add_text(p, from, (size_t)(c + 1 - from)) && add_argument(p, position, wide);
}

/* False: the format has no positions, or is none that POSIX knows; it is newlib's as it is. */
static bool make_plan(struct plan *p, const char *format)
{
    const char *at = format;

    p->n = p->highest = 0;
    p->bytes = 0;
    memset(p->wide, 0, sizeof p->wide);
    while (*at) {
        size_t n = strcspn(at, "%");

        n += at[n] == '%' && at[n + 1] == '%' ? 2 : 0;
        if (!add_text(p, at, n))
            return false;
        at += n;
        if (*at == '%' && at[1] != '%') {
            at++;
            if (!plan_conversion(p, &at))
                return false;
        }
    }
    return p->n > 0;
}

/* Lays the arguments out anew. */
static void reorder(const struct plan *p, va_list args, union slot *laid)
{
    union slot value[POSITIONS + 1];
    uint64_t *to = laid->word;

    for (int i = 1; i <= p->highest; i++)
        if (p->wide[i])
            value[i].quad = va_arg(args, long double);
        else
            value[i].word[0] = va_arg(args, uint64_t);
    for (int i = 0; i < p->n; i++) {
        bool wide = p->wide[p->order[i]];

        to += wide && (uintptr_t)to % 16 != 0;
        memcpy(to, &value[p->order[i]], wide ? 16 : 8);
        to += wide ? 2 : 1;
    }
}

_Static_assert(sizeof(va_list) == sizeof(void *), "a variable list is an address");

/* A call of newlib's, `parameters` before the format. */
#define PRINTING(name, parameters, ...)                                \
    int __real_##name(parameters, const char *format, va_list args);   \
    int __wrap_##name(parameters, const char *format, va_list args);   \
    int __wrap_##name(parameters, const char *format, va_list args)    \
    {                                                                  \
        struct plan plan;                                              \
        union slot laid[2 * POSITIONS];                                \
                                                                       \
        if (!strchr(format, '$') || !make_plan(&plan, format))         \
            return __real_##name(__VA_ARGS__, format, args);           \
        reorder(&plan, args, laid);                                    \
        return __real_##name(__VA_ARGS__, plan.format, (va_list)laid); \
    }
#define BOTH(first, second) first, second

PRINTING(_vfprintf_r, BOTH(struct _reent *r, FILE *f), r, f)
PRINTING(_svfprintf_r, BOTH(struct _reent *r, FILE *f), r, f)
PRINTING(vfprintf, FILE *f, f)
