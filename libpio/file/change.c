/*
 * Changes of names over several volumes (change.h). A record is written before the first volume is changed and goes
 * when the last has been; its fields end in NUL:
 *
 *   kind mode from to has volume volume ...
 *
 * All volumes but the first are changed, then the first: that decides. Whoever finds a record looks whether the first
 * volume has been changed, and then completes the others, or undoes them. A part that a moved file replaces is set
 * aside until then. Each step may be repeated. After a crash a volume may have both names of a file that it was moving
 * (docs/nsdisk.md), so both are looked at.
 */
#include "libpio/file/change.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "libpio/file/file.h"
#include "libpio/file/store.h"
#include "libpio/file/transport.h"
#include "vertex/shared/text.h"

#define RECORD_MAX_BYTES PIO_DESCRIPTION_MAX_BYTES
#define NO_NAME          "/.pio-none" /* nobody makes it */
#define ASIDE_BYTES      (sizeof "/.pio-old-" + PIO_VOLUME_BYTES)

enum { HAS_PART = 1, HAS_DESCRIPTION = 2 };

static const char *const suffixes[] = {"", PIO_DESCRIPTION_SUFFIX};
static const char *const asides[] = {"/.pio-old-", "/.pio-was-"};

/* ---- One volume ---- */

static int ask(enum pio_question_kind kind, const char *volume, const char *name, const char *suffix)
{
    struct pio_question q = {.kind = kind, .volume = volume, .name = name, .suffix = suffix};

    pio_transport->ask(&q, 1);
    return q.result < 0 ? q.result : 0;
}

/* 1, 0, or why that cannot be told. */
static int is_there(const char *volume, const char *name, const char *suffix)
{
    int error = ask(PIO_ASK_STAT, volume, name, suffix);

    return error == -ENOENT ? 0 : error ? error : 1;
}

static int remove_file(const char *volume, const char *name, const char *suffix)
{
    int error = ask(PIO_ASK_UNLINK, volume, name, suffix);

    return error == -ENOENT ? 0 : error;
}

static int on_folder(int (*call)(const char *path, mode_t mode), const char *volume, const char *name, mode_t mode)
{
    char path[PIO_PATH_MAX_BYTES];

    pio_path(path, volume, name, "");
    int error = call(path, mode);
    return error ? pio_fail_at(volume, name, "", error) : 0;
}

static int move(const char *volume, const char *from, const char *to, const char *suffix)
{
    char old[PIO_PATH_MAX_BYTES], new[PIO_PATH_MAX_BYTES];

    pio_path(old, volume, from, suffix);
    pio_path(new, volume, to, suffix);
    int error = pio_transport->rename(old, new);
    return error ? pio_fail_at(volume, to, suffix, error) : 0;
}

/* The name of a part or of a description that is set aside, which no other change uses. */
static const char *aside_name(const struct pio_change *c, int i, char name[ASIDE_BYTES])
{
    strcpy(stpcpy(name, asides[i]), c->volume[0]);
    return name;
}

static int move_aside(const struct pio_change *c, int k, int i, bool back)
{
    char name[ASIDE_BYTES], part[PIO_PATH_MAX_BYTES], aside[PIO_PATH_MAX_BYTES];

    pio_path(part, c->volume[k], c->to, suffixes[i]);
    pio_path(aside, c->volume[k], aside_name(c, i, name), "");
    return back ? pio_transport->rename(aside, part) : pio_transport->rename(part, aside);
}

static bool has(const struct pio_change *c, int k, int what)
{
    return (c->has[k] - '0') & what;
}

/* ---- Steps: to do on volume k, to undo, to complete ---- */

static int do_make(const struct pio_change *c, int k)
{
    return has(c, k, HAS_PART) ? 0 : on_folder(pio_transport->mkdir, c->volume[k], c->from, c->mode);
}

static int undo_make(const struct pio_change *c, int k)
{
    int error = has(c, k, HAS_PART) ? 0 : on_folder(pio_transport->rmdir, c->volume[k], c->from, 0);

    return error == -ENOENT || error == -ENOTDIR ? 0 : error;
}

