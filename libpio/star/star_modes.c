/*
 * What Stream* takes of <nself.h> and <stropts.h>: the nodes of the program, and global and local mode. Apart from the
 * rest, which the tests run on the host.
 */
#include <errno.h>
#include <nself.h>
#include <stdlib.h>
#include <stropts.h>

#include "libpio/ndevices/global_files.h"
#include "libpio/star/star_nodes.h"

static int make_domain(const int *member, int nodes)
{
    int fd = ndomain(nself, nodes, member);

    if (fd < 0)
        return -errno;
    nself = fd;
    return group_make(&star_group, NULL, nodes);
}

int star_modes_begin(int first, int nodes)
{
    int all = ncubesize(), node, error;

    whoami(&node, NULL, NULL, NULL);
    if (first == 0 && nodes == 0)
        nodes = all;
    if (first < 0 || nodes < 1 || nodes > all - first)
        return -EINVAL;
    if (node < first || node >= first + nodes)
        return 1;
    if (nodes == all) {
        error = group_make(&star_group, NULL, 0);
    } else {
        int *member = malloc((size_t)nodes * sizeof *member);

        for (int i = 0; member && i < nodes; i++)
            member[i] = first + i;
        error = member ? make_domain(member, nodes) : -ENOMEM;
        free(member);
    }
    if (error < 0)
        star_group.size = 0;
    else
        nglobal();
    return error < 0 ? error : 0;
}

void star_modes_local(void)
{
    nlocal();
}

void star_modes_global(void)
{
    nglobal();
}

void global_has_file(void)
{
    star_scalar_watch();
}
