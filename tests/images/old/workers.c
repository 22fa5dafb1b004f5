/* A manager hands numbers to workers, who square them: a farm as portable message libraries had it. */
#include <stdio.h>
#include "workers.h"

main(argc, argv)
int argc;
char **argv;
{
    int count = argc > 1 ? atoi(argv[1]) : 40;

    whoami(&me, &process, &host, &dim);
    nodes = ncubesize();
    name_host();
    watchdog(60);
    if (me == 0)
        printf("%d squares by %d workers on %s: %d\n", count, nodes - 1, where, manage(count));
    else
        work();
    exit(0);
}
