/* Random requests and random damage: see fuzz.h. */
#include "tests/nsdisk/fuzz.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/nsdisk/model.h"
#include "tests/nsdisk/volume.h"
#include "vertex/contract/system.h"

#define SFIDS       16
#define MESSAGE_MAX 20000u

struct fuzz {
    struct volume v;
    uint64_t random;
    uint64_t sfid[SFIDS];
};

static uint32_t below(struct fuzz *f, uint32_t n)
{
    return random_next(&f->random) % n;
}

static uint16_t put_name(struct fuzz *f, uint8_t *at)
{
    static const char *const names[] = {"/a", "/b",          "/a/b",   "/a/a", "/a/../b",
                                        "/",  "/lost+found", "/a/b/c", "//",   "/."};
    const char *name = names[below(f, sizeof names / sizeof names[0])];

    memcpy(at, name, strlen(name));
    return (uint16_t)strlen(name);
}

static uint64_t random_offset(struct fuzz *f)
{
    uint64_t offset = (uint64_t)random_next(&f->random) << 33 ^ (uint64_t)random_next(&f->random) << 2;

    return offset >> below(f, 64);
}

/* A view of two levels, whose numbers are mostly right. Returns its length. */
static uint32_t put_view(struct fuzz *f, uint8_t *at)
{
    int64_t period = 1 + below(f, 5000), length = 1 + below(f, (uint32_t)period),
            inner = 1 + below(f, (uint32_t)length);
    int64_t packed[] = {
        below(f, 3000), period,         2, below(f, (uint32_t)(period - length + 1)), length, length, 1, 1, 0, inner,
        inner,          length / inner, 0};

    if (below(f, 3) == 0)
        packed[below(f, 13)] = (int64_t)random_offset(f);
    if (below(f, 8) == 0)
        return 0;
    memcpy(at, packed, sizeof packed);
    return sizeof packed;
}

/* A request that is right more often than not. Returns its length. */
static size_t make_request(struct fuzz *f, uint32_t type, uint8_t *message)
{
    struct file_request r = {
        .flags = random_next(&f->random) & (N_O_ACCMODE | N_O_APPEND | N_O_CREAT | N_O_TRUNC | N_O_EXCL),
        .mode = below(f, 8),
        .sfid = f->sfid[below(f, SFIDS)],
        .offset = random_offset(f),
        .bytes = below(f, MESSAGE_MAX - 4096),
    };
    size_t n = sizeof r;
    bool two = type == N_FRENAME || type == N_FLINK || type == N_FOPENREAD;
    bool one = type == N_FOPEN || type == N_FSTATNAME || type == N_FUNLINK || type == N_FMKDIR || type == N_FRMDIR ||
               type == N_FACCESS || type == N_FSYMLINK || type == N_FREADLINK || type == N_FREADNAME ||
               type == N_FMAKE || type == N_FSETATTRNAME;
    bool sets = type == N_FSETATTR || type == N_FSETATTRNAME;

    if (one || two)
        n += r.name_bytes = put_name(f, message + n);
    if (two)
        n += r.name2_bytes = put_name(f, message + n);
    if (type == N_FMAKE)
        n += r.bytes = below(f, 3000);
    if (type == N_FSYMLINK || sets)
        r.bytes = sets ? sizeof(struct file_attr) : below(f, 1100);
    for (uint32_t i = 0; i < r.bytes && (type == N_FSYMLINK || sets); i++)
        message[n + i] = sets ? (uint8_t)(i < 8 ? below(f, 32) : 0) : (uint8_t) "/fdd.."[below(f, 6)];
    if (type == N_FWRITE || type == N_FSYMLINK || sets)
        n += r.bytes;
    if (type == N_FADD) {
        const struct file_counter k = {below(f, 3) ? 0 : f->sfid[below(f, SFIDS)], (int64_t)random_offset(f)};

        memcpy(message + n, &k, sizeof k);
        n += r.bytes = sizeof k;
    }
    if (type == N_FVIEW)
        n += r.bytes = put_view(f, message + n);
    if (type == N_FVIEW || ((type == N_FREAD || type == N_FWRITE) && below(f, 2) == 0))
        r.view = (uint16_t)below(f, 5);
    memcpy(message, &r, sizeof r);
    return n;
}

/* Changes a few bytes, or the length. */
static size_t spoil(struct fuzz *f, uint8_t *message, size_t n)
{
    if (below(f, 4) == 0)
        return below(f, (uint32_t)n + 1);
    for (uint32_t i = below(f, 4); i > 0; i--)
        message[below(f, (uint32_t)(n < 60 ? n : 60))] ^= (uint8_t)(1u << below(f, 8));
    return n;
}