static int do_remove(const struct pio_change *c, int k)
{
    int error = on_folder(pio_transport->rmdir, c->volume[k], c->from, 0);

    return k > 0 && error == -ENOENT ? 0 : error;
}

static int undo_remove(const struct pio_change *c, int k)
{
    int error = has(c, k, HAS_PART) ? on_folder(pio_transport->mkdir, c->volume[k], c->from, c->mode) : 0;

    return error == -EEXIST ? 0 : error;
}

static int do_folder(const struct pio_change *c, int k)
{
    return move(c->volume[k], c->from, c->to, "");
}

static int undo_folder(const struct pio_change *c, int k)
{
    int there = is_there(c->volume[k], c->from, "");
    int error = there == 0 ? move(c->volume[k], c->to, c->from, "") : there < 0 ? there : 0;

    if (!error && has(c, k, HAS_PART))
        error = on_folder(pio_transport->mkdir, c->volume[k], c->to, c->mode);
    return error == -EEXIST ? 0 : error;
}

static int complete_folder(const struct pio_change *c, int k)
{
    int there = is_there(c->volume[k], c->from, "");

    return there > 0 ? move(c->volume[k], c->from, c->to, "") : there;
}

/* The first volume's description stays until its subfile has gone, which decides, and is left to complete_file: who
 * looks for the file finds it, and that it is not whole. */
static int do_file(const struct pio_change *c, int k)
{
    int error = 0;

    for (int i = 0; i < 2 && !error; i++)
        if (has(c, k, i ? HAS_DESCRIPTION : HAS_PART))
            error = move_aside(c, k, i, false);
    if (!error && k > 0)
        error = move(c->volume[k], c->from, c->to, suffixes[1]);
    return error ? error : move(c->volume[k], c->from, c->to, suffixes[0]);
}

static int undo_file(const struct pio_change *c, int k)
{
    const char *volume = c->volume[k];
    char name[ASIDE_BYTES];
    int error = 0;

    for (int i = 0; i < 2 && !error; i++) {
        int is_old = is_there(volume, c->from, suffixes[i]), is_aside = is_there(volume, aside_name(c, i, name), "");

        if (is_old < 0 || is_aside < 0)
            return is_old < 0 ? is_old : is_aside;
        if (!is_old)
            error = move(volume, c->to, c->from, suffixes[i]);
        else if (is_aside || !has(c, k, i ? HAS_DESCRIPTION : HAS_PART))
            error = remove_file(volume, c->to, suffixes[i]);
        if (!error && is_aside)
            error = move_aside(c, k, i, true);
    }
    return error;
}

static bool is_over(const struct pio_change *c, const char *volume)
{
    for (int k = 0; k < c->disks; k++)
        if (strcmp(c->volume[k], volume) == 0)
            return true;
    return false;
}

/* The file that was replaced may have had parts on other volumes, too. */
static int remove_elsewhere(const struct pio_change *c, const char *volume, const char *aside)
{
    char *text = malloc(sizeof(struct pio_description) + PIO_DESCRIPTION_MAX_BYTES);
    struct pio_question q = {
        .kind = PIO_ASK_READ, .volume = volume, .name = aside, .suffix = "", .bytes = PIO_DESCRIPTION_MAX_BYTES};
    int index, error = 0;

    if (!text)
        return -ENOMEM;
    struct pio_description *d = (struct pio_description *)text;
    q.buffer = text + sizeof *d;
    pio_transport->ask(&q, 1);
    if (q.result > 0 && pio_description_parse(q.buffer, q.result, d, &index) == 0)
        for (int k = 0; k < d->map.disks && !error; k++)
            for (int i = 0; i < 2 && !error && !is_over(c, d->volume[k]); i++)
                error = remove_file(d->volume[k], c->to, suffixes[i]);
    free(text);
    return error;
}

static int complete_file(const struct pio_change *c, int k)
{
    const char *volume = c->volume[k];
    char name[ASIDE_BYTES];
    int error = 0;

    for (int i = 0; i < 2 && !error; i++) {
        int is_new = is_there(volume, c->to, suffixes[i]);

        error = is_new < 0 ? is_new
                : is_new   ? remove_file(volume, c->from, suffixes[i])
                           : move(volume, c->from, c->to, suffixes[i]);
    }
    if (!error && has(c, k, HAS_DESCRIPTION))
        error = remove_elsewhere(c, volume, aside_name(c, 1, name));
    return error;
}

