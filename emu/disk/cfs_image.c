/* The CFS's files across images (cfs_image.h). */
#include "emu/disk/cfs_image.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "emu/base/memory.h"
#include "emu/disk/family_text.h"
#include "vertex/contract/cfs.h"

#define TEXT_BYTES 1024
#define PATH_BYTES 32 /* "/.cfs/4294967295.w" */

static const struct family_text kind = {"cfs", "the Concurrent File System", "cfs 1\n"};

struct part { /* what a disk has of the file */
    struct volume_file *data;
    uint32_t blocks;
    uint32_t *block;  /* [blocks]: where each is on the disk */
    uint32_t next;    /* place of the block behind the last one that the pointers have led to */
    uint8_t *written; /* [blocks / 8 + 1] */
};

struct cfs_image_file {
    struct pio_volumes *volumes;
    char text[TEXT_BYTES + 1];
    uint32_t number, age, home;
    uint32_t disks, index[CFS_DISKS_MAX]; /* which volume each is */
    struct part part[CFS_DISKS_MAX];
    uint64_t size_bytes;
    uint32_t blocks, good;     /* pointers, and those before the first that leads elsewhere */
    uint32_t *pointer, *place; /* [blocks]: and each one's place in its part */
};

/* ---- The text ---- */

static uint32_t number_of(const char *line, const char *word)
{
    const size_t n = strlen(word);

    return strncmp(line, word, n) == 0 && line[n] == ' ' ? (uint32_t)strtoul(line + n + 1, NULL, 10) : 0;
}

static int parse(struct cfs_image_file *f, const char *path, char *error)
{
    char *save = NULL, *names = NULL, *line = strtok_r(f->text, "\n", &save);
    bool ends = false;
    int result = 0;

    for (; line; line = strtok_r(NULL, "\n", &save)) {
        f->number += number_of(line, "file");
        f->age += number_of(line, "age");
        f->home += number_of(line, "home");
        if (strncmp(line, "disks ", 6) == 0)
            names = line + 6;
        ends = strcmp(line, "end") == 0;
    }
    for (char *name = names ? strtok_r(names, " ", &save) : NULL; name && result == 0 && f->disks < CFS_DISKS_MAX;
         name = strtok_r(NULL, " ", &save))
        result = family_text_volume(f->volumes, name, &f->index[f->disks++], error);
    if (result == 0 && (!ends || f->number == 0 || f->home >= f->disks))
        result = error_line(error, "cfs:%s: its text is damaged", path);
    return result;
}

/* ---- Private files ---- */

/* Opens one of the file's files on a disk. *file stays NULL where the disk has none. */
static int open_private(const struct cfs_image_file *f, uint32_t disk, const char *suffix, struct volume_file **file,
                        uint64_t *bytes, char *error)
{
    char path[PATH_BYTES];
    struct volume *v;

    *bytes = 0;
    snprintf(path, sizeof path, "/.cfs/%u%s", f->number, suffix);
    if (pio_volume(f->volumes, f->index[disk], &v, error) < 0)
        return -1;
    return volume_has(v, path) ? volume_file_open(v, path, file, bytes, error) : 0;
}

