/* A model of a small file tree: see model.h. */
#include "tests/nsdisk/model.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void model_init(struct model *m, uint32_t seed)
{
    memset(m, 0, sizeof *m);
    m->random = seed;
    for (int i = 0; i < MODEL_FILES; i++)
        m->files[i].bytes = calloc(1, MODEL_FILE_BYTES);
}

void model_free(struct model *m)
{
    for (int i = 0; i < MODEL_FILES; i++)
        free(m->files[i].bytes);
}

void model_copy(struct model *to, const struct model *from)
{
    struct model_file files[MODEL_FILES];

    memcpy(files, to->files, sizeof files);
    *to = *from;
    for (int i = 0; i < MODEL_FILES; i++) {
        to->files[i].bytes = files[i].bytes;
        memcpy(to->files[i].bytes, from->files[i].bytes, from->files[i].size);
    }
}

void model_name(int slot, char name[8])
{
    if (slot < MODEL_NAMES)
        snprintf(name, 8, "/%c", 'a' + slot);
    else
        snprintf(name, 8, "/%c/%c", 'a' + (slot - MODEL_NAMES) / MODEL_NAMES, 'a' + slot % MODEL_NAMES);
}

static uint32_t pick(struct model *m, uint32_t below)
{
    return random_next(&m->random) % below;
}

static int parent_of(int slot)
{
    return slot < MODEL_NAMES ? -1 : (slot - MODEL_NAMES) / MODEL_NAMES;
}

/* 0, or why a name cannot be reached. */
static int32_t reach(const struct model *m, int slot)
{
    int parent = parent_of(slot);

    if (parent < 0 || m->kind[parent] == MODEL_DIR)
        return 0;
    return m->kind[parent] == MODEL_FILE ? -N_ENOTDIR : -N_ENOENT;
}

static bool has_children(const struct model *m, int slot)
{
    for (int i = 0; slot < MODEL_NAMES && i < MODEL_NAMES; i++)
        if (m->kind[MODEL_NAMES + slot * MODEL_NAMES + i] != MODEL_NONE)
            return true;
    return false;
}

static int new_file(struct model *m)
{
    int i = 0;

    while (m->files[i].links != 0)
        i++;
    m->files[i].links = 1;
    m->files[i].size = 0;
    return i;
}

static int32_t expect_open(struct model *m, int slot)
{
    int32_t error = reach(m, slot);

    if (error == 0 && m->kind[slot] == MODEL_DIR)
        error = -N_EISDIR;
    if (error == 0 && m->kind[slot] == MODEL_NONE) {
        m->kind[slot] = MODEL_FILE;
        m->file[slot] = new_file(m);
    }
    return error;
}

static void model_resize(struct model_file *f, uint32_t size)
{
    if (size > f->size)
        memset(f->bytes + f->size, 0, size - f->size);
    f->size = size;
}

/* Opens (creating), then writes or resizes, and closes. */
static void step_file(struct model *m, struct volume *v, int slot, const char *name)
{
    uint64_t sfid;
    uint32_t offset = pick(m, MODEL_FILE_BYTES / 2), n = pick(m, pick(m, 4) == 0 ? MODEL_FILE_BYTES / 2 : 9000);

    m->last = "open";
    m->expected = expect_open(m, slot);
    m->got = v_open(v, name, N_O_CREAT | N_O_RDWR, &sfid);
    if (m->got < 0 || m->expected < 0)
        return;
    struct model_file *f = &m->files[m->file[slot]];
    if (pick(m, 3) == 0) {
        m->last = "truncate";
        m->got = v_truncate(v, sfid, offset);
        model_resize(f, offset);
    } else {
        if (pick(m, 2) == 0)
            offset = f->size < MODEL_FILE_BYTES - n ? f->size : 0;
        if (offset + n > f->size)
            model_resize(f, offset + n);
        fill_pattern(f->bytes + offset, n, pick(m, 1000));
        m->last = "write";
        m->expected = (int32_t)n;
        m->got = v_write(v, sfid, offset, f->bytes + offset, n);
    }
    v_close(v, sfid);
}

static void step_mkdir(struct model *m, struct volume *v, int slot, const char *name)
{
    m->last = "mkdir";
    m->expected = reach(m, slot);
    if (m->expected == 0 && m->kind[slot] != MODEL_NONE)
        m->expected = -N_EEXIST;
    if (m->expected == 0)
        m->kind[slot] = MODEL_DIR;
    m->got = v_mkdir(v, name);
}

static void drop(struct model *m, int slot)
{
    if (m->kind[slot] == MODEL_FILE)
        m->files[m->file[slot]].links--;
    m->kind[slot] = MODEL_NONE;
}

static void step_unlink(struct model *m, struct volume *v, int slot, const char *name)
{
    m->last = "unlink";
    m->expected = reach(m, slot);
    if (m->expected == 0)
        m->expected = m->kind[slot] == MODEL_NONE ? -N_ENOENT : m->kind[slot] == MODEL_DIR ? -N_EISDIR : 0;
    if (m->expected == 0)
        drop(m, slot);
    m->got = v_unlink(v, name);
}

