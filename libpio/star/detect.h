/*
 * Which mode a call can have, as one node sees it [P4 Table 1, 5.2, 5.3]. Pure. All nodes then take the slowest.
 */
#pragma once

#include "libpio/star/segments.h"

struct star_wish {
    bool writes;
    bool all_active; /* of this node's VPs; on a node without VPs true */
    bool is_uniform; /* they move equal numbers of bytes */
    int64_t at;      /* their offset, unless the mode is CS_IB */
    int64_t bytes;   /* of each */
    int64_t stride;
};

/* Of a transfer; `mode` is the node's. */
enum cs_mode star_detect(const struct star_segments *s, enum cs_mode mode, const struct star_wish *wish);

/* Of a seek of all VPs to one offset (5.5), and of a file that is opened at that offset. */
enum cs_mode star_detect_seek(const struct star_segments *s, int64_t at);
