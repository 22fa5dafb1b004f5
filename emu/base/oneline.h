/* Names that users give may hold any bytes. An error that quotes one stays a single line and cannot control a
 * terminal. */
#pragma once

#include <stddef.h>
#include <string.h>

/* Returns the length of the UTF-8 character of two bytes or more at `c`; 0: there is none within n bytes. */
static inline size_t one_line_character(const unsigned char *c, size_t n)
{
    size_t length = c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;

    if (length > n)
        return 0;
    for (size_t i = 1; i < length; i++)
        if (c[i] < 0x80 || c[i] > 0xbf)
            return 0;
    return length;
}

/* Copies text with each control character replaced by '?': those of ASCII (but for `kept`; 0: none), and those of C1,
 * U+0080 to U+009F, in UTF-8 or as single bytes. Returns the number of bytes in `to`, which may be `from`. */
static inline size_t one_line_copy(char *to, const char *from, size_t n, char kept)
{
    size_t used = 0;

    for (size_t i = 0, bytes; i < n; i += bytes) {
        const unsigned char *c = (const unsigned char *)from + i;
        size_t character = one_line_character(c, n - i);
        int control = character == 2 ? c[0] == 0xc2 && c[1] < 0xa0
                                     : !character && (c[0] < ' ' || (c[0] >= 0x7f && c[0] < 0xa0)) &&
                                           (c[0] != (unsigned char)kept || kept == 0);

        bytes = character ? character : 1;
        if (!control)
            memmove(to + used, c, bytes);
        else
            to[used] = '?';
        used += control ? 1 : bytes;
    }
    return used;
}

/* Does that in place. Returns `text`. */
static inline char *one_line(char *text)
{
    text[one_line_copy(text, text, strlen(text), 0)] = '\0';
    return text;
}
