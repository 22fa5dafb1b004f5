/* All nodes but node 0 look for its message with ntest, for a second of virtual time. */
#include <nself.h>
#include <ntime.h>
#include <stddef.h>

int main(void)
{
    double begin_us = amicclk();
    int node, dim;

    whoami(&node, NULL, NULL, &dim);
    if (node == 0) {
        while (amicclk() - begin_us < 1e6)
            ;
        for (int i = 1; i < 1 << dim; i++)
            if (nwrite(&i, sizeof i, i, 5, NULL) < 0)
                return 1;
        return 0;
    }
    for (;;) {
        int source = -1, type = 5;

        if (ntest(&source, &type) >= 0)
            return 0;
    }
}
