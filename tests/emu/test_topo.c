/* Wiring and routes against the tables and the theorem of [P0]. */
#include "emu/network/topo.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "emu/tools/paths.h"
#include "tests/emu/machines.h"

#define IO(i)  NODE_IO(3, i)
#define VIA(k) ((uint64_t)(k))

/* [P0 Table 1]: the SI node of channel k (row) of I/O node i (column) on board 3. */
static const uint32_t table_1[NCU_SI_CHANNELS][8] = {
    {3, 7, 11, 15, 19, 23, 27, 31},           {67, 71, 75, 79, 83, 87, 91, 95},
    {131, 135, 139, 143, 147, 151, 155, 159}, {195, 199, 203, 207, 211, 215, 219, 223},
    {259, 263, 267, 271, 275, 279, 283, 287}, {323, 327, 331, 335, 339, 343, 347, 351},
    {387, 391, 395, 399, 403, 407, 411, 415}, {451, 455, 459, 463, 467, 471, 475, 479},
};

Test(topo, sandia_wiring_is_table_1_of_the_paper)
{
    for (uint32_t k = 0; k < NCU_SI_CHANNELS; k++)
        for (uint32_t i = 0; i < 8; i++)
            cr_expect_eq(topo_sandia_si(3, i, k), table_1[k][i], "channel %u of I/O node %u", k, i);
}

Test(topo, has_the_drives_of_its_io_nodes)
{
    static struct topo_io_node io[] = {{.ndrives = 1}, {.ndrives = 0}, {.ndrives = 2}};

    cr_expect_eq(topo_drives(&(struct topo){.n_io = 3, .io = io}), 3);
    cr_expect_eq(topo_drives(&(struct topo){.n_io = 0}), 0);
}

/* What nodes are told of striped volumes; a text that does not fit is cut, and its length is told all the same. */
Test(topo, striped_volumes_are_lines_of_text)
{
    static const char whole[] = "big df00 df01: cyclic 1000 2\nsmall df02: whole\n";
    static char big[][VOLUME_NAME_BYTES] = {"df00", "df01", "df03"}, small[][VOLUME_NAME_BYTES] = {"df02", "df03"};
    static struct topo_striped striped[] = {{.name = "big", .disks = 2, .over = big, .map = "cyclic 1000 2"},
                                            {.name = "small", .disks = 1, .over = small, .map = "whole"}};
    struct topo t = {.n_striped = 2, .striped = striped};
    char text[sizeof whole + 1];

    for (size_t room = 0; room <= sizeof whole; room++) {
        memset(text, 'x', sizeof text);
        cr_expect_eq(topo_striped_text(&t, text, room), sizeof whole - 1, "in %zu bytes", room);
        for (size_t i = 0; i < room && i < sizeof whole; i++)
            cr_expect_eq(text[i], i == room - 1 ? '\0' : whole[i], "byte %zu in %zu bytes", i, room);
        cr_expect_eq(text[room], 'x', "%zu bytes", room);
    }
}

/* The nodes of a route, "3 7 15 io1", and its last channel number, " @0". */
static void describe(const struct topo *t, uint32_t from, uint32_t to, uint64_t via, char *text)
{
    uint32_t route[TOPO_ROUTE_MAX], in_channel = 99, node, channel = TOPO_SELF_CHANNEL;
    int n = topo_route(t, from, to, via, route, &in_channel);

    if (n < 0) {
        strcpy(text, "none");
        return;
    }
    for (int i = 0; i < n; i++) {
        topo_channel_end(t, route[i], &node, &channel);
        if (NODE_IS_IO(node))
            text += sprintf(text, "io%u ", node - IO(0));
        else if (node == NODE_HOST)
            text += sprintf(text, "host ");
        else
            text += sprintf(text, "%u ", node);
    }
    cr_expect_eq(in_channel, channel, "in_channel of %s", text);
    sprintf(text, "@%u", in_channel);
}

struct route_case {
    const char *name;
    uint32_t from, to;
    uint64_t via;
    const char *route; /* the nodes that the channels lead to, and where the message arrives */
};

static void check_routes(const struct topo *t, const struct route_case *c, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        char text[256];

        describe(t, c[i].from, c[i].to, c[i].via, text);
        cr_expect_str_eq(text, c[i].route, "%s: %s", c[i].name, text);
    }
}