static void step_rmdir(struct model *m, struct volume *v, int slot, const char *name)
{
    m->last = "rmdir";
    m->expected = reach(m, slot);
    if (m->expected == 0)
        m->expected = m->kind[slot] == MODEL_NONE   ? -N_ENOENT
                      : m->kind[slot] == MODEL_FILE ? -N_ENOTDIR
                      : has_children(m, slot)       ? -N_ENOTEMPTY
                                                    : 0;
    if (m->expected == 0)
        drop(m, slot);
    m->got = v_rmdir(v, name);
}

static void step_link(struct model *m, struct volume *v, int slot, const char *name, int to, const char *to_name)
{
    m->last = "link";
    m->expected = reach(m, slot);
    if (m->expected == 0 && m->kind[slot] == MODEL_NONE)
        m->expected = -N_ENOENT;
    if (m->expected == 0)
        m->expected = reach(m, to);
    if (m->expected == 0 && m->kind[to] != MODEL_NONE)
        m->expected = -N_EEXIST;
    if (m->expected == 0 && m->kind[slot] == MODEL_DIR)
        m->expected = -N_EPERM;
    if (m->expected == 0) {
        m->kind[to] = MODEL_FILE;
        m->file[to] = m->file[slot];
        m->files[m->file[to]].links++;
    }
    m->got = v_link(v, name, to_name);
}

static int32_t expect_rename(const struct model *m, int from, int to)
{
    int32_t error = reach(m, from);

    if (error == 0 && m->kind[from] == MODEL_NONE)
        error = -N_ENOENT;
    if (error == 0)
        error = reach(m, to);
    if (error < 0 || from == to)
        return error;
    if (m->kind[to] != MODEL_NONE && m->kind[from] != m->kind[to])
        return m->kind[from] == MODEL_DIR ? -N_ENOTDIR : -N_EISDIR;
    if (m->kind[from] == MODEL_DIR && m->kind[to] == MODEL_DIR && has_children(m, to))
        return -N_ENOTEMPTY;
    return m->kind[from] == MODEL_DIR && parent_of(to) == from ? -N_EINVAL : 0;
}

static void step_rename(struct model *m, struct volume *v, int from, const char *name, int to, const char *to_name)
{
    m->last = "rename";
    if (m->kind[from] == MODEL_DIR && to >= MODEL_NAMES && from < MODEL_NAMES)
        return; /* the model has two levels only */
    if (m->kind[from] == MODEL_DIR && m->directories_stay)
        return;
    m->expected = expect_rename(m, from, to);
    m->got = v_rename(v, name, to_name);
    bool same_file = m->kind[from] == MODEL_FILE && m->kind[to] == MODEL_FILE && m->file[from] == m->file[to];
    if (m->expected < 0 || from == to || same_file)
        return;
    drop(m, to);
    m->kind[to] = m->kind[from];
    m->file[to] = m->file[from];
    m->kind[from] = MODEL_NONE;
    for (int i = 0; m->kind[to] == MODEL_DIR && from < MODEL_NAMES && i < MODEL_NAMES; i++) {
        int old = MODEL_NAMES + from * MODEL_NAMES + i, new = MODEL_NAMES + to *MODEL_NAMES + i;

        m->kind[new] = m->kind[old];
        m->file[new] = m->file[old];
        m->kind[old] = MODEL_NONE;
    }
}

bool model_step(struct model *m, struct volume *v)
{
    char name[8], to_name[8];
    int slot = (int)pick(m, MODEL_SLOTS), to = (int)pick(m, MODEL_SLOTS);

    if (pick(m, 2) == 0)
        slot = (int)pick(m, MODEL_NAMES);
    model_name(slot, name);
    model_name(to, to_name);
    m->got = m->expected = 0;
    switch (pick(m, 12)) {
    case 0:
    case 1:
        step_mkdir(m, v, slot, name);
        break;
    case 2:
        step_rmdir(m, v, slot, name);
        break;
    case 3:
        step_unlink(m, v, slot, name);
        break;
    case 4:
        step_link(m, v, slot, name, to, to_name);
        break;
    case 5:
    case 6:
        step_rename(m, v, slot, name, to, to_name);
        break;
    default:
        step_file(m, v, slot, name);
    }
    return m->got == m->expected;
}

static const char *compare_slot(const struct model *m, struct volume *v, int slot, const char *name)
{
    struct file_stat st;
    int32_t status = v_stat(v, name, &st);

    if (m->kind[slot] == MODEL_NONE)
        return status == -N_ENOENT || status == -N_ENOTDIR ? NULL : "is there";
    if (status < 0)
        return "is missing";
    if (m->kind[slot] == MODEL_DIR)
        return (st.mode & 0170000) == 0040000 ? NULL : "is no directory";
    const struct model_file *f = &m->files[m->file[slot]];
    if (st.size_bytes != f->size)
        return "has another size";
    if (st.nlink != f->links)
        return "has another number of links";
    return v_has(v, name, f->bytes, f->size) ? NULL : "has other contents";
}

const char *model_compare(const struct model *m, struct volume *v)
{
    static char text[64];

    for (int slot = 0; slot < MODEL_SLOTS; slot++) {
        char name[8];

        model_name(slot, name);
        const char *wrong = compare_slot(m, v, slot, name);
        if (wrong != NULL) {
            snprintf(text, sizeof text, "%s %s", name, wrong);
            return text;
        }
    }
    return NULL;
}
