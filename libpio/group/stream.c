/*
 * The broadcast of long data (stream.h).
 *
 * Of a group of all nodes: the network copies each piece at every node it passes, so the root sends it once, at the
 * rate of one channel.
 *
 * Otherwise the members pass on each piece before they take the next one, so that all channels of the way work at
 * the same time. In a subcube the way is the binomial tree: a node sends a piece to each child by another channel, at
 * the same time [Johnsson, Ho: Optimum broadcasting and personalized communication in hypercubes, IEEE Trans.
 * Computers 38(9), 1989: the spanning binomial tree, pipelined, with concurrent use of all ports].
 * In other groups two children would share a channel. There the way is a chain in the order of dimensions, whose
 * messages share none [McKinley et al., as in group.h]; a chain of n members costs n - 2 pieces more than the tree's
 * log2 n - 1, so its pieces are shorter.
 */
#include "libpio/group/stream.h"

#include <sysn.h>

#include "libpio/group/collect.h"
#include "vertex/contract/traps.h"

enum { TREE_PIECE = 8 << 10, CHAIN_PIECE = 4 << 10, LONG_CHAIN = 16 };

static int piece_bytes(int at, int bytes, int piece)
{
    return bytes - at < piece ? bytes - at : piece;
}

int stream_by_hardware(struct group *g, void *buf, int bytes, int root, int type)
{
    int all = N_PROCESS(N_DEST_ALL, g->procid), result = 0, at = 0;

    do { /* an empty message, too */
        char *piece = (char *)buf + at;
        int length = piece_bytes(at, bytes, STREAM_HARDWARE_BYTES);

        result = g->place == root ? (int)trap_cwrite(piece, length, all, type, g->context)
                                  : collect_take(g, root, piece, length, type);
        at += STREAM_HARDWARE_BYTES;
    } while (result >= 0 && at < bytes);
    return result < 0 ? result : 0;
}

int stream_piece_bytes(const struct group *g)
{
    return g->has_broadcast       ? STREAM_HARDWARE_BYTES
           : g->is_subcube        ? TREE_PIECE
           : g->size > LONG_CHAIN ? CHAIN_PIECE / 2
                                  : CHAIN_PIECE;
}

/* The places to which this member passes on what it gets, the one with most behind it first; returns how many. */
static int children(const struct group *g, int root, int *place)
{
    int position = collect_position(g, root), n = 0, distance = 1;

    if (!g->is_subcube) {
        if (position + 1 < g->size)
            place[n++] = collect_place_at(g, position + 1, root);
        return n;
    }
    while (distance < g->size && (position & distance) == 0)
        distance <<= 1;
    while ((distance /= 2) > 0)
        place[n++] = collect_place_at(g, position + distance, root);
    return n;
}

int stream_in_pieces(struct group *g, void *buf, int bytes, int root, int type)
{
    int position = collect_position(g, root), child[16], n = children(g, root, child), result = 0;
    int parent = collect_place_at(g, g->is_subcube ? collect_parent(position) : position - 1, root);
    int piece = stream_piece_bytes(g);

    for (int at = 0; result >= 0 && at < bytes; at += piece) {
        int length = piece_bytes(at, bytes, piece);

        if (position > 0)
            result = collect_take(g, parent, (char *)buf + at, length, type);
        for (int i = 0; result >= 0 && i < n; i++)
            result = collect_give(g, child[i], (char *)buf + at, length, type);
    }
    return result < 0 ? result : 0;
}
