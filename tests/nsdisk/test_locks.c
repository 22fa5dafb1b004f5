/* Those who wait for a lock of a volume (nsdisk/serve/volume_locks.h) get it in their order, and nobody gets what
 * nobody can give back. */
#include <criterion/criterion.h>
#include <string.h>

#include "nsdisk/serve/volume_locks.h"
#include "tests/nsdisk/volume.h"
#include "vertex/contract/system.h"

#define CLIENTS 8 /* processes 1 of the nodes 1 to 7 */

static struct volume v;
static struct replies replies;
static uint64_t has[CLIENTS];  /* the SFID of a client's lock; 0: none */
static int answers[CLIENTS];   /* replies to its requests for one */
static int32_t last[CLIENTS];  /* status of its last one */
static int order[32], granted; /* clients that got a lock, in order */

/* Where replies really go. */
static void take(void *ctx, int to, int type, const void *reply, size_t n)
{
    int client = to & 0xffff;
    struct file_opened opened;

    (void)ctx;
    cr_assert_eq(to >> 16, 1, "the process is 1");
    memcpy(&last[client], (const uint8_t *)reply + 4, 4);
    if (type != (int)N_FOPEN)
        return;
    answers[client]++;
    if (last[client] < 0)
        return;
    cr_assert_eq(n, sizeof(struct file_reply) + sizeof opened);
    memcpy(&opened, (const uint8_t *)reply + sizeof(struct file_reply), sizeof opened);
    has[client] = opened.sfid;
    order[granted++] = client;
}

/* Whether a reply is held back. */
static bool holds(void)
{
    return replies.reply == held_reply;
}

static void set_up(void)
{
    volume_make(&v, 1024, 2048, "");
    volume_mount(&v);
    v.procid = 1;
    serve_hold_replies(v.server, &replies, take, NULL);
    memset(has, 0, sizeof has);
    memset(answers, 0, sizeof answers);
    granted = 0;
}

static void tear_down(void)
{
    cr_assert_eq(volume_unmount(&v), 0);
    cr_assert_eq(volume_fsck(&v, "-fn"), 0);
    volume_free(&v);
}

TestSuite(locks, .init = set_up, .fini = tear_down);

/* As a service does. */
static void request(int client, uint32_t type, struct file_request r, const char *name)
{
    v.client = (uint32_t)client;
    volume_request(&v, type, r, name, NULL, NULL);
    replies.reply(replies.ctx, client | 1 << 16, (int)type, v.reply, v.reply_bytes);
}

static void lock(int client, uint32_t number)
{
    request(client, N_FOPEN, (struct file_request){.flags = N_O_LOCK, .mode = number}, "/");
}

static void forget(int client, uint32_t number)
{
    request(client, N_FOPEN, (struct file_request){.flags = N_O_LOCK | N_O_EXCL, .mode = number}, "/");
}

static void unlock(int client)
{
    uint64_t sfid = has[client];

    has[client] = 0;
    request(client, N_FCLOSE, (struct file_request){.sfid = sfid}, NULL);
    cr_assert_eq(last[client], 0);
}

/* Clients 1 2 3 ... in the order in which they got locks, as digits. */
static int got(void)
{
    int digits = 0;

    for (int i = 0; i < granted; i++)
        digits = 10 * digits + order[i];
    return digits;
}

Test(locks, are_given_in_order_of_arrival)
{
    for (int client = 1; client <= 7; client++)
        lock(client, 5);
    cr_expect_eq(got(), 1);
    for (int client = 1; client <= 7; client++) {
        cr_expect_eq(holds(), client < 7);
        unlock(client);
    }
    cr_expect_eq(got(), 1234567);
}

Test(locks, of_all_names_wait_for_each_and_keep_later_ones_waiting)
{
    lock(1, 5);
    lock(2, 6);
    lock(3, 0);
    lock(4, 5);
    lock(5, 7);
    cr_expect_eq(got(), 12, "what comes later does not pass by");
    unlock(1);
    cr_expect_eq(got(), 12);
    unlock(2);
    cr_expect_eq(got(), 123);
    unlock(3);
    cr_expect_eq(got(), 12345, "two at once");
    cr_expect_not(holds());
    unlock(4);
    unlock(5);
}

Test(locks, of_clients_that_end_are_given_on)
{
    lock(1, 5);
    lock(2, 5);
    lock(3, 5);
    request(2, N_FEXIT, (struct file_request){0}, NULL);
    cr_expect_eq(got(), 1);
    request(1, N_FEXIT, (struct file_request){0}, NULL);
    cr_expect_eq(got(), 13, "the one that waited and has ended gets none");
    cr_expect_eq(answers[2], 0);
    unlock(3);
}

Test(locks, that_are_no_longer_wanted_go_to_the_next)
{
    lock(1, 5);
    lock(2, 5);
    lock(3, 5);
    forget(2, 5);
    cr_expect_eq(last[2], -N_EAGAIN);
    unlock(1);
    cr_expect_eq(got(), 13);
    lock(4, 5);
    forget(3, 5); /* it was under way when the client gave up */
    cr_expect_eq(got(), 134);
    forget(4, 6);
    lock(5, 5);
    cr_expect_eq(got(), 134, "another number");
    unlock(4);
    unlock(5);
    cr_expect_not(holds());
}

Test(locks, that_are_waited_for_at_the_end_of_the_service_leave_nothing)
{
    lock(1, 5);
    lock(2, 5);
    lock(3, 0);
    cr_expect(holds());
}

/* Any sequence: no two that exclude each other, no one waits for nothing, each is answered once. */
Test(locks, exclude_each_other_in_any_sequence)
{
    uint64_t state = 7;
    uint32_t number[CLIENTS] = {0};
    bool waits[CLIENTS] = {false};

    for (int step = 0; step < 4000; step++) {
        int client = 1 + (int)(random_next(&state) % (CLIENTS - 1)), before = answers[client];

        granted = 0;
        if (has[client]) {
            unlock(client);
        } else if (!waits[client]) {
            number[client] = random_next(&state) % 4;
            waits[client] = true;
            lock(client, number[client]);
        } else if (random_next(&state) % 8 == 0) {
            request(client, N_FEXIT, (struct file_request){0}, NULL);
            waits[client] = false;
            cr_assert_eq(answers[client], before);
        }
        for (int i = 0; i < granted; i++)
            waits[order[i]] = false;
        int owners = 0, waiting = 0;
        for (int a = 1; a < CLIENTS; a++) {
            owners += has[a] != 0;
            waiting += waits[a];
            for (int b = a + 1; b < CLIENTS; b++)
                cr_assert(!has[a] || !has[b] || (number[a] != number[b] && number[a] && number[b]), "step %d", step);
        }
        cr_assert(waiting == 0 || owners > 0, "step %d: %d wait for nothing", step, waiting);
        cr_assert_eq(holds(), waiting > 0);
    }
}
