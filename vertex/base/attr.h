/*
 * What the compiler is told about functions. The kernel is optimized as a whole (-flto) and mostly decides well by
 * itself. These are for the way of a short message only, from trap to program, where each is worth measured cycles
 * (docs/vertex.md, Messages); elsewhere write none.
 *
 *   INLINE   a step of that way with more than one caller: each has a body of its own, and no call
 *   APART    often called from there, but not by every message: its callers save no registers for it
 *   RARE     hardly ever called from there: apart, and away from what is in use
 */
#ifndef VERTEX_ATTR_H
#define VERTEX_ATTR_H

#define INLINE inline __attribute__((always_inline))
#define APART  __attribute__((noinline))
#define RARE   __attribute__((noinline, cold))

#endif
