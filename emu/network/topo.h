/*
 * The machine as wired: compute nodes, NChannel boards, drives, the front end; and the routes between them.
 * Pure data and arithmetic, built from a machine file (config.h); nothing here depends on QEMU or on time.
 *
 * Every directed channel has an index. Messages take and free channels by it.
 *
 *   0 .. dim * 2^dim - 1       node n, dimension d: index n * dim + d, leads to n ^ 1 << d
 *   + 2 * (8 j + k)            SI node to the I/O node at io[j], its channel k       (+ 1: the way back)
 *   + 0, + 1                   SI node to the front end, front end to SI node
 */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vertex/contract/machine.h"

#define TOPO_ROUTE_MAX    (NODE_MAX_DIM + 3) /* channels on the longest path: I/O node, 13 dimensions, I/O node */
#define TOPO_SELF_CHANNEL NCU_CHANNELS       /* number of no real channel: a node's messages to itself arrive on it */

struct topo_drive {
    char volume[VOLUME_NAME_BYTES];
    char *image; /* path of the image file, resolved against the machine file's folder */
    char *model; /* name of a drive model (disk.h) */
    uint32_t rpm;
    struct drive_cache cache;
};

struct topo_io_node {
    uint32_t node;                /* NODE_IO(board, i) */
    uint32_t si[NCU_SI_CHANNELS]; /* SI node of channel k, or TOPO_NONE */
    bool concurrent;              /* its drives work at the same time */
    uint32_t ndrives;
    struct topo_drive drive[DRIVE_MAX];
};
#define TOPO_NONE UINT32_MAX

struct topo_striped { /* a striped volume: one name for files that lie on several volumes */
    char name[VOLUME_NAME_BYTES];
    uint32_t disks;
    char (*over)[VOLUME_NAME_BYTES]; /* [disks], in the order of the map's elements */
    char *map;                       /* text of libpio/map/pattern.h */
};

struct topo_cfs {                      /* the Concurrent File System */
    uint32_t disks;                    /* 0: the machine has none */
    char (*volume)[VOLUME_NAME_BYTES]; /* [disks] */
    uint32_t async;                    /* requests of a node under way */
};

#define TOPO_CLF_VOLUMES 256u /* most that are servers of Clusterfile */

struct channel_times {     /* of all channels of a machine */
    uint32_t hop_cycles;   /* in which a header takes one */
    uint32_t byte_cycles;  /* in which a byte follows */
    uint32_t header_bytes; /* of a message, before its payload */
};

struct topo {
    uint32_t dim;       /* the machine has 2^dim compute nodes */
    uint64_t ram_bytes; /* per node */
    uint32_t nodes_per_cabinet;
    uint32_t server_limit_s; /* virtual time after which a file server without progress counts as dead */
    uint32_t shared_text_kb; /* room for program text that a cabinet's nodes share */
    uint32_t code_mb;        /* room in a cabinet's QEMU for translated code */
    uint32_t host_si;        /* SI node of the front end's link (its channel 13) */
    uint32_t n_io;
    struct topo_io_node *io; /* ascending by node */
    uint32_t n_striped;
    struct topo_striped *striped;
    struct topo_cfs cfs;
    char metadata[VOLUME_NAME_BYTES]; /* the volume of Clusterfile's names; "": the machine has no Clusterfile */
    struct channel_times times;       /* zeros: those of the nCUBE 2 (topo_times) */
    bool no_broadcasts;               /* a message goes to one node only */
    /* further settings of the machine file live in config.h's structures */
};

/* Returns the volumes that can be servers of Clusterfile's files: those of I/O nodes with concurrent service, in order,
 * at most TOPO_CLF_VOLUMES, as NULL-terminated pointers into the topology; none where it has no Clusterfile. The caller
 * frees the list. */
const char **topo_clf_volumes(const struct topo *t);

/* Returns the times of the machine's channels. */
struct channel_times topo_times(const struct topo *t);

/* Returns the shortest time from a send to any effect on another node: one hop and the header. */
static inline uint32_t channel_lookahead_cycles(struct channel_times t)
{
    return t.hop_cycles + t.byte_cycles * t.header_bytes;
}

/* Frees the memory that t points to, not t itself. */
void topo_free(struct topo *t);

/* Writes the lines by which nodes know the striped volumes and the CFS (vertex/contract/system.h), as far as `bytes`
 * reach, with a NUL. Returns the text's length without the NUL, also if it did not fit. */
size_t topo_striped_text(const struct topo *t, char *text, size_t bytes);

/* Returns the SI node of channel k of I/O node i on a board in the Sandia wiring: 64k + 4i + board [P0 Table 1]. */
uint32_t topo_sandia_si(uint32_t board, uint32_t i, uint32_t k);

/* Returns the number n of directed channels in the machine; their indices are 0 .. n-1. */
uint32_t topo_channels(const struct topo *t);

/* Writes the channels from one node address to another into route, in order; it has room for TOPO_ROUTE_MAX. `via` is
 * the channel of the I/O node to use, of the sender if both are I/O nodes; it is ignored if neither is. NCU_VIA_NEAREST
 * chooses the fewest hops, then the lowest channel. Between two I/O nodes, or an I/O node and the front end, the pair
 * of SI nodes with the fewest hops is chosen, then the sender's lowest channel, then the receiver's. *in_channel
 * becomes the destination's number of the channel on which the message arrives: 0-13, on I/O nodes 0-7, at the front
 * end 0; TOPO_SELF_CHANNEL when from == to. Returns the number of channels (0 when from == to), or -1 if an address
 * does not exist or no path leads there. */
int topo_route(const struct topo *t, uint32_t from, uint32_t to, uint64_t via, uint32_t *route, uint32_t *in_channel);

/* Returns the compute node at which a route leaves the hypercube: the destination itself, or its SI node. TOPO_NONE
 * where topo_route returns -1. */
uint32_t topo_exit(const struct topo *t, uint32_t from, uint32_t to, uint64_t via);

/* Sets *node to the node at which a channel ends, and *in_channel to that node's number of the channel. */
void topo_channel_end(const struct topo *t, uint32_t channel, uint32_t *node, uint32_t *in_channel);

/* Sets *node to the node at which a channel starts, and *out_channel to that node's number of the channel. */
void topo_channel_start(const struct topo *t, uint32_t channel, uint32_t *node, uint32_t *out_channel);

/* Returns P(x, y): the lowest bit in which x and y differ, -1 if x == y [P0 section 3]. */
int topo_first_dimension(uint32_t x, uint32_t y);

/* Returns the I/O node with that address, or NULL. */
const struct topo_io_node *topo_io_node(const struct topo *t, uint32_t node);

/* Returns the I/O node of a volume, and sets *drive to its drive there; TOPO_NONE if there is no such volume. */
uint32_t topo_find_volume(const struct topo *t, const char *volume, uint32_t *drive);
/* Returns the number of drives, and volumes, in the machine. */
uint32_t topo_drives(const struct topo *t);
/* Returns true if the address is a compute node, an I/O node or the front end of this machine. */
bool topo_has_node(const struct topo *t, uint32_t node);
/* Returns a mask: bit c is set if channel c of that node is connected. */
uint32_t topo_node_channels(const struct topo *t, uint32_t node);
