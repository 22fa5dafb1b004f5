/* Names that users give may hold any bytes. An error that quotes one stays a single line and cannot control a
 * terminal. */
#ifndef NCUBE_ONELINE_H
#define NCUBE_ONELINE_H

/* Replaces every control character by '?'. Returns `text`. */
static inline char *one_line(char *text)
{
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return text;
}

#endif
