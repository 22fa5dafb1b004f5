/* The queue of work, and the calls for sockets that such programs make of Unix. */
#include <string.h>
#include <sys/time.h>
#include <netdb.h>
#include "workers.h"

name_host()
{
    struct hostent *entry = gethostbyname("localhost");

    strcpy(where, entry ? entry->h_name : "a node");
}

watchdog(seconds)
int seconds;
{
    struct { struct timeval interval, value; } limit;

    limit.interval.tv_sec = limit.interval.tv_usec = limit.value.tv_usec = 0;
    limit.value.tv_sec = seconds;
    setitimer(0, &limit, 0);
}

static give(to, count)
int to, count;
{
    int item = given < count ? given++ : STOP;

    nwrite(&item, sizeof item, to, WORK, 0);
}

manage(count)
int count;
{
    int i, sum = 0, square, from, type;

    for (i = 1; i < nodes; i++)
        give(i, count);
    while (answers < count) {
        from = -1, type = ANSWER;
        nread(&square, sizeof square, &from, &type, 0);
        sum += square;
        answers++;
        give(from, count);
    }
    return sum;
}

work()
{
    int item, from, type;

    for (;;) {
        from = 0, type = WORK;
        nread(&item, sizeof item, &from, &type, 0);
        if (item == STOP)
            return;
        item *= item;
        nwrite(&item, sizeof item, 0, ANSWER, 0);
    }
}
