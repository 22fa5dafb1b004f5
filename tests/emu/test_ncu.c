/*
 * The NCUs, without processors and without a scheduler: the test executes NCU instructions for the nodes, takes their
 * causes and runs the events. Times are those of net.h: 45 cycles a hop, 9 a byte.
 */
#include "emu/trace/trace.h"
#include "emu/model/ncu.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "emu/time/sched.h"
#include "tests/emu/image.h"
#include "tests/emu/machines.h"
#include "vertex/contract/system.h"

#define LOOKAHEAD_CYCLES 117u /* a hop and a header */
#define NODES_MAX        8u
#define RAM_BYTES        (1u << 20)
#define BUFFER           0x10000u /* node-physical */
#define CAUSES_KEPT      32u

static struct topo topo;
static struct eventq *queue;
static struct ncu *ncu;
static uint8_t *ram[NODES_MAX];
static struct disk *disks[2];
static char images[2][IMAGE_PATH_BYTES];
static uint64_t now;

/* ---- In place of the scheduler ---- */

void sched_wake(struct sched *s, uint32_t hart, uint64_t now_cycles)
{
    (void)s;
    (void)now_cycles;
    cr_assert_fail("no node is idle, but %u is woken", hart);
}

void sched_cause(struct sched *s, uint32_t hart, uint64_t now_cycles)
{
    (void)s;
    (void)hart;
    (void)now_cycles;
}

static void host_message(void *ctx, uint32_t from, uint32_t tag, const void *bytes, size_t n)
{
    (void)ctx;
    (void)tag;
    (void)bytes;
    (void)n;
    cr_assert_fail("node %u sends to the front end", from);
}

static void recovered(void *ctx)
{
    (void)ctx;
}

static void fault(void *ctx, uint32_t index, const char *text)
{
    (void)ctx;
    cr_assert_fail("node %u: %s", index, text);
}

static char failed_volume[VOLUME_NAME_BYTES];
static unsigned failures;

static void image_fails(void *ctx, const char *volume, int reason)
{
    (void)ctx;
    cr_expect_eq(reason, 0, "the image is shorter");
    strcpy(failed_volume, volume);
    failures++;
}

static const struct ncu_ops ops = {
    .host_message = host_message, .recovered = recovered, .fault = fault, .image_fails = image_fails};

/* ---- A machine ---- */

static bool no_broadcasts; /* of the next machine */
static const struct software_costs charges = {.compute = {1, 2, 3, 0}, .io = {4, 5, 6, 0}};

/* 2^dim compute nodes and one I/O node with two drives, whose index is 2^dim. */
static void make_machine(uint32_t dim, const struct fault *faults, uint32_t n)
{
    const uint32_t nodes = (1u << dim) + 1;

    topo = sandia_machine(dim, 1);
    topo.ram_bytes = RAM_BYTES;
    topo.no_broadcasts = no_broadcasts;
    topo.io[0].ndrives = 2;
    strcpy(topo.io[0].drive[0].volume, "df00");
    strcpy(topo.io[0].drive[1].volume, "df01");
    queue = eventq_new();
    ncu = ncu_new(&topo, queue, NULL, nodes, &ops, NULL, NULL, faults, n);
    ncu_set_software_costs(ncu, &charges);
    for (uint32_t i = 0; i < 2; i++) {
        char error[200];

        image_make(images[i], 4 << 20);
        cr_assert_eq(disk_open(&disks[i], images[i], disk_model_find("scsi-1990"), error, sizeof error), 0, "%s",
                     error);
    }
    for (uint32_t i = 0; i < nodes; i++) {
        ram[i] = calloc(1, RAM_BYTES);
        ncu_attach(ncu, i, i + 1 < nodes ? i : topo.io[0].node, ram[i], disks, 1);
    }
    now = 0;
}

static void free_machine(void)
{
    ncu_free(ncu);
    eventq_free(queue);
    for (uint32_t i = 0; i < 2; i++) {
        disk_close(disks[i]);
        unlink(images[i]);
    }
    for (uint32_t i = 0; i < NODES_MAX; i++)
        free(ram[i]);
    memset(ram, 0, sizeof ram);
    free(topo.io);
}

