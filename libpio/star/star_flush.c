/* Writing all that is in buffers, when the nodes may be in different modes. */
#include "libpio/star/star_ib.h"
#include "libpio/star/star_transfer.h"

int star_flush_all(struct cs_file *f, enum cs_mode slowest)
{
    if (slowest == CS_IB)
        star_ib_follow(f);
    else
        star_flush(f);
    star_ib_flush(f);
    return f->error;
}
