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
    static const struct {
        const char *variable, *name;
    } made[] = {{"OMPI_MCA_orte_jobfam_session_dir", "/ompi."}, {"PMIX_SERVER_TMPDIR", "/prte"}}; /* 4.1, 5.0 */
    const char *rank = getenv("OMPI_COMM_WORLD_LOCAL_RANK");

    for (size_t k = 0; k < sizeof made / sizeof *made && rank && strcmp(rank, "0") == 0; k++) {
        const char *folder = getenv(made[k].variable);

        if (folder && strstr(folder, made[k].name))
            nftw(folder, remove_one, OPEN_AT_ONCE, FTW_DEPTH | FTW_PHYS | FTW_MOUNT);
    }
}