static void send(struct fuzz *f)
{
    uint8_t *message = calloc(1, MESSAGE_MAX);
    uint32_t type = below(f, 50) == 0 ? random_next(&f->random) & 0xffff : N_FOPEN + below(f, FILE_OPERATIONS);
    size_t n = make_request(f, type, message);

    if (below(f, 3) == 0)
        n = spoil(f, message, n);
    uint8_t *exact = malloc(n + (n == 0)); /* so that reading beyond it is caught */
    memcpy(exact, message, n);
    size_t reply_max = serve_reply_bytes(type, exact, n);
    uint8_t *reply = malloc(reply_max);
    size_t got = serve_request(f->v.server, below(f, 3), TAG(type, below(f, 2), 0), exact, n, reply, reply_max);
    if (got < sizeof(struct file_reply) || got > reply_max)
        abort();
    if (type == N_FOPEN && got == sizeof(struct file_reply) + sizeof(struct file_opened))
        memcpy(&f->sfid[below(f, SFIDS)], reply + sizeof(struct file_reply), sizeof f->sfid[0]);
    free(reply);
    free(exact);
    free(message);
}

const char *fuzz_messages(uint32_t count, uint32_t seed, uint32_t cache)
{
    static char text[5000];
    static struct fuzz f;
    const char *wrong = NULL;

    memset(&f, 0, sizeof f);
    f.random = seed;
    volume_make(&f.v, 1024 << seed % 3, 3000, "");
    f.v.cache_bytes = 1;
    volume_set_cache(&f.v, &volume_caches[cache]);
    volume_mount(&f.v);
    for (uint32_t i = 0; i < count; i++)
        send(&f);
    if (f.v.log[0] != '\0' || cache_held_blocks(server_volume(f.v.server, 0)->cache) != 0)
        wrong = "corruption, or a block that stays held";
    if (volume_unmount(&f.v) != 0 || volume_fsck(&f.v, "-fn") != 0)
        wrong = "e2fsck does not like the volume";
    if (wrong != NULL) {
        snprintf(text, sizeof text, "seed %u, data cache '%s': %s: %s", seed, volume_caches[cache].name, wrong,
                 f.v.log);
        wrong = text;
    }
    volume_free(&f.v);
    return wrong;
}

/* Damages metadata, which lies at the start of a group, more than data. */
static void damage(struct fuzz *f)
{
    for (uint32_t i = 1 + below(f, 30); i > 0; i--) {
        size_t at = below(f, 3) == 0 ? below(f, (uint32_t)f->v.size) : 2048 + below(f, 300000);

        if (below(f, 20) == 0)
            at = 1024 + below(f, 1024);
        f->v.bytes[at] = (uint8_t)random_next(&f->random);
    }
}

static uint32_t image_get(const struct fuzz *f, size_t at)
{
    uint32_t value = 0;

    if (at <= f->v.size - sizeof value)
        memcpy(&value, f->v.bytes + at, sizeof value);
    return value;
}

/* Fields that mean something, where random bytes seldom fall: of inodes in use, pointers, records, descriptors. */
static void damage_field(struct fuzz *f)
{
    static const uint8_t inode_field[] = {0, 4, 20, 26, 28, 32, 40, 44, 88, 92, 96, 104, 108};
    uint32_t block = f->v.block_bytes;
    size_t group = block == 1024 ? 2048 : block;
    uint32_t values[] = {0, 1, 2, 8, 11, 12, 13, 0x41ed, 0x81a4, 0x7fffffff, UINT32_MAX, below(f, 3000), below(f, 60)};
    size_t table = (size_t)image_get(f, group + 8) * block, at;
    uint32_t value = image_get(f, group + 4 * below(f, 3)); /* one of its bitmaps, or the table */

    switch (below(f, 4)) {
    case 0:
        at = table + below(f, 40) * 256 + inode_field[below(f, sizeof inode_field)];
        break;
    case 1:
        at = group + 2 * below(f, 9);
        break;
    case 2: /* a pointer, a record or data */
        value = image_get(f, table + below(f, 40) * 256 + 40 + 4 * below(f, 15));
        at = (size_t)value * block + 4 * below(f, block / 4);
        break;
    default:
        at = (size_t)value * block + 4 * below(f, 64);
        break;
    }
    value = values[below(f, sizeof values / sizeof values[0])];
    if (at <= f->v.size - sizeof value)
        memcpy(f->v.bytes + at, &value, below(f, 2) ? 4 : 2);
}

