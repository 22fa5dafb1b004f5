/* Requests from their arrival until they are answered (clf_server.h). */
#include <stdlib.h>
#include <string.h>

#include "nsdisk/clusterfile/clf_server.h"

static void begin(struct clf_record *record, struct clf_server *clf, const struct clf_request *r,
                  const struct arrival *a)
{
    memset(record, 0, sizeof *record);
    record->clf = clf;
    record->from = a->from;
    record->type = a->type;
    record->r = *r;
    record->n = a->n - sizeof *r;
    LIST_INSERT_HEAD(&clf->records, record, all);
}

struct clf_record *clf_record_new(struct clf_server *clf, const struct clf_request *r, const struct arrival *a)
{
    const size_t n = a->n - sizeof *r;
    struct clf_record *record = malloc(sizeof *record + n);

    if (!record)
        return NULL;
    begin(record, clf, r, a);
    memcpy(record + 1, a->bytes + sizeof *r, n);
    record->data = (uint8_t *)(record + 1);
    return record;
}

struct clf_record *clf_record_in_place(struct clf_server *clf, const struct clf_request *r, const struct arrival *a)
{
    struct clf_record *record = &clf->in_place;

    begin(record, clf, r, a);
    record->data = a->bytes + sizeof *r;
    clf->in_place_is = CLF_IN_PLACE;
    return record;
}

static void unlist(struct clf_record *record)
{
    LIST_REMOVE(record, all);
    if (record == &record->clf->in_place)
        record->clf->in_place_is = CLF_WAS_IN_PLACE;
    else
        free(record);
}

void clf_record_free(struct clf_record *record)
{
    if (record->attachment)
        clf_attachment_put(record->clf, record->attachment);
    unlist(record);
}

void clf_records_free(struct clf_server *clf)
{
    struct clf_record *record;

    while ((record = LIST_FIRST(&clf->records)))
        unlist(record);
}

int clf_work_begin(struct clf_server *clf, uint32_t drive, struct family_work *w, int from, int type)
{
    const int error = family_run(clf->loop, drive, w, from, type);

    clf->works += error == 0;
    return error;
}

void clf_work_ended(struct clf_server *clf)
{
    clf->works--;
}

/* Whether cache managers have what the request has changed. */
static bool is_managed(const struct clf_record *record)
{
    const struct clf_attachment *a = record->attachment;
    const bool changes = record->type == (int)N_CLF_WRITE || (record->type == (int)N_CLF_SIZE && record->r.op == 1);

    return changes && a && a->part->managers > 0 && a->manager == 0;
}

void clf_tell(struct clf_record *record, int64_t status, struct file_reply *reply, size_t bytes)
{
    if (status >= 0 && is_managed(record))
        status |= CLF_MANAGED;
    *reply = (struct file_reply){record->r.seq, (int32_t)status};
    if (!record->gone)
        family_reply(record->clf->loop, record->from, record->type, reply, sizeof *reply + (status < 0 ? 0 : bytes));
}

void clf_answer(struct clf_record *record, int64_t status, struct file_reply *reply, size_t bytes)
{
    clf_tell(record, status, reply, bytes);
    clf_record_free(record);
}

void clf_carry_out(struct clf_record *record, clf_invoke *invoke, struct ext2 *fs, const struct arrival_area *area)
{
    struct file_reply *reply = (struct file_reply *)area->bytes;
    struct clf_call c = {.clf = record->clf,
                         .fs = fs,
                         .record = record,
                         .r = &record->r,
                         .area = area,
                         .reply = area->bytes + sizeof *reply,
                         .room = area->size - sizeof *reply};
    int64_t status = invoke ? invoke(&c) : 0;

    clf_answer(record, status, reply, c.reply_bytes);
}
