/*
 * Patterns and plans: map each byte of a file to a process, disk or subfile, and to a place in it. Pure arithmetic, no
 * I/O.
 *
 * A pattern divides the bytes of a file among elements (processes, disks, subfiles), and repeats for ever from a
 * displacement
 * on:
 *
 *   file      |displacement|      period       |      period       | ...
 *   stripe 4 2             |0000 1111          |0000 1111          |         two elements, blocks of four bytes
 *
 * An element's part of a period is a set of nested FALLS (families of line segments, [P3 section 4.1]):
 *
 *   left 2, length 3, stride 8, count 2                  ..###.....###...
 *     child: left 0, length 1, stride 2, count 2         ..#.#.....#.#...  children lie within one block of the parent
 *
 * A set is kept so that siblings are in file order and do not interleave: the last byte of one comes before the first
 * of the next. An element's own space (a process's buffer, a subfile) has its bytes in file order too, unless the
 * pattern permutes them (pattern_bits): then `ascending` is false, and functions that need a rank return -EINVAL.
 *
 * A plan is what two elements have in common, as such a set too, with its places in both elements: what one process
 * must send to another, or to a disk. [P1 section 1.2] calls that the composition of mappings, [P3 section 5.2] the
 * intersection with both projections.
 *
 * All offsets and sizes are in bytes, >= 0, below PATTERN_OFFSET_MAX. Functions that make something return 0, or a
 * negative errno value: -EINVAL, -E2BIG (too many levels, nodes or elements), -EOVERFLOW (beyond
 * PATTERN_OFFSET_MAX), -ENOMEM; nothing has been made then.
 */
#ifndef PATTERN_H
#define PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PATTERN_OFFSET_MAX   ((int64_t)1 << 62)
#define PATTERN_DEPTH_MAX    16                      /* dimensions of an array, levels of a text */
#define PATTERN_LEVELS_MAX   (2 * PATTERN_DEPTH_MAX) /* of a set: a dimension of an array may need two */
#define PATTERN_NODES_MAX    65536
#define PATTERN_ELEMENTS_MAX 8192
#define PATTERN_WHY_BYTES    160 /* a line that names the error in a text */

/* The two elements of a plan; a set of one element uses the first only. */
enum { PLAN_A, PLAN_B };

/* `count` blocks of `length` bytes, `stride` apart; the set has the children's bytes of each block, or all of them. */
struct falls {
    int64_t left; /* of the first block, within the parent's block */
    int64_t length, stride, count;
    int64_t before; /* bytes of the set that its siblings before it have */
    int64_t bytes;  /* of the set in one block */
    struct {
        int64_t at;   /* where the first block's bytes begin in the element, from where the parent's block's begin */
        int64_t step; /* from one block to the next there */
    } in[2];
    int32_t child, children; /* node[child] and so on */
};

/* The nodes belong to the pattern or plan. top: index of the first of `tops` outermost nodes. */
struct falls_set {
    const struct falls *node;
    int32_t nodes, top, tops;
    int64_t bytes;
    bool ascending;
};

/* Returns how many bytes of an ascending set are below x. */
int64_t falls_rank(const struct falls_set *set, int64_t x);
/* Returns the byte of an ascending set with k bytes of the set below it; -1 if the set has at most k bytes. */
int64_t falls_select(const struct falls_set *set, int64_t k);
/* Return the first byte of the set at or above x, and the last at or below x; -1 if there is none. */
int64_t falls_next(const struct falls_set *set, int64_t x);
int64_t falls_previous(const struct falls_set *set, int64_t x);
/* Returns whether the set has byte x. If so, sets *place to its place in the element (of a plan: in the element
 * `side`); place may be NULL. */
bool falls_find(const struct falls_set *set, int64_t x, int side, int64_t *place);

/* Returns the byte behind those that lie together from byte x of the set on, without looking at the next node; -1: the
 * set does not have byte x. */
int64_t falls_run_end(const struct falls_set *set, int64_t x);

/* Makes the set of those bytes of `set` that are from .. to-1, with offsets from `from` on [P3 section 5.2.2]. Places
 * in the element are counted from those of the first byte on if the set is ascending, else they stay. The caller frees
 * it with falls_free. */
int falls_cut(const struct falls_set *set, int64_t from, int64_t to, struct falls_set *cut);
void falls_free(struct falls_set *set);

