/*
 * The table of made types, and what they are built of (made_types.h). A layout is kept short: pieces that lie one after
 * the other are one.
 */
#include "libpio/mpi/types/made_types.h"

#include <stdlib.h>
#include <string.h>

#include "libpio/mpi/base/handles.h"

struct made_memory {
    struct made_memory *next;
    bool failed; /* in the first: there was no memory for one */
};

#define table mpi_made_types
static struct made_type *dying; /* freed by the program while requests were under way */

/* ---- Memory of a type ---- */

static const struct mpi_layout nothing;

/* Memory that goes with the type; NULL, and the type cannot be finished. */
static void *take(struct made_type *t, size_t bytes)
{
    struct made_memory *m = malloc(sizeof *m + bytes);

    if (!m) {
        t->memory->failed = true;
        return NULL;
    }
    *m = (struct made_memory){t->memory->next, false};
    t->memory->next = m;
    return m + 1;
}

static bool is_made(const struct mpi_type *t)
{
    return t < mpi_basic_types || t >= mpi_basic_types + TYPES_BASIC;
}

/* Requests under way do not count their types, so a type lives on until none is. */
static void release(const struct mpi_type *type)
{
    struct made_type *t = (struct made_type *)type;

    if (!is_made(type) || --t->uses > 0)
        return;
    t->next = dying;
    dying = t;
}

void made_add_block(struct made_type *t, long count, const struct mpi_type *of)
{
    t->block[t->blocks++] = (struct made_block){count, of};
    if (is_made(of))
        ((struct made_type *)of)->uses++;
}

struct made_type *made_new(int combiner, int ints, int aints, int types)
{
    struct made_type *t = calloc(1, sizeof *t);

    if (t)
        t->memory = calloc(1, sizeof *t->memory);
    if (!t || !t->memory) {
        free(t);
        return NULL;
    }
    t->how = (struct made_envelope){combiner,
                                    ints,
                                    aints,
                                    types,
                                    take(t, (size_t)(ints + 1) * sizeof(int)),
                                    take(t, (size_t)(aints + 1) * sizeof(MPI_Aint)),
                                    take(t, (size_t)(types + 1) * sizeof(MPI_Datatype))};
    t->block = take(t, (size_t)(types + 1) * sizeof *t->block);
    if (t->memory->failed) {
        made_drop(t);
        return NULL;
    }
    return t;
}

void made_drop(struct made_type *t)
{
    for (int i = 0; i < t->blocks; i++)
        release(t->block[i].of);
    for (struct made_memory *m = t->memory, *next; m; m = next) {
        next = m->next;
        free(m);
    }
    free(t);
}

/* ---- The table ---- */

struct made_type *made_find(MPI_Datatype handle)
{
    return handle_find(&table, HANDLE_TYPE, handle);
}

void made_free(MPI_Datatype handle)
{
    struct made_type *t = made_find(handle);

    handle_free(&table, handle);
    release(&t->type);
}

MPI_Datatype made_new_handle(const struct mpi_type *t, MPI_Datatype given)
{
    if (!is_made(t))
        return given;
    MPI_Datatype handle = handle_new(&table, HANDLE_TYPE, (void *)t);
    if (!handle)
        return MPI_DATATYPE_NULL;
    ((struct made_type *)t)->uses++;
    return handle;
}

/* Those that have died may take others with them. */
static void bury(void)
{
    while (mpi_under_way == 0 && mpi_kept == 0 && dying) {
        struct made_type *t = dying;

        dying = t->next;
        made_drop(t);
    }
}

int made_finish(struct made_type *t, const struct made_piece *p, MPI_Datatype *handle)
{
    bury();
    bool failed = t->memory->failed;
    MPI_Datatype new = failed ? NULL : handle_new(&table, HANDLE_TYPE, t);
    if (!new) {
        made_drop(t);
        return mpi_error(MPI_ERR_NO_MEM, "no memory for a type", 0, 0);
    }
    t->uses = 1;
    t->align = p->align;
    t->has_lb = p->has_lb;
    t->has_ub = p->has_ub;
    long extent = p->ub - p->lb, over = p->has_ub || p->align == 0 ? 0 : extent % p->align;
    t->type = (struct mpi_type){.size = p->size,
                                .lb = p->lb,
                                .extent = extent + (over > 0 ? p->align - over : 0), /* epsilon of [4.1.6] */
                                .true_lb = p->true_lb,
                                .true_extent = p->true_ub - p->true_lb,
                                .layout = p->layout};
    t->type.is_dense = p->layout->count == 0 && p->layout->parts == 0 && t->type.lb == 0 && t->type.extent == p->size;
    *handle = new;
    return MPI_SUCCESS;
}

/* ---- Pieces ---- */

static bool is_dense(const struct mpi_layout *l)
{
    return l->count == 0 && l->parts == 0;
}

const struct made_type *made_of(const struct mpi_type *t)
{
    return is_made(t) ? (const struct made_type *)t : NULL;
}

