/* The families of requests that an nsdisk has beside files (family.h): none so far. Clusterfile's and the CFS's
 * (vertex/contract/clusterfile.h, cfs.h) go here. */
#include "nsdisk/serve/family.h"

#include "vertex/contract/cfs.h"
#include "vertex/contract/clusterfile.h"

const struct family *const families[FAMILIES_MAX] = {NULL};
