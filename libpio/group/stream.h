/*
 * The broadcast of long data, in pieces that follow each other. Arguments and results are those of collect_broadcast.
 */
#pragma once

struct group;

#define STREAM_LEAST_BYTES    (8 << 10)  /* less is not worth pieces */
#define STREAM_HARDWARE_BYTES (32 << 10) /* of a piece by hardware */

/* Of a long broadcast to that group. */
int stream_piece_bytes(const struct group *g);

/* By the network's own broadcast, which serves a group of all nodes. */
int stream_by_hardware(struct group *g, void *buf, int bytes, int root, int type);

/* By messages from member to member. */
int stream_in_pieces(struct group *g, void *buf, int bytes, int root, int type);
