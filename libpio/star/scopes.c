/*
 * The scopes are a list of what lies on the stack: the innermost first. A mask is looked up where it lies, so that
 * entering a scope needs no memory, and cannot fail.
 */
#include "libpio/star/scopes.h"

#include "libpio/star/shape.h"
#include "libpio/star/star_nodes.h"

bool CS__everywhere;

void (*star_each_ends)(void);

static struct cs_scope_ *innermost;
static long current_vp;

static void note_everywhere(void)
{
    const struct cs_scope_ *s = innermost;

    while (s && s->kind == CS_SCOPE_EACH)
        s = s->outer;
    CS__everywhere = s && (s->kind == CS_SCOPE_WITH || s->kind == CS_SCOPE_EVERYWHERE);
}

struct cs_scope_ *cs_enter_(struct cs_scope_ *scope)
{
    scope->outer = innermost;
    if (scope->kind != CS_SCOPE_WITH)
        scope->shape = star_current_shape();
    if (scope->kind == CS_SCOPE_EACH && !star_is_elemental()) {
        star_modes_local(); /* which may write what all have printed */
        if (star_scalar_files)
            star_scalar_files(false);
    }
    innermost = scope;
    note_everywhere();
    return scope;
}

void cs_leave_(struct cs_scope_ *scope)
{
    innermost = scope->outer;
    if (scope->kind == CS_SCOPE_EACH && !star_is_elemental()) {
        if (star_each_ends)
            star_each_ends();
        if (star_scalar_files)
            star_scalar_files(true);
        star_modes_global();
    }
    note_everywhere();
}

const struct cs_shape *star_current_shape(void)
{
    return innermost ? innermost->shape : NULL;
}

bool star_is_elemental(void)
{
    for (const struct cs_scope_ *s = innermost; s; s = s->outer)
        if (s->kind == CS_SCOPE_EACH)
            return true;
    return false;
}

bool cs_active(long local)
{
    for (const struct cs_scope_ *s = innermost; s; s = s->outer)
        if (s->kind == CS_SCOPE_WITH || s->kind == CS_SCOPE_EVERYWHERE)
            return s->shape != NULL;
        else if (s->kind != CS_SCOPE_EACH && s->mask[local] == (s->kind == CS_SCOPE_WHERE_NOT))
            return false;
    return false;
}

long cs_next_active_(long local)
{
    long n = star_current_shape() ? star_current_shape()->local : 0;

    do
        local++;
    while (local < n && !CS__everywhere && !cs_active(local));
    return current_vp = local < n ? local : -1;
}

long star_current_vp(void)
{
    return current_vp;
}

bool star_all_active(void)
{
    long n = star_current_shape()->local, active = 0;

    while (!CS__everywhere && active < n && cs_active(active))
        active++;
    return CS__everywhere || active == n;
}

bool star_any_active(void)
{
    return cs_next_active_(-1) >= 0;
}

void star_scopes_end(void)
{
    if (star_is_elemental() && star_each_ends)
        star_each_ends();
    if (star_is_elemental() && star_scalar_files)
        star_scalar_files(true);
    innermost = NULL;
    note_everywhere();
}
