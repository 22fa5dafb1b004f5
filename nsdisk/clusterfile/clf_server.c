/*
 * The family of Clusterfile's files: from a message to the function that carries it out, and its answer
 * (clf_server.h).
 *
 *   take -> record -> begin -> the volume's fiber: run -> invoke -> reply
 */
#include <stdlib.h>
#include <string.h>

#include "nsdisk/clusterfile/clf_server.h"
#include "vertex/contract/errors.h"

static clf_invoke *const operation[] = {
    [N_CLF_NAME - N_CLF_NAME] = clf_invoke_name,       [N_CLF_ATTACH - N_CLF_NAME] = clf_invoke_attach,
    [N_CLF_DETACH - N_CLF_NAME] = clf_invoke_detach,   [N_CLF_VIEW - N_CLF_NAME] = clf_invoke_view,
    [N_CLF_READ - N_CLF_NAME] = clf_invoke_read,       [N_CLF_WRITE - N_CLF_NAME] = clf_invoke_write,
    [N_CLF_SIZE - N_CLF_NAME] = clf_invoke_size,       [N_CLF_SYNC - N_CLF_NAME] = clf_invoke_sync,
    [N_CLF_FREE - N_CLF_NAME] = clf_invoke_free,       [N_CLF_GROUP - N_CLF_NAME] = clf_invoke_group,
    [N_CLF_MANAGER - N_CLF_NAME] = clf_invoke_manager,
};
_Static_assert(sizeof operation / sizeof operation[0] == CLF_OPERATIONS, "every request is in the table");

static void run(struct family_work *work, struct ext2 *fs, const struct arrival_area *area)
{
    struct clf_record *record = (struct clf_record *)work;
    struct clf_server *clf = record->clf;

    clf_carry_out(record, operation[record->type - (int)N_CLF_NAME], fs, area);
    clf_work_ended(clf);
}

/* ---- Taking ---- */

static size_t list_bytes(const struct clf_request *r)
{
    return r->view == CLF_VIEW_LIST ? r->second * sizeof(struct clf_list_place) : 0;
}

/* The request's lengths and bounds, n bytes being behind it. */
static bool is_well_formed(int type, const struct clf_request *r, size_t n)
{
    switch (type) {
    case N_CLF_NAME:
        return n == (size_t)r->bytes + r->second && r->bytes > 0 && r->bytes <= FILE_NAME_MAX_BYTES &&
               r->second <= CLF_TEXT_BYTES;
    case N_CLF_ATTACH:
        return n == r->bytes && n <= clf_attach_most_bytes && r->handle != 0 &&
               CLF_PART_SUBFILE(r->part) < CLF_SUBFILES_MAX &&
               (CLF_PART_VOLUME(r->part) == CLF_WHOLE || CLF_PART_VOLUME(r->part) < CLF_VOLUMES_MAX);
    case N_CLF_READ:
        return n == list_bytes(r) && r->op < CLF_TURNS && (r->bytes > 0 || r->op != CLF_ALONE) &&
               r->bytes <= FILE_IO_MAX_BYTES;
    case N_CLF_WRITE:
        return n == list_bytes(r) + r->bytes && r->op < CLF_TURNS && (r->bytes > 0 || r->op != CLF_ALONE);
    case N_CLF_VIEW:
        return n == r->bytes;
    case N_CLF_FREE:
        return n == 0 && r->handle != 0;
    default:
        return n == 0;
    }
}

static bool is_access(int type)
{
    return type == (int)N_CLF_READ || type == (int)N_CLF_WRITE;
}

static bool is_collective(int type, const struct clf_request *r)
{
    return is_access(type) && r->op != CLF_ALONE;
}

static bool has_attachment(int type)
{
    return type != (int)N_CLF_NAME && type != (int)N_CLF_ATTACH && type != (int)N_CLF_FREE;
}

static int check(const struct clf_server *clf, const struct arrival *a, struct clf_request *r)
{
    int error = family_head(a, N_CLF_NAME, CLF_OPERATIONS, r, sizeof *r);

    if (error < 0)
        return error;
    if (!is_well_formed(a->type, r, a->n - sizeof *r))
        return -N_EPROTO;
    if (r->offset > INT64_MAX - FILE_IO_MAX_BYTES && a->type != (int)N_CLF_NAME)
        return -N_EINVAL;
    error = server_volume_error(family_server(clf->loop), r->drive);
    if (error < 0 || !has_attachment(a->type))
        return error;
    const struct clf_attachment *attachment = clf_attachment_find(clf, r->attachment, a->from);
    if (!attachment || attachment->part->drive != r->drive)
        return -N_EBADF;
    const bool waits = attachment->record || attachment->postponed;
    return is_collective(a->type, r) && (attachment->group == 0 || waits) ? -N_EINVAL : 0;
}

static void begin_record(struct clf_record *record)
{
    struct clf_server *clf = record->clf;
    const struct clf_request *r = &record->r;
    struct file_reply reply;

    record->work.run = run;
    if (has_attachment(record->type)) {
        record->attachment = clf_attachment_find(clf, r->attachment, record->from);
        record->attachment->uses++;
    }
    if (is_collective(record->type, r)) {
        clf_round_take(record);
        return;
    }
    int error = clf_work_begin(clf, r->drive, &record->work, record->from, record->type);
    if (error < 0)
        clf_answer(record, error, &reply, 0);
}

/* There is no memory for a record (clf_server.h). True: the message is done with. */
static bool take_in_place(struct clf_server *clf, const struct clf_request *r, const struct arrival *a)
{
    struct clf_attachment *of = is_collective(a->type, r) ? clf_attachment_find(clf, r->attachment, a->from) : NULL;

    if (clf_rounds_hasten(clf) || clf->works > 0)
        return false;
    if (of && of->done) {
        clf_round_postpone(of, a->type, r->seq);
        return true;
    }
    begin_record(clf_record_in_place(clf, r, a));
    return false;
}

static bool take(void *state, const struct arrival *a)
{
    struct clf_server *clf = state;
    struct clf_request r;

    if (clf->in_place_is == CLF_IN_PLACE)
        return false;
    if (clf->in_place_is == CLF_WAS_IN_PLACE) { /* it was this message */
        clf->in_place_is = CLF_NOT_IN_PLACE;
        return true;
    }
    int error = check(clf, a, &r);
    if (error < 0) {
        family_refuse(clf->loop, a, error);
        return true;
    }
    struct clf_record *record = clf_record_new(clf, &r, a);
    if (!record)
        return take_in_place(clf, &r, a);
    begin_record(record);
    return true;
}

/* ---- Ends ---- */

static void client_ended(void *state, int from)
{
    struct clf_server *clf = state;
    struct clf_record *record;

    LIST_FOREACH(record, &clf->records, all)
        record->gone |= record->from == from;
    clf_client_drop(clf, from);
}

static void shut_down(void *state)
{
    clf_rounds_end(state);
    clf_parts_leave(state);
}

static void *begin(struct loop *l)
{
    struct clf_server *clf = calloc(1, sizeof *clf);

    if (clf)
        clf->loop = l;
    return clf;
}

static void end(void *state)
{
    struct clf_server *clf = state;

    clf_records_free(clf);
    clf_rounds_free(clf);
    clf_parts_free(clf);
    free(clf);
}

const struct family clf_family = {
    TYPES_CLUSTERFILE, TYPES_CLUSTERFILE_LAST, begin, take, client_ended, NULL, shut_down, end};
