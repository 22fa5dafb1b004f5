/*
 * Independent buffers [P4 4.1, 5.2.2, 5.2.4, 5.3]: any C operation by any VP. What one node has of a file in IB mode.
 * Nothing here sends a message.
 *
 *   star_ib.c         a VP's stream: its buffer of one block, over
 *   star_blocks.c     blocks: superblocks that are filled, pieces of the data that have been read
 *   star_directory.c  a VP's chain of entries, of which one is in memory; .first
 *   star_entries.c    entries: superblocks of .dir that are filled as entries are full, and linked afterwards
 *
 * What a node keeps in memory does not grow with the file: a block and an entry of each VP, and some superblocks.
 */
#pragma once

#include "libpio/star/star_ahead.h"
#include "libpio/star/star_file.h"

#define STAR_NONE 0xffffffffu /* in .first and .dir */

struct star_vp {
    int64_t at;
    bool is_at_end, is_dirty;
    int error;
    int64_t moved; /* by the last transfer */
    int64_t bytes; /* in the IB segment */
    /* Its entry in memory: which of the chain it is, -1: none; its number, STAR_NONE: it has none yet. */
    int64_t which;
    uint32_t number;
    bool entry_is_dirty;
    int64_t entries; /* of the chain that have a number */
    uint32_t first, last;
    uint32_t linked;  /* the last whose `next` is set, or will be by the next pass; STAR_NONE */
    uint32_t follows; /* while links are set: the entry that has been seen before, which follows */
    bool is_cut;      /* blocks have been lost: entries may have more than `bytes` */
    int64_t held;     /* number of the block in the buffer; -1: none */
    int64_t held_at;  /* the VP's offset at which it begins; STAR_NOWHERE: none is held */
    bool is_bad;      /* .first does not make sense for it: it stays as it is, with these bytes */
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

/* A block of the superblock that is being filled or written: of which VP, and which of its blocks. */
struct star_owner {
    long vp;
    int64_t block;
};

/* Superblocks of .dir. An entry is written after the blocks that it names, so that a crash leaves no other ones. */
struct star_entries {
    int64_t given, linked; /* entries so far; those of them whose `next` is set */
    char *superblock;      /* being filled: */
    int64_t begin, filled; /* its first entry; how many it has, 0: there is none */
    bool is_dirty;         /* it has what the file has not */
    char *full;            /* the one before: it waits for its blocks, or is being written */
    bool waits;
    int64_t full_number;
    int64_t needs; /* so many blocks must be in the file first */
    struct star_behind behind;
    char *work; /* one that is read back */
    int error;  /* one could not be written: then the file stays unclosed */
};

struct star_ib {
    struct star_vp *vp; /* [local] */
    char *buffer;       /* [local] blocks */
    uint32_t *entry;    /* [local] entries: the VP's number, `next`, numbers of blocks */
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
    struct star_owner *owner, *spare_owner; /* [per_superblock] */
    struct star_behind behind;
    int64_t behind_blocks; /* given, with those that are being written; */
    int64_t safe;          /* those that are in the file */
    /* The directory hears when `safe` grows, and when a block of a VP has been lost. */
    void (*has_landed)(struct cs_file *f);
    void (*is_lost)(struct cs_file *f, long i, int64_t j);
    struct star_entries entries;
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
/* The same where another node is there already. If this one cannot go, it has written its part of the collective buffer
 * all the same, alone. */
void star_ib_follow(struct cs_file *f);
/* The segments before IB have other ends now. Of an external file's last row, which is cut, each VP has what is there.
 */
void star_ib_ends(struct cs_file *f);
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
/* An entry of .dir where it lies in a piece, until the next call. */
int star_blocks_entry(struct cs_file *f, int64_t at, const uint32_t **entry);
/* Reads a block of the IB segment. */
int star_blocks_get(struct cs_file *f, uint32_t number, char *to);
/* Writes n bytes at `at` of the data or of .dir, where they lie. */
int star_blocks_write(struct cs_file *f, int kind, int64_t at, const char *from, int64_t n);
/* Writes block j of VP i to the next place of this node, *number. */
int star_blocks_append(struct cs_file *f, long i, int64_t j, const char *from, uint32_t *number);
int star_blocks_flush(struct cs_file *f);
/* Ends the write of a full superblock. What could not be written is lost. */
void star_blocks_settle(struct cs_file *f);
/* The VP's buffer holds nothing. */
static inline void star_blocks_let_go(struct star_vp *vp)
{
    vp->held = -1;
    vp->held_at = STAR_NOWHERE;
}
/* n blocks could not be written: the streams that had them end before them. */
void star_blocks_lose(struct cs_file *f, const struct star_owner *owner, int64_t n, int error);
/* Ends what is being read ahead. */
void star_blocks_stop(struct cs_file *f);
/* What has been read is forgotten: rows have been written. The same of .dir alone. */
void star_blocks_forget(struct cs_file *f);
void star_blocks_forget_directory(struct cs_file *f);
/* File offset of a block of the IB segment. */
int64_t star_blocks_place(const struct cs_file *f, uint32_t number);
/* One more than the highest superblock that this node has used. */
int64_t star_blocks_used(const struct cs_file *f);

/* ---- star_directory.c ---- */

static inline int64_t star_entry_words(const struct cs_file *f)
{
    return f->ib_pointers + 2;
}

/* A VP's entry in memory. */
static inline uint32_t *star_entry_of(const struct cs_file *f, long i)
{
    return f->ib->entry + i * star_entry_words(f);
}

/* Where the number of block j is, which that entry has. */
static inline uint32_t *star_slot_of(const struct cs_file *f, long i, int64_t j)
{
    return star_entry_of(f, i) + 2 + (j - f->ib->vp[i].which * f->ib_pointers);
}

/* Reads this node's part of .first. */
int star_directory_begin(struct cs_file *f);
/* Brings the entry with block j to memory; of a writer, makes it and those before it. The VP's buffer has no block of
 * another entry that is dirty. -EIO: the directory is damaged. */
int star_directory_hold(struct cs_file *f, long i, int64_t j);
/* A block's number has been set. An entry that is full gets its place. */
int star_directory_placed(struct cs_file *f, long i, int64_t j);
/* The stream ends before block j, which has been lost. */
void star_directory_cut(struct cs_file *f, long i, int64_t j);
/* Writes entries; *used: one more than the highest superblock of the directory. Then .first can be written. */
int star_directory_end(struct cs_file *f, int64_t *used);
int star_directory_put_first(struct cs_file *f);

/* ---- star_entries.c ---- */

/* Gives an entry the next place of this node, *number. */
int star_entries_append(struct cs_file *f, const uint32_t *words, uint32_t *number);
/* Writes an entry where it lies. */
int star_entries_put(struct cs_file *f, uint32_t number, const uint32_t *words);
/* An entry as it is now, until the next call. */
int star_entries_get(struct cs_file *f, uint32_t number, const uint32_t **words);
/* Sets `next` of all entries of this session, and what follows from it in each VP [P4 5.2.4]. */
int star_entries_link(struct cs_file *f);
/* Blocks have reached the file: a superblock that has waited for them may go. */
void star_entries_go_on(struct cs_file *f);
/* Writes what is full, and the superblock that is being filled, which goes on being filled. 0 or the first error. */
int star_entries_flush(struct cs_file *f);
/* Ends what is under way. */
void star_entries_settle(struct cs_file *f);
/* One more than the highest superblock in use. */
int64_t star_entries_used(const struct cs_file *f);
