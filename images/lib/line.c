/*
 * getline and getdelim, which newlib has under other names.
 */
#include <stdio.h>

ssize_t getdelim(char **line, size_t *size, int end, FILE *file)
{
    return __getdelim(line, size, end, file);
}

ssize_t getline(char **line, size_t *size, FILE *file)
{
    return __getdelim(line, size, '\n', file);
}
