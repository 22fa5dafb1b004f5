#include "vertex/shared/text.h"

#include <limits.h>
#include <stdbool.h>
#include <stdint.h>

struct output {
    char *to;
    size_t size;
    size_t length;
};

static void put_char(struct output *o, char c)
{
    if (o->length + 1 < o->size)
        o->to[o->length++] = c;
}

static void put_string(struct output *o, const char *s, int most)
{
    while (most-- > 0 && *s)
        put_char(o, *s++);
}

static void put_number(struct output *o, uint64_t value, unsigned base)
{
    char digit[20];
    int n = 0;

    do {
        digit[n++] = "0123456789abcdef"[value % base];
        value /= base;
    } while (value);
    while (n > 0)
        put_char(o, digit[--n]);
}

static void put_signed(struct output *o, int64_t value)
{
    if (value < 0)
        put_char(o, '-');
    put_number(o, value < 0 ? -(uint64_t)value : (uint64_t)value, 10);
}

/* Writes one conversion; `f` points behind the '%'. Returns a pointer behind the conversion. */
static const char *put_conversion(struct output *o, const char *f, va_list *list)
{
    int most = INT_MAX;

    if (f[0] == '.' && f[1] == '*') {
        most = va_arg(*list, int);
        f += 2;
    }
    bool is_long = *f == 'l';
    while (*f == 'l')
        f++;
    switch (*f) {
    case 's':
        put_string(o, va_arg(*list, const char *), most);
        break;
    case 'c':
        put_char(o, (char)va_arg(*list, int));
        break;
    case 'd':
        put_signed(o, is_long ? va_arg(*list, int64_t) : va_arg(*list, int32_t));
        break;
    case 'u':
        put_number(o, is_long ? va_arg(*list, uint64_t) : va_arg(*list, uint32_t), 10);
        break;
    case 'x':
        put_number(o, is_long ? va_arg(*list, uint64_t) : va_arg(*list, uint32_t), 16);
        break;
    default:
        put_char(o, *f);
    }
    return *f ? f + 1 : f;
}

size_t text_print_list(char *to, size_t size, const char *format, va_list list)
{
    struct output o = {to, size, 0};
    va_list rest;

    va_copy(rest, list);
    while (*format) {
        if (*format == '%')
            format = put_conversion(&o, format + 1, &rest);
        else
            put_char(&o, *format++);
    }
    va_end(rest);
    to[o.length] = '\0';
    return o.length;
}

size_t text_print(char *to, size_t size, const char *format, ...)
{
    va_list list;

    va_start(list, format);
    size_t length = text_print_list(to, size, format, list);
    va_end(list);
    return length;
}