/* ---- Instructions ---- */

static struct ncu_mailbox *mailbox(uint32_t node)
{
    return (struct ncu_mailbox *)(ram[node] + NCU_MAILBOX_PA);
}

/* Runs all events up to a time. */
static void run_until(uint64_t cycles)
{
    while (eventq_next(queue) <= cycles && eventq_next(queue) != EVENTQ_NEVER) {
        now = eventq_next(queue);
        eventq_run_one(queue);
    }
    now = cycles == EVENTQ_NEVER ? now : cycles;
}

static void run(void)
{
    run_until(EVENTQ_NEVER);
}

static void send_to(uint32_t node, uint64_t dest, uint32_t tag, uint64_t bytes)
{
    ncu_execute(ncu, node, NCU_SEND, (uint64_t[NCU_ARGS]){dest, BUFFER, bytes, tag, tag, NCU_VIA_NEAREST}, now);
}

static void arm(uint32_t node, uint32_t channel)
{
    ncu_execute(ncu, node, NCU_ARM, (uint64_t[NCU_ARGS]){channel, BUFFER, 4096}, now);
}

static void read_drive(uint32_t node, uint32_t drive)
{
    ncu_execute(ncu, node, NCU_DISK, (uint64_t[NCU_ARGS]){drive, 0, 0, 16, BUFFER, drive}, now);
}

/* All causes that the node has not taken, or the ends of its sends. Returns their number. */
static uint32_t take(uint32_t node, enum ncu_op op, struct ncu_cause cause[CAUSES_KEPT])
{
    uint32_t n = 0;

    do {
        ncu_execute(ncu, node, op, (uint64_t[NCU_ARGS]){0}, now);
        cr_assert_leq(n + mailbox(node)->ans[0], CAUSES_KEPT);
        memcpy(&cause[n], mailbox(node)->cause, mailbox(node)->ans[0] * sizeof *cause);
        n += (uint32_t)mailbox(node)->ans[0];
    } while (mailbox(node)->ans[0] > 0);
    return n;
}

/* The only cause of that kind which the node has. */
static struct ncu_cause take_only(uint32_t node, enum ncu_op op, uint32_t kind)
{
    struct ncu_cause cause[CAUSES_KEPT], found = {0};
    uint32_t n = take(node, op, cause), of_kind = 0;

    for (uint32_t i = 0; i < n; i++)
        if (cause[i].kind == kind) {
            found = cause[i];
            of_kind++;
        }
    cr_expect_eq(of_kind, 1, "node %u has %u causes of kind %u", node, of_kind, kind);
    return found;
}

/* ---- Receiving ---- */

Test(ncu, headers_that_wait_at_a_node_land_in_the_order_of_their_sends)
{
    struct ncu_cause cause[CAUSES_KEPT];

    make_machine(1, NULL, 0);
    for (uint32_t tag = 1; tag <= 4; tag++)
        send_to(0, 0, tag, 8);
    run();
    cr_expect_eq(take_only(0, NCU_CAUSES, CAUSE_RECV_HEADER).tag, 1, "the first one is announced, alone");
    for (uint32_t tag = 1; tag <= 4; tag++) {
        arm(0, NCU_CHANNELS);
        run();
        uint32_t n = take(0, NCU_CAUSES, cause);
        cr_assert_eq(n, tag < 4 ? 2 : 1, "message %u: %u causes", tag, n);
        cr_expect(cause[0].kind == CAUSE_RECV_DONE && cause[0].tag == tag, "message %u", tag);
        cr_expect(tag == 4 || (cause[1].kind == CAUSE_RECV_HEADER && cause[1].tag == tag + 1), "after %u", tag);
    }
    cr_expect_eq(ncu_node_statistics(ncu, 0).held, 4);
    free_machine();
}

