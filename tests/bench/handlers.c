/* Two nodes exchange 8 bytes N times while the others compute. With a second argument other than 0, every node has a
 * handler for a signal that never comes. */
#include <nself.h>
#include <ntime.h>
#include <signal.h>
#include <stdlib.h>

enum { TRIP_US = 140 }; /* the others compute for about as long as the exchange takes */

static void handle(int signal)
{
    (void)signal;
}

static int exchange(int node, int trips)
{
    char buffer[8] = {0};
    int result = 0;

    for (int i = 0; i < 2 * trips && result >= 0; i++) {
        int source = node ^ 1, type = 2;

        result = i % 2 == node ? nwrite(buffer, sizeof buffer, source, type, NULL)
                               : nread(buffer, sizeof buffer, &source, &type, NULL);
    }
    return result;
}

static void compute(double until_us)
{
    while (amicclk() < until_us)
        for (volatile int i = 0; i < 20000; i++)
            ;
}

int main(int argc, char **argv)
{
    int node, trips = argc > 1 ? atoi(argv[1]) : 500;

    whoami(&node, NULL, NULL, NULL);
    if (argc > 2 && atoi(argv[2]))
        signal(SIGUSR1, handle);
    if (nsync(1) < 0)
        return 1;
    if (node >= 2)
        compute(amicclk() + trips * TRIP_US);
    else if (exchange(node, trips) < 0)
        return 1;
    return nsync(3) < 0;
}
