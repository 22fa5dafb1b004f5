/* All nodes meet in N barriers. */
#include <nself.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    int barriers = argc > 1 ? atoi(argv[1]) : 20;

    for (int i = 0; i < barriers; i++)
        if (nsync(3) < 0)
            return 1;
    return 0;
}
