/*
 * Collective requests at a server, message by message: who waits for whom, what the file has then, how many commands
 * the drive gets, members that end or leave in the middle, and servers without memory for requests that wait.
 */
#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

#include "nsdisk/clusterfile/clf_server.h"
#include "tests/libpio/clf_world.h"
#include "vertex/contract/errors.h"

TestSuite(clf_rounds, .timeout = 120);

#define MEMBERS 5
#define BLOCK   7    /* bytes of a member, one after the other */
#define EACH    7000 /* of a member in all */
#define GROUP   ((uint64_t)9 << 32)

static struct clf_open *file[MEMBERS];
static enum clf_turn turn_of = CLF_TURN; /* of what is posted */

/* Member i sees every fifth block of seven bytes. */
static void open_members(void)
{
    for (int i = 0; i < MEMBERS; i++) {
        struct pattern *p = NULL, *view = NULL;
        uint8_t packed[256];
        char why[PATTERN_WHY_BYTES];

        clf_node = 10 + i;
        cr_assert_eq(clf_file_open("/r", N_O_RDWR | N_O_CREAT, 0640, NULL, &file[i]), 0);
        cr_assert_eq(pattern_parse("cyclic 7 5", &p, why), 0, "%s", why);
        const int64_t n = pattern_pack(p, i, packed, sizeof packed);
        cr_assert_eq(pattern_unpack(packed, (size_t)n, &view), 0);
        pattern_free(p);
        cr_assert_eq(clf_view_set(file[i], view), 0);
        cr_assert_eq(clf_sight_all(file[i]->layout, file[i]->sight), 0); /* as a member does */
        for (uint32_t p = 0; p < file[i]->layout->parts; p++)
            file[i]->part[p].wanted = true;
        cr_assert_eq(clf_sight_tell(file[i], file[i]->sight), 0);
        struct clf_question q = clf_part_question(file[i], 0, N_CLF_GROUP);
        q.r.handle = GROUP;
        q.r.offset = (uint64_t)i;
        cr_assert_eq(clf_ask(&q, 1), 0);
        q.r.handle = GROUP + 1;
        cr_expect_eq(clf_ask(&q, 1), -N_EINVAL, "it is in a group");
    }
}

static void close_members(void)
{
    for (int i = 0; i < MEMBERS; i++) {
        clf_node = 10 + i;
        clf_file_close(file[i]);
    }
}

static uint8_t byte_of(int member, int at)
{
    return (uint8_t)(member * 50 + at % 47);
}

/* Posts a member's collective request. Returns its number in the lab. */
static uint32_t post(int member, int type, int bytes)
{
    static uint8_t message[sizeof(struct clf_request) + EACH];
    struct clf_question q = clf_part_question(file[member], 0, type);
    const bool writes = type == N_CLF_WRITE;

    q.r.op = (uint16_t)turn_of;
    q.r.view = file[member]->sight->number;
    q.r.bytes = (uint32_t)bytes;
    memcpy(message, &q.r, sizeof q.r);
    for (int i = 0; i < bytes && writes; i++)
        message[sizeof q.r + (size_t)i] = byte_of(member, i);
    return lab_send(&clf_lab, 10 + member, type, message, sizeof q.r + (writes ? (size_t)bytes : 0));
}

static void read_alone(int member, int bytes)
{
    uint8_t got[EACH];

    clf_node = 10 + member;
    cr_assert_eq(clf_move(file[member], false, got, (uint64_t)bytes, 0), bytes);
    for (int i = 0; i < bytes; i++)
        cr_assert_eq(got[i], byte_of(member, i), "member %d, byte %d", member, i);
}

static uint32_t commands;
static void count(uint32_t drive, int type)
{
    (void)drive;
    commands += type == N_CLF_READ || type == N_CLF_WRITE;
}

