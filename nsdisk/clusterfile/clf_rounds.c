/*
 * Collective reads and writes of a part: disk-directed I/O [P3 sections 7.2, 7.4.3] (clf_server.h).
 *
 *   members' requests  -> round ... until each attachment of the group has one -> the volume's fiber, once for all:
 *
 *   write   all are laid over each other in windows of the file (nsdisk/serve/merge.h), lowest byte first
 *   read    the file is read window by window, and each member's bytes are taken from the window
 *
 * So a block is written or read once, in the order of the file, whoever has it. Where memory is short, where a command
 * fails, and where all that is read is in a data cache, the members that are not answered are served one after the
 * other: each finds its own count or error. What a view shows does not depend on who waits for whom: a request of the
 * call may be carried out before the others have come.
 */
#include <stdlib.h>
#include <string.h>

#include "nsdisk/clusterfile/clf_server.h"
#include "nsdisk/serve/merge.h"
#include "vertex/contract/errors.h"

struct clf_round {
    struct family_work work;
    LIST_ENTRY(clf_round) all;
    struct clf_server *clf;
    const struct clf_part *part;
    uint64_t group;
    int type;
    bool running;
    STAILQ_HEAD(, clf_record) records;
};

/* ---- Places ---- */

struct member { /* a request that is carried out with others */
    struct clf_record *record;
    const struct view *view;  /* NULL: the part itself */
    int64_t first, end;       /* of the part's file */
    struct file_reply *reply; /* of a read, with its data behind; NULL: answered, or not to be answered so */
    int64_t taken, next;      /* of a read: bytes that it has; its first in the file of those that it has not */
    bool told;                /* a write has been answered, while others of its group are under way */
};

static bool find_member(struct clf_record *record, struct member *m)
{
    const struct clf_request *r = &record->r;

    *m = (struct member){.record = record, .view = r->view == 0 ? NULL : clf_view_of(record)};
    if (r->bytes == 0 || (r->view != 0 && !m->view))
        return false;
    if (m->view)
        return view_range(m->view, r->offset, r->bytes, &m->first, &m->end);
    m->first = (int64_t)r->offset;
    m->end = m->first + r->bytes;
    return true;
}

static int compare_members(const void *a, const void *b)
{
    const struct member *x = a, *y = b;

    return x->first < y->first ? -1 : x->first > y->first;
}

/* ---- One after the other ---- */

static void serve_alone(struct clf_record *record, struct ext2 *fs, const struct arrival_area *area)
{
    clf_invoke *const invoke = record->type == (int)N_CLF_READ ? clf_invoke_read : clf_invoke_write;

    clf_carry_out(record, record->r.bytes > 0 ? invoke : NULL, fs, area);
}

static void run_alone(struct family_work *work, struct ext2 *fs, const struct arrival_area *area)
{
    struct clf_record *record = (struct clf_record *)work;
    struct clf_server *clf = record->clf;

    serve_alone(record, fs, area);
    clf_work_ended(clf);
}

/* ---- Writing ---- */

struct answering {
    struct member *member;
    uint32_t first; /* the member of the group's first write */
};

/* Its bytes are laid again where others join them, until the group ends. */
static void answer_write(void *ctx, uint32_t write)
{
    const struct answering *a = ctx;
    struct member *m = &a->member[a->first + write];
    struct file_reply reply;

    clf_tell(m->record, m->record->r.bytes, &reply, 0);
    m->told = true;
}

static void end_group(struct merge *m, struct member *member, uint32_t n)
{
    merge_end(m);
    for (uint32_t i = 0; i < n; i++)
        if (member[i].told) {
            clf_record_free(member[i].record);
            member[i].record = NULL;
        }
}

/* Members in order of their first bytes. Those that are written are answered, and have no record then. */
static void write_together(struct merge *m, struct ext2_inode *inode, struct member *member, uint32_t n)
{
    for (uint32_t i = 0, end; i < n; i = end) {
        struct answering a = {member, i};
        const struct merge_calls calls = {NULL, answer_write, &a};

        for (end = i; end < n && merge_add(m, inode, member[end].view, member[end].record->r.offset,
                                           member[end].record->r.bytes, member[end].record->data);
             end++)
            ;
        if (end == i)
            return;
        bool well = merge_run(m, &calls);
        end_group(m, member + i, end - i);
        if (!well)
            return;
    }
}

/* ---- Reading ---- */

