/*
 * Two-phase I/O by random groups, views, parts and windows, against a list of bytes: nodes are processes of the host
 * (fake_group.h), the file is memory that they share, and may end, be full, or fail from a byte on.
 */
#include <criterion/criterion.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "libpio/group/two_phase.h"
#include "tests/libpio/fake_group.h"
#include "tests/libpio/random_pattern.h"

TestSuite(two_phase, .timeout = 300);

#define FILE_BYTES 4096
#define CALLS      6
#define NODES      7

/* A file, and how often each byte of it has been moved. */
static struct {
    int64_t size; /* of reads */
    int64_t room; /* of writes: a byte behind is not taken */
    int64_t bad;  /* this byte and those behind fail; FILE_BYTES: none */
    uint8_t byte[FILE_BYTES], times[FILE_BYTES];
} * file;

struct access {
    struct pattern *view; /* of one element */
    int64_t at, n;
};

/* ---- The store ---- */

static int64_t move_file(void *ctx, bool writes, void *buf, int64_t bytes, int64_t at)
{
    const int64_t end = writes ? file->room : file->size, least = end < file->bad ? end : file->bad;
    const int64_t n = at >= least ? 0 : at + bytes > least ? least - at : bytes;

    (void)ctx;
    if (n == 0 && file->bad <= end)
        return -EIO;
    for (int64_t i = 0; i < n; i++) {
        file->times[at + i]++;
        if (writes)
            file->byte[at + i] = ((uint8_t *)buf)[i];
        else
            ((uint8_t *)buf)[i] = file->byte[at + i];
    }
    return n;
}

struct part {
    const struct pattern *parts;
    int32_t element;
};

/* One call for each byte of the part, as its bytes are anywhere. */
static int64_t move_part(void *ctx, bool writes, void *buf, int64_t bytes, int64_t at)
{
    const struct part *p = ctx;

    for (int64_t i = 0; i < bytes; i++) {
        int64_t n = move_file(NULL, writes, (uint8_t *)buf + i, 1, pattern_file(p->parts, p->element, at + i));
        if (n != 1)
            return i > 0 ? i : n;
    }
    return bytes;
}

/* ---- Drawing: the same on all nodes ---- */

static struct pattern *draw_view(uint64_t *state)
{
    for (;;) {
        struct pattern *all = random_pattern(state, 200, true), *view = NULL;
        uint8_t packed[65536];
        const int32_t element = (int32_t)random_below(state, (uint32_t)all->elements);
        const int64_t n = pattern_pack(all, element, packed, sizeof packed);

        if (n > 0 && n <= (int64_t)sizeof packed && pattern_unpack(packed, (size_t)n, &view) < 0)
            view = NULL;
        pattern_free(all);
        if (view)
            return view;
    }
}

static void draw_access(uint64_t *state, struct access *a)
{
    a->view = draw_view(state);
    const int64_t most = pattern_rank(a->view, 0, FILE_BYTES);

    a->n = random_below(state, 5) == 0 ? 0 : (int64_t)random_below(state, (uint32_t)most + 1);
    a->at = most > a->n ? (int64_t)random_below(state, (uint32_t)(most - a->n)) : 0;
}

static uint8_t data_of(int rank, int call, int64_t i)
{
    return (uint8_t)(1 + rank * 37 + call * 11 + i * 7 + i / 251);
}

/* ---- The list of bytes ---- */

/* How many of a member's bytes lie before the first that the file does not take or have; the error if that is the
 * member's first. */
static int64_t expected(const struct access *a, bool writes)
{
    const int64_t end = writes ? file->room : file->size, least = end < file->bad ? end : file->bad;

    for (int64_t i = 0; i < a->n; i++)
        if (pattern_file(a->view, 0, a->at + i) >= least)
            return i > 0 ? i : file->bad <= end ? -EIO : writes ? -ENOSPC : 0;
    return a->n;
}

static bool complain(const char *what, uint64_t seed, int call, int64_t a, int64_t b)
{
    fprintf(stderr, "seed %llu, call %d: %s: %lld, not %lld\n", (unsigned long long)seed, call, what, (long long)a,
            (long long)b);
    return false;
}

static bool check_write(const struct access *a, int nodes, uint64_t seed, int call, uint8_t *model)
{
    uint8_t times[FILE_BYTES] = {0};
    const int64_t least = file->room < file->bad ? file->room : file->bad;

    for (int r = 0; r < nodes; r++)
        for (int64_t i = 0; i < a[r].n; i++) {
            const int64_t x = pattern_file(a[r].view, 0, a[r].at + i);
            if (x < least)
                model[x] = data_of(r, call, i), times[x] = 1;
        }
    for (int64_t x = 0; x < FILE_BYTES; x++) {
        if (file->byte[x] != model[x])
            return complain("a byte of the file", seed, call, file->byte[x], model[x]);
        if (file->times[x] != times[x])
            return complain("times that a byte was written", seed, call, file->times[x], times[x]);
    }
    return true;
}

static bool check_read(const struct access *a, const uint8_t *buf, int64_t n, uint64_t seed, int call)
{
    for (int64_t i = 0; i < n; i++) {
        const int64_t x = pattern_file(a->view, 0, a->at + i);
        if (buf[i] != file->byte[x])
            return complain("a byte that was read", seed, call, buf[i], file->byte[x]);
    }
    for (int64_t x = 0; x < FILE_BYTES; x++)
        if (file->times[x] > 1)
            return complain("times that a byte was read", seed, call, file->times[x], 1);
    return true;
}

/* ---- A program ---- */

struct program {
    uint64_t seed;
};