/* One dimension of an array as High Performance Fortran distributes it. */
struct pattern_dimension {
    int64_t size; /* indices */
    char kind;    /* '*' not distributed, 'b' BLOCK(k), 'c' CYCLIC(k) */
    int64_t k;    /* 0: HPF's default, BLOCK ceil(size / procs), CYCLIC 1 */
    int32_t procs;
};

struct pattern {
    int64_t displacement, period;
    int64_t row; /* bytes of the last dimension of an array that has several, which a picture shows as a line; else 0 */
    int32_t elements;
    struct falls_set *element;     /* [elements], within 0 .. period-1 */
    bool one_node_array;           /* element[0].node is an array with the nodes of all elements */
    struct pattern_places *places; /* how pattern_place finds elements; NULL: it tries all */
    /* what pattern_array made it of; dims 0: it was made in another way */
    int dims;
    int64_t item;
    struct pattern_dimension *dimension;
};

void pattern_free(struct pattern *p);

/* Blocks of `block` bytes go to elements 0 .. elements-1 in turn: a striped file, "cyclic". */
int pattern_stripe(int64_t block, int32_t elements, struct pattern **p);

/* An array of items in row-major order, the last dimension fastest; elements are numbered likewise, over the grid of
 * procs. Nothing need divide; an element may have nothing. */
int pattern_array(int dims, const struct pattern_dimension *dimension, int64_t item, struct pattern **p);

/* A permutation of address bits: `bits` lists what each bit of a file offset is, from the lowest: bit n of the
 * element's number is PATTERN_BIT_ELEMENT + n, bit n of the offset in the element is n. Higher bits of both offsets are
 * equal but for the shift. Of [P1] (DeBenedictis, del Rosario: Phoenix 1992), known by [P3 section 2.2]. */
#define PATTERN_BIT_ELEMENT 64
int pattern_bits(int bits, const uint8_t *bit, struct pattern **p);

/* Makes a pattern from text:
 *
 *   cyclic 16384 8                            pattern_stripe; "stripe" is the same
 *   array 1024x1024x8 block,cyclic(4) on 2x4  the last size is an item's; "*" is not distributed and has 1 in the grid
 *   bits o10- p1-0 o9-0                       file bits from the top: o of the offset, p of the element's number
 *   falls 16 (0,3,8,2,4,2,{(0,0,2,2,1,2)})    nested PITFALLS of [P3 section 4.1] within a period; without a given
 *                                             period, it ends where they end
 *   view 16 (0,3,8,2)                         a view: one element, which need not have every byte; "view 16 {}" has
 *                                             none
 *
 * and behind each " +D", a displacement. (l,r,s,n) are n blocks from l to r, s apart; with (l,r,s,n,d,p) element j of p
 * has them j*d further on; s of n = 1 may be "-". Elements are numbered with the outer index slowest; outermost
 * PITFALLS number on, or begin at element e with "@e" behind. On failure `why`, of PATTERN_WHY_BYTES, has one line. */
int pattern_parse(const char *text, struct pattern **p, char *why);

/* Writes a pattern as text that pattern_parse makes the same pattern of, as far as `bytes` reach, with a NUL: stripes
 * as "cyclic", permutations as "bits", others as "falls". Elements without bytes at the end of the numbers are not
 * named. Returns the text's length without the NUL, also if it did not fit. */
size_t pattern_format(const struct pattern *p, char *text, size_t bytes);

/* Writes a set as text, "(l,r,s,n,{...}),...", cut to `bytes` with a NUL. Returns the text's length, as
 * pattern_format. */
size_t falls_format(const struct falls_set *set, char *text, size_t bytes);

/* Packs displacement, period and set of an ascending element into bytes that another program unpacks (pattern_wire.c
 * has the layout). Returns how many bytes that are, and writes them if `room` is enough; -EINVAL: no such element, or
 * not ascending. */
int64_t pattern_pack(const struct pattern *p, int32_t element, void *bytes, size_t room);

/* Makes a pattern of one element, a view, from what pattern_pack wrote. The bytes may come from anywhere and are
 * checked first:
 * -EINVAL for lengths, order and bounds, -E2BIG beyond PATTERN_NODES_MAX and PATTERN_LEVELS_MAX, -EOVERFLOW. */
int pattern_unpack(const void *bytes, size_t n, struct pattern **p);

