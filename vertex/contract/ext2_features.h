/*
 * The features of ext2 that nsdisk and `ncube disk` write, and the names that mke2fs gives the others: an image that
 * has one of those is refused by its name (or mounted read-only, where the format allows that).
 */
#pragma once

/* Incompatible: filetype. Read-only compatible: sparse_super, large_file, btree_dir. */
#define EXT2_INCOMPATIBLE_WRITTEN  0x2u
#define EXT2_RO_COMPATIBLE_WRITTEN 0x7u
#define EXT2_INCOMPATIBLE_RECOVER  0x4u /* not a feature but a state: the journal has to be replayed */

/* The others: bit, name. */
#define EXT2_INCOMPATIBLE_OTHERS(X) \
    X(0x1, "compression")           \
    X(0x8, "journal_dev")           \
    X(0x10, "meta_bg")              \
    X(0x40, "extent")               \
    X(0x80, "64bit")                \
    X(0x100, "mmp")                 \
    X(0x200, "flex_bg")             \
    X(0x400, "ea_inode")            \
    X(0x1000, "dirdata")            \
    X(0x2000, "metadata_csum_seed") \
    X(0x4000, "large_dir")          \
    X(0x8000, "inline_data")        \
    X(0x10000, "encrypt")           \
    X(0x20000, "casefold")

#define EXT2_RO_COMPATIBLE_OTHERS(X) \
    X(0x8, "huge_file")              \
    X(0x10, "uninit_bg")             \
    X(0x20, "dir_nlink")             \
    X(0x40, "extra_isize")           \
    X(0x80, "snapshot")              \
    X(0x100, "quota")                \
    X(0x200, "bigalloc")             \
    X(0x400, "metadata_csum")        \
    X(0x800, "replica")              \
    X(0x1000, "read-only")           \
    X(0x2000, "project")             \
    X(0x4000, "shared_blocks")       \
    X(0x8000, "verity")              \
    X(0x10000, "orphan_present")

struct ext2_feature {
    unsigned bit;
    const char *name;
};
#define EXT2_FEATURE_ROW(bit, name) {bit, name},

static inline const char *ext2_feature_find(const struct ext2_feature *row, unsigned rows, unsigned bits)
{
    for (unsigned i = 0; i < rows; i++)
        if (bits & row[i].bit)
            return row[i].name;
    return "";
}

/* Return the name of the first of these features that is not written, "" if there is one that has no name here, or 0 if
 * all are written. */
static inline const char *ext2_incompatible_name(unsigned bits)
{
    static const struct ext2_feature row[] = {EXT2_INCOMPATIBLE_OTHERS(EXT2_FEATURE_ROW)};

    bits &= ~(EXT2_INCOMPATIBLE_WRITTEN | EXT2_INCOMPATIBLE_RECOVER);
    return bits ? ext2_feature_find(row, sizeof row / sizeof row[0], bits) : 0;
}

static inline const char *ext2_ro_compatible_name(unsigned bits)
{
    static const struct ext2_feature row[] = {EXT2_RO_COMPATIBLE_OTHERS(EXT2_FEATURE_ROW)};

    bits &= ~EXT2_RO_COMPATIBLE_WRITTEN;
    return bits ? ext2_feature_find(row, sizeof row / sizeof row[0], bits) : 0;
}