struct made_piece piece_of(const struct mpi_type *t)
{
    const struct made_type *made = made_of(t);
    int align = t->extent > 8 && t->basic != BASIC_LONG_DOUBLE && t->basic != BASIC_LONG_DOUBLE_INT &&
                        t->basic != BASIC_LONG_DOUBLE_COMPLEX
                    ? 8
                    : (int)t->extent; /* of a pair, its value's; of a complex number, its parts' */

    if (t->basic == BASIC_FLOAT_INT || t->basic == BASIC_2INT || t->basic == BASIC_SHORT_INT ||
        t->basic == BASIC_FLOAT_COMPLEX)
        align = 4;
    else if (t->basic == BASIC_LONG_DOUBLE_INT || t->basic == BASIC_LONG_DOUBLE_COMPLEX)
        align = 16;
    return (struct made_piece){.size = t->size,
                               .lb = t->lb,
                               .ub = t->lb + t->extent,
                               .true_lb = t->true_lb,
                               .true_ub = t->true_lb + t->true_extent,
                               .has_lb = made && made->has_lb,
                               .has_ub = made && made->has_ub,
                               .is_empty = t->size == 0 && !(made && (made->has_lb || made->has_ub)),
                               .align = made ? made->align : align,
                               .layout = t->layout};
}

static const struct made_piece empty = {.is_empty = true, .layout = &nothing};

static struct mpi_layout *new_layout(struct made_type *t, struct mpi_layout l)
{
    struct mpi_layout *new = take(t, sizeof *new);

    if (new)
        *new = l;
    return new;
}

struct made_piece piece_repeat(struct made_type *t, const struct made_piece *p, long count, long stride)
{
    struct made_piece all = *p;
    long last = (count - 1) * stride, low = last < 0 ? last : 0, high = last > 0 ? last : 0;

    if (count == 0 || p->is_empty)
        return empty;
    if (count == 1)
        return *p;
    all.size = p->size * count;
    all.lb += low;
    all.ub += high;
    all.true_lb += low;
    all.true_ub += high;
    if (p->size == 0)
        all.layout = &nothing;
    else if (is_dense(p->layout) && stride == p->size)
        all.layout = new_layout(t, (struct mpi_layout){.bytes = all.size});
    else
        all.layout = new_layout(t, (struct mpi_layout){all.size, count, stride, p->layout, 0, NULL});
    if (!all.layout)
        all.layout = &nothing;
    return all;
}

static void widen(long *low, long *high, long new_low, long new_high)
{
    *low = new_low < *low ? new_low : *low;
    *high = new_high > *high ? new_high : *high;
}

/* The bounds of all: of those that have been set, if some have [4.1.7]. */
static void add_bounds(struct made_piece *all, const struct made_piece *p, long at)
{
    long unused = at;

    if (all->is_empty || (p->has_lb && !all->has_lb))
        all->lb = p->lb + at;
    else if (p->has_lb == all->has_lb)
        widen(&all->lb, &unused, p->lb + at, at);
    unused = at;
    if (all->is_empty || (p->has_ub && !all->has_ub))
        all->ub = p->ub + at;
    else if (p->has_ub == all->has_ub)
        widen(&unused, &all->ub, at, p->ub + at);
    all->has_lb |= p->has_lb;
    all->has_ub |= p->has_ub;
}

struct made_piece piece_join(struct made_type *t, const struct made_piece *p, const long *at, int n)
{
    struct mpi_part *part = take(t, (size_t)(n + 1) * sizeof *part);
    struct made_piece all = empty;
    int parts = 0;

    for (int i = 0; i < n && part; i++) {
        struct mpi_part *last = parts > 0 ? &part[parts - 1] : NULL;

        if (p[i].is_empty)
            continue;
        if (p[i].size > 0 && all.size == 0) {
            all.true_lb = p[i].true_lb + at[i];
            all.true_ub = p[i].true_ub + at[i];
        } else if (p[i].size > 0) {
            widen(&all.true_lb, &all.true_ub, p[i].true_lb + at[i], p[i].true_ub + at[i]);
        }
        add_bounds(&all, &p[i], at[i]);
        all.is_empty = false;
        all.align = p[i].align > all.align ? p[i].align : all.align;
        if (p[i].size > 0 && last && is_dense(last->of) && is_dense(p[i].layout) &&
            last->at + last->of->bytes == at[i]) {
            struct mpi_layout *l = new_layout(t, (struct mpi_layout){.bytes = last->of->bytes + p[i].size});

            last->of = l ? l : last->of;
        } else if (p[i].size > 0) {
            part[parts++] = (struct mpi_part){at[i], all.size, p[i].layout};
        }
        all.size += p[i].size;
    }
    if (parts == 1 && part[0].at == 0)
        all.layout = part[0].of;
    else if (parts > 0)
        all.layout = new_layout(t, (struct mpi_layout){all.size, 0, 0, NULL, parts, part});
    if (!all.layout)
        all.layout = &nothing;
    return all;
}