/* The same of a whole pattern, for one program to tell another: what pattern_array made it of, or all elements, which
 * must all be ascending. That elements are disjoint is not checked. */
int64_t pattern_pack_all(const struct pattern *p, void *bytes, size_t room);
int pattern_unpack_all(const void *bytes, size_t n, struct pattern **p);

/* Checks that every byte of the period is in exactly one element. 0, or -EINVAL and a line in `why`. Patterns other
 * than views pass it: the functions above make no others. */
int pattern_check(const struct pattern *p, char *why);

/* Finds the element that has file byte x >= displacement, and the byte's *offset in the element's space. -EINVAL: x is
 * below the displacement. */
int pattern_place(const struct pattern *p, int64_t x, int32_t *element, int64_t *offset);
/* The inverse: the file byte at `offset` of an ascending element; -EINVAL if the element has nothing or is not,
 * -EOVERFLOW. */
int64_t pattern_file(const struct pattern *p, int32_t element, int64_t offset);
/* How many bytes of an ascending element are below file byte x; PATTERN_OFFSET_MAX: as many, or more. */
int64_t pattern_rank(const struct pattern *p, int32_t element, int64_t x);

/* The common bytes of two elements, from the larger displacement on. Places in `body` are those of its first period. */
struct plan {
    int64_t from;    /* the file byte at which it begins: offsets of body are from here */
    int64_t period;  /* after which it is repeated: the common period of both patterns, or a part of it */
    int64_t step[2]; /* from one period to the next in either element */
    struct falls_set body;
};

/* The least common multiple of both periods; PATTERN_OFFSET_MAX if it lies beyond. */
int64_t pattern_common_period(const struct pattern *a, const struct pattern *b);

/* What element of_a of a and element of_b of b have in common. The caller frees it with plan_free. Where the least
 * common multiple of the periods lies beyond PATTERN_OFFSET_MAX, the plan ends there. */
int plan_make(const struct pattern *a, int32_t of_a, const struct pattern *b, int32_t of_b, struct plan **plan);
/* The same of the file range from .. to-1 only, such as a file that ends at `to`: of two long periods without a common
 * divisor a whole plan may have too many nodes. Common bytes outside of the range may be in it or not. */
int plan_make_within(const struct pattern *a, int32_t of_a, const struct pattern *b, int32_t of_b, int64_t from,
                     int64_t to, struct plan **plan);
/* The same of the whole file, as side A, and an element of one pattern, as side B: where the element's bytes lie. */
int plan_make_file(const struct pattern *p, int32_t element, struct plan **plan);
void plan_free(struct plan *p); /* NULL is allowed */

/* Makes the view of one element's space that has the common bytes: what one end of a transfer must know of it, as the
 * file has no part in it [P3 section 5.2.4, PROJ]. Its order is that of the file. An element in common with itself is
 * projected to one run.
 * -EINVAL: `side` is no side, or the common bytes lie in another order there than in the file. */
int plan_project(const struct plan *p, int side, struct pattern **view);

/* Returns the number of bytes that both elements have below file offset `end`. */
int64_t plan_bytes(const struct plan *p, int64_t end);

/* The inverse: the file byte with k common bytes below it. -1: there is none; -EOVERFLOW. */
int64_t plan_file(const struct plan *p, int64_t k);

/* A run: bytes that lie together in the file and in both elements. */
struct plan_run {
    int64_t file, in[2], bytes;
};
/* Calls `each` for the runs in the file range from .. to-1, in file order, until it returns false. Runs that touch in
 * the file and in both elements may come as two. */
void plan_runs(const struct plan *p, int64_t from, int64_t to, bool (*each)(void *ctx, const struct plan_run *run),
               void *ctx);

/* Copies the common bytes of the file range from .. to-1 between two memories: `a` is element A's space from a_from on,
 * `b` is B's from b_from on. Returns the bytes copied. The caller makes both large enough. */
int64_t plan_copy(const struct plan *p, int64_t from, int64_t to, void *b, int64_t b_from, const void *a,
                  int64_t a_from);
/* Gathers the common bytes of a file range from element A's space into a packed buffer in file order, and scatters a
 * packed buffer back. Return the bytes moved. */
int64_t plan_gather(const struct plan *p, int64_t from, int64_t to, void *packed, const void *a, int64_t a_from);
int64_t plan_scatter(const struct plan *p, int64_t from, int64_t to, void *a, int64_t a_from, const void *packed);

#endif
