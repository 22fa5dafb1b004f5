/*
 * Random requests to Clusterfile's servers, mostly right ones, from several clients that end in between: whatever
 * comes, each request is answered unless it waits for others or its client has ended, and e2fsck finds nothing.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/libpio/clf_world.h"
#include "tests/libpio/random_pattern.h"
#include "vertex/contract/errors.h"

TestSuite(clf_random, .timeout = 300);

#define CLIENTS 4
#define STEPS   2500
#define OPEN    24 /* requests under way at most */
#define DATA    3000

static uint64_t seed, seed_of_run;

static uint32_t below(uint32_t n)
{
    return random_below(&seed, n);
}

/* Attachments that there have been, most of which there are. */
static struct {
    uint32_t id;
    int from;
    uint16_t drive;
} attached[8];
static uint32_t attachments;

static void note_attachment(const struct lab *lab, int from, uint16_t drive)
{
    struct clf_attached a;

    memcpy(&a, lab->payload, sizeof a);
    attached[attachments % 8].id = a.attachment;
    attached[attachments % 8].from = from;
    attached[attachments++ % 8].drive = drive;
}

/* A view of blocks, whose numbers are mostly right. */
static size_t put_view(uint8_t *to)
{
    const int64_t period = 1 + below(500), length = 1 + below((uint32_t)period);
    int64_t packed[] = {below(3000), period, 1, 0, length, period, 1, 0};

    if (below(6) == 0)
        packed[below(8)] = (int64_t)below(UINT32_MAX) << below(32);
    memcpy(to, packed, sizeof packed);
    return below(8) == 0 ? 0 : sizeof packed;
}

/* A list of places. Its bytes. */
static uint32_t put_list(uint8_t *to, uint32_t places)
{
    uint32_t bytes = 0;

    for (uint32_t i = 0; i < places; i++) {
        const struct clf_list_place place = {below(40000), below(50) == 0, 1 + below(20)};

        memcpy(to + i * sizeof place, &place, sizeof place);
        bytes += place.bytes;
    }
    return bytes;
}

static size_t make_access(int type, struct clf_request *r, uint8_t *data)
{
    size_t lists = 0;

    r->bytes = 1 + below(DATA);
    r->view = (uint16_t)below(3);
    r->op = (uint16_t)(below(3) > 0 ? below(CLF_TURNS) : CLF_ALONE);
    if (below(3) == 0) {
        r->view = CLF_VIEW_LIST;
        r->second = (uint16_t)below(70);
        lists = r->second * sizeof(struct clf_list_place);
        r->bytes = put_list(data, r->second);
    }
    if (r->op != CLF_ALONE && below(4) == 0 && lists == 0)
        r->bytes = 0;
    return lists + (type == N_CLF_WRITE ? r->bytes : 0);
}

/* Returns the bytes behind the request. */
static size_t make_request(int type, int *from, struct clf_request *r, uint8_t *data)
{
    static const char name[] = "/a";
    const uint32_t i = below(8);

    *r = (struct clf_request){.drive = attached[i].drive, .attachment = attached[i].id, .offset = below(20000)};
    if (type != N_CLF_ATTACH && attached[i].from > 0 && below(10) > 0)
        *from = attached[i].from;
    r->handle = CLF_HANDLE(2 + below(2), 7);
    switch (type) {
    case N_CLF_NAME:
        r->op = (uint16_t)below(CLF_NAME_OPS + 1);
        r->bytes = sizeof name - 1;
        memcpy(data, name, r->bytes);
        return r->bytes;
    case N_CLF_ATTACH:
        r->drive = (uint16_t)below(2);
        r->part = CLF_PART(0, below(3) == 0 ? below(2) : CLF_WHOLE);
        return 0;
    case N_CLF_FREE: /* what is removed stays removed */
        r->handle = CLF_HANDLE(2 + below(60), 7);
        return 0;
    case N_CLF_VIEW:
        r->view = (uint16_t)below(4);
        return r->bytes = (uint32_t)put_view(data);
    case N_CLF_READ:
    case N_CLF_WRITE:
        return make_access(type, r, data);
    case N_CLF_GROUP:
        r->handle = below(8) == 0 ? 0 : 1 + below(2);
        r->op = below(8) == 0;
        return 0;
    default:
        r->op = (uint16_t)below(2);
        return 0;
    }
}

