/*
 * Requests of a job's nodes for files and streams. A request for a standard stream that is not ready is held, in order,
 * until it is; so is a question whether it is ready (N_FPOLL), until its process takes it back.
 */
#include "emu/job/job.h"

#include <stdlib.h>
#include <string.h>

#include "emu/job/lives.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

struct held_request {
    TAILQ_ENTRY(held_request) entry;
    uint32_t from, tag;
    enum stream stream;
    size_t wanted_bytes;
    size_t n;
    uint8_t bytes[];
};

/* True if a request reads or writes a standard stream, or asks to hear when that can be done; then *which is the
 * stream, and *wanted_bytes the length. */
static bool is_for_stream(uint32_t type, const void *bytes, size_t n, enum stream *which, size_t *wanted_bytes)
{
    struct file_request r;

    if (n < sizeof r || (type != N_FREAD && type != N_FWRITE && type != N_FPOLL))
        return false;
    memcpy(&r, bytes, sizeof r);
    if (type == N_FPOLL && r.mode != FILE_POLL_HOLD)
        return false;
    type = type == N_FPOLL ? N_FREAD : type;
    if (type == N_FREAD ? r.sfid != SFID_STDIN : r.sfid != SFID_STDOUT && r.sfid != SFID_STDERR)
        return false;
    *which = type == N_FREAD ? STREAM_IN : r.sfid == SFID_STDOUT ? STREAM_OUT : STREAM_ERR;
    *wanted_bytes = r.bytes;
    return true;
}

static const char *answer(struct job *j, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    const void *reply;
    size_t reply_bytes = hostfs_request(j->files, from, TAG_FROM(tag), TAG_TYPE(tag), bytes, n, &reply);

    if (reply_bytes == 0)
        return "it is too short";
    j->ops->send(j->ctx, from, TAG(N_REPLY(TAG_TYPE(tag)), 0, TAG_FROM(tag)), reply, reply_bytes);
    return NULL;
}

static bool is_held(const struct job *j, enum stream stream)
{
    const struct held_request *h = TAILQ_FIRST(&j->held);

    while (h && h->stream != stream)
        h = TAILQ_NEXT(h, entry);
    return h;
}

static const char *hold(struct job *j, uint32_t from, uint32_t tag, enum stream stream, size_t wanted_bytes,
                        const void *bytes, size_t n)
{
    struct held_request *h = malloc(sizeof *h + n);

    if (!h)
        return "there is no memory to hold it";
    *h = (struct held_request){.from = from, .tag = tag, .stream = stream, .wanted_bytes = wanted_bytes, .n = n};
    memcpy(h->bytes, bytes, n);
    TAILQ_INSERT_TAIL(&j->held, h, entry);
    return NULL;
}

static void drop_request(struct job *j, struct held_request *h)
{
    TAILQ_REMOVE(&j->held, h, entry);
    free(h);
}

void job_drop_requests(struct job *j, uint32_t node, uint32_t procid)
{
    struct held_request *next;

    for (struct held_request *h = TAILQ_FIRST(&j->held); h; h = next) {
        next = TAILQ_NEXT(h, entry);
        if ((node == JOB_ANY || h->from == node) && (procid == JOB_ANY || TAG_FROM(h->tag) == procid))
            drop_request(j, h);
    }
}

/* Answers a question about the standard input at once, or drops the one that is held. Returns false if the request is
 * no such question. */
static bool answers_poll(struct job *j, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    struct held_request *next;
    struct file_request r;

    if (TAG_TYPE(tag) != N_FPOLL || n < sizeof r)
        return false;
    memcpy(&r, bytes, sizeof r);
    if (r.sfid != SFID_STDIN || r.mode == FILE_POLL_HOLD)
        return false;
    for (struct held_request *h = TAILQ_FIRST(&j->held); h && r.mode == FILE_POLL_FORGET; h = next) {
        next = TAILQ_NEXT(h, entry);
        if (h->from == from && TAG_FROM(h->tag) == TAG_FROM(tag) && TAG_TYPE(h->tag) == N_FPOLL)
            drop_request(j, h);
    }
    bool ready = !is_held(j, STREAM_IN) && streams_answer_ready(&j->streams, STREAM_IN, r.bytes);
    const struct file_reply reply = {r.seq, r.mode == FILE_POLL_NOW && ready};
    j->ops->send(j->ctx, from, TAG(N_REPLY(N_FPOLL), 0, TAG_FROM(tag)), &reply, sizeof reply);
    return true;
}

const char *job_receive_request(struct job *j, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    enum stream stream;
    size_t wanted_bytes;

    if (LIVES_IS_REQUEST(TAG_TYPE(tag)))
        return lives_request(j->lives, from, tag, bytes, n);
    if (TAG_TYPE(tag) == N_FEXIT)
        job_drop_requests(j, from, TAG_FROM(tag));
    if (answers_poll(j, from, tag, bytes, n))
        return NULL;
    if (!is_for_stream(TAG_TYPE(tag), bytes, n, &stream, &wanted_bytes))
        return answer(j, from, tag, bytes, n);
    if (stream == STREAM_IN)
        lines_flush(&j->lines, from); /* a question comes before its answer */
    if (is_held(j, stream) || !streams_answer_ready(&j->streams, stream, wanted_bytes))
        return hold(j, from, tag, stream, wanted_bytes, bytes, n);
    return answer(j, from, tag, bytes, n);
}

static void answer_held(struct job *j, struct held_request *h)
{
    answer(j, h->from, h->tag, h->bytes, h->n);
    drop_request(j, h);
}

void job_resume(struct job *j)
{
    bool waits[STREAMS] = {false};
    struct held_request *next;
    uint32_t place = 0;

    streams_drain(&j->streams);
    for (struct held_request *h = TAILQ_FIRST(&j->held); h; h = next) {
        next = TAILQ_NEXT(h, entry);
        waits[h->stream] = waits[h->stream] || !streams_ready(&j->streams, h->stream, h->wanted_bytes);
        if (waits[h->stream]) {
            place++;
            continue;
        }
        if (j->ops->resumes)
            j->ops->resumes(j->ctx, j->id, place);
        answer_held(j, h);
    }
}

bool job_resume_at(struct job *j, uint32_t place)
{
    struct held_request *h = TAILQ_FIRST(&j->held);

    while (h && place-- > 0)
        h = TAILQ_NEXT(h, entry);
    if (h)
        answer_held(j, h);
    return h;
}

bool job_holds_requests(const struct job *j)
{
    return !TAILQ_EMPTY(&j->held);
}

size_t job_poll_streams(const struct job *j, struct pollfd *p)
{
    size_t n = 0;

    if (is_held(j, STREAM_IN))
        p[n++] = (struct pollfd){.fd = j->streams.fd[STREAM_IN], .events = POLLIN};
    for (int which = STREAM_OUT; which <= STREAM_ERR; which++)
        if (streams_holds_back(&j->streams, which))
            p[n++] = (struct pollfd){.fd = j->streams.fd[which], .events = POLLOUT};
    return n;
}
