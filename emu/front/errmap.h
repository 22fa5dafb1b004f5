/*
 * Host errors as they go over the wire: by name, through the one list in vertex/contract/errors.h, because the numbers of
 * the host and of newlib differ. No state.
 */
#ifndef NCUBE_ERRMAP_H
#define NCUBE_ERRMAP_H

#include <stdint.h>

/* The negative n_error for a host errno. An error that has no name on the wire becomes -N_EIO, but for the two
 * that mean the same as a listed one: EDQUOT (-N_ENOSPC) and ETXTBSY (-N_EBUSY). */
int32_t errmap_from_host(int host_errno);

/* The list's text for a status from the wire (negative n_error); never NULL, "unknown error" if it isn't listed. */
const char *errmap_text(int32_t status);

#endif
