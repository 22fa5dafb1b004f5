#include "libpio/star/detect.h"

/* A call that moves nb_block bytes of each VP, at a multiple of them, in the NB segment or behind it while it is the
 * last. A read behind the end finds none; the first write says what nb_block is. */
static bool fits_nb(const struct star_segments *s, const struct star_wish *w)
{
    int64_t end = s->nb_block * s->nb_rows;
    bool is_last = s->cb_bytes == 0 && !s->has_ib, is_new = s->nb_block == 0 && is_last && w->writes;
    int64_t block = is_new ? w->bytes : s->nb_block;

    return block > 0 && w->bytes == block && w->stride == w->bytes && w->at % block == 0 &&
           (is_last || w->at + w->bytes <= end);
}

enum cs_mode star_detect(const struct star_segments *s, enum cs_mode mode, const struct star_wish *wish)
{
    if (mode == CS_IB || !wish->all_active || !wish->is_uniform)
        return CS_IB;
    if (s->has_ib && wish->at + wish->bytes > star_segments_end(s))
        return CS_IB;
    return mode == CS_NB && fits_nb(s, wish) ? CS_NB : CS_CB;
}

enum cs_mode star_detect_seek(const struct star_segments *s, int64_t at)
{
    bool is_nb = at < s->nb_block * s->nb_rows || (s->cb_bytes == 0 && !s->has_ib);

    if (s->has_ib && at >= star_segments_end(s))
        return CS_IB;
    return is_nb && (s->nb_block == 0 || at % s->nb_block == 0) ? CS_NB : CS_CB;
}
