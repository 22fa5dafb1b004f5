/* The families of requests that an nsdisk has beside files (family.h). They lie above this folder. */
#include "nsdisk/serve/family.h"

extern const struct family cfs_family; /* nsdisk/cfs/server.c */
extern const struct family clf_family; /* nsdisk/clusterfile/clf_server.c */

const struct family *const families[FAMILIES_MAX] = {&cfs_family, &clf_family};
