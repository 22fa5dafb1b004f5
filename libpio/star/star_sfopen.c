/* cs_sfopen: scalar files, which are those of the C library in global mode [P4 3.2]. */
#include <errno.h>
#include <stdio.h>

#include "libpio/star/scopes.h"
#include "libpio/star/star_file.h"
#include "libpio/star/star_nodes.h"

FILE *cs_sfopen(const char *name, const char *type)
{
    if (star_group.size == 0 || star_is_elemental()) {
        star_fail(-EINVAL);
        return NULL;
    }
    FILE *f = fopen(name, type); /* outside of CS_EACH the mode is global */
    if (f)
        star_scalar_mark(f);
    else
        star_fail_at(name, "", -errno);
    return f;
}
