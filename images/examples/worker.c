/* Loaded by manager: answers each TASK with f of it, until STOP. */
#include <nself.h>
#include <stdio.h>

#include "worker.h"

static long f(long x)
{
    return x * x + 1;
}

int main(void)
{
    for (;;) {
        int task, manager = N_ANY, type = N_ANY;
        int n = nread(&task, sizeof task, &manager, &type, NULL);

        if (n < 0 || type == STOP)
            return n < 0;
        long result = f(task);
        nwrite(&result, sizeof result, manager, RESULT, NULL);
    }
}
