/*
 * The cost of calls of the C library: one line for each, "cycles name". Virtual times are exact, so one number is
 * enough. Compiled with -fno-builtin, so that each call is one.
 */
#include <math.h>
#include <ntime.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CYCLES_PER_US 20
#define ROUNDS        64
#define KB            1024

static char from[4 * KB], to[4 * KB], text[400];
static int numbers[KB];
static void *blocks[ROUNDS];
static volatile double third = 1.0 / 3, large = 12345.678;
static volatile double sink;
static volatile size_t length;
static double empty_us;

/* Prints what STATEMENT costs, the mean of ROUNDS with i = 0, 1, ...; a loop without one is taken off. */
#define COST(name, statement)                                                 \
    do {                                                                      \
        double start = amicclk(), us;                                         \
                                                                              \
        for (int i = 0; i < ROUNDS; i++) {                                    \
            statement;                                                        \
            __asm__ volatile("" ::: "memory");                                \
        }                                                                     \
        us = amicclk() - start - empty_us;                                    \
        printf("%8ld %s\n", (long)(us * CYCLES_PER_US / ROUNDS + 0.5), name); \
    } while (0)

static int compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

/* Sorts only once: only the first round counts. */
static void sort(int n, int shape)
{
    unsigned x = 1;

    for (int i = 0; i < n; i++) {
        x = x * 1103515245 + 12345;
        numbers[i] = shape ? i : (int)(x >> 8);
    }
    double start = amicclk();
    qsort(numbers, n, sizeof numbers[0], compare);
    printf("%8ld qsort of %d %s integers\n", (long)((amicclk() - start) * CYCLES_PER_US), n,
           shape ? "sorted" : "random");
}

static void strings(void)
{
    memset(from, 'a', sizeof from);
    from[KB] = 0;
    strcpy(to, from);
    COST("memcpy of 8 bytes", memcpy(to, from, 8));
    COST("memcpy of 1 KB", memcpy(to, from, KB));
    COST("memcpy of 1 KB, one end at an odd address", memcpy(to + 1, from, KB));
    COST("memcpy of 1 KB, both ends at an odd address", memcpy(to + 1, from + 1, KB));
    COST("memmove of 1 KB up by 8", memmove(to + 8, to, KB));
    COST("memmove of 1 KB up by 1", memmove(to + 1, to, KB));
    COST("memset of 1 KB", memset(to, 'a', KB));
    COST("memcmp of 1 KB, equal", length = memcmp(to, from, KB));
    to[KB] = 0;
    COST("memchr over 1 KB", length = memchr(from, 'x', KB) == NULL);
    COST("strlen of 1 KB", length = strlen(from));
    COST("strcmp of 1 KB, equal", length = strcmp(to, from));
    COST("strncmp of 1 KB, equal", length = strncmp(to, from, KB));
    COST("strcmp of 1 KB, one end at an odd address", length = strcmp(to + 1, from + 2));
    COST("memcmp of 1 KB, one end at an odd address", length = memcmp(to + 1, from, KB - 1));
    COST("strcpy of 1 KB", strcpy(to, from));
    COST("strcpy of 1 KB, one end at an odd address", strcpy(to + 1, from));
    COST("strncpy of 1 KB", strncpy(to, from, KB));
    COST("strchr over 1 KB", length = strchr(from, 'x') == NULL);
    COST("strcat of 8 bytes to 1 KB", (to[KB] = 0, strcat(to, "12345678")));
    COST("strstr over 1 KB", length = strstr(from, "ab") == NULL);
}

static void formats(void)
{
    int integer;
    double real;

    COST("sprintf %d", sprintf(text, "%d", 123456 + i));
    COST("sprintf %s of 12 bytes", sprintf(text, "%s", "hello, world"));
    COST("sprintf %f", sprintf(text, "%f", large + i));
    COST("sprintf %.3f", sprintf(text, "%.3f", large + i));
    COST("sprintf %g", sprintf(text, "%g", large * i));
    COST("sprintf %e", sprintf(text, "%e", large * i));
    COST("sprintf %e of 1e-100", sprintf(text, "%e", large * i * 1e-100));
    COST("sprintf %.15g", sprintf(text, "%.15g", third * i));
    COST("sprintf %.17g", sprintf(text, "%.17g", third * i));
    COST("sprintf %Lf of a third", sprintf(text, "%Lf", 1.0L / 3));
    COST("atoi", integer = atoi("123456"));
    COST("strtol", integer = strtol("123456", NULL, 10));
    COST("strtod of 3.14159", sink = strtod("3.14159", NULL));
    COST("strtod of 17 digits", sink = strtod("3.1415926535897931", NULL));
    COST("strtod of 1.2345678901e-100", sink = strtod("1.2345678901e-100", NULL));
    COST("sscanf %d", sscanf("123456", "%d", &integer));
    COST("sscanf %lf", sscanf("3.14159", "%lf", &real));
}

static void memory(void)
{
    COST("malloc of 16 bytes", blocks[i] = malloc(16));
    COST("free of 16 bytes", free(blocks[i]));
    COST("malloc of 16 bytes again", blocks[i] = malloc(16));
    COST("free of 16 bytes, last first", free(blocks[ROUNDS - 1 - i]));
    COST("malloc and free of 1 KB", free(malloc(KB)));
    COST("calloc and free of 1 KB", free(calloc(1, KB)));
    sort(KB, 0);
    sort(KB, 1);
    COST("rand", length = rand());
}

static void mathematics(void)
{
    COST("sqrt", sink = sqrt(large + i));
    COST("exp", sink = exp(third * i));
    COST("log", sink = log(large + i));
    COST("log10", sink = log10(large + i));
    COST("pow", sink = pow(large, third * i));
    COST("sin", sink = sin(third * i));
    COST("cos", sink = cos(third * i));
    COST("tan", sink = tan(third * i));
    COST("sin of 1e10", sink = sin(1e10 + i));
    COST("atan", sink = atan(third * i));
    COST("atan2", sink = atan2(third * i, large));
    COST("tanh", sink = tanh(third * i));
    COST("floor", sink = floor(third * i));
    COST("fmod", sink = fmod(large, third + i));
    COST("fabs", sink = fabs(third * i));
    COST("expf", sink = expf(third * i));
    COST("sinf", sink = sinf(third * i));
}

int main(void)
{
    double start = amicclk();

    for (int i = 0; i < ROUNDS; i++)
        __asm__ volatile("" ::: "memory");
    empty_us = amicclk() - start;
    strings();
    formats();
    memory();
    mathematics();
    return 0;
}