static int nothing(const struct pio_change *c, int k)
{
    (void)c, (void)k;
    return 0;
}

static const struct steps {
    int (*run)(const struct pio_change *c, int k);
    int (*undo)(const struct pio_change *c, int k);
    int (*complete)(const struct pio_change *c, int k);
} steps[] = {
    [PIO_CHANGE_MAKE] = {do_make, undo_make, nothing},
    [PIO_CHANGE_REMOVE] = {do_remove, undo_remove, do_remove},
    [PIO_CHANGE_FOLDER] = {do_folder, undo_folder, complete_folder},
    [PIO_CHANGE_FILE] = {do_file, undo_file, complete_file},
};

/* ---- The record ---- */

/* Returns its bytes, or -ENAMETOOLONG. */
static int format_record(const struct pio_change *c, char *text)
{
    size_t n = strlen(c->from) + strlen(c->to) + c->disks + 32;
    char *at = text;

    for (int k = 0; k < c->disks; k++)
        n += strlen(c->volume[k]) + 1;
    if (n > RECORD_MAX_BYTES)
        return -ENAMETOOLONG;
    at += text_print(at, 24, "%d", c->kind) + 1;
    at += text_print(at, 24, "%d", (int)c->mode) + 1;
    at = stpcpy(at, c->from) + 1;
    at = stpcpy(at, c->to) + 1;
    at = stpcpy(at, c->has) + 1;
    for (int k = 0; k < c->disks; k++)
        at = stpcpy(at, c->volume[k]) + 1;
    return (int)(at - text);
}

static const char *take(const char **at, const char *end)
{
    const char *field = *at, *nul = memchr(field, '\0', (size_t)(end - field));

    *at = nul ? nul + 1 : end;
    return nul ? field : "";
}

/* The change points into the text. */
static int parse_record(const char *text, int bytes, struct pio_change *c)
{
    const char *at = text, *end = text + bytes;

    *c = (struct pio_change){.kind = (enum pio_change_kind)atoi(take(&at, end))};
    c->mode = (mode_t)atoi(take(&at, end));
    c->from = take(&at, end);
    c->to = take(&at, end);
    const char *before = take(&at, end);
    while (at < end && c->disks < PIO_DISKS_MAX)
        c->volume[c->disks++] = take(&at, end);
    if ((unsigned)c->kind > PIO_CHANGE_FILE || c->from[0] != '/' || c->disks == 0 || strlen(before) != (size_t)c->disks)
        return -EPROTO;
    strcpy(c->has, before);
    return 0;
}

static int write_record(const struct pio_change *c)
{
    struct pio_question q = {
        .kind = PIO_ASK_MAKE, .volume = c->volume[0], .name = PIO_CHANGE_NAME, .suffix = "", .mode = 0644};
    char *text = malloc(RECORD_MAX_BYTES);
    int bytes = text ? format_record(c, text) : -ENOMEM;

    q.result = bytes;
    if (bytes > 0) {
        q.buffer = text;
        q.bytes = (size_t)bytes;
        pio_transport->ask(&q, 1);
    }
    free(text);
    return q.result < 0 ? q.result : 0;
}

static bool sets_aside(const struct pio_change *c)
{
    return c->kind == PIO_CHANGE_FILE && strspn(c->has, "0") < (size_t)c->disks;
}

/* Removes a name from volumes first .. end-1, if it is there; `durable`: all of these volumes is then. */
static int remove_from(const struct pio_change *c, int first, int end, const char *name, bool durable)
{
    struct pio_question q[PIO_QUESTIONS_MAX];
    int error = 0;

    for (int n; first < end && !error; first += n) {
        n = end - first < PIO_QUESTIONS_MAX ? end - first : PIO_QUESTIONS_MAX;
        for (int i = 0; i < n; i++)
            q[i] = (struct pio_question){
                .kind = PIO_ASK_UNLINK, .volume = c->volume[first + i], .name = name, .suffix = "", .mode = durable};
        pio_transport->ask(q, n);
        for (int i = 0; i < n && !error; i++)
            error = q[i].result < 0 && q[i].result != -ENOENT ? q[i].result : 0;
    }
    return error;
}

