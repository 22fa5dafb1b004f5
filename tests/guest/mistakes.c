/* Mistakes that end a program by a fault in, or because of, a function of the library. The argument names one. */
#include <nself.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct part {
    long before[3];
    int field;
};

static char *volatile null;
static volatile size_t n = 100;
static char bytes[100];
static volatile uintptr_t nowhere = 0x123456789000;

static void __attribute__((noinline)) copies(void)
{
    memcpy(null, bytes, n);
    n++;
}

static void __attribute__((noinline)) measures(void)
{
    n = strlen(null);
    n++;
}

static void __attribute__((noinline)) smashes(void)
{
    char small[16];

    memset(small, 0x41, n);
    __asm__ volatile("" ::"r"(small) : "memory");
}

static void __attribute__((noinline)) fills(void)
{
    ((struct part *)(void *)null)->field = 1;
}

static void __attribute__((noinline)) calls(void)
{
    void (*f)(void) = (void (*)(void))(void *)null;

    f();
    n++;
}

static void __attribute__((noinline)) stores(void)
{
    puts("later");
    *null = 1;
}

/* A helper of a helper, with a frame of its own; both keep registers. The stack below has old addresses to return to:
 * those of the call that went well. */
static void __attribute__((noinline)) helps(char *to, int deep)
{
    char old[256];

    __asm__ volatile("" ::"r"(old) : "memory");
    memcpy(to, bytes, n);
    if (deep > 0)
        helps(null, deep - 1);
    n++;
}

static void __attribute__((noinline)) nests(void)
{
    static char room[100];

    helps(room, 1);
    n++;
}

/* A frame whose size the compiler does not know. */
static void __attribute__((noinline)) varies(void)
{
    char *room = __builtin_alloca(n);

    helps(room, 0);
    memcpy(null, room, n);
    n++;
}

/* Below these calls are functions of newlib. */
static void __attribute__((noinline)) frees(void)
{
    free((void *)nowhere);
    n++;
}

static void __attribute__((noinline)) says(void)
{
    puts(null + 1);
    n++;
}

static void __attribute__((noinline)) reads(void)
{
    n = (size_t)atoi((char *)nowhere) + 1;
}

/* So many of them that the program's own line would not be among four. */
static void __attribute__((noinline)) formats(void)
{
    sprintf(null + 1, "%zu %s", n, bytes);
    n++;
}

static const struct mistake {
    const char *name;
    void (*make)(void);
} mistakes[] = {
    {"copies", copies}, {"measures", measures}, {"smashes", smashes}, {"fills", fills},
    {"calls", calls},   {"stores", stores},     {"nests", nests},     {"varies", varies},
    {"frees", frees},   {"says", says},         {"reads", reads},     {"formats", formats},
};

int main(int argc, char **argv)
{
    for (size_t i = 0; argc == 2 && i < sizeof mistakes / sizeof *mistakes; i++)
        if (strcmp(argv[1], mistakes[i].name) == 0)
            mistakes[i].make();
    return 1;
}
