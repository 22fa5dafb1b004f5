/*
 * Blocks by number and by age: what the metadata cache and the data cache share.
 *
 *   hash[number] -> entry -> entry -> NULL        ring: age.older = newest ... oldest = age.newer
 *
 * An entry is a member of the caller's block, and is in the ring all its life; in the hash only while its number means
 * something. In a header, so that finding a block costs no call.
 */
#pragma once

#include <stdint.h>
#include <stdlib.h>

struct index_entry {
    uint32_t number;
    struct index_entry *hash_next;
    struct index_entry *newer, *older;
};

struct block_index {
    struct index_entry age;
    struct index_entry **hash; /* [mask + 1] */
    uint32_t mask;
};

/* 0, or -1: no memory for as many buckets as `count` blocks need. */
static inline int index_init(struct block_index *x, uint32_t count)
{
    uint32_t size = 64;

    while (size < count)
        size *= 2;
    x->mask = size - 1;
    x->age.newer = x->age.older = &x->age;
    x->hash = calloc(size, sizeof(struct index_entry *));
    return x->hash ? 0 : -1;
}

/* Makes an entry that is not in the ring the newest. */
static inline void index_age_insert(struct block_index *x, struct index_entry *e)
{
    e->newer = &x->age;
    e->older = x->age.older;
    e->older->newer = e;
    x->age.older = e;
}

/* Makes an entry of the ring the newest. */
static inline void index_touch(struct block_index *x, struct index_entry *e)
{
    if (x->age.older == e)
        return;
    e->newer->older = e->older;
    e->older->newer = e->newer;
    index_age_insert(x, e);
}

static inline struct index_entry **index_bucket(const struct block_index *x, uint32_t number)
{
    return &x->hash[(number ^ number >> 11) & x->mask];
}

static inline struct index_entry *index_find(const struct block_index *x, uint32_t number)
{
    struct index_entry *e = *index_bucket(x, number);

    while (e && e->number != number)
        e = e->hash_next;
    return e;
}

static inline void index_insert(struct block_index *x, struct index_entry *e)
{
    struct index_entry **bucket = index_bucket(x, e->number);

    e->hash_next = *bucket;
    *bucket = e;
}

static inline void index_remove(struct block_index *x, struct index_entry *e)
{
    struct index_entry **at = index_bucket(x, e->number);

    while (*at != e)
        at = &(*at)->hash_next;
    *at = e->hash_next;
}