Test(ncu, the_sender_of_a_held_message_learns_of_its_end_no_sooner_than_one_lookahead_after_the_arm)
{
    make_machine(1, NULL, 0);
    send_to(1, 0, 1, 0);
    run_until(1000);
    arm(0, 0);
    run();
    cr_expect_eq(take_only(0, NCU_CAUSES, CAUSE_RECV_DONE).done_cycles, 1000);
    cr_expect_eq(take_only(1, NCU_SENT, CAUSE_SEND_DONE).done_cycles, 1000);
    cr_expect_eq(now, 1000 + LOOKAHEAD_CYCLES, "the sender is told at %lu", (unsigned long)now);
    free_machine();
}

static void arm_at(uint32_t node, uint32_t channel, uint64_t cycles)
{
    ncu_execute(ncu, node, NCU_ARM, (uint64_t[NCU_ARGS]){NCU_ARM_LATER | channel, BUFFER, 4096, cycles}, now);
}

Test(ncu, an_arm_for_later_takes_a_header_then_and_is_replaced_by_another_arm)
{
    struct ncu_cause cause[CAUSES_KEPT];
    static const struct {
        const char *what;
        uint64_t first, second; /* armed for; 0: at once, 1: not */
        uint64_t done_cycles;
    } c[] = {{"in time for a header that waits", 3000, 1, 3000},
             {"put off", 3000, 5000, 5000},
             {"not put off", 3000, 0, 1000},
             {"for a time that is over", 500, 1, 1000}};

    for (size_t i = 0; i < sizeof c / sizeof *c; i++) {
        make_machine(1, NULL, 0);
        run_until(1000);
        arm_at(0, 0, c[i].first);
        if (c[i].second != 1)
            c[i].second ? arm_at(0, 0, c[i].second) : arm(0, 0);
        send_to(1, 0, 1, 0);
        run();
        uint32_t n = take(0, NCU_CAUSES, cause);
        uint64_t arrival = 1000 + LOOKAHEAD_CYCLES;
        cr_assert(n == 1 && cause[0].kind == CAUSE_RECV_DONE, "%s: %u causes, and no header is announced", c[i].what,
                  n);
        cr_expect_eq(cause[0].done_cycles, c[i].done_cycles > arrival ? c[i].done_cycles : arrival, "%s: at %lu",
                     c[i].what, (unsigned long)cause[0].done_cycles);
        free_machine();
    }
}

/* Node 3 holds up the broadcast, and with it the buffer of node 1, where the next message waits. */
Test(ncu, a_message_that_an_end_and_no_arm_lets_in_ends_for_its_sender_at_once)
{
    make_machine(2, NULL, 0);
    arm(1, 0);
    arm(2, 1);
    send_to(0, (uint64_t)3 << 40, 1, 8);
    send_to(0, 1, 2, 0);
    run_until(1000);
    arm(1, 0);
    run_until(2000);
    arm(3, 1);
    run();
    struct ncu_cause cause[CAUSES_KEPT];
    cr_assert_eq(take(1, NCU_CAUSES, cause), 2);
    cr_expect(cause[0].tag == 1 && cause[1].tag == 2 && cause[1].kind == CAUSE_RECV_DONE);
    cr_expect_eq(cause[1].done_cycles, 2000 + LOOKAHEAD_CYCLES);
    cr_assert_eq(take(0, NCU_SENT, cause), 2);
    cr_expect_eq(now, 2000 + LOOKAHEAD_CYCLES, "the sender is told at %lu", (unsigned long)now);
    free_machine();
}

Test(ncu, compute_nodes_and_io_nodes_have_charges_of_their_own)
{
    const uint32_t io = 2;

    make_machine(1, NULL, 0);
    cr_expect(memcmp(&mailbox(0)->software, &charges.compute, sizeof charges.compute) == 0);
    cr_expect(memcmp(&mailbox(1)->software, &charges.compute, sizeof charges.compute) == 0);
    cr_expect(memcmp(&mailbox(io)->software, &charges.io, sizeof charges.io) == 0);
    free_machine();
}

/* ---- Broadcasts ---- */

