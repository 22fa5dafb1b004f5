/* 8 bytes go to and fro between two nodes: trips ROUNDS. */
#include <nself.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
    char ball[8] = "ball";
    int node, proc, host, dim;

    whoami(&node, &proc, &host, &dim);
    for (int round = argc > 1 ? atoi(argv[1]) : 0; round > 0; round--) {
        int source = node ^ 1, type = 1;

        if (node == 0)
            nwrite(ball, sizeof ball, 1, 1, NULL);
        if (nread(ball, sizeof ball, &source, &type, NULL) != (int)sizeof ball)
            return 1;
        if (node == 1)
            nwrite(ball, sizeof ball, 0, 1, NULL);
    }
    return 0;
}