/* Some of the part's file: bytes at .. end-1. */
struct window {
    const uint8_t *bytes;
    int64_t at, end;
};

/* Takes a member's bytes from the window. */
static void take_bytes(struct member *m, const struct window *w)
{
    const int64_t to = m->end < w->end ? m->end : w->end;
    uint8_t *out = (uint8_t *)(m->reply + 1) + m->taken;

    if (m->next >= to)
        return;
    if (m->view) {
        m->taken += view_gather(m->view, m->next, to, out, w->bytes, w->at);
        m->next = m->taken < m->record->r.bytes ? view_file(m->view, (int64_t)m->record->r.offset + m->taken) : m->end;
    } else {
        memcpy(out, w->bytes + (m->next - w->at), (size_t)(to - m->next));
        m->taken += to - m->next;
        m->next = to;
    }
}

/* Answers a member all of whose bytes have been read, or lie behind the file's end. */
static void answer_read(struct member *m)
{
    clf_answer(m->record, m->taken, m->reply, (size_t)m->taken);
    free(m->reply);
    m->record = NULL;
    m->reply = NULL;
}

/* A block of a data cache, where it is. */
static int look(struct ext2_inode *inode, struct ext2_cursor *cursor, struct window *w)
{
    const uint64_t block = (uint64_t)w->at >> inode->fs->block_shift;

    w->end = w->end < w->at + inode->fs->block_bytes ? w->end : w->at + inode->fs->block_bytes;
    return ext2_cached_look(inode, cursor, block, &w->bytes);
}

/* Reads as much as there is room for. */
static int read_window(struct ext2_inode *inode, struct merge *room, struct window *w)
{
    w->end = w->end < w->at + room->window_bytes ? w->end : w->at + room->window_bytes;
    w->bytes = room->window;
    int64_t n = ext2_read(inode, (uint64_t)w->at, room->window, (uint32_t)(w->end - w->at));
    return n == w->end - w->at ? 0 : n < 0 ? (int)n : -N_EIO;
}

/* The lowest byte that a member still wants, from its block on, and as far as members want any. False: there is none
 * within the file. */
static bool find_window(const struct ext2_inode *inode, const struct member *member, uint32_t n, struct window *w)
{
    w->at = INT64_MAX;
    w->end = 0;
    for (uint32_t i = 0; i < n; i++)
        if (member[i].reply) {
            w->at = member[i].next < w->at ? member[i].next : w->at;
            w->end = member[i].end > w->end ? member[i].end : w->end;
        }
    w->end = w->end < (int64_t)inode->size_bytes ? w->end : (int64_t)inode->size_bytes;
    if (w->at >= w->end)
        return false;
    w->at -= w->at % inode->fs->block_bytes;
    return true;
}

/* Whether all that members want is in a data cache: then their reads are none of the drive's, and one after the other
 * is better, as the first reply is on its way while the next one is put together. */
static bool is_cached(struct ext2_inode *inode, const struct member *member, uint32_t n)
{
    int64_t first = INT64_MAX, end = 0;

    for (uint32_t i = 0; i < n; i++) {
        first = member[i].first < first ? member[i].first : first;
        end = member[i].end > end ? member[i].end : end;
    }
    return inode->fs->data && ext2_cached_has(inode, (uint64_t)first, (uint64_t)(end - first));
}

/* Reads window by window, and answers who has all of it. Stops at an error. */
static void read_together(struct merge *room, struct ext2_inode *inode, struct member *member, uint32_t n)
{
    struct ext2_cursor cursor = {0};
    struct window w;

    if (is_cached(inode, member, n))
        return;
    while (find_window(inode, member, n, &w)) {
        if ((inode->fs->data ? look(inode, &cursor, &w) : read_window(inode, room, &w)) < 0)
            return;
        for (uint32_t i = 0; i < n; i++) {
            if (member[i].reply)
                take_bytes(&member[i], &w);
            if (member[i].reply && member[i].next >= member[i].end)
                answer_read(&member[i]);
        }
    }
    if (inode->fs->data)
        ext2_cached_looked(inode, &cursor);
    for (uint32_t i = 0; i < n; i++)
        if (member[i].reply)
            answer_read(&member[i]);
}

/* ---- The round ---- */

