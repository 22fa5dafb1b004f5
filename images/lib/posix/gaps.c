/*
 * Functions that newlib declares but does not define, or defines under other names.
 */
#include <errno.h>
#include <malloc.h>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

ssize_t getdelim(char **line, size_t *size, int end, FILE *file)
{
    return __getdelim(line, size, end, file);
}

ssize_t getline(char **line, size_t *size, FILE *file)
{
    return __getdelim(line, size, '\n', file);
}

int posix_memalign(void **memory, size_t alignment, size_t bytes)
{
    int before = errno;

    if (alignment < sizeof(void *) || (alignment & (alignment - 1)))
        return EINVAL;
    void *block = memalign(alignment, bytes);
    errno = before;
    if (!block)
        return ENOMEM;
    *memory = block;
    return 0;
}

/* ---- Locks and rights: a process has one thread, and no rights to give up ---- */

void flockfile(FILE *file)
{
    (void)file;
}

int ftrylockfile(FILE *file)
{
    (void)file;
    return 0;
}

void funlockfile(FILE *file)
{
    (void)file;
}

char *secure_getenv(const char *name)
{
    return getenv(name);
}

/* ---- The sign of 128 bits ---- */

union bits {
    long double value;
    uint64_t word[2];
};

#define SIGN (1ull << 63)

/* newlib 4.5 has these two. */
__attribute__((weak)) long double copysignl(long double x, long double y)
{
    union bits a = {x}, b = {y};

    a.word[1] = (a.word[1] & ~SIGN) | (b.word[1] & SIGN);
    return a.value;
}

__attribute__((weak)) long double fabsl(long double x)
{
    union bits a = {x};

    a.word[1] &= ~SIGN;
    return a.value;
}
