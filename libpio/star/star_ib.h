/*
 * Independent buffers [P4 4.1, 5.2.2, 5.2.4, 5.3]: any C operation by any VP. What one node has of a file in IB mode.
 * Nothing here sends a message.
 *
 *   star_ib.c         a VP's stream: its buffer of one block, over
 *   star_blocks.c     blocks: superblocks that are filled, pieces of the data that have been read
 *   star_directory.c  .first and .dir: read entry by entry, written at the end
 *
 * A node knows where the blocks of its VPs are that have been asked for: 4 bytes each.
 */
#ifndef LIBPIO_STAR_STAR_IB_H
#define LIBPIO_STAR_STAR_IB_H

#include "libpio/star/star_ahead.h"
#include "libpio/star/star_file.h"

#define STAR_NONE 0xffffffffu /* in .first and .dir */

struct star_vp {
    int64_t at;
    bool is_at_end, is_dirty;
    int error;
    int64_t moved;   /* by the last transfer */
    int64_t bytes;   /* in the IB segment */
    uint32_t *block; /* [blocks]; STAR_NONE: a hole */
    int64_t blocks, room;
    int64_t changed_from; /* block[] and what the directory has agree below it */
    uint32_t *entry;      /* [entries]: those that have been read */
    int64_t entries, entry_room, all_entries;
    uint32_t next;   /* the entry behind these */
    uint32_t last;   /* as .first has it */
    int64_t held;    /* number of the block in the buffer; -1: none */
    int64_t held_at; /* the VP's offset at which it begins; STAR_NOWHERE: none is held */
    bool is_bad;     /* .first does not make sense for it: it stays as it is, with these bytes */
    uint64_t bad_bytes;
};

/* A piece of the data or of .dir, as long as a superblock. */
struct star_piece {
    int kind; /* STAR_DATA, STAR_DIRECTORY; -1: empty */
    int64_t number;
    uint64_t used; /* when */
    int follower;  /* the next with the same hash; -1 */
    char *bytes;
};
enum { STAR_DATA, STAR_DIRECTORY };

#define STAR_HASH 64

#define STAR_NOWHERE (INT64_MIN / 2) /* no offset is near it */

struct star_ib {
    struct star_vp *vp; /* [local] */
    char *buffer;       /* [local] blocks */
    bool has_first;     /* .first has been read, or there is none */
    int64_t begin;      /* E3 */
    int64_t end;        /* offsets of VPs below it are in the NB and CB segments */
    int block_shift;    /* of b_IB; -1: it is no power of two */
    /* Superblocks: this node fills the base + rank, base + rank + P ... */
    int64_t base, directory_base, given; /* given: blocks so far */
    int64_t per_superblock;              /* blocks */
    int64_t entries_per;                 /* entries of a superblock of the directory */
    int64_t open_superblock;             /* being filled; -1: none */
    int64_t filled;                      /* blocks in it */
    char *superblock, *spare;            /* spare: the one before, while it is written */
    bool superblock_is_dirty;
    struct star_behind behind;
    int64_t behind_superblock;
    struct star_ahead ahead[2]; /* of the data, of .dir */
    int pieces;
    struct star_piece *piece;
    int head[STAR_HASH];
    uint64_t clock;
};

/* ---- star_ib.c ---- */

/* Makes what IB needs: after it the ends of the streams are known. 0 or a negative errno. */
int star_ib_begin(struct cs_file *f);

/* Takes this node to IB. 0 or a negative errno, and then it is where it was. */
int star_ib_enter(struct cs_file *f);
void star_ib_free(struct cs_file *f);

/* Moves n bytes of local VP i, whose offset moves on. Returns the bytes moved; an error is the VP's mark, and the
 * file's. */
int64_t star_ib_write(struct cs_file *f, long i, const char *from, int64_t n);
int64_t star_ib_read(struct cs_file *f, long i, char *to, int64_t n);

/* The same for n bytes of all VPs of this node. Returns the least number of bytes that one has moved. */
int64_t star_ib_move_all(struct cs_file *f, bool writes, const struct cs_par *v, int64_t n);

/* Where the stream of a VP ends. */
int64_t star_ib_end(const struct cs_file *f, long i);

/* Writes what is in buffers: of VPs, and of the superblock, which goes on being filled. */
void star_ib_flush(struct cs_file *f);

/* Whether a VP has bytes in the IB segment. */
bool star_ib_has_bytes(const struct cs_file *f);

void star_ib_note(struct cs_file *f, long i, int error);

/* ---- star_blocks.c ---- */

/* Reads n bytes at `at` of the data or of .dir. What is not there is zeros. */
int star_blocks_read(struct cs_file *f, int kind, int64_t at, char *to, int64_t n);
/* An entry of .dir where it lies in memory, until the next call. */
int star_blocks_entry(struct cs_file *f, int64_t at, const unsigned char **entry);
/* Reads a block of the IB segment. */
int star_blocks_get(struct cs_file *f, uint32_t number, char *to);
/* Writes n bytes at `at` of the data, where they lie. */
int star_blocks_write(struct cs_file *f, int64_t at, const char *from, int64_t n);
/* Writes a block to the next place of this node, *number. */
int star_blocks_append(struct cs_file *f, const char *from, uint32_t *number);
int star_blocks_flush(struct cs_file *f);
/* Ends the write of a full superblock. What could not be written is lost. */
void star_blocks_settle(struct cs_file *f);
/* A superblock could not be written: the streams that had blocks in it end before them. */
/* The VP's buffer holds nothing. */
static inline void star_blocks_let_go(struct star_vp *vp)
{
    vp->held = -1;
    vp->held_at = STAR_NOWHERE;
}
void star_blocks_lose(struct cs_file *f, int64_t superblock, int error);
/* Ends what is being read ahead. */
void star_blocks_stop(struct cs_file *f);
/* What has been read is forgotten: rows have been written. */
void star_blocks_forget(struct cs_file *f);
/* File offset of a block of the IB segment. */
int64_t star_blocks_place(const struct cs_file *f, uint32_t number);
/* One more than the highest superblock that this node has used. */
int64_t star_blocks_used(const struct cs_file *f);

/* ---- star_directory.c ---- */

/* Reads this node's part of .first. */
int star_directory_begin(struct cs_file *f);
/* Makes vp->block[] known up to block j, if the VP has that. -EIO: the directory is damaged. */
int star_directory_find(struct cs_file *f, long i, int64_t j);
/* Makes room for block j, with holes before it. */
int star_directory_reach(struct cs_file *f, long i, int64_t j);
/* Writes entries and .first; *used: one more than the highest superblock of the directory. */
int star_directory_end(struct cs_file *f, int64_t *used);

#endif
