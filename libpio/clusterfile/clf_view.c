/* Setting a file's view [P3 sections 4.2.3, 6.3.1] (clf_client.h). */
#include <stdlib.h>

#include "libpio/clusterfile/clf_client.h"
#include "libpio/map/falls.h"
#include "vertex/contract/errors.h"

int64_t clf_view_rank(const struct clf_sight *s, int64_t x)
{
    return pattern_rank(s->pattern, 0, x);
}

int64_t clf_view_file(const struct clf_sight *s, int64_t at)
{
    return pattern_file(s->pattern, 0, at);
}

int clf_view_copy(const struct pattern *p, int32_t element, struct pattern **view)
{
    const int64_t bytes = pattern_pack(p, element, NULL, 0);
    void *packed = bytes > 0 ? malloc((size_t)bytes) : NULL;

    if (!packed)
        return bytes < 0 ? (int)bytes : -N_ENOMEM;
    pattern_pack(p, element, packed, (size_t)bytes);
    int error = pattern_unpack(packed, (size_t)bytes, view);
    free(packed);
    return error;
}

int clf_view_whole(const struct clf_layout *l, struct pattern **view)
{
    struct falls_build b = {.nodes = 0};
    const struct falls all = {.left = 0, .length = 1, .stride = 1, .count = 1};
    struct pattern *p = pattern_new(l->pattern->displacement, 1, 1);

    if (!p)
        return -N_ENOMEM;
    falls_push(&b, 0, &all);
    return pattern_finish_view(&b, 0, p, view);
}

static int check(const struct clf_open *f, const struct pattern *view)
{
    const struct falls_set *set = &view->element[0];
    const int64_t least = f->layout->pattern->displacement;

    if (f->folder)
        return -N_EISDIR;
    if (f->flags & N_O_APPEND)
        return clf_fail(-N_EINVAL, "a view of a descriptor with O_APPEND");
    if (set->bytes == 0)
        return clf_fail(-N_EINVAL, "a view without a byte");
    if (view->displacement + falls_select(set, 0) < least)
        return clf_fail(-N_EINVAL, "the view begins at byte %lld; the file's first is %lld",
                        (long long)(view->displacement + falls_select(set, 0)), (long long)least);
    return 0;
}

/* The servers know the new view by another number until it takes the place of the old one. Takes the pattern. */
static int set(struct clf_open *f, struct pattern *view)
{
    struct clf_sight *s = NULL;
    int error = check(f, view);

    if (error < 0) {
        pattern_free(view);
        return error;
    }
    error = clf_sight_make(f->layout, view, (uint16_t)(CLF_VIEWS + 1 - f->sight->number), f->members != NULL, &s);
    if (error < 0)
        return error;
    for (uint32_t p = 0; p < f->layout->parts; p++)
        f->part[p].wanted = s->meet[p].seen && !s->meet[p].plain && !f->lists && !f->elsewhere;
    error = clf_sight_tell(f, s);
    if (error < 0) {
        clf_sight_free(f->layout, s);
        return error;
    }
    clf_sight_free(f->layout, f->sight);
    f->sight = s;
    f->at = 0;
    return 0;
}

int clf_view_set(struct clf_open *f, struct pattern *view)
{
    int error = set(f, view);

    return f->folder ? error : clf_group_agree(f, error);
}