static const struct broadcast_case {
    const char *name;
    bool faults, none;
    uint64_t dest;
    int status;
} broadcasts[] = {
    {"of the machine", false, false, (uint64_t)3 << 40, NCU_OK},
    {"of the node alone", false, false, (uint64_t)1 << 40, NCU_OK},
    {"of another subcube", false, false, (uint64_t)2 << 40 | 2, NCU_EDEST},
    {"of more than the machine", false, false, (uint64_t)4 << 40, NCU_EDEST},
    {"on a machine with faults", true, false, (uint64_t)3 << 40, NCU_EDEST},
    {"in a network without broadcasts", false, true, (uint64_t)3 << 40, NCU_EDEST},
};

Test(ncu, broadcasts_are_refused_where_they_cannot_be)
{
    static const struct fault much_later = {
        .kind = FAULT_LINK, .node = 3, .from_cycles = 1u << 30, .until_cycles = 1u << 31};

    for (size_t i = 0; i < sizeof broadcasts / sizeof *broadcasts; i++) {
        const struct broadcast_case *b = &broadcasts[i];

        no_broadcasts = b->none;
        make_machine(2, &much_later, b->faults);
        no_broadcasts = false;
        for (uint32_t node = 1; node < 4; node++)
            arm(node, node == 1 ? 0 : 1);
        cr_expect_eq(mailbox(0)->broadcasts, !b->faults && !b->none, "%s", b->name);
        send_to(0, b->dest, 7, 8);
        run_until(100000);
        bool is_cause = b->status != NCU_OK || b->faults;
        struct ncu_cause end = take_only(0, is_cause ? NCU_CAUSES : NCU_SENT, CAUSE_SEND_DONE);
        cr_expect_eq(end.status, b->status, "%s: status %d", b->name, end.status);
        free_machine();
    }
}

/* ---- Drives ---- */

/* When a read of drive 1 ends, with one of drive 0 before it or not. */
static uint64_t end_of_read(bool behind_another, struct ncu_drive_statistics *other)
{
    const uint32_t io = 2;

    make_machine(1, NULL, 0);
    if (behind_another)
        read_drive(io, 0);
    read_drive(io, 1);
    run_until(1000);
    *other = ncu_drive_statistics(ncu, io, 1, now);
    run();
    struct ncu_cause cause[CAUSES_KEPT];
    uint32_t n = take(io, NCU_CAUSES, cause);
    cr_assert_eq(n, behind_another ? 2 : 1);
    cr_expect(cause[n - 1].kind == CAUSE_DISK_DONE && cause[n - 1].cookie == 1 && cause[n - 1].status == NCU_OK);
    uint64_t busy =
        ncu_drive_statistics(ncu, io, 0, now).busy_cycles + ncu_drive_statistics(ncu, io, 1, now).busy_cycles;
    cr_expect_eq(busy, now, "one controller is busy from the start to the end");
    cr_expect_eq(ncu_drive_statistics(ncu, io, 1, now + 500).queue_cycles, now, "its command waits or is executed");
    uint64_t end = cause[n - 1].done_cycles, begun = n == 2 ? cause[0].done_cycles : 0;
    free_machine();
    return end - begun;
}

Test(ncu, a_controller_executes_one_command_at_a_time_whichever_drive_it_names)
{
    struct ncu_drive_statistics alone, waits;
    uint64_t cycles = end_of_read(false, &alone);

    cr_expect_eq(alone.busy_cycles, 1000);
    cr_expect_eq(alone.queue_cycles, 1000);
    cr_expect_gt(end_of_read(true, &waits), cycles / 2, "it begins when the other has ended");
    cr_expect_eq(waits.busy_cycles, 0, "the controller is busy with the other drive");
    cr_expect_eq(waits.queue_cycles, 1000, "it has a command that waits");
    cr_expect_eq(waits.queue_max, 1);
}