/* Lays out the members that can be served together. Returns how many they are; the others are answered. */
static uint32_t find_members(struct clf_round *round, struct member *member, struct ext2 *fs,
                             const struct arrival_area *area)
{
    struct clf_record *record;
    uint32_t n = 0;

    while ((record = STAILQ_FIRST(&round->records))) {
        STAILQ_REMOVE_HEAD(&round->records, next);
        record->attachment->record = NULL;
        if (!member || !find_member(record, &member[n])) {
            serve_alone(record, fs, area);
            continue;
        }
        if (round->type == (int)N_CLF_READ)
            member[n].reply = malloc(sizeof(struct file_reply) + record->r.bytes);
        member[n].next = member[n].first;
        n++;
    }
    if (n > 1)
        qsort(member, n, sizeof *member, compare_members);
    return n;
}

/* With which member a part begins: each part with another one, so that not all servers send to one node at a time
 * [P3 section 7.1]. */
static uint32_t first_of(const struct clf_part *part)
{
    const uint32_t volume = CLF_PART_VOLUME(part->number);

    return volume == CLF_WHOLE ? CLF_PART_SUBFILE(part->number) : volume;
}

static void run(struct family_work *work, struct ext2 *fs, const struct arrival_area *area)
{
    struct clf_round *round = (struct clf_round *)work;
    struct clf_part *part = (struct clf_part *)round->part;
    struct merge *merge = serve_merge(family_server(round->clf->loop), part->drive);
    const bool reads = round->type == (int)N_CLF_READ;
    struct clf_request r = {.drive = (uint16_t)part->drive};
    struct clf_call c = {.clf = round->clf, .fs = fs, .r = &r};
    struct clf_record *record;
    uint32_t n = 0;

    LIST_REMOVE(round, all);
    STAILQ_FOREACH(record, &round->records, next)
        n++;
    struct member *member = n > 0 && merge ? calloc(n, sizeof *member) : NULL;
    int error = clf_part_open(&c, part, !reads && !fs->read_only);
    n = find_members(round, member, fs, area);
    if (error == 0 && part->inode && n > 0 && reads)
        read_together(merge, part->inode, member, n);
    else if (error == 0 && part->inode && n > 0 && !fs->read_only)
        write_together(merge, part->inode, member, n);
    for (uint32_t i = 0; i < n; i++)
        free(member[i].reply);
    for (uint32_t i = 0, first = first_of(part); i < n; i++)
        if (member[(first + i) % n].record)
            serve_alone(member[(first + i) % n].record, fs, area);
    clf_work_ended(round->clf);
    free(member);
    free(round);
}

/* ---- Members ---- */

/* Attachment i, if it is one of the group's at that part; else NULL. */
static struct clf_attachment *member_at(const struct clf_server *clf, uint32_t i, const struct clf_part *part,
                                        uint64_t group)
{
    struct clf_attachment *a = clf->attachment[i];

    return a && a->part == part && a->group == group && a->from >= 0 ? a : NULL;
}

static bool is_complete(const struct clf_round *round)
{
    const struct clf_server *clf = round->clf;

    for (uint32_t i = 0; i < clf->attachments; i++) {
        const struct clf_attachment *a = member_at(clf, i, round->part, round->group);

        if (a && !a->done && !(a->record && a->record->round == round))
            return false;
    }
    return true;
}

static void end_round(struct clf_round *round, int error)
{
    struct clf_record *record;
    struct file_reply reply;

    LIST_REMOVE(round, all);
    while ((record = STAILQ_FIRST(&round->records))) {
        STAILQ_REMOVE_HEAD(&round->records, next);
        record->attachment->record = NULL;
        clf_answer(record, error, &reply, 0);
    }
    free(round);
}

static void answer_postponed(struct clf_attachment *a, const struct clf_server *clf, int error)
{
    const struct file_reply reply = {a->postponed_seq, error};

    if (a->postponed)
        family_reply(clf->loop, a->from, a->postponed_type, &reply, sizeof reply);
    a->postponed = false;
}

static void put_in_round(struct clf_record *record);

/* Once all members have sent their last request of a call, those that wait are the first of the next. */
static void end_call(struct clf_server *clf, const struct clf_part *part, uint64_t group)
{
    for (uint32_t i = 0; i < clf->attachments; i++) {
        const struct clf_attachment *a = member_at(clf, i, part, group);

        if (a && !a->done)
            return;
    }
    for (uint32_t i = 0; i < clf->attachments; i++) {
        struct clf_attachment *a = member_at(clf, i, part, group);

        if (a) {
            a->done = false;
            answer_postponed(a, clf, -N_EAGAIN);
        }
    }
    for (uint32_t i = 0; i < clf->attachments; i++) {
        struct clf_attachment *a = member_at(clf, i, part, group);

        if (a && a->record && !a->record->round)
            put_in_round(a->record);
    }
}