static void script(struct lab *lab)
{
    uint32_t number[MEMBERS];

    open_members();
    lab->drives.starts = count;
    for (int turn = 0; turn < 3; turn++) { /* two writes, of which the first makes the file's blocks, and a read */
        const int type = turn < 2 ? N_CLF_WRITE : N_CLF_READ;

        commands = 0;
        for (int i = MEMBERS - 1; i >= 0; i--) {
            number[i] = post(i, type, EACH);
            cr_expect(i == 0 || !lab_answered(lab, number[i]), "member %d does not wait", i);
        }
        for (int i = 0; i < MEMBERS; i++) {
            cr_assert_eq(lab_wait(lab, number[i]), EACH);
            for (int at = 0; at < EACH && type == N_CLF_READ; at++)
                cr_assert_eq(lab->payload[at], byte_of(i, at), "member %d reads, byte %d", i, at);
        }
        cr_expect(turn == 0 || commands <= 2, "%u commands for 9 blocks, turn %d", commands, turn);
    }
    /* A member has nothing, another one a part. */
    for (int i = 0; i < MEMBERS; i++)
        number[i] = post(i, N_CLF_READ, i == 1 ? 0 : i == 3 ? 100 : EACH);
    for (int i = 0; i < MEMBERS; i++)
        cr_assert_eq(lab_wait(lab, number[i]), i == 1 ? 0 : i == 3 ? 100 : EACH);
    /* A second request, and one of another kind. */
    number[0] = post(0, N_CLF_READ, 10);
    cr_expect_eq(lab_wait(lab, post(0, N_CLF_READ, 10)), -N_EINVAL);
    cr_expect_eq(lab_wait(lab, post(1, N_CLF_WRITE, 10)), -N_EINVAL);
    /* One leaves, one ends, one closes: the others go on. */
    number[1] = post(1, N_CLF_READ, 10);
    struct clf_question q = clf_part_question(file[2], 0, N_CLF_GROUP);
    clf_node = 12;
    cr_assert_eq(clf_ask(&q, 1), 0);
    cr_expect(!lab_answered(lab, number[0]));
    lab_end_client(lab, 13);
    cr_expect(!lab_answered(lab, number[0]));
    clf_node = 14;
    clf_file_close(file[4]);
    cr_assert_eq(lab_wait(lab, number[0]), 10, "status %d", lab->head.status);
    cr_assert_eq(lab_wait(lab, number[1]), 10);
    cr_expect_eq(lab_wait(lab, post(2, N_CLF_READ, 10)), -N_EINVAL, "it has left");
    read_alone(2, EACH);
    /* One ends while its own request waits; it is the other's turn then. */
    post(1, N_CLF_WRITE, 10);
    lab_end_client(lab, 11);
    number[0] = post(0, N_CLF_READ, 10);
    cr_assert_eq(lab_wait(lab, number[0]), 10);
    clf_file_forked(file[1]);
    clf_file_forked(file[3]);
    file[4] = NULL;
    clf_node = 13;
    cr_assert_eq(clf_file_open("/r", N_O_RDWR, 0, NULL, &file[4]), 0);
    close_members();
}

Test(clf_rounds, members_wait_for_each_other_and_move_each_block_once)
{
    lab_make(&clf_lab, 4096, 0);
    cr_assert(lab_run(&clf_lab, script), "%s", clf_lab.log);
    cr_expect_eq(lab_fsck(&clf_lab, "-fn"), 0);
    lab_free(&clf_lab);
}

/* What waits when the server shuts down is answered. */
static void stop(struct lab *lab)
{
    (void)lab;
    open_members();
    post(0, N_CLF_WRITE, 100);
    post(1, N_CLF_WRITE, 100);
}

Test(clf_rounds, what_waits_at_the_shutdown_is_answered)
{
    lab_make(&clf_lab, 4096, 96);
    cr_assert(lab_run(&clf_lab, stop), "%s", clf_lab.log);
    cr_expect_eq(lab_fsck(&clf_lab, "-fn"), 0);
    lab_free(&clf_lab);
}

static uint32_t who_has_ended(int member)
{
    uint32_t ended = 99;
    struct clf_question q = clf_part_question(file[member], 0, N_CLF_GROUP);

    clf_node = 10 + member;
    q.r.op = 1;
    q.r.handle = GROUP;
    q.head = &ended;
    q.head_bytes = sizeof ended;
    cr_assert_eq(clf_ask(&q, 1), 0);
    return ended;
}