static uint32_t get32(const uint8_t *bytes)
{
    return bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static bool is_head_of(const struct cfs_image_file *f, const uint8_t head[CFS_HEAD_BYTES], enum cfs_head_kind which)
{
    return get32(head) == CFS_HEAD_MAGIC && get32(head + 4) == (uint32_t)which && get32(head + 8) == f->number &&
           get32(head + 12) == f->age;
}

static int read_pointers(struct cfs_image_file *f, struct volume_file *file, char *error)
{
    const size_t n = 4 * (size_t)f->blocks;
    uint8_t *bytes = memory_new(n + 1, 1);
    int result = volume_file_read(file, CFS_BLOCK_BYTES, bytes, n, error);

    f->pointer = memory_new(f->blocks + 1, sizeof *f->pointer);
    f->place = memory_new(f->blocks + 1, sizeof *f->place);
    for (uint32_t i = 0; i < f->blocks; i++)
        f->pointer[i] = get32(bytes + 4 * i);
    free(bytes);
    return result;
}

/* A file whose name alone is there is empty. */
static int read_header(struct cfs_image_file *f, const char *path, char *error)
{
    struct volume_file *file = NULL;
    uint8_t head[CFS_HEAD_BYTES];
    uint64_t bytes;
    int result = open_private(f, f->home, ".h", &file, &bytes, error);

    if (result == 0 && bytes > 0)
        result = volume_file_read(file, 0, head, sizeof head, error);
    if (result == 0 && bytes > 0) {
        f->size_bytes = get32(head + 16) | (uint64_t)get32(head + 20) << 32;
        f->blocks = get32(head + 24);
        if (!is_head_of(f, head, CFS_HEAD_HEADER) || f->blocks > CFS_PAGES_MAX * CFS_PAGE_POINTERS)
            result = error_line(error, "cfs:%s: its header is damaged, or another file's", path);
    }
    if (result == 0 && bytes > 0)
        result = read_pointers(f, file, error);
    return volume_file_close(file, result, error);
}

static int read_written(struct cfs_image_file *f, uint32_t disk, char *error)
{
    struct volume_file *file = NULL;
    struct part *p = &f->part[disk];
    uint64_t bytes;
    int result = open_private(f, disk, ".w", &file, &bytes, error);

    p->written = memory_new(p->blocks / 8 + 1, 1);
    if (result == 0 && file)
        result = volume_file_read(file, CFS_HEAD_BYTES, p->written, p->blocks / 8 + 1, error);
    return volume_file_close(file, result, error);
}

static int read_part(struct cfs_image_file *f, uint32_t disk, char *error)
{
    struct part *p = &f->part[disk];
    uint64_t bytes, block;
    int result = open_private(f, disk, "", &p->data, &bytes, error);

    p->blocks = (uint32_t)((bytes + CFS_BLOCK_BYTES - 1) / CFS_BLOCK_BYTES);
    p->block = memory_new(p->blocks + 1, sizeof *p->block);
    for (uint32_t i = 0; i < p->blocks && result == 0; i++) {
        result = volume_file_block(p->data, i, &block, error);
        p->block[i] = (uint32_t)block;
    }
    return result == 0 ? read_written(f, disk, error) : result;
}

/* ---- Pointers ---- */

/* Finds the block in its part, behind that of the pointer before on this disk. */
static bool follow(struct cfs_image_file *f, uint32_t i)
{
    const uint32_t disk = CFS_POINTER_DISK(f->pointer[i]), block = CFS_POINTER_BLOCK(f->pointer[i]);

    if (disk >= f->disks || block == 0)
        return false;
    struct part *p = &f->part[disk];
    while (p->next < p->blocks && p->block[p->next] != block)
        p->next++;
    f->place[i] = p->next;
    return p->next++ < p->blocks;
}

static void compare(struct cfs_image_file *f)
{
    while (f->good < f->blocks && follow(f, f->good))
        f->good++;
    const uint64_t reach = (uint64_t)f->good * CFS_BLOCK_BYTES;
    f->size_bytes = f->size_bytes < reach ? f->size_bytes : reach;
}

int cfs_image_open(struct pio_volumes *v, const char *path, struct cfs_image_file **out, uint64_t *bytes, char *error)
{
    struct cfs_image_file *f = memory_new(1, sizeof *f);
    struct volume_stat st;

    f->volumes = v;
    int result = family_text_find(v, &kind, path, f->text, TEXT_BYTES, &st, error);
    if (result == 0)
        result = parse(f, path, error);
    if (result == 0)
        result = read_header(f, path, error);
    for (uint32_t disk = 0; disk < f->disks && result == 0; disk++)
        result = read_part(f, disk, error);
    if (result < 0)
        return cfs_image_close(f, result, error);
    compare(f);
    *bytes = f->size_bytes;
    *out = f;
    return 0;
}

int cfs_image_close(struct cfs_image_file *f, int result, char *error)
{
    for (uint32_t i = 0; f && i < f->disks; i++) {
        result = volume_file_close(f->part[i].data, result, error);
        free(f->part[i].block);
        free(f->part[i].written);
    }
    if (f) {
        free(f->pointer);
        free(f->place);
    }
    free(f);
    return result;
}

/* ---- Reading ---- */

int cfs_image_read(struct cfs_image_file *f, uint64_t offset, void *buf, size_t n, char *error)
{
    int result = 0;

    memset(buf, 0, n);
    for (size_t done = 0, piece; done < n && result == 0; done += piece) {
        const uint64_t at = offset + done;
        const uint32_t within = (uint32_t)(at % CFS_BLOCK_BYTES), i = (uint32_t)(at / CFS_BLOCK_BYTES);

        piece = CFS_BLOCK_BYTES - within < n - done ? CFS_BLOCK_BYTES - within : n - done;
        if (i >= f->good)
            continue;
        const struct part *p = &f->part[CFS_POINTER_DISK(f->pointer[i])];
        const uint32_t place = f->place[i];
        if (p->written[place / 8] >> (place % 8) & 1)
            result =
                volume_file_read(p->data, (uint64_t)place * CFS_BLOCK_BYTES + within, (char *)buf + done, piece, error);
    }
    return result;
}

/* ---- Checking ---- */

struct check {
    struct pio_volumes *volumes;
    struct volume *names;
    const char *folder;
    struct cfs_image_counts *counts;
    char *error;
    int result;
};

static void count(const struct cfs_image_file *f, struct cfs_image_counts *counts)
{
    counts->files++;
    counts->blocks += f->blocks;
    for (uint32_t disk = 0; disk < f->disks; disk++)
        for (uint32_t i = 0; i < f->part[disk].blocks; i++)
            counts->pieces += i == 0 || f->part[disk].block[i] != f->part[disk].block[i - 1] + 1;
}

static int check_file(const struct check *c, const char *path)
{
    struct cfs_image_file *f = NULL;
    uint64_t bytes;
    int result = cfs_image_open(c->volumes, path, &f, &bytes, c->error);

    if (result < 0)
        return result;
    count(f, c->counts);
    if (f->good < f->blocks)
        result = error_line(c->error,
                            "cfs:%s: block %u of %u is not where its pointer says; the file ends there when a program "
                            "opens it",
                            path, f->good, f->blocks);
    return cfs_image_close(f, result, c->error);
}

static void check_name(void *ctx, const char *name, const struct volume_stat *st)
{
    struct check *c = ctx;
    char *path = memory_print("%s/%s", c->folder, name);

    if (c->result == 0 && S_ISDIR(st->mode) && strcmp(path, "/.cfs") != 0) {
        struct check below = *c;

        below.folder = path;
        c->result = volume_list(c->names, path, check_name, &below, c->error);
        c->result = c->result == 0 ? below.result : c->result;
    } else if (c->result == 0 && S_ISREG(st->mode) && family_text_is(c->names, &kind, path)) {
        c->result = check_file(c, path);
    }
    free(path);
}

int cfs_image_check(struct pio_volumes *v, uint32_t disk, struct cfs_image_counts *counts, char *error)
{
    struct check c = {.volumes = v, .folder = "", .counts = counts, .error = error};

    *counts = (struct cfs_image_counts){0};
    if (pio_volume(v, disk, &c.names, error) < 0)
        return -1;
    int result = volume_list(c.names, "/", check_name, &c, error);
    return result < 0 ? result : c.result;
}