static void start(struct clf_round *round)
{
    struct clf_server *clf = round->clf;
    const struct clf_part *part = round->part;
    const uint64_t group = round->group;
    struct clf_record *record;

    round->running = true;
    round->work.run = run;
    STAILQ_FOREACH(record, &round->records, next)
        record->attachment->done = record->r.op == CLF_TURN_LAST;
    int error = clf_work_begin(clf, part->drive, &round->work, -1, round->type);
    if (error < 0)
        end_round(round, error);
    end_call(clf, part, group);
}

static void start_if_complete(struct clf_round *round)
{
    if (!round->running && is_complete(round))
        start(round);
}

static void round_check(struct clf_server *clf, const struct clf_part *part, uint64_t group)
{
    struct clf_round *round, *next;

    for (round = LIST_FIRST(&clf->rounds); round; round = next) {
        next = LIST_NEXT(round, all);
        if (round->part == part && round->group == group && !round->running) {
            start_if_complete(round);
            return; /* there is one */
        }
    }
    end_call(clf, part, group);
}

/* The round that waits; NULL: none does. */
static struct clf_round *find_round(const struct clf_record *record)
{
    const struct clf_attachment *a = record->attachment;
    struct clf_round *round;

    LIST_FOREACH(round, &record->clf->rounds, all)
        if (round->part == a->part && round->group == a->group && !round->running)
            break;
    return round;
}

/* NULL: no memory. */
static struct clf_round *new_round(const struct clf_record *record)
{
    struct clf_server *clf = record->clf;
    const struct clf_attachment *a = record->attachment;
    struct clf_round *round = calloc(1, sizeof *round);

    if (!round)
        return NULL;
    round->clf = clf;
    round->part = a->part;
    round->group = a->group;
    round->type = record->type;
    STAILQ_INIT(&round->records);
    LIST_INSERT_HEAD(&clf->rounds, round, all);
    return round;
}

/* The record goes by itself: it is carried out, or refused with the error. */
static void pass(struct clf_record *record, int error)
{
    struct clf_server *clf = record->clf;
    struct clf_attachment *a = record->attachment;
    const struct clf_part *part = a->part;
    const uint64_t group = a->group;
    struct file_reply reply;

    a->record = NULL;
    a->done = record->r.op == CLF_TURN_LAST;
    record->work.run = run_alone;
    if (error == 0)
        error = clf_work_begin(clf, part->drive, &record->work, record->from, record->type);
    if (error < 0)
        clf_answer(record, error, &reply, 0);
    round_check(clf, part, group);
}

/* The record is its attachment's. */
static void put_in_round(struct clf_record *record)
{
    const bool may_wait = record != &record->clf->in_place;
    struct clf_round *round = find_round(record);

    if (round && round->type != record->type) {
        pass(record, -N_EINVAL);
        return;
    }
    if (!round && may_wait)
        round = new_round(record);
    if (!round || !may_wait) {
        pass(record, 0);
        return;
    }
    record->round = round;
    STAILQ_INSERT_TAIL(&round->records, record, next);
    start_if_complete(round);
}

void clf_round_take(struct clf_record *record)
{
    record->attachment->record = record;
    if (!record->attachment->done)
        put_in_round(record);
}

static struct clf_round *find_waiting_write(const struct clf_server *clf)
{
    struct clf_round *round;

    LIST_FOREACH(round, &clf->rounds, all)
        if (!round->running && round->type == (int)N_CLF_WRITE)
            break;
    return round;
}

bool clf_rounds_hasten(struct clf_server *clf)
{
    struct clf_round *round = find_waiting_write(clf);
    const bool any = round != NULL;

    for (; round; round = find_waiting_write(clf))
        start(round);
    return any;
}

void clf_round_postpone(struct clf_attachment *a, int type, uint32_t seq)
{
    a->postponed = true;
    a->postponed_type = type;
    a->postponed_seq = seq;
}

