#include "libpio/star/star_nodes.h"

#include <errno.h>

struct group star_group;

void (*star_scalar_files)(bool are_usable);

static bool is_over; /* a node is in exit(), and will not come */
static int calls;    /* number of the next */

enum { MODE, CALL, CALL_MOST, NUMBER, NUMBER_MOST, ERROR, BYTES, BYTES_MOST, GOOD, HAS_IB, VALUES };

int star_agree(struct star_vote *vote)
{
    int64_t x[VALUES];
    int64_t call = (int64_t)vote->call << 32 | (uint32_t)vote->fd;

    if (star_group.size == 0)
        return -EINVAL;
    if (is_over)
        return -EPROTO;
    x[MODE] = -vote->mode;
    x[CALL] = call;
    x[CALL_MOST] = -call;
    x[NUMBER] = calls;
    x[NUMBER_MOST] = -calls;
    x[ERROR] = vote->error;
    x[BYTES] = vote->has_vps ? vote->bytes : INT64_MAX;
    x[BYTES_MOST] = vote->has_vps ? -vote->bytes_most : INT64_MAX;
    x[GOOD] = vote->good;
    x[HAS_IB] = -vote->has_ib;
    int error = group_all_reduce(&star_group, x, VALUES, GROUP_INT64, GROUP_LEAST);
    calls++;
    if (error < 0)
        return is_over = true, error;
    if (x[CALL] != -x[CALL_MOST] || x[NUMBER] != -x[NUMBER_MOST]) {
        is_over = -x[CALL_MOST] >> 32 == STAR_EXIT || x[NUMBER] != -x[NUMBER_MOST];
        return -EPROTO;
    }
    vote->mode = (int)-x[MODE];
    vote->error = (int)x[ERROR];
    vote->bytes = x[BYTES] == INT64_MAX ? 0 : x[BYTES];
    vote->bytes_most = x[BYTES_MOST] == INT64_MAX ? 0 : -x[BYTES_MOST];
    vote->good = x[GOOD];
    vote->has_ib = x[HAS_IB] < 0;
    is_over = vote->call == STAR_EXIT && vote->error < 0;
    return vote->error;
}

int star_agree_on(int error)
{
    struct star_vote vote = {.call = STAR_STEP, .error = error};

    return star_agree(&vote);
}
