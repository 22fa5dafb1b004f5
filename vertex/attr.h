/*
 * What the compiler is told about functions.
 *
 * The kernel is optimized as a whole (-flto). RARE keeps a function out of the way of a short message, whose callers would
 * else save registers for it.
 */
#ifndef VERTEX_ATTR_H
#define VERTEX_ATTR_H

#define RARE __attribute__((noinline, cold))

#endif