static int64_t tell_ended(struct clf_call *c)
{
    uint32_t member = 0;

    for (uint32_t i = 0; i < CLF_ENDED && member == 0; i++)
        if (c->clf->ended[i].group == c->r->handle)
            member = c->clf->ended[i].member + 1;
    memcpy(c->reply, &member, sizeof member);
    c->reply_bytes = sizeof member;
    return 0;
}

int64_t clf_invoke_group(struct clf_call *c)
{
    struct clf_attachment *a = c->record->attachment;
    const uint64_t before = a->group;

    if (c->r->op > 0)
        return c->r->op == 1 && c->r->handle != 0 ? tell_ended(c) : -N_EINVAL;
    if (a->from != c->record->from || a->record || a->postponed || (before != 0 && c->r->handle != 0))
        return -N_EINVAL;
    a->group = c->r->handle;
    a->member = (uint32_t)c->r->offset;
    a->done = false;
    if (before != 0)
        round_check(c->clf, a->part, before);
    return 0;
}

/* ---- Members that leave ---- */

/* What waits for the next call is not carried out. */
static void forget_waiting(struct clf_attachment *a, const struct clf_server *clf)
{
    struct clf_record *record = a->record;
    struct file_reply reply;

    answer_postponed(a, clf, -N_EIO);
    if (!record || record->round)
        return;
    a->record = NULL;
    clf_answer(record, -N_EIO, &reply, 0);
}

/* Nobody waits for it any more. */
static void leave_group(struct clf_server *clf, struct clf_attachment *a)
{
    const uint64_t group = a->group;

    forget_waiting(a, clf);
    a->group = 0;
    if (group != 0)
        round_check(clf, a->part, group);
}

/* The first of a group is enough: it has the calls of the others fail. */
static void note_ended(struct clf_server *clf, const struct clf_attachment *a)
{
    bool is_known = a->group == 0;

    for (uint32_t i = 0; i < CLF_ENDED && !is_known; i++)
        is_known = clf->ended[i].group == a->group;
    if (!is_known)
        clf->ended[clf->ends++ % CLF_ENDED] = (struct clf_ended){a->group, a->member};
}

static void drop_attachments(struct clf_server *clf, int from)
{
    for (uint32_t i = 0; i < clf->attachments; i++)
        if (clf->attachment[i] && clf->attachment[i]->from == from) {
            note_ended(clf, clf->attachment[i]);
            clf->attachment[i]->postponed = false; /* nobody awaits an answer */
            leave_group(clf, clf->attachment[i]);
            clf->attachment[i]->from = -1;
            clf_attachment_put(clf, clf->attachment[i]);
        }
}

int64_t clf_invoke_detach(struct clf_call *c)
{
    struct clf_attachment *a = c->record->attachment;

    if (a->from != c->record->from) /* it has been given up by an earlier request */
        return -N_EBADF;
    leave_group(c->clf, a);
    a->from = -1;
    clf_attachment_put(c->clf, a);
    return 0;
}

/* What it has asked for is not carried out: nobody has been told that it was. */
static void forget_member(struct clf_round *round, int from)
{
    struct clf_record *record, *next;
    struct file_reply reply;

    for (record = STAILQ_FIRST(&round->records); record; record = next) {
        next = STAILQ_NEXT(record, next);
        if (record->from != from)
            continue;
        STAILQ_REMOVE(&round->records, record, clf_record, next);
        record->attachment->record = NULL;
        clf_answer(record, -N_EIO, &reply, 0);
    }
    if (STAILQ_EMPTY(&round->records))
        end_round(round, 0);
}

void clf_client_drop(struct clf_server *clf, int from)
{
    struct clf_round *round, *next;

    for (round = LIST_FIRST(&clf->rounds); round; round = next) {
        next = LIST_NEXT(round, all);
        if (!round->running)
            forget_member(round, from);
    }
    drop_attachments(clf, from);
}

/* ---- Ends ---- */

void clf_rounds_end(struct clf_server *clf)
{
    struct clf_round *round, *next;

    for (round = LIST_FIRST(&clf->rounds); round; round = next) {
        next = LIST_NEXT(round, all);
        if (!round->running)
            end_round(round, -N_EIO);
    }
    for (uint32_t i = 0; i < clf->attachments; i++)
        if (clf->attachment[i])
            forget_waiting(clf->attachment[i], clf);
}

void clf_rounds_free(struct clf_server *clf)
{
    struct clf_round *round;

    while ((round = LIST_FIRST(&clf->rounds))) {
        LIST_REMOVE(round, all);
        free(round);
    }
}
