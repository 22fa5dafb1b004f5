#include "libpio/star/segments.h"

static int64_t nb_bytes(const struct star_segments *s) /* of a VP */
{
    return s->nb_block * s->nb_rows;
}

int64_t star_segments_nb_end(const struct star_segments *s)
{
    return nb_bytes(s) * s->vps;
}

int64_t star_segments_file_end(const struct star_segments *s)
{
    int64_t rows = s->cb_bytes > 0 ? (s->cb_bytes + s->cb_block - 1) / s->cb_block : 0;

    return star_segments_nb_end(s) + rows * s->vps * s->cb_block;
}

int64_t star_segments_end(const struct star_segments *s)
{
    return nb_bytes(s) + s->cb_bytes;
}

struct star_row star_segments_row(const struct star_segments *s, int64_t at)
{
    bool is_nb = at < nb_bytes(s);
    int64_t begin = is_nb ? 0 : nb_bytes(s), block = is_nb ? s->nb_block : s->cb_block, row = (at - begin) / block;

    return (struct star_row){.block = block, .file = (begin + row * block) * s->vps, .at = begin + row * block};
}

void star_segments_grow(struct star_segments *s, enum cs_mode mode, int64_t end)
{
    if (end <= star_segments_end(s))
        return;
    if (mode == CS_NB)
        s->nb_rows = end / s->nb_block;
    else
        s->cb_bytes = end - nb_bytes(s);
}

void star_segments_cut(struct star_segments *s, int64_t end)
{
    if (end >= star_segments_end(s))
        return;
    if (end > nb_bytes(s)) {
        s->cb_bytes = end - nb_bytes(s);
        return;
    }
    s->cb_bytes = 0;
    s->nb_rows = s->nb_block > 0 ? end / s->nb_block : 0;
    if (s->nb_rows == 0)
        s->nb_block = 0;
}
