/* A benchmark of then: TIME for machines that have time(), else times() with HZ of the user's. */
#include <stdio.h>
#ifdef TIME
extern long time();
#define SECONDS() time((long *)0)
#else
#include <sys/param.h>
#include <sys/times.h>
static struct tms used;
#define SECONDS() (times(&used), used.tms_utime / HZ_OF_MACHINE)
#endif
#define PASSES 2000000

int a[50];

main()
{
    register int i;
    long start = SECONDS(), seconds;

    for (i = 0; i < PASSES; i++)
        a[i % 50] += i;
    seconds = SECONDS() - start;
    printf("%d passes in %s\n", PASSES, seconds > 0 && seconds < 60 ? "seconds" : "no time");
    return 0;
}