Test(ncu, an_image_that_the_host_cannot_read_is_told_once_and_fails_each_command)
{
    struct ncu_cause cause[CAUSES_KEPT];

    make_machine(1, NULL, 0);
    cr_assert_eq(truncate(images[1], 1000), 0);
    for (int i = 0; i < 3; i++)
        read_drive(2, 1);
    read_drive(2, 0);
    run();
    cr_assert_eq(take(2, NCU_CAUSES, cause), 4);
    for (int i = 0; i < 4; i++)
        cr_expect_eq(cause[i].status, i < 3 ? NCU_EMEDIA : NCU_OK, "command %d", i);
    cr_expect_eq(failures, 1);
    cr_expect_str_eq(failed_volume, "df01");
    free_machine();
}

/* ---- Faults ---- */

/* With every byte damaged, a message without payload still has its header. */
Test(ncu, the_header_of_a_message_is_damaged_like_its_bytes)
{
    static const struct fault noise = {
        .kind = FAULT_PARITY, .node = TOPO_NONE, .rate = FAULT_RATE_ONE, .until_cycles = FAULT_NEVER};

    make_machine(1, &noise, 1);
    arm(0, 0);
    send_to(1, 0, 1, 0);
    run();
    cr_expect_eq(take_only(0, NCU_CAUSES, CAUSE_RECV_DONE).status, NCU_EPARITY);
    cr_expect_eq(take_only(1, NCU_CAUSES, CAUSE_SEND_DONE).status, NCU_EPARITY);
    cr_expect_eq(ncu_node_statistics(ncu, 1).damaged, 1);
    free_machine();
}

static char told[4096];

static void note(void *ctx, const char *line)
{
    (void)ctx;
    cr_assert_lt(strlen(told) + strlen(line) + 2, sizeof told);
    strcat(strcat(told, line), "\n");
}

Test(ncu, the_report_has_the_faults_that_have_begun_and_no_others)
{
    static const struct fault faults[] = {
        {.kind = FAULT_NODE, .node = 1, .until_cycles = FAULT_NEVER},
        {.kind = FAULT_LINK, .node = 0, .channel = 0, .from_cycles = 20000, .until_cycles = 40000},
        {.kind = FAULT_DRIVE, .node = NODE_IO(3, 0), .drive = 1, .from_cycles = 60000, .until_cycles = FAULT_NEVER},
    };
    static const struct {
        uint64_t at;
        const char *expected;
    } times[] = {{19999, "node 1 has been dead since the start\n"},
                 {20000, "node 1 has been dead since the start\n"
                         "the link at channel 0 of node 0 has been dead since 0.001000 s\n"},
                 {59999, "node 1 has been dead since the start\n"
                         "the link at channel 0 of node 0 was dead from 0.001000 s to 0.002000 s\n"},
                 {60000, "node 1 has been dead since the start\n"
                         "the link at channel 0 of node 0 was dead from 0.001000 s to 0.002000 s\n"
                         "the drive of volume df01 has been dead since 0.003000 s\n"}};

    make_machine(1, faults, 3);
    for (size_t i = 0; i < sizeof times / sizeof *times; i++) {
        told[0] = '\0';
        ncu_describe_faults(ncu, times[i].at, note, NULL);
        cr_expect_str_eq(told, times[i].expected, "at %lu", (unsigned long)times[i].at);
    }
    free_machine();
}

Test(ncu, a_report_of_many_faults_is_short)
{
    static struct fault faults[100];
    uint32_t lines = 0;

    for (uint32_t i = 0; i < 100; i++)
        faults[i] = (struct fault){.kind = FAULT_NODE, .node = i % 2, .from_cycles = i, .until_cycles = FAULT_NEVER};
    make_machine(1, faults, 100);
    told[0] = '\0';
    ncu_describe_faults(ncu, 89, note, NULL);
    for (const char *c = told; *c; c++)
        lines += *c == '\n';
    cr_expect_eq(lines, NCU_FAULT_LINES + 1);
    cr_expect_not_null(strstr(told, "\nand 74 more of the machine file's faults have begun\n"), "%s", told);
    told[0] = '\0';
    ncu_describe_faults(ncu, NCU_FAULT_LINES - 1, note, NULL);
    cr_expect_null(strstr(told, "more"), "%s", told);
    free_machine();
}
