/* Which nodes are free (nodes.h). The lowest subcube that fits is taken. */
#include "images/nsh/nodes.h"

#include <nself.h>
#include <rexec.h>
#include <stdlib.h>

static int all;
static struct node {
    bool taken;
    bool used; /* before: the shell that began there has ended */
} * node;

bool nodes_begin(void)
{
    all = ncubesize();
    node = calloc((size_t)all, sizeof *node);
    if (node)
        node[0].taken = true;
    return node;
}

int nodes_all(void)
{
    return all;
}

static bool are_free(int first, int nodes)
{
    for (int i = first; i < first + nodes; i++)
        if (node[i].taken)
            return false;
    return true;
}

static void take(int first, int nodes)
{
    for (int i = first; i < first + nodes; i++) {
        if (!node[i].used)
            rwait(i);
        node[i] = (struct node){true, true};
    }
}

int nodes_take(int nodes)
{
    int size = 1;

    while (size < nodes)
        size *= 2;
    for (int first = 0; first + nodes <= all; first += size)
        if (are_free(first, nodes)) {
            take(first, nodes);
            return first;
        }
    return -1;
}

void nodes_release(int first, int nodes)
{
    for (int i = first; i < first + nodes; i++)
        node[i].taken = false;
}
