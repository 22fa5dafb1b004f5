/* Three nodes for gdb (gdb_target.h). */
#include "tests/emu/gdb_target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "vertex/contract/machine.h"

#define RAM_BYTES (64u * NODE_PAGE_BYTES)

static uint32_t on_nodes(void *ctx)
{
    (void)ctx;
    return GDB_TARGET_NODES;
}

static uint32_t on_slot(void *ctx, uint32_t node) /* node 2 has ended */
{
    (void)ctx;
    return node < 2 ? node : TARGET_NO_SLOT;
}

static uint32_t on_home(void *ctx, uint32_t node)
{
    (void)ctx;
    return node;
}

static uint8_t *on_memory(void *ctx, uint32_t node, size_t *bytes)
{
    (void)node;
    *bytes = RAM_BYTES;
    return ((struct gdb_target *)ctx)->ram;
}

static int on_memory_fd(void *ctx, uint32_t node)
{
    (void)ctx;
    (void)node;
    return -1;
}

static void on_describe(void *ctx, uint32_t node, char *text, size_t bytes)
{
    (void)ctx;
    snprintf(text, bytes, "is <%u>", node);
}

static bool on_monitor(void *ctx, const char *word, void (*say)(void *to, const char *line), void *to)
{
    (void)ctx;
    say(to, word);
    return true;
}

static void on_kill(void *ctx)
{
    (void)ctx;
}

static bool on_origin(void *ctx, uint32_t node, uint32_t *sender, uint64_t *cycles,
                      void (*say)(void *to, const char *line), void *to)
{
    (void)ctx;
    *sender = node ^ 1;
    *cycles = 500;
    say(to, "origin");
    return node == 0;
}

static uint64_t on_now(void *ctx)
{
    (void)ctx;
    return 1000;
}

static void on_run_ahead(void *ctx, bool ahead)
{
    (void)ctx;
    (void)ahead;
}

static void on_release(void *ctx, uint32_t slot)
{
    ((struct gdb_target *)ctx)->target.area->hart[slot].stopped = 0;
}

static void on_note(void *ctx)
{
    (void)ctx;
}

static const struct target_ops ops = {.nodes = on_nodes,
                                      .slot = on_slot,
                                      .home = on_home,
                                      .memory = on_memory,
                                      .memory_fd = on_memory_fd,
                                      .describe = on_describe,
                                      .monitor = on_monitor,
                                      .kill = on_kill,
                                      .origin = on_origin,
                                      .now = on_now,
                                      .run_ahead = on_run_ahead,
                                      .note = on_note,
                                      .release = on_release};

static void on_send(void *ctx)
{
    (void)ctx;
}

#define TABLE_PAGE(k) (CABINET_RAM_BASE + (k)*NODE_PAGE_BYTES)

static void set_entry(struct gdb_target *g, uint32_t page, uint32_t index, uint64_t entry)
{
    memcpy(g->ram + page * NODE_PAGE_BYTES + index * sizeof entry, &entry, sizeof entry);
}

void gdb_target_make(struct gdb_target *g)
{
    g->ram = calloc(1, RAM_BYTES);
    g->target =
        (struct target){.area = calloc(1, sizeof(struct debug_area) + GDB_TARGET_NODES * sizeof(struct debug_hart)),
                        .slots = GDB_TARGET_NODES,
                        .ops = &ops,
                        .ctx = g};
    set_entry(g, 1, 0, TABLE_PAGE(2) >> 12 << 10 | 1);
    set_entry(g, 1, 1, TABLE_PAGE(1) >> 12 << 10 | 1);
    set_entry(g, 1, 2, 0xfffffffffffull << 10 | 1);
    set_entry(g, 2, 0, TABLE_PAGE(3) >> 12 << 10 | 1);
    set_entry(g, 3, 16, TABLE_PAGE(16) >> 12 << 10 | 0x1b);
    set_entry(g, 3, 17, TABLE_PAGE(17) >> 12 << 10 | 0x17);
    set_entry(g, 3, 18, 0x216);
    set_entry(g, 3, 19, TABLE_PAGE(19) >> 12 << 10 | 0x1f);
    memcpy(g->ram + 16 * NODE_PAGE_BYTES, "text", 4);
    for (uint32_t i = 0; i < 2; i++) {
        struct debug_hart *d = &g->target.area->hart[i];

        d->in_user = d->stopped = 1;
        d->why = DEBUG_HELD;
        d->now.satp = 8ull << 60 | TABLE_PAGE(1) >> 12;
        d->now.x[0] = 0x10000;
        d->now.x[10] = 0x1234;
    }
    rsp_init(&g->packets);
    session_init(&g->session, &g->target, &g->packets, on_send, NULL);
    g->travel = (struct travel){.pass = TRAVEL_NOT};
    g->session.travel = &g->travel;
}

void gdb_target_free(struct gdb_target *g)
{
    session_free(&g->session);
    travel_free(&g->travel);
    free(g->target.area);
    free(g->ram);
}