static bool run_calls(struct two_phase *t, struct group *g, uint64_t seed, uint64_t *state)
{
    static uint8_t buf[FILE_BYTES], model[FILE_BYTES];
    struct access a[NODES];
    bool passes = true;

    memset(model, 0, sizeof model);
    for (int call = 0; call < CALLS && passes; call++) {
        const bool writes = call == 0 || random_below(state, 2) == 0;
        const bool same_views = call > 0 && random_below(state, 2) == 0;
        const int64_t end = random_below(state, 3) == 0 ? (int)random_below(state, FILE_BYTES) : FILE_BYTES;
        const int64_t bad = random_below(state, 6) == 0 ? (int)random_below(state, FILE_BYTES) : FILE_BYTES;

        for (int r = 0; r < g->size; r++) {
            struct pattern *before = a[r].view;

            draw_access(state, &a[r]);
            if (call > 0 && same_views) {
                const int64_t most = pattern_rank(before, 0, FILE_BYTES);

                pattern_free(a[r].view);
                a[r].view = before;
                a[r].n = a[r].n < most ? a[r].n : most;
                a[r].at = most - a[r].n < a[r].at ? most - a[r].n : a[r].at;
            } else if (call > 0) {
                pattern_free(before);
            }
        }
        group_broadcast(g, &call, sizeof call, 0);
        if (g->rank == 0) {
            file->size = file->room = end;
            file->bad = bad;
            memset(file->times, 0, sizeof file->times);
        }
        group_broadcast(g, &call, sizeof call, 0);
        struct access *own = &a[g->rank];
        if (!same_views && two_phase_learn(t, own->view) < 0)
            return complain("learn", seed, call, -1, 0);
        for (int64_t i = 0; i < own->n && writes; i++)
            buf[i] = data_of(g->rank, call, i);
        const int64_t n = two_phase_move(t, writes, buf, own->n, own->at), right = expected(own, writes);
        group_broadcast(g, &call, sizeof call, 0);
        if (n != right)
            passes = complain(writes ? "written" : "read", seed, call, n, right);
        else if (writes)
            passes = check_write(a, g->size, seed, call, model);
        else
            passes = check_read(own, buf, n, seed, call);
    }
    for (int r = 0; r < g->size; r++)
        pattern_free(a[r].view);
    return passes;
}

static bool run_program(void *arg)
{
    const struct program *p = arg;
    uint64_t state = p->seed;
    struct pattern *parts;
    struct group g = {0};
    int holder[NODES];

    group_make(&g, NULL, 0);
    const int holders = 1 + (int)random_below(&state, (uint32_t)g.size);
    const int64_t block = 1 + (random_below(&state, 3) == 0 ? FILE_BYTES / holders : (int)random_below(&state, 300));
    for (int h = 0; h < holders; h++)
        holder[h] = two_phase_holder(&g, holders, h);
    if (pattern_stripe(block, holders, &parts) < 0)
        return false;
    struct two_phase t = {.g = &g,
                          .parts = parts,
                          .holder = holder,
                          .store = {.move = move_file, .by_file = true},
                          .window_bytes = 1 + random_below(&state, 1000)};
    struct part part = {parts, -1};
    for (int h = 0; h < holders; h++)
        part.element = holder[h] == g.rank ? h : part.element;
    if (random_below(&state, 2) == 0)
        t.store = (struct two_phase_store){.move = move_part, .ctx = &part};
    const bool passes = run_calls(&t, &g, p->seed, &state);
    two_phase_end(&t);
    pattern_free(parts);
    return passes;
}

Test(two_phase, moves_what_a_list_of_bytes_says_each_byte_once)
{
    file = mmap(NULL, sizeof *file, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(file, MAP_FAILED);
    for (int nodes = 1; nodes <= NODES; nodes++)
        for (uint64_t seed = 0; seed < 12; seed++) {
            struct program p = {seed * 1000 + (uint64_t)nodes};

            memset(file, 0, sizeof *file);
            cr_assert(fake_nodes_run(nodes, run_program, &p), "%d nodes, seed %d", nodes, (int)seed);
        }
}

/* Blocks in turn, each member's next to the other's: a holder's window is one request. */
static bool run_whole(void *arg)
{
    static uint8_t buf[1024];
    struct group g = {0};
    struct pattern *views, *parts;
    int holder[NODES];

    (void)arg;
    group_make(&g, NULL, 0);
    if (pattern_stripe(16, g.size, &views) < 0 || pattern_stripe(64, 1, &parts) < 0)
        return false;
    holder[0] = g.size - 1;
    struct two_phase t = {.g = &g,
                          .parts = parts,
                          .holder = holder,
                          .store = {.move = move_file, .by_file = true},
                          .window_bytes = FILE_BYTES};
    bool passes = two_phase_know(&t, views) == 0 && two_phase_move(&t, true, buf, 512, 0) == 512 &&
                  two_phase_move(&t, true, buf, 0, 0) == (g.rank < g.size ? 0 : -1);
    passes = passes && t.counts.moves == (g.rank == holder[0]) && t.counts.turns == 1;
    passes = passes && t.counts.sent == (g.rank == holder[0] ? 0u : 512u);
    two_phase_end(&t);
    pattern_free(views);
    pattern_free(parts);
    return passes;
}

Test(two_phase, small_blocks_of_all_become_one_request)
{
    file = mmap(NULL, sizeof *file, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    cr_assert_neq(file, MAP_FAILED);
    file->room = file->bad = FILE_BYTES;
    cr_assert(fake_nodes_run(5, run_whole, NULL));
}
