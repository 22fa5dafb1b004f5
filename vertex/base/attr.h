/*
 * Inlining attributes for the path of a short message from trap to program, where each saves measured cycles
 * (docs/vertex.md, Messages). Elsewhere use none: the compiler optimizes the kernel as a whole (-flto) and decides
 * well.
 *
 *   INLINE   a step of that path with several callers: inlined into each
 *   RARE     hardly ever called on that path: kept out of line, in cold text
 */
#pragma once

#define INLINE inline __attribute__((always_inline))
#define RARE   __attribute__((noinline, cold))

/* A variable of calls that are rare. The compiler reaches those of one section from one address as far as 2 KB go, and
 * the others at a cost. */
#ifdef __riscv
#define RARE_DATA __attribute__((section(".bss.rare")))
#else
#define RARE_DATA
#endif