/* Member 0 needs one request, the others two: it is done, and its next one belongs to the next call. */
static void calls(struct lab *lab)
{
    uint32_t number[MEMBERS], next;

    open_members();
    turn_of = CLF_TURN_LAST;
    number[0] = post(0, N_CLF_WRITE, 100);
    turn_of = CLF_TURN;
    for (int i = 1; i < MEMBERS; i++)
        number[i] = post(i, N_CLF_WRITE, 100);
    for (int i = 0; i < MEMBERS; i++)
        cr_assert_eq(lab_wait(lab, number[i]), 100);
    turn_of = CLF_TURN_LAST;
    next = post(0, N_CLF_READ, 10); /* of another kind, too */
    for (int i = 1; i < MEMBERS; i++) {
        cr_expect(!lab_answered(lab, next));
        number[i] = post(i, N_CLF_WRITE, 200);
    }
    for (int i = 1; i < MEMBERS; i++)
        cr_assert_eq(lab_wait(lab, number[i]), 200);
    cr_expect(!lab_answered(lab, next), "the next call begins with all members");
    for (int i = 1; i < MEMBERS - 1; i++)
        number[i] = post(i, N_CLF_READ, 10);
    cr_expect(!lab_answered(lab, next));
    cr_expect_eq(who_has_ended(0), 0);
    lab_end_client(lab, 14); /* before it has made the call */
    cr_expect_eq(who_has_ended(0), 5);
    cr_assert_eq(lab_wait(lab, next), 10);
    for (int i = 1; i < MEMBERS - 1; i++)
        cr_assert_eq(lab_wait(lab, number[i]), 10);
    /* One ends whose request waits for the next call. */
    turn_of = CLF_TURN_LAST;
    number[0] = post(0, N_CLF_READ, 10);
    turn_of = CLF_TURN;
    for (int i = 1; i < 4; i++)
        number[i] = post(i, N_CLF_READ, 10);
    for (int i = 0; i < 4; i++)
        cr_assert_eq(lab_wait(lab, number[i]), 10);
    post(0, N_CLF_READ, 10);
    lab_end_client(lab, 10);
    for (int i = 1; i < 4; i++)
        number[i] = post(i, N_CLF_READ, 10);
    for (int i = 1; i < 4; i++)
        cr_assert_eq(lab_wait(lab, number[i]), 10);
    clf_file_forked(file[0]);
    clf_file_forked(file[4]);
    close_members();
}

Test(clf_rounds, who_is_done_with_a_call_is_not_waited_for_and_does_not_begin_the_next_one)
{
    lab_make(&clf_lab, 4096, 0);
    cr_assert(lab_run(&clf_lab, calls), "%s", clf_lab.log);
    cr_expect_eq(lab_fsck(&clf_lab, "-fn"), 0);
    lab_free(&clf_lab);
}

/* ---- Servers without memory ---- */

static uint32_t records_most = UINT32_MAX; /* for which there is memory */

struct clf_record *__real_clf_record_new(struct clf_server *clf, const struct clf_request *r, const struct arrival *a);
struct clf_record *__wrap_clf_record_new(struct clf_server *clf, const struct clf_request *r, const struct arrival *a);

struct clf_record *__wrap_clf_record_new(struct clf_server *clf, const struct clf_request *r, const struct arrival *a)
{
    const struct clf_record *record;
    uint32_t n = 0;

    LIST_FOREACH(record, &clf->records, all)
        n++;
    return n < records_most ? __real_clf_record_new(clf, r, a) : NULL;
}

static void expect_all(struct lab *lab, const uint32_t *number, int first, int bytes)
{
    for (int i = first; i < MEMBERS; i++)
        cr_expect_eq(lab_wait(lab, number[i]), bytes, "member %d: %d", i, lab->head.status);
}