/* Before the first volume is changed: what was set aside may not be under its old name again after a crash, when the
 * first volume says that all is decided. */
static int prepare_to_decide(const struct pio_change *c)
{
    return sets_aside(c) ? remove_from(c, 1, c->disks, NO_NAME, true) : 0;
}

/* Makes the decision durable: what was set aside goes only then, as no crash can undo the change. */
static int decide(const struct pio_change *c)
{
    return sets_aside(c) ? remove_from(c, 0, 1, NO_NAME, true) : 0;
}

/* What has been done is durable on all volumes before the record goes: after a crash nobody would settle it. */
static int make_durable(const struct pio_change *c)
{
    char name[ASIDE_BYTES];
    int error = sets_aside(c) ? remove_from(c, 0, c->disks, aside_name(c, 0, name), false) : 0;

    return error ? error : remove_from(c, 0, c->disks, aside_name(c, 1, name), true);
}

/* Completes or undoes the change, and drops the record. */
static int settle(const struct pio_change *c, bool decided)
{
    int error = decided ? decide(c) : 0;

    for (int k = c->disks - 1; k >= 0 && !error; k--)
        if (k > 0 || c->kind == PIO_CHANGE_FILE || !decided)
            error = (decided ? steps[c->kind].complete : steps[c->kind].undo)(c, k);
    if (!error)
        error = make_durable(c);
    return error ? error : remove_file(c->volume[0], PIO_CHANGE_NAME, "");
}

/* Whether the first volume has been changed: 1, 0, or why that cannot be told. */
static int is_decided(const struct pio_change *c)
{
    int there = is_there(c->volume[0], c->from, "");

    return there < 0 ? there : there == (c->kind == PIO_CHANGE_MAKE);
}

/* ---- Locks ---- */

/* 0: there is no record. */
static int read_record(const char *volume, char *text)
{
    struct pio_question q = {.kind = PIO_ASK_READ,
                             .volume = volume,
                             .name = PIO_CHANGE_NAME,
                             .suffix = "",
                             .buffer = text,
                             .bytes = RECORD_MAX_BYTES};

    pio_transport->ask(&q, 1);
    return q.result == -ENOENT ? 0 : q.result == 0 ? -EPROTO : q.result;
}

/* The first volume of a record is the one on which it lies. */
static int settle_record(const char *volume, const char *text, int bytes)
{
    struct pio_change *c = malloc(sizeof *c);
    int error = c ? parse_record(text, bytes, c) : -ENOMEM;

    if (!error && strcmp(c->volume[0], volume) != 0)
        error = -EPROTO;
    int decided = error ? error : is_decided(c);
    error = decided < 0 ? decided : settle(c, decided);
    free(c);
    return error;
}

/* Not 0, which locks all names. */
static uint32_t key_of(const char *name)
{
    uint32_t key = 2166136261u;

    for (; *name; name++)
        key = (key ^ (uint8_t)*name) * 16777619u;
    return key ? key : 1;
}

/* Settling takes all names. */
int pio_change_lock(const char *volume, const char *name)
{
    char *text = malloc(RECORD_MAX_BYTES);
    uint32_t key = name ? key_of(name) : 0;
    int lock = -ENOMEM, bytes = 1;

    while (text && bytes > 0 && (lock = pio_transport->lock(volume, key)) >= 0) {
        bytes = read_record(volume, text);
        if (bytes > 0 && key == 0)
            bytes = settle_record(volume, text, bytes);
        else if (bytes > 0)
            pio_transport->unlock(lock);
        if (bytes > 0 && (lock = pio_change_lock(volume, NULL)) >= 0)
            pio_transport->unlock(lock);
        if (bytes > 0 && lock < 0)
            break;
    }
    free(text);
    if (lock >= 0 && bytes < 0) {
        pio_transport->unlock(lock);
        lock = bytes;
    }
    return lock;
}

