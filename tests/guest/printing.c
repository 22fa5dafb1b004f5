/*
 * Numbers to text and back: random doubles in random formats. Built for the nodes and for the host too, whose C
 * library is the judge: both print the same lines.
 *
 *   printing COUNT       COUNT conversions; one line with a hash for each 500
 *   printing -v N        conversions 500 N to 500 N + 499, with their texts: to find what differs
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BLOCK      500
#define TEXT_BYTES 800 /* -1.8e308 with 300 digits behind the point, and room */

static uint64_t state;

static uint64_t next_random(void)
{
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    return state * 0x2545f4914f6cdd1d;
}

/* Of all kinds: any bits, numbers of programs, short decimals, whole numbers, halves that must be rounded to even. */
static double next_double(void)
{
    uint64_t bits = next_random(), kind = next_random();
    double value;

    switch (kind % 6) {
    case 0:
        memcpy(&value, &bits, sizeof value);
        return value == value ? value : 0; /* libraries differ in the sign of a NaN */
    case 1:
        return (double)(int64_t)bits / 9007199254740992.0;
    case 2:
        return (double)(int32_t)bits / 1000;
    case 3:
        return (double)(int16_t)bits;
    case 4:
        return (double)(int16_t)bits / 8;
    default:
        return (double)(int64_t)bits;
    }
}

/* Formats %[flags][width][.precision]conversion; *IS_LONG tells that the argument is a long double. */
static void next_format(char *format, int *is_long)
{
    uint64_t bits = next_random();

    *format++ = '%';
    for (int i = 0; i < 5; i++)
        if ((bits >> (3 * i) & 7) == 0)
            *format++ = "-+ #0"[i];
    bits >>= 15;
    if ((bits & 3) == 0)
        format += sprintf(format, "%d", (int)(bits >> 2 & 31));
    bits >>= 7;
    if ((bits & 7) < 6)
        format += sprintf(format, ".%d", (int)((bits >> 3) % ((bits & 7) ? 18 : 60)));
    bits = next_random();
    *is_long = (bits & 7) == 0;
    if (*is_long)
        *format++ = 'L';
    *format++ = "efgEGF"[(bits >> 3) % 6];
    *format = 0;
}

static uint64_t hash_bytes(uint64_t hash, const void *data, size_t n)
{
    const unsigned char *p = data;

    while (n--)
        hash = (hash ^ *p++) * 0x100000001b3;
    return hash;
}

static uint64_t convert(uint64_t hash, int verbose)
{
    char format[32], text[TEXT_BYTES];
    int is_long, scanned;
    double value = next_double(), back = -1, read = -1;

    next_format(format, &is_long);
    if (is_long)
        snprintf(text, sizeof text, format, (long double)value);
    else
        snprintf(text, sizeof text, format, value);
    back = strtod(text, NULL);
    scanned = sscanf(text, "%lf", &read);
    read += 0.0; /* newlib's scanf loses the sign of zero (docs/caveats.md) */
    if (verbose)
        printf("%a %s \"%s\" %a %d %a\n", value, format, text, back, scanned, read);
    hash = hash_bytes(hash, text, strlen(text) + 1);
    hash = hash_bytes(hash, &back, sizeof back);
    return hash_bytes(hash, &read, sizeof read);
}

static void block(int number, int verbose)
{
    uint64_t hash = 0xcbf29ce484222325;

    state = (number + 1) * 0x9e3779b97f4a7c15;
    for (int i = 0; i < BLOCK; i++)
        hash = convert(hash, verbose);
    printf("%d %08lx%08lx\n", number, (unsigned long)(hash >> 32), (unsigned long)(hash & 0xffffffff));
}

int main(int argc, char **argv)
{
    if (argc == 3 && !strcmp(argv[1], "-v")) {
        block(atoi(argv[2]), 1);
        return 0;
    }
    for (int i = 0; i < (argc > 1 ? atoi(argv[1]) : BLOCK) / BLOCK; i++)
        block(i, 0);
    return 0;
}
