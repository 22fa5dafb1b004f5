/* The families of requests that an nsdisk has beside files (family.h): the CFS's. Clusterfile's
 * (vertex/contract/clusterfile.h) goes here. */
#include "nsdisk/serve/family.h"

#include "vertex/contract/clusterfile.h"

extern const struct family cfs_family; /* nsdisk/cfs/server.c, above this folder */

const struct family *const families[FAMILIES_MAX] = {&cfs_family};
