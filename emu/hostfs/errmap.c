#include "emu/hostfs/errmap.h"

#include <errno.h>

#include "vertex/contract/errors.h"

int32_t errmap_from_host(int host_errno)
{
    switch (host_errno) {
#define ERROR_CASE(name, number, text) \
    case name:                         \
        return -N_##name;
        ERROR_LIST(ERROR_CASE)
#undef ERROR_CASE
    case EDQUOT:
        return -N_ENOSPC;
    case ETXTBSY:
        return -N_EBUSY;
    default:
        return -N_EIO;
    }
}

int32_t errmap_result(int result)
{
    return result < 0 ? errmap_from_host(errno) : 0;
}

const char *errmap_text(int32_t status)
{
    switch (status) {
#define ERROR_CASE(name, number, text) \
    case -(number):                    \
        return text;
        ERROR_LIST(ERROR_CASE)
#undef ERROR_CASE
    default:
        return "unknown error";
    }
}
