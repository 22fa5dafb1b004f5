/*
 * A manager on node 0 that loads workers on the other nodes and gives them work:
 *
 *   ncube run -d 3 --serve build/examples build/examples/manager worker 20
 *
 * sums f(0) + ... + f(19); the workers know f. The other nodes' first program, this one, ends at once, so that they can
 * be loaded.
 */
#include <n_errno.h>
#include <nself.h>
#include <rexec.h>
#include <stdio.h>
#include <stdlib.h>

#include "worker.h"

/* Gives each worker the next task when it has answered. Returns the sum. */
static long hand_out(int tasks, int workers)
{
    long sum = 0, result;
    int next = 0;

    for (int worker = 1; worker <= workers && next < tasks; worker++, next++)
        nwrite(&next, sizeof next, worker, TASK, NULL);
    for (int done = 0; done < tasks; done++) {
        int worker = N_ANY, type = RESULT;

        nread(&result, sizeof result, &worker, &type, NULL);
        sum += result;
        if (next < tasks) {
            nwrite(&next, sizeof next, worker, TASK, NULL);
            next++;
        }
    }
    return sum;
}

int main(int argc, char **argv)
{
    int node, dim, tasks = argc == 3 ? atoi(argv[2]) : 0;

    whoami(&node, NULL, NULL, &dim);
    if (node != 0)
        return 0;
    if (tasks <= 0 || dim == 0) {
        fprintf(stderr, "usage: manager WORKER TASKS, on two nodes or more\n");
        return 2;
    }
    int workers = (1 << dim) - 1;
    for (int worker = 1; worker <= workers; worker++)
        rwait(worker);
    if (rexecl(1, workers, argv[1], argv[1], NULL) < 0) {
        nperror(argv[1]);
        return 1;
    }
    printf("sum %ld\n", hand_out(tasks, workers));
    for (int worker = 1; worker <= workers; worker++)
        nwrite(NULL, 0, worker, STOP, NULL);
    for (int worker = 1; worker <= workers; worker++) {
        int status = rwait(worker);

        if (status != 0)
            printf("worker %d has ended with status %d\n", worker, status);
    }
    return 0;
}