Test(topo, routes_of_the_five_cube)
{
    static const struct route_case c[] = {
        {"path 1 of the paper", 3, IO(1), NCU_VIA_NEAREST, "7 io1 @0"},
        {"path 2", 3, IO(2), NCU_VIA_NEAREST, "11 io2 @0"},
        {"path 3", 3, IO(3), NCU_VIA_NEAREST, "7 15 io3 @0"},
        {"own SI node", 3, IO(0), NCU_VIA_NEAREST, "io0 @0"},
        {"e-cube, ascending", 0, 31, NCU_VIA_NEAREST, "1 3 7 15 31 @4"},
        {"e-cube, downwards", 31, 0, NCU_VIA_NEAREST, "30 28 24 16 0 @4"},
        {"e-cube, gaps", 5, 16, NCU_VIA_NEAREST, "4 0 16 @4"},
        {"neighbour", 8, 9, NCU_VIA_NEAREST, "9 @0"},
        {"self", 9, 9, NCU_VIA_NEAREST, "@14"},
        {"self, I/O node", IO(2), IO(2), NCU_VIA_NEAREST, "@14"},
        {"self, front end", NODE_HOST, NODE_HOST, NCU_VIA_NEAREST, "@14"},
        {"reply to the SI node", IO(1), 7, NCU_VIA_NEAREST, "7 @13"},
        {"reply past it", IO(3), 3, NCU_VIA_NEAREST, "15 11 3 @3"},
        {"reply by the channel asked for", IO(3), 3, VIA(0), "15 11 3 @3"},
        {"by a channel that is not connected", IO(3), 3, VIA(1), "none"},
        {"by a channel that is none", IO(3), 3, VIA(8), "none"},
        {"front end to a node", NODE_HOST, 5, NCU_VIA_NEAREST, "0 1 5 @2"},
        {"front end to its SI node", NODE_HOST, 0, NCU_VIA_NEAREST, "0 @13"},
        {"node to the front end", 6, NODE_HOST, NCU_VIA_NEAREST, "4 0 host @0"},
        {"front end to an I/O node", NODE_HOST, IO(0), NCU_VIA_NEAREST, "0 1 3 io0 @0"},
        {"I/O node to the front end", IO(4), NODE_HOST, NCU_VIA_NEAREST, "19 18 16 0 host @0"},
        {"I/O node to I/O node", IO(0), IO(7), NCU_VIA_NEAREST, "3 7 15 31 io7 @0"},
        {"compute node that is none", 0, 32, NCU_VIA_NEAREST, "none"},
        {"I/O node that is none", 0, IO(8), NCU_VIA_NEAREST, "none"},
        {"from a node that is none", 32, 0, NCU_VIA_NEAREST, "none"},
        {"to itself, a node that is none", 40, 40, NCU_VIA_NEAREST, "none"},
    };
    struct topo t = sandia_machine(5, 8);

    check_routes(&t, c, sizeof c / sizeof c[0]);
    topo_free(&t);
}

Test(topo, routes_of_the_ten_cube_use_the_nearest_of_eight_si_nodes)
{
    static const struct route_case c[] = {
        {"own SI node on channel 1", 75, IO(2), NCU_VIA_NEAREST, "io2 @1"},
        {"channel 7", 451, IO(0), NCU_VIA_NEAREST, "io0 @7"},
        {"one hop away", 129, IO(0), NCU_VIA_NEAREST, "131 io0 @2"},
        {"outside the 64k blocks: equally near, lowest channel", 512 + 3, IO(0), NCU_VIA_NEAREST, "3 io0 @0"},
        {"upper half, channel 5", 512 + 323, IO(0), NCU_VIA_NEAREST, "323 io0 @5"},
        {"reply by the nearest", IO(2), 140, NCU_VIA_NEAREST, "139 138 136 140 @2"},
        {"reply by another", IO(2), 139, VIA(1), "75 11 139 @7"},
        {"I/O to I/O on the lowest of equal channels", IO(0), IO(1), NCU_VIA_NEAREST, "3 7 io1 @0"},
        {"I/O to I/O by channel 6", IO(0), IO(1), VIA(6), "387 391 io1 @6"},
    };
    struct topo t = sandia_machine(10, 8);

    check_routes(&t, c, sizeof c / sizeof c[0]);
    topo_free(&t);
}

Test(topo, a_free_wiring_ties_on_the_lowest_channel)
{
    static const struct route_case c[] = {
        {"tie of channels 2 and 5", 0, IO(0), NCU_VIA_NEAREST, "2 io0 @2"},
        {"nearest is the later one", 4, IO(0), NCU_VIA_NEAREST, "io0 @5"},
        {"reply", IO(0), 6, NCU_VIA_NEAREST, "2 6 @2"},
        {"I/O to I/O by a channel that only the sender has", IO(0), IO(1), VIA(5), "4 5 7 io1 @0"},
        {"I/O to I/O by a channel that only the receiver has", IO(0), IO(1), VIA(0), "none"},
    };
    struct topo t = sandia_machine(3, 2);

    for (uint32_t k = 0; k < NCU_SI_CHANNELS; k++)
        t.io[0].si[k] = TOPO_NONE;
    t.io[0].si[2] = 2;
    t.io[0].si[5] = 4;
    check_routes(&t, c, sizeof c / sizeof c[0]);
    topo_free(&t);
}

