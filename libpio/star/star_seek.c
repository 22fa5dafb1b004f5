/*
 * Seeking [P4 5.5], and cs_fflush. A seek of all VPs to one place in the NB or CB segment, or behind them while they
 * are the last, brings NB or CB mode back.
 */
#include <errno.h>

#include "libpio/star/detect.h"
#include "libpio/star/scopes.h"
#include "libpio/star/star_nodes.h"
#include "libpio/star/star_transfer.h"

#define AT_MAX (PATTERN_OFFSET_MAX / 4)

static int64_t target_of(const struct cs_file *f, long offset, int whence)
{
    int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? f->at : star_segments_end(&f->segments);

    return offset > AT_MAX - base ? AT_MAX : offset < -base ? -1 : base + offset;
}

/* offset: one for each VP, or one for all. */
static int seek(CS_FILE *file, const long *offset, bool is_one, int whence)
{
    struct cs_file *f = star_file(file);

    if (!f)
        return -1;
    if (star_is_elemental())
        return star_fail(-EINVAL);
    const struct cs_shape *current = star_current_shape();
    bool fits = current && star_shape_same(current, f->shape) && current->local == f->shape->local;
    struct star_vote vote = {.call = STAR_SEEK, .fd = f->fd, .error = f->error, .bytes = AT_MAX, .bytes_most = -1};
    vote.has_vps = fits && f->shape->local > 0 && star_any_active();
    vote.mode = fits && !star_all_active() ? CS_IB : CS_NB;
    if (!fits || (whence != SEEK_SET && whence != SEEK_CUR && whence != SEEK_END))
        vote.error = -EINVAL;
    if (f->is_external && whence == SEEK_END) /* its end is not known */
        vote.error = -EINVAL;
    for (long i = vote.error || !vote.has_vps ? -1 : cs_next_active_(-1); i >= 0;
         i = is_one ? -1 : cs_next_active_(i)) {
        int64_t at = target_of(f, offset[is_one ? 0 : i], whence);

        vote.error = at < 0 || vote.error ? -EINVAL : 0;
        vote.bytes = at < vote.bytes ? at : vote.bytes;
        vote.bytes_most = at > vote.bytes_most ? at : vote.bytes_most;
    }
    bool moves = vote.has_vps;
    int error = star_agree(&vote);
    f->counts.reductions++;
    if (!error && (vote.bytes != vote.bytes_most || (moves && vote.mode == CS_IB)))
        error = -ENOTSUP;
    if (error)
        return star_fail(error);
    star_flush(f);
    star_drop(f);
    enum cs_mode mode = f->is_external ? CS_NB : star_detect_seek(&f->segments, vote.bytes);
    f->mode = mode > f->least ? mode : f->least;
    f->has_buffer = f->has_buffer && f->mode == CS_CB;
    f->at = vote.bytes;
    f->is_at_end = false;
    return f->error ? star_fail(f->error) : 0;
}

int cs_fseek(CS_FILE *f, long offset, int whence)
{
    return seek(f, &offset, true, whence);
}

int cs_fseek_par(CS_FILE *f, const long *offset, int whence)
{
    return seek(f, offset, false, whence);
}

int cs_rewind(CS_FILE *f)
{
    cs_clearerr(f);
    return cs_fseek(f, 0, SEEK_SET);
}

int cs_fflush(CS_FILE *file)
{
    struct cs_file *f = star_file(file);

    if (!f)
        return -1;
    if (star_is_elemental())
        return star_fail(-EINVAL);
    struct star_vote vote = {.call = STAR_FLUSH, .fd = f->fd, .error = f->error};
    int error = star_agree(&vote);
    f->counts.reductions++;
    if (!error)
        error = star_flush(f);
    return error ? star_fail(error) : 0;
}