/* Three requests of five members have room, then none. */
static void without_memory(struct lab *lab)
{
    uint32_t number[MEMBERS], next, again;

    open_members();
    turn_of = CLF_TURN_LAST;
    records_most = 3;
    for (int i = 0; i < 4; i++)
        number[i] = post(i, N_CLF_WRITE, EACH);
    cr_expect(lab_answered(lab, number[0]) && lab_answered(lab, number[2]), "the fourth has them carried out");
    cr_expect(!lab_answered(lab, number[3]));
    next = post(0, N_CLF_WRITE, 100);
    cr_expect(!lab_answered(lab, next), "it is of the next call");
    number[4] = post(4, N_CLF_WRITE, EACH);
    expect_all(lab, number, 0, EACH);
    records_most = 0;
    number[1] = post(1, N_CLF_WRITE, 100);
    cr_expect_eq(lab_wait(lab, number[1]), 100, "it is carried out where it is");
    cr_expect_eq(lab_wait(lab, next), 100);
    next = post(0, N_CLF_READ, 10);
    again = post(0, N_CLF_READ, 10);
    cr_expect_eq(lab_wait(lab, again), -N_EINVAL, "one waits already");
    post(1, N_CLF_READ, 10);
    lab_end_client(lab, 11); /* nobody is told to send it again */
    for (int i = 2; i < MEMBERS; i++) {
        cr_expect(!lab_answered(lab, next), "the call has not ended");
        number[i] = post(i, N_CLF_WRITE, 200);
    }
    expect_all(lab, number, 2, 200);
    cr_expect_eq(lab_wait(lab, next), -N_EAGAIN, "status %d", lab->head.status);
    number[1] = post(0, N_CLF_READ, 10);
    for (int i = 2; i < MEMBERS; i++)
        number[i] = post(i, N_CLF_READ, 10);
    expect_all(lab, number, 1, 10);
    next = post(0, N_CLF_READ, 10);
    cr_expect_eq(lab_wait(lab, next), 10);
    next = post(0, N_CLF_READ, 10); /* waits for the next call when the server shuts down */
    records_most = UINT32_MAX;
    clf_file_forked(file[1]);
    for (int i = 2; i < MEMBERS; i++)
        read_alone(i, EACH);
}

Test(clf_rounds, a_server_without_memory_refuses_nobody_and_keeps_nobody_waiting)
{
    lab_make(&clf_lab, 4096, 0);
    cr_assert(lab_run(&clf_lab, without_memory), "%s", clf_lab.log);
    cr_expect_eq(lab_fsck(&clf_lab, "-fn"), 0);
    lab_free(&clf_lab);
}

/* ---- Power cuts ---- */

static uint32_t cut; /* writes of the drives before it */
static bool synced;

/* The members write together, with write-back, from when on the drives do only so many writes; then one syncs. */
static void write_until_cut(struct lab *lab)
{
    uint32_t number[MEMBERS];
    int64_t size;

    open_members();
    clf_node = 10;
    cr_assert_eq(clf_file_size(file[0], &size), 0); /* attaches all parts */
    cr_assert_eq(clf_file_sync(file[0]), 0);
    lab->writes_left = cut;
    turn_of = CLF_TURN_LAST;
    for (int i = 0; i < MEMBERS; i++)
        number[i] = post(i, N_CLF_WRITE, EACH);
    for (int i = 0; i < MEMBERS; i++)
        cr_expect(lab_wait(lab, number[i]) == EACH || lab->lost, "cut %u: member %d: %d", cut, i, lab->head.status);
    clf_node = 10;
    synced = clf_file_sync(file[0]) == 0 && !lab->lost;
    close_members();
}

/* What was synced is there; of the rest, each byte is right or has never been written. */
static void find_written(struct lab *lab)
{
    (void)lab;
    open_members();
    for (int i = 0; i < MEMBERS; i++) {
        uint8_t got[EACH];

        clf_node = 10 + i;
        const int64_t n = clf_move(file[i], false, got, EACH, 0);
        cr_expect(n == EACH || (n >= 0 && !synced), "cut %u: member %d: %d", cut, i, (int)n);
        for (int at = 0; at < n; at++)
            cr_assert(got[at] == byte_of(i, at) || (got[at] == 0 && !synced), "cut %u: member %d, byte %d", cut, i, at);
    }
    close_members();
}

Test(clf_rounds, what_was_synced_survives_a_power_cut_at_any_write)
{
    uint32_t lost = 0;

    for (cut = 0, synced = false; !synced; cut++) {
        lab_make(&clf_lab, 4096, 96);
        lab_run(&clf_lab, write_until_cut);
        lost += clf_lab.lost;
        lab_power(&clf_lab);
        cr_expect_leq(lab_fsck(&clf_lab, "-fy"), 1, "cut %u", cut);
        cr_assert(lab_run(&clf_lab, find_written), "cut %u: %s", cut, clf_lab.log);
        cr_expect_eq(lab_fsck(&clf_lab, "-fn"), 0, "cut %u", cut);
        lab_free(&clf_lab);
    }
    cr_expect_gt(lost, 3, "%u cuts", lost);
}