void fuzz_image(uint32_t seed)
{
    static struct fuzz f;
    static struct model m;

    memset(&f, 0, sizeof f);
    f.random = seed;
    volume_make(&f.v, 1024 << seed % 3, 3000, "");
    volume_set_cache(&f.v, &volume_caches[seed % VOLUME_CACHES]);
    volume_mount(&f.v);
    model_init(&m, seed);
    for (uint32_t i = 0; i < 100; i++)
        model_step(&m, &f.v);
    volume_unmount(&f.v);
    if (below(&f, 2) == 0)
        damage(&f);
    else
        for (uint32_t i = 1 + below(&f, 6); i > 0; i--)
            damage_field(&f);
    if (volume_try_mount(&f.v) == 0) {
        for (uint32_t i = 0; i < 200; i++) {
            uint32_t reads = f.v.reads;

            model_step(&m, &f.v);
            if (f.v.reads - reads > 4 * (f.v.size / f.v.block_bytes)) {
                fprintf(stderr, "fuzz: image %u, step %u: %u reads\n", seed, i, f.v.reads - reads);
                abort();
            }
        }
        if (below(&f, 2) == 0)
            volume_unmount(&f.v);
    }
    volume_free(&f.v);
    model_free(&m);
}

/* ---- Space that is called free ---- */

#define KEPT       20
#define KEPT_BYTES 9000u

static void kept_name(uint32_t i, char name[16])
{
    snprintf(name, 16, "/kept/%u", i);
}

/* Bits of a bitmap that are set become clear: blocks without their count, inodes with or without it. */
static void call_free(struct fuzz *f, bool inodes)
{
    uint8_t *descriptor = f->v.bytes + (f->v.block_bytes == 1024 ? 2048 : f->v.block_bytes);
    uint32_t block, free_super;
    uint16_t free_group;
    uint32_t first = inodes ? 11 : 0, most = inodes ? 100 : 2000, cleared = 0;

    memcpy(&block, descriptor + (inodes ? 4 : 0), 4);
    uint8_t *bitmap = f->v.bytes + (size_t)block * f->v.block_bytes;
    for (uint32_t i = first; i < most; i++)
        if ((bitmap[i / 8] >> i % 8 & 1) && below(f, 3) == 0) {
            bitmap[i / 8] &= (uint8_t) ~(1u << i % 8);
            cleared++;
        }
    if (!inodes || below(f, 2) == 0)
        return;
    memcpy(&free_group, descriptor + 14, 2);
    memcpy(&free_super, f->v.bytes + 1024 + 16, 4);
    free_group = (uint16_t)(free_group + cleared);
    free_super += cleared;
    memcpy(descriptor + 14, &free_group, 2);
    memcpy(f->v.bytes + 1024 + 16, &free_super, 4);
}

const char *fuzz_allocation(uint32_t seed)
{
    static char text[5000], name[16];
    static uint8_t bytes[KEPT_BYTES];
    static struct fuzz f;
    static struct model m;
    const char *wrong = NULL;

    memset(&f, 0, sizeof f);
    f.random = seed;
    volume_make(&f.v, 1024 << seed % 3, 3000, "");
    volume_set_cache(&f.v, &volume_caches[seed % VOLUME_CACHES]);
    volume_mount(&f.v);
    v_mkdir(&f.v, "/kept");
    for (uint32_t i = 0; i < KEPT; i++) {
        fill_pattern(bytes, sizeof bytes, i);
        kept_name(i, name);
        v_put(&f.v, name, bytes, sizeof bytes);
    }
    volume_unmount(&f.v);
    call_free(&f, seed / 3 % 2);
    volume_mount(&f.v);
    model_init(&m, seed);
    for (uint32_t i = 0; i < 150; i++)
        model_step(&m, &f.v);
    for (uint32_t i = 0; i < KEPT && wrong == NULL; i++) {
        fill_pattern(bytes, sizeof bytes, i);
        kept_name(i, name);
        if (!v_has(&f.v, name, bytes, sizeof bytes))
            wrong = "a file is another";
    }
    bool errors = server_volume(f.v.server, 0)->errors;
    volume_unmount(&f.v);
    if (wrong == NULL && errors && volume_fsck(&f.v, "-p") > 1)
        wrong = "e2fsck -p does not repair the volume by itself";
    if (wrong == NULL && volume_fsck(&f.v, "-fn") != 0)
        wrong = "e2fsck does not like the volume";
    if (wrong != NULL) {
        snprintf(text, sizeof text, "allocation, seed %u: %s: %s", seed, wrong, f.v.log);
        wrong = text;
    }
    volume_free(&f.v);
    model_free(&m);
    return wrong;
}
