/*
 * Random requests of Clusterfile's family, right more often than not, from several clients that end at random, in
 * groups too: each is answered once, or its client has ended; whatever waits is answered at the shutdown; and the
 * volumes are whole then. Damaged messages are refused. Servers have memory for requests, or only now and then.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "nsdisk/clusterfile/clf_server.h"
#include "tests/libpio/random_pattern.h"
#include "tests/nsdisk/cfs_lab.h"
#include "vertex/contract/clusterfile.h"
#include "vertex/contract/errors.h"
#include "libpio/map/pattern.h"

TestSuite(clf_requests, .timeout = 300);

enum { CLIENTS = 4, ATTACHED = 12, UNDER_WAY = 20, REQUESTS = 4000, DATA_MOST = 9000 };

static struct lab lab;
static uint64_t state;
static struct {
    uint32_t id, drive;
    int client;
} attached[ATTACHED];
static struct {
    uint32_t number;
    int client, type, place; /* place: of an attachment that it asks for; -1 */
} under_way[UNDER_WAY];
static int waiting;
static uint32_t answered, refused, moved;

static uint32_t below(uint32_t n)
{
    return random_below(&state, n);
}

static bool lacks_memory;

struct clf_record *__real_clf_record_new(struct clf_server *clf, const struct clf_request *r, const struct arrival *a);
struct clf_record *__wrap_clf_record_new(struct clf_server *clf, const struct clf_request *r, const struct arrival *a);

struct clf_record *__wrap_clf_record_new(struct clf_server *clf, const struct clf_request *r, const struct arrival *a)
{
    return lacks_memory && below(2) == 0 ? NULL : __real_clf_record_new(clf, r, a);
}

/* ---- Messages ---- */

static uint32_t put_name(struct clf_request *r, uint8_t *at)
{
    static const char *const names[] = {"/a", "/b", "/f", "/f/a", "/", "/.clf/1.1", "/f/../a", "x"};
    static const char layout[] = "clf 1\nage 0\npattern cyclic 1000 2\nstripe 500\nvolumes v0 v1 v2\nend\n";
    const char *name = names[below(sizeof names / sizeof *names)], *second = names[below(3)];

    r->op = (uint16_t)below(CLF_NAME_OPS + 1);
    r->offset = r->op == CLF_NAME_OPEN ? (uint64_t)0640 << 32 | (below(4) ? N_O_CREAT : 0) : below(3) * 4096;
    r->bytes = (uint32_t)strlen(name);
    memcpy(at, name, r->bytes);
    if (r->op == CLF_NAME_OPEN)
        second = layout;
    r->second = r->op == CLF_NAME_OPEN || r->op == CLF_NAME_RENAME ? (uint16_t)strlen(second) : 0;
    memcpy(at + r->bytes, second, r->second);
    return r->bytes + r->second;
}

static uint32_t put_view(struct clf_request *r, uint8_t *at)
{
    struct pattern *p = random_pattern(&state, 3000, true);
    const int64_t n = pattern_pack(p, (int32_t)below((uint32_t)p->elements), at, DATA_MOST);

    pattern_free(p);
    r->view = (uint16_t)below(CLF_VIEWS + 2);
    r->bytes = n > 0 && n <= DATA_MOST ? (uint32_t)n : 0;
    if (r->bytes > 0 && below(6) == 0)
        at[below(r->bytes)] ^= (uint8_t)(1 << below(8));
    return r->bytes;
}

static uint32_t put_list(struct clf_request *r, uint8_t *at)
{
    r->view = CLF_VIEW_LIST;
    r->second = (uint16_t)(1 + below(5));
    r->bytes = 0;
    for (uint32_t i = 0; i < r->second; i++) {
        const struct clf_list_place place = {below(40000), below(40) == 0 ? below(UINT32_MAX) : 0, 1 + below(300)};

        memcpy(at + i * sizeof place, &place, sizeof place);
        r->bytes += place.bytes;
    }
    return r->second * (uint32_t)sizeof(struct clf_list_place);
}

static uint32_t put_access(struct clf_request *r, bool writes, uint8_t *at)
{
    uint32_t n = 0;

    r->op = below(3) == 0 ? (uint16_t)below(CLF_TURNS + 1) : CLF_ALONE;
    r->view = (uint16_t)below(CLF_VIEWS + 1);
    r->offset = below(50) == 0 ? (uint64_t)below(UINT32_MAX) << 20 : below(30000);
    r->bytes = below(DATA_MOST - 1000);
    if (below(6) == 0)
        n = put_list(r, at);
    return n + (writes ? r->bytes : 0);
}