void pio_change_unlock(int lock)
{
    pio_transport->unlock(lock);
}

int pio_change_settle(const char *volume)
{
    int lock = pio_change_lock(volume, NULL);

    if (lock >= 0)
        pio_change_unlock(lock);
    return lock < 0 ? lock : 0;
}

/* ---- Running ---- */

/* A folder on a full volume must be removable: without a record, a second rmdir completes the first. */
int pio_change_run(struct pio_change *c)
{
    int error = write_record(c);

    if (error && !(error == -ENOSPC && c->kind == PIO_CHANGE_REMOVE))
        return error;
    error = 0;
    int k = c->disks;
    while (k > 1 && !error)
        error = steps[c->kind].run(c, --k);
    if (!error)
        error = prepare_to_decide(c);
    if (!error)
        error = steps[c->kind].run(c, k = 0);
    int decided = !error ? 1 : k > 0 ? 0 : is_decided(c);
    if (decided >= 0)
        settle(c, decided); /* or the next lock does */
    return decided > 0 ? 0 : error;
}

/* ---- Folders ---- */

/* Whether all can be written, before any is changed. */
static int check_writable(const struct pio_change *c)
{
    for (int k = 0; k < c->disks; k++) {
        int error = ask(PIO_ASK_WRITABLE, c->volume[k], "/", "");

        if (error)
            return error;
    }
    return 0;
}

/* Notes which volumes have a folder of that name. -EEXIST: one has something else. */
static int note_folders(struct pio_change *c, const char *name)
{
    int error = 0;

    for (int k = 0; k < c->disks && error >= 0; k++) {
        int any = is_there(c->volume[k], name, ""), folder = any > 0 ? is_there(c->volume[k], name, "/.") : 0;

        c->has[k] = folder > 0 ? '1' : '0';
        error = any < 0 ? any : any > 0 && folder <= 0 ? -EEXIST : 0;
    }
    return error;
}

/* Whether the folders are there that the change needs, and none that is in its way. */
static int check_folders(struct pio_change *c)
{
    int error = note_folders(c, c->from);

    if (c->kind == PIO_CHANGE_MAKE)
        return error ? error : has(c, 0, HAS_PART) ? -EEXIST : 0;
    /* to undo a move, what has not moved must be told from what was not */
    if (!error && (c->kind == PIO_CHANGE_FOLDER ? memchr(c->has, '0', c->disks) != NULL : !has(c, 0, HAS_PART)))
        error = -ENOENT;
    if (!error && c->kind == PIO_CHANGE_FOLDER)
        error = note_folders(c, c->to);
    return error == -EEXIST ? -ENOTDIR : error;
}

/* Carries out a change over the volumes of a layout, with all names locked. */
static int change_folder(const struct pio_layout *layout, enum pio_change_kind kind, const char *from, const char *to,
                         mode_t mode)
{
    struct pio_change *c = calloc(1, sizeof *c);

    if (!c)
        return -ENOMEM;
    *c = (struct pio_change){.kind = kind, .mode = mode & 07777, .from = from, .to = to, .disks = layout->disks};
    memcpy(c->volume, layout->volumes, (size_t)c->disks * sizeof *c->volume);
    int lock = pio_change_lock(c->volume[0], NULL);
    int error = lock < 0 ? lock : check_writable(c);
    if (!error)
        error = check_folders(c);
    if (!error && strcmp(from, to) != 0)
        error = pio_change_run(c);
    if (lock >= 0)
        pio_change_unlock(lock);
    free(c);
    return error;
}

int pio_folder_make(const struct pio_layout *layout, const char *name, mode_t mode)
{
    return change_folder(layout, PIO_CHANGE_MAKE, name, "", mode);
}

int pio_folder_remove(const struct pio_layout *layout, const char *name, mode_t mode)
{
    return change_folder(layout, PIO_CHANGE_REMOVE, name, "", mode);
}

int pio_folder_rename(const struct pio_layout *layout, const char *from, const char *to, mode_t mode)
{
    return change_folder(layout, PIO_CHANGE_FOLDER, from, to, mode);
}
