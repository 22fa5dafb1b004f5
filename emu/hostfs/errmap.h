/*
 * Translates the host's errno to the errors of messages, by name, through the list in vertex/contract/errors.h: the
 * numbers of the host and of newlib differ.
 */
#pragma once

#include <stdint.h>

/* The negative n_error for a host errno. An error that is not in the list becomes -N_EIO, except the two that mean
 * the same as a listed one: EDQUOT (-N_ENOSPC) and ETXTBSY (-N_EBUSY). */
int32_t errmap_from_host(int host_errno);

/* The result of a host's call: 0, or the negative n_error of errno if `result` is negative. */
int32_t errmap_result(int result);

/* The list's text for the status of a message (a negative n_error); "unknown error" if it is not listed. */
const char *errmap_text(int32_t status);