/* What is behind a request. Returns its bytes. */
static uint32_t fill_request(struct clf_request *r, int type, uint8_t *at)
{
    switch (type) {
    case N_CLF_NAME:
        return put_name(r, at);
    case N_CLF_VIEW:
        return put_view(r, at);
    case N_CLF_READ:
    case N_CLF_WRITE:
        return put_access(r, type == (int)N_CLF_WRITE, at);
    case N_CLF_SIZE:
        r->op = (uint16_t)below(3);
        r->offset = below(20000);
        return 0;
    case N_CLF_GROUP:
        r->handle = below(3);
        r->op = below(8) == 0;
        return 0;
    default:
        r->handle = CLF_HANDLE(12 + below(3), 1 + below(2));
        r->part = CLF_PART(below(3), below(2) ? CLF_WHOLE : below(3));
        return 0;
    }
}

/* ---- Sending ---- */

static void take(int i)
{
    const int32_t status = lab_wait(&lab, under_way[i].number);
    struct clf_attached a;

    answered++;
    refused += status < 0;
    moved += status > 0 && (under_way[i].type == (int)N_CLF_READ || under_way[i].type == (int)N_CLF_WRITE);
    if (status >= 0 && under_way[i].place >= 0) {
        memcpy(&a, lab.payload, sizeof a);
        attached[under_way[i].place].id = a.attachment;
        attached[under_way[i].place].client = under_way[i].client;
    }
    under_way[i] = under_way[--waiting];
}

/* Takes what is answered; where nothing is, a client ends: the others do not wait for it. */
static void make_room(void)
{
    for (int i = waiting - 1; i >= 0; i--)
        if (lab_answered(&lab, under_way[i].number))
            take(i);
    while (waiting == UNDER_WAY || (waiting > 0 && below(40) == 0)) {
        const int client = under_way[below((uint32_t)waiting)].client;

        lab_end_client(&lab, client);
        for (int i = waiting - 1; i >= 0; i--)
            if (under_way[i].client == client)
                under_way[i] = under_way[--waiting];
    }
}

static void send_one(void)
{
    static uint8_t message[sizeof(struct clf_request) + 2 * DATA_MOST];
    static const int often[] = {N_CLF_ATTACH, N_CLF_VIEW, N_CLF_READ, N_CLF_WRITE, N_CLF_WRITE, N_CLF_GROUP};
    int type = below(4) ? often[below(6)] : (int)N_CLF_NAME + (int)below(10), client = 10 + (int)below(CLIENTS);
    const uint32_t place = below(ATTACHED);
    struct clf_request r = {.drive = (uint16_t)below(LAB_DISKS), .attachment = attached[place].id};

    if (attached[place].id != 0 && type != (int)N_CLF_ATTACH) {
        r.drive = (uint16_t)attached[place].drive;
        client = below(20) ? attached[place].client : client;
    }
    if (type == (int)N_CLF_ATTACH)
        attached[place].drive = r.drive;
    uint32_t n = (uint32_t)sizeof r + fill_request(&r, type, message + sizeof r);
    memcpy(message, &r, sizeof r);
    if (below(30) == 0)
        message[4 + below((uint32_t)sizeof r - 4)] ^= (uint8_t)(1 << below(8));
    if (below(60) == 0)
        n = 4 + below(n - 4);
    under_way[waiting].number = lab_send(&lab, client, type, message, n);
    under_way[waiting].client = client;
    under_way[waiting].type = type;
    under_way[waiting++].place = type == (int)N_CLF_ATTACH ? (int)place : -1;
}

static void script(struct lab *of)
{
    (void)of;
    for (int i = 0; i < REQUESTS; i++) {
        send_one();
        make_room();
    }
}

Test(clf_requests, random_ones_are_answered_and_leave_whole_volumes)
{
    for (uint32_t seed = 1; seed <= 5; seed++) {
        state = seed;
        lacks_memory = seed > 3;
        waiting = 0;
        answered = refused = moved = 0;
        memset(attached, 0, sizeof attached);
        lab_make(&lab, 8192, seed == 1 || seed == 4 ? 0 : 96 * seed);
        cr_expect(lab_run(&lab, script), "seed %u: %s", seed, lab.log);
        cr_expect_eq(lab_fsck(&lab, "-fn"), 0, "seed %u", seed);
        cr_expect(answered > REQUESTS / 2 && refused > REQUESTS / 20 && moved > REQUESTS / 20,
                  "seed %u: %u answered, %u refused, %u moved bytes", seed, answered, refused, moved);
        lab_free(&lab);
    }
}
