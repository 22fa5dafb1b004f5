/*
 * Instruction rates in virtual time: a mix of integer loops in MIPS, DAXPY and dot product in MFLOPS.
 * Prints three lines; docs/timing.md quotes them.
 *
 * The integer mix is sorting, searching a table by hash, and copying strings: loads, stores, branches, calls and
 * arithmetic as ordinary programs have them. Its instructions are counted by the hart (instret).
 */
#include <ntime.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define LENGTH 1000
#define ROUNDS 100

static double x[LENGTH], y[LENGTH];
static uint32_t keys[LENGTH];
static char text[LENGTH], copy[LENGTH];

static void sort(void)
{
    for (int gap = LENGTH / 2; gap > 0; gap /= 2)
        for (int i = gap; i < LENGTH; i++) {
            uint32_t key = keys[i];
            int j = i;

            for (; j >= gap && keys[j - gap] > key; j -= gap)
                keys[j] = keys[j - gap];
            keys[j] = key;
        }
}

static uint32_t hash(void)
{
    uint32_t found = 0;

    for (int i = 0; i < LENGTH; i++)
        found += keys[keys[i] % LENGTH] > keys[i];
    return found;
}

static uint32_t copy_text(void)
{
    uint32_t spaces = 0;
    char *to = copy;

    for (const char *from = text; *from; from++)
        if (*from == ' ')
            spaces++;
        else
            *to++ = *from;
    *to = '\0';
    return spaces;
}

static uint32_t integer_mix(void)
{
    uint32_t seed = 1, sum = 0;

    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < LENGTH; i++)
            keys[i] = seed = seed * 1664525 + 1013904223;
        sort();
        sum += hash() + copy_text();
    }
    return sum;
}

static void daxpy(double a)
{
    for (int i = 0; i < LENGTH; i++)
        y[i] += a * x[i];
}

static double dot(void)
{
    double sum = 0;

    for (int i = 0; i < LENGTH; i++)
        sum += x[i] * y[i];
    return sum;
}

int main(void)
{
    double start, sum = 0;

    memset(text, 'a', sizeof text - 1);
    for (int i = 0; i < LENGTH; i += 7)
        text[i] = ' ';
    start = amicclk();
    sum += integer_mix();
    printf("integer %.0f us\n", amicclk() - start);
    start = amicclk();
    for (int round = 0; round < ROUNDS; round++)
        daxpy(1.0 / (round + 1));
    printf("daxpy %.2f MFLOPS\n", 2.0 * LENGTH * ROUNDS / (amicclk() - start));
    start = amicclk();
    for (int round = 0; round < ROUNDS; round++)
        sum += dot();
    printf("dot %.2f MFLOPS\n", 2.0 * LENGTH * ROUNDS / (amicclk() - start));
    return sum != sum;
}