Test(topo, has_the_nodes_of_its_cube_its_boards_and_the_front_end)
{
    struct topo t = sandia_machine(5, 8);

    cr_expect(topo_has_node(&t, 0) && topo_has_node(&t, 31) && topo_has_node(&t, NODE_HOST));
    cr_expect(topo_has_node(&t, IO(0)) && topo_has_node(&t, IO(7)));
    cr_expect_not(topo_has_node(&t, 32));
    cr_expect_not(topo_has_node(&t, IO(8)));
    topo_free(&t);
}

Test(topo, every_channel_ends_where_exactly_one_other_side_sees_it)
{
    struct topo t = sandia_machine(5, 8);

    cr_expect_eq(topo_channels(&t), 32 * 5 + 8 * 8 * 2 + 2);
    static uint8_t seen[NODE_HOST + 1][NCU_CHANNELS];
    for (uint32_t c = 0; c < topo_channels(&t); c++) {
        uint32_t link = c - 32 * 5;

        if (c >= 32 * 5 && c < topo_channels(&t) - 2 && t.io[link / 16].si[link / 2 % 8] == TOPO_NONE)
            continue; /* not connected */
        uint32_t node, in_channel;
        topo_channel_end(&t, c, &node, &in_channel);
        cr_expect(topo_has_node(&t, node), "channel %u", c);
        cr_expect(topo_node_channels(&t, node) >> in_channel & 1, "channel %u ends at %u.%u", c, node, in_channel);
        cr_expect_eq(seen[node][in_channel]++, 0, "channel %u ends at %u.%u as another does", c, node, in_channel);
    }
    topo_free(&t);
}

Test(topo, connected_channels_of_each_kind_of_node)
{
    struct topo t = sandia_machine(5, 8), one = sandia_machine(0, 0);

    cr_expect_eq(topo_node_channels(&t, 1), 0x1f);
    cr_expect_eq(topo_node_channels(&t, 3), 0x201f, "an SI node");
    cr_expect_eq(topo_node_channels(&t, 0), 0x201f, "the front end's");
    cr_expect_eq(topo_node_channels(&t, IO(0)), 1);
    cr_expect_eq(topo_node_channels(&t, NODE_HOST), 1);
    cr_expect_eq(topo_node_channels(&t, 32), 0, "no such node");
    cr_expect_eq(topo_node_channels(&one, 0), 0x2000, "0-cube");
    topo_free(&t);
    topo_free(&one);
}

Test(topo, p_is_the_lowest_differing_bit)
{
    static const struct {
        uint32_t x, y;
        int p;
    } c[] = {{5, 5, -1}, {0, 1, 0}, {3, 7, 2}, {3, 11, 3}, {3, 15, 2}, {0, 4096, 12}, {6, 5, 0}};
    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++)
        cr_expect_eq(topo_first_dimension(c[i].x, c[i].y), c[i].p, "P(%u, %u)", c[i].x, c[i].y);
}

static bool share_a_channel(const uint32_t *a, int na, const uint32_t *b, int nb)
{
    for (int i = 0; i < na; i++)
        for (int j = 0; j < nb; j++)
            if (a[i] == b[j])
                return true;
    return false;
}

/* The theorem of [P0 section 3]: different P, no common channel. And equal P >= 0: they share the first. */
Test(topo, paths_are_channel_disjoint_exactly_when_p_differs)
{
    struct topo t = sandia_machine(5, 0);

    for (uint32_t x = 0; x < 32; x++) {
        for (uint32_t y = 0; y < 32; y++) {
            for (uint32_t z = 0; z < 32; z++) {
                uint32_t a[TOPO_ROUTE_MAX], b[TOPO_ROUTE_MAX], in;
                int na = topo_route(&t, x, y, NCU_VIA_NEAREST, a, &in);
                int nb = topo_route(&t, x, z, NCU_VIA_NEAREST, b, &in);
                bool same_p = topo_first_dimension(x, y) == topo_first_dimension(x, z);

                cr_assert_eq(share_a_channel(a, na, b, nb), same_p && x != y, "from %u to %u and %u", x, y, z);
            }
        }
    }
    topo_free(&t);
}

Test(topo, channel_disjoint_routings_to_the_eight_io_nodes)
{
    static const struct {
        uint32_t node, routings;
    } c[] = {{3, 4}, {2, 1}, {0, 1}, {31, 4}, {7, 4}, {1, 1}};
    struct topo t = sandia_machine(5, 8);
    struct path path[8];

    for (size_t i = 0; i < sizeof c / sizeof c[0]; i++) {
        for (uint32_t k = 0; k < 8; k++)
            cr_assert(path_find(&t, c[i].node, IO(k), NCU_VIA_NEAREST, &path[k]));
        cr_expect_eq(paths_disjoint_by_theorem(path, 8), c[i].routings, "node %u", c[i].node);
    }
    cr_expect_eq(paths_disjoint_by_theorem(path, 0), 0);
    topo_free(&t);
}
