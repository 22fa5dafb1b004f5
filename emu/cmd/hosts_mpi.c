/* ncube-mpi: rank 0 is ncube, every other rank a rack of its nodes. However rank 0 ends, the racks end with it. */
#include "emu/cmd/hosts.h"

#include <stdlib.h>

#include "emu/cmd/machine_options.h"
#include "emu/rack/rack.h"
#include "emu/rack/racks.h"
#include "emu/rack/racks_life.h"
#include "emu/rack/ranks.h"

static void end_all(void)
{
    racks_end();
    ranks_end();
}

const struct machine_far *hosts_begin(int *argc, char ***argv)
{
    if (getenv(HOSTS_WITHIN)) /* a command of rank 0 has started it, which runs other commands */
        return NULL;
    ranks_begin(argc, argv);
    setenv(HOSTS_WITHIN, "1", true);
    if (ranks_own() == 0) {
        atexit(end_all);
        return racks_far();
    }
    rack_serve(options_find_lib());
    ranks_end();
    exit(EXIT_SUCCESS);
}
