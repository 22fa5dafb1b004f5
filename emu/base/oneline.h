/* Names that users give may hold anything; what we say about them stays one line, and plays with no
 * terminal. */
#ifndef NCUBE_ONELINE_H
#define NCUBE_ONELINE_H

/* Puts '?' in the place of every control character. Returns `text`. */
static inline char *one_line(char *text)
{
    for (char *c = text; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    return text;
}

#endif
