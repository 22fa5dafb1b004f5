/* searcher: the node's side of driver. It counts the primes in each range that the host sends. */
#include <nself.h>
#include <stdbool.h>
#include <stddef.h>

#include "search.h"

static bool is_prime(int32_t n)
{
    for (int32_t d = 2; d <= n / d; d++)
        if (n % d == 0)
            return false;
    return n > 1;
}

int main(void)
{
    int node, process, host, dim;
    int32_t range[2];

    whoami(&node, &process, &host, &dim);
    for (;;) {
        int from = host, type = RANGE;
        int32_t primes = 0;

        nread(range, sizeof range, &from, &type, NULL);
        if (range[0] == range[1])
            return 0;
        for (int32_t n = range[0]; n < range[1]; n++)
            primes += is_prime(n);
        nwrite(&primes, sizeof primes, host, COUNT, NULL);
    }
}
