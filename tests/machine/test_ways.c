/* Requests by a chosen channel of an I/O node that is wired freely. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/machine/guest.h"

TestSuite(ways, .timeout = 600);

static const char machine[] = "dim = 3;\n"
                              "boards = ( { number = 0; io_nodes = ( { index = 5; si = [1, 6, -1, 7];\n"
                              "    drives = ( { volume = \"df00\"; image = \"df00.img\"; } ); } ); } );\n";

static const char *const cases[] = {"chosen", "not connected", "wrong"};

RowTest(ways, of_requests, cases)
{
    char *folder = folder_with_images(1, 1024, 1024), *path = format("%s/free.conf", folder);
    struct ncube_run r = {.machine = path, .program = "guest/ways", .args = {cases[*row]}};

    file_write(folder, "free.conf", machine, strlen(machine));
    guest_must_pass(&r);
    images_check(folder, 1);
    free(path);
    folder_remove(folder);
}
