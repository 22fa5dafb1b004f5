/* Requests from their arrival until they are answered (clf_server.h). */
#include <stdlib.h>
#include <string.h>

#include "nsdisk/clusterfile/clf_server.h"

struct clf_record *clf_record_new(struct clf_server *clf, const struct clf_request *r, const struct arrival *a)
{
    const size_t n = a->n - sizeof *r;
    struct clf_record *record = malloc(sizeof *record + n);

    if (!record)
        return NULL;
    memset(record, 0, sizeof *record);
    record->clf = clf;
    record->from = a->from;
    record->type = a->type;
    record->r = *r;
    record->n = n;
    memcpy(record->data, a->bytes + sizeof *r, n);
    LIST_INSERT_HEAD(&clf->records, record, all);
    return record;
}

static void record_free(struct clf_record *record)
{
    LIST_REMOVE(record, all);
    if (record->attachment)
        clf_attachment_put(record->clf, record->attachment);
    free(record);
}

/* Whether cache managers have what the request has changed. */
static bool is_managed(const struct clf_record *record)
{
    const struct clf_attachment *a = record->attachment;
    const bool changes = record->type == (int)N_CLF_WRITE || (record->type == (int)N_CLF_SIZE && record->r.op == 1);

    return changes && a && a->part->managers > 0 && a->manager == 0;
}

void clf_answer(struct clf_record *record, int64_t status, struct file_reply *reply, size_t bytes)
{
    if (status >= 0 && is_managed(record))
        status |= CLF_MANAGED;
    *reply = (struct file_reply){record->r.seq, (int32_t)status};
    if (!record->gone)
        family_reply(record->clf->loop, record->from, record->type, reply, sizeof *reply + (status < 0 ? 0 : bytes));
    record_free(record);
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
