/*
 * with, where, everywhere and the elemental code of CS_EACH [P4 3.1, 5.2: CS__everywhere]: which shape is the current
 * one, and which of its VPs are active.
 */
#pragma once

#include "libpio/star/cstar.h"

/* NULL: none. */
const struct cs_shape *star_current_shape(void);

/* Whether the code is in CS_EACH. */
bool star_is_elemental(void);

/* Whether all VPs of this node are active; and whether one of them is. Without a where they do not look at each. */
bool star_all_active(void);
bool star_any_active(void);

/* Elemental code: the VP whose turn it is; and what is done when CS_EACH ends, set by who needs it. */
long star_current_vp(void);
extern void (*star_each_ends)(void);

/* The program ends: no scope is in effect. */
void star_scopes_end(void);
