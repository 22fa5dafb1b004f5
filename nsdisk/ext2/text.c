/* Text for the front end's console without newlib's printf: see text.h. */
#include "nsdisk/ext2/text.h"

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

struct text {
    char *at, *end; /* end: where the NUL must fit */
};

static void text_put(struct text *t, const char *s, size_t n)
{
    size_t room = (size_t)(t->end - t->at);

    if (n > room)
        n = room;
    memcpy(t->at, s, n);
    t->at += n;
}

static void text_put_number(struct text *t, uint64_t value, uint32_t base)
{
    char digits[20];
    size_t at = sizeof digits;

    do {
        digits[--at] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value != 0);
    text_put(t, digits + at, sizeof digits - at);
}

static void text_put_signed(struct text *t, int value)
{
    if (value < 0)
        text_put(t, "-", 1);
    text_put_number(t, value < 0 ? -(uint64_t)value : (uint64_t)value, 10);
}

/* One conversion; `spec` is after the '%'. Returns what follows it. */
static const char *text_convert(struct text *t, const char *spec, va_list *list)
{
    bool is_long = *spec == 'l';

    spec += is_long;
    switch (*spec) {
    case 's': {
        const char *s = va_arg(*list, const char *);
        text_put(t, s, strlen(s));
        break;
    }
    case 'd':
        text_put_signed(t, va_arg(*list, int));
        break;
    case 'u':
    case 'x': {
        uint64_t value = is_long ? va_arg(*list, unsigned long) : va_arg(*list, unsigned);
        text_put_number(t, value, *spec == 'u' ? 10 : 16);
        break;
    }
    default:
        text_put(t, spec, 1);
    }
    return spec + 1;
}

size_t text_format_list(char *text, size_t bytes, const char *format, va_list list)
{
    struct text t = {text, text + bytes - 1};
    va_list rest;

    va_copy(rest, list);
    while (*format != '\0') {
        size_t plain = strcspn(format, "%");

        text_put(&t, format, plain);
        format += plain;
        if (*format == '%')
            format = text_convert(&t, format + 1, &rest);
    }
    va_end(rest);
    *t.at = '\0';
    return (size_t)(t.at - text);
}

size_t text_format(char *text, size_t bytes, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    size_t n = text_format_list(text, bytes, format, list);
    va_end(list);
    return n;
}
