/* mpirun removes the folder at its end, too, and does not mind that it is gone. */
#include "emu/rack/ranks_folder.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define OPEN_AT_ONCE 8

static int remove_one(const char *path, const struct stat *st, int kind, struct FTW *at)
{
    (void)st, (void)kind, (void)at;
    remove(path);
    return 0;
}

void ranks_folder_remove(void)
{
    const char *folder = getenv("OMPI_MCA_orte_jobfam_session_dir"), *rank = getenv("OMPI_COMM_WORLD_LOCAL_RANK");

    if (folder && strstr(folder, "/ompi.") && rank && strcmp(rank, "0") == 0)
        nftw(folder, remove_one, OPEN_AT_ONCE, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
}