/* Attachments and accesses are the most. */
static int draw_type(void)
{
    static const int types[] = {N_CLF_ATTACH, N_CLF_READ, N_CLF_READ,  N_CLF_WRITE,
                                N_CLF_WRITE,  N_CLF_VIEW, N_CLF_GROUP, N_CLF_GROUP};

    return below(3) > 0 ? types[below(sizeof types / sizeof *types)] : (int)(N_CLF_NAME + below(12));
}

static struct {
    uint32_t number;
    int from, type;
    uint16_t drive;
    bool waits; /* it is collective: others may have to come */
} under_way[OPEN];
static uint32_t n_under_way;
static uint32_t done[2]; /* accesses that have moved bytes: alone, collective */

static void drop(uint32_t i)
{
    under_way[i] = under_way[--n_under_way];
}

static void end_client(struct lab *lab, int from)
{
    for (uint32_t i = n_under_way; i > 0; i--)
        if (under_way[i - 1].from == from)
            drop(i - 1);
    lab_end_client(lab, from);
}

static void take_answers(struct lab *lab)
{
    for (uint32_t i = n_under_way; i > 0; i--) {
        bool answered = false;

        for (int tries = 0; tries < (under_way[i - 1].waits ? 1 : 100) && !answered; tries++)
            answered = lab_answered(lab, under_way[i - 1].number);

        cr_assert(answered || under_way[i - 1].waits,
                  "a request that waits for nobody is not answered: type %x, seed %d", (unsigned)under_way[i - 1].type,
                  (int)seed_of_run);
        if (answered) {
            const int32_t status = lab_wait(lab, under_way[i - 1].number);

            done[under_way[i - 1].waits] += status > 0;
            if (under_way[i - 1].type == N_CLF_ATTACH && status == 0)
                note_attachment(lab, under_way[i - 1].from, under_way[i - 1].drive);
            drop(i - 1);
        }
    }
}

static void send_one(struct lab *lab)
{
    static uint8_t message[sizeof(struct clf_request) + 2 * DATA];
    struct clf_request r;
    const int type = draw_type();
    int from = 10 + (int)below(CLIENTS);
    size_t n = sizeof r + make_request(type, &from, &r, message + sizeof r);

    memcpy(message, &r, sizeof r);
    if (below(20) == 0)
        n = 4 + below((uint32_t)n - 3);
    if (below(20) == 0)
        message[4 + below(36)] ^= (uint8_t)(1u << below(8));
    memcpy(&r, message, sizeof r);
    const bool access = type == N_CLF_READ || type == N_CLF_WRITE;
    under_way[n_under_way].from = from;
    under_way[n_under_way].type = type;
    under_way[n_under_way].drive = r.drive;
    under_way[n_under_way].waits = access && r.op != CLF_ALONE;
    under_way[n_under_way++].number = lab_send(lab, from, type, message, n);
}

static void script(struct lab *lab)
{
    n_under_way = attachments = 0;
    memset(attached, 0, sizeof attached);
    for (int step = 0; step < STEPS; step++) {
        send_one(lab);
        if (below(3) == 0)
            take_answers(lab);
        if (below(100) == 0)
            end_client(lab, 10 + (int)below(CLIENTS));
        if (n_under_way == OPEN)
            take_answers(lab);
        while (n_under_way > OPEN / 2)
            end_client(lab, under_way[0].from);
    }
    for (int i = 0; i < CLIENTS; i++)
        end_client(lab, 10 + i);
}

Test(clf_random, requests_are_answered_and_leave_whole_volumes)
{
    for (uint32_t i = 0; i < 6; i++) {
        seed = seed_of_run = 1000 + i;
        lab_make(&clf_lab, 8192, i % 2 * 96);
        cr_assert(lab_run(&clf_lab, script), "seed %u: %s", 1000 + i, clf_lab.log);
        cr_expect_eq(lab_fsck(&clf_lab, "-fn"), 0, "seed %u", 1000 + i);
        lab_free(&clf_lab);
    }
    cr_expect(done[0] > 300 && done[1] > 100, "%u and %u accesses have moved bytes", done[0], done[1]);
}
