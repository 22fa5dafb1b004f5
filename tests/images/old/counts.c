/* One source for several machines, as instrumentation libraries had it: a name on the command line chooses. */
#include <stdio.h>

#ifdef NCUBE_V2
#define SEND(buf, n, to, type) nwrite(buf, n, to, type, &flag)
#define RECEIVE(buf, n, from, type) nread(buf, n, from, type, &flag)
#define WHO(me, dim) whoami(me, &process, &host, dim)
#define CLOCK() n_time(&ticks)
static int process, host, ticks;
#endif
static int flag, sent, bytes;

int main()
{
    int me, dim, k, from, type, value;

    WHO(&me, &dim);
    CLOCK();
    value = me;
    for (k = 0; k < dim; k++) {
        int other = me ^ 1 << k, theirs;

        SEND(&value, sizeof value, other, k);
        sent++, bytes += sizeof value;
        from = other, type = k;
        RECEIVE(&theirs, sizeof theirs, &from, &type);
        value += theirs;
    }
    if (me == 0)
        printf("sum %d; node 0 sent %d messages, %d bytes\n", value, sent, bytes);
    return 0;
}
