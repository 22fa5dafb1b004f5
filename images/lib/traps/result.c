/*
 * One function turns a kernel's result into errno; and the proof that n_error and newlib's errno agree.
 */
#include "images/lib/traps/result.h"

#include <errno.h>

#include "vertex/contract/errors.h"

#define ERROR_AGREES(name, number, text) \
    _Static_assert(name == (number), #name " of vertex/contract/errors.h is not newlib's");
ERROR_LIST(ERROR_AGREES)

long result_set_errno(long result)
{
    errno = (int)-result;
    return -1;
}
