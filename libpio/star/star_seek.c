/*
 * Seeking [P4 5.5], and cs_fflush. A seek of all VPs to one place in the NB or CB segment, or behind them while they
 * are the last, brings NB or CB mode back.
 */
#include <errno.h>

#include "libpio/star/detect.h"
#include "libpio/star/scopes.h"
#include "libpio/star/star_ib.h"
#include "libpio/star/star_nodes.h"
#include "libpio/star/star_parts.h"
#include "libpio/star/star_transfer.h"

#define AT_MAX (PATTERN_OFFSET_MAX / 4)

static int64_t target_of(const struct cs_file *f, long i, long offset, int whence)
{
    int64_t at = f->mode == CS_IB ? f->ib->vp[i].at : f->at;
    int64_t end = f->ib ? star_ib_end(f, i) : star_segments_end(&f->segments);
    int64_t base = whence == SEEK_SET ? 0 : whence == SEEK_CUR ? at : end;

    return offset > AT_MAX - base ? AT_MAX : offset < -base ? -1 : base + offset;
}

/* offset: one for each VP, or one for all. */
struct seek {
    const long *offset;
    bool is_one;
    int whence;
};

static int64_t target(const struct cs_file *f, const struct seek *s, long i)
{
    return target_of(f, i, s->offset[s->is_one ? 0 : i], s->whence);
}

static int check(struct cs_file *f, const struct seek *s)
{
    const struct cs_shape *current = star_current_shape();

    if (!current || !star_shape_same(current, f->shape) || current->local != f->shape->local ||
        (s->whence != SEEK_SET && s->whence != SEEK_CUR && s->whence != SEEK_END))
        return -EINVAL;
    if (f->is_external && s->whence == SEEK_END) /* its end is not known */
        return -EINVAL;
    int error = s->whence == SEEK_END && f->segments.has_ib ? star_ib_begin(f) : 0;
    for (long i = cs_next_active_(-1); !error && i >= 0; i = cs_next_active_(i))
        error = target(f, s, i) < 0 ? -EINVAL : 0;
    return error;
}

/* The least and the greatest target; a VP that is not active makes them differ. */
static void vote_targets(const struct cs_file *f, const struct seek *s, struct star_vote *vote)
{
    vote->has_vps = f->shape->local > 0;
    vote->bytes = star_all_active() ? AT_MAX : 0;
    vote->bytes_most = star_all_active() ? -1 : AT_MAX + 1;
    /* Where all are at one place, one target is that of all; but each has an end of its own. */
    bool is_common = s->is_one && f->mode != CS_IB && !(s->whence == SEEK_END && f->ib);
    for (long i = cs_next_active_(-1); i >= 0; i = is_common ? -1 : cs_next_active_(i)) {
        int64_t at = target(f, s, i);

        vote->bytes = at < vote->bytes ? at : vote->bytes;
        vote->bytes_most = at > vote->bytes_most ? at : vote->bytes_most;
    }
}

/* Each active VP goes to its own place. */
static int seek_alone(struct cs_file *f, const struct seek *s)
{
    int error = star_agree_on(star_ib_enter(f));

    f->counts.reductions++;
    if (error)
        return error;
    f->all_ib = true;
    for (long i = cs_next_active_(-1); i >= 0; i = cs_next_active_(i)) {
        f->ib->vp[i].at = target(f, s, i);
        f->ib->vp[i].is_at_end = false;
    }
    return 0;
}

/* All go to one place, where NB or CB is possible. */
static void seek_together(struct cs_file *f, int64_t at, enum cs_mode mode)
{
    star_ib_flush(f);
    star_flush(f);
    star_drop(f);
    f->all_ib = false;
    f->mode = mode;
    f->has_buffer = f->has_buffer && f->mode == CS_CB;
    f->at = at;
    f->is_at_end = false;
}

static int seek(CS_FILE *file, const struct seek *s)
{
    struct cs_file *f = star_file(file);

    if (!f)
        return -1;
    if (star_is_elemental())
        return star_fail(-EINVAL);
    struct star_vote vote = {.call = STAR_SEEK, .fd = f->fd, .error = f->error, .mode = f->mode};
    vote.has_ib = f->segments.has_ib || star_ib_has_bytes(f);
    if (!vote.error)
        vote.error = check(f, s);
    if (!vote.error)
        vote_targets(f, s, &vote);
    int error = star_agree(&vote);
    f->counts.reductions++;
    if (error)
        return star_fail_at(f->name, "", error);
    f->segments.has_ib = vote.has_ib;
    if (f->writes && vote.has_ib) { /* a node may have gone there alone, and now writes what it has */
        error = star_transition(f, CS_IB);
        if (error)
            return star_fail_at(f->name, "", error);
    }
    enum cs_mode mode = f->is_external ? CS_NB : star_detect_seek(&f->segments, vote.bytes);
    mode = vote.bytes != vote.bytes_most ? CS_IB : mode > f->least ? mode : f->least;
    if (mode != CS_IB && vote.mode == CS_IB && f->mode != CS_IB) /* another node's buffer is written already */
        star_ib_follow(f);
    if (mode == CS_IB)
        error = seek_alone(f, s);
    else
        seek_together(f, vote.bytes, mode);
    error = error ? error : f->error;
    return error ? star_fail_at(f->name, "", error) : 0;
}

int cs_fseek(CS_FILE *f, long offset, int whence)
{
    return seek(f, &(struct seek){&offset, true, whence});
}

int cs_fseek_par(CS_FILE *f, const long *offset, int whence)
{
    return seek(f, &(struct seek){offset, false, whence});
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
    struct star_vote vote = {.call = STAR_FLUSH, .fd = f->fd, .error = f->error, .mode = f->mode};
    vote.has_ib = star_ib_has_bytes(f);
    int error = star_agree(&vote);
    f->counts.reductions++;
    if (!error && f->writes && vote.has_ib)
        error = star_transition(f, CS_IB);
    if (!error)
        error = star_flush_all(f, vote.mode);
    if (!error && f->ib)
        error = star_entries_flush(f);
    return error ? star_fail_at(f->name, "", error) : 0;
}
