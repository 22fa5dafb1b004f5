/* See cfs_lab.h. */
#include "tests/nsdisk/cfs_lab.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>
#include <ucontext.h>

#include "vertex/contract/machine.h"

#define IO_BYTES    65536u
#define STACK_BYTES (256u << 10)

static ucontext_t loop_context, script_context;
static uint8_t stack[STACK_BYTES];
static struct lab *running;

/* ---- The drives, with a power cut ---- */

static long start(void *ctx, uint32_t drive, bool write, uint64_t sector, void *buf, uint32_t sectors, int type)
{
    static uint8_t nowhere[1u << 20];
    struct lab *lab = ctx;
    bool lost = write && lab->writes_left == 0;
    long number = drives_start(&lab->drives, drive, write && !lost, sector, lost ? nowhere : buf, sectors, type);

    if (number >= 0 && write && !lost) {
        lab->writes++;
        lab->writes_left -= lab->writes_left != UINT32_MAX;
    }
    lab->lost |= lost;
    return number;
}

static long end(void *ctx, struct abi_disk_done *done, bool wait)
{
    struct lab *lab = ctx;

    return lab->held && !wait ? -N_EAGAIN : drives_end(&lab->drives, done, wait);
}

/* ---- Messages ---- */

static void reply(void *ctx, int to, int type, const void *bytes, size_t n)
{
    struct lab *lab = ctx;
    struct file_reply head;

    memcpy(&head, bytes, sizeof head);
    for (uint32_t i = 0; i < LAB_PENDING; i++)
        if (lab->pending[i].used && !lab->pending[i].answered && lab->pending[i].seq == head.seq &&
            lab->pending[i].from == to && lab->pending[i].type == type) {
            lab->pending[i].answered = true;
            lab->pending[i].n = n;
            lab->pending[i].commands = lab->drives.order;
            memcpy(lab->pending[i].reply, bytes, n);
            return;
        }
    cr_assert_fail("a reply to %d, type 0x%x, number %u, which nobody waits for", to, (unsigned)type, head.seq);
}

static void reply_parts(void *ctx, int to, int type, const void *head, size_t head_bytes, const void *data,
                        size_t bytes)
{
    uint8_t whole[sizeof(struct file_reply) + CFS_BLOCK_BYTES];

    cr_assert_leq(head_bytes + bytes, sizeof whole);
    memcpy(whole, head, head_bytes);
    if (bytes > 0)
        memcpy(whole + head_bytes, data, bytes);
    reply(ctx, to, type, whole, head_bytes + bytes);
}

static long receive(void *ctx, void *buf, size_t bytes, int *from, int *type)
{
    struct lab *lab = ctx;

    cr_assert_leq(lab->message_bytes, bytes);
    if (!lab->over)
        swapcontext(&loop_context, &script_context);
    if (lab->over) {
        *from = (int)NODE_HOST, *type = N_SHUTDOWN;
        return 0;
    }
    if (!lab->message)
        return -N_EAGAIN;
    size_t n = lab->message_bytes;
    memcpy(buf, lab->message, n);
    *from = lab->from, *type = lab->type;
    lab->message = NULL;
    return (long)n;
}

/* Lets the loop go on until it wants a message again. */
static void let_go_on(struct lab *lab)
{
    (void)lab;
    swapcontext(&script_context, &loop_context);
}

uint32_t lab_send(struct lab *lab, int from, int type, const void *bytes, size_t n)
{
    static uint8_t message[LAB_BYTES];
    uint32_t seq = ++lab->seq, i = 0;

    cr_assert_leq(n, sizeof message);
    memcpy(message, bytes, n);
    if (n >= sizeof seq)
        memcpy(message, &seq, sizeof seq);
    else
        seq = 0;
    while (i < LAB_PENDING - 1 && lab->pending[i].used)
        i++;
    lab->pending[i].used = true;
    lab->pending[i].answered = false;
    lab->pending[i].seq = seq;
    lab->pending[i].from = from;
    lab->pending[i].type = type;
    lab->message = message;
    lab->message_bytes = n;
    lab->from = from;
    lab->type = type;
    while (lab->message)
        let_go_on(lab);
    return i;
}

uint32_t lab_post(struct lab *lab, int from, int type, struct cfs_request r, const void *data, size_t n)
{
    uint8_t message[sizeof r + 4096];

    memcpy(message, &r, sizeof r);
    if (n > 0)
        memcpy(message + sizeof r, data, n);
    return lab_send(lab, from, type, message, sizeof r + n);
}

bool lab_answered(struct lab *lab, uint32_t number)
{
    for (uint32_t i = 0; i < 200 && !lab->pending[number].answered; i++)
        let_go_on(lab);
    return lab->pending[number].answered;
}

int32_t lab_wait(struct lab *lab, uint32_t number)
{
    while (!lab->pending[number].answered)
        let_go_on(lab);
    memcpy(&lab->head, lab->pending[number].reply, sizeof lab->head);
    lab->payload_bytes = lab->pending[number].n - sizeof lab->head;
    memcpy(lab->payload, lab->pending[number].reply + sizeof lab->head, lab->payload_bytes);
    lab->commands = lab->pending[number].commands;
    lab->pending[number].used = false;
    return lab->head.status;
}

int32_t lab_ask(struct lab *lab, int type, struct cfs_request r, const void *data, size_t n)
{
    return lab_wait(lab, lab_post(lab, 1, type, r, data, n));
}

void lab_end_client(struct lab *lab, int from)
{
    const struct file_request r = {.seq = 0};

    for (uint32_t i = 0; i < LAB_PENDING; i++)
        lab->pending[i].used &= lab->pending[i].from != from;
    lab_wait(lab, lab_send(lab, from, N_FEXIT, &r, sizeof r));
}

/* ---- Running ---- */

static void log_line(void *ctx, const char *text)
{
    struct lab *lab = ctx;

    snprintf(lab->log + strlen(lab->log), sizeof lab->log - strlen(lab->log), "%s\n", text);
}

static uint32_t now_s(void *ctx)
{
    (void)ctx;
    return 1000000000;
}

static void run_script(void)
{
    running->script(running);
    running->over = true;
}

void lab_power(struct lab *lab)
{
    lab->writes_left = UINT32_MAX;
    lab->lost = false;
}

void lab_make(struct lab *lab, uint32_t kilobytes, uint32_t cache_kb)
{
    memset(lab, 0, sizeof *lab);
    lab_power(lab);
    lab->drives = (struct drives){.volumes = LAB_DISKS, .random = kilobytes + cache_kb, .commands = DISK_COMMANDS_MAX};
    for (uint32_t i = 0; i < LAB_DISKS; i++) {
        volume_make(&lab->drives.volume[i], CFS_BLOCK_BYTES, kilobytes, "");
        lab->drives.volume[i].data_cache = (struct drive_cache){.kb = cache_kb,
                                                                .block_bytes = CFS_BLOCK_BYTES,
                                                                .group_blocks = 8,
                                                                .ahead_groups = 1,
                                                                .write = DRIVE_CACHE_GROUPS,
                                                                .evict = DRIVE_CACHE_LRU,
                                                                .commands = 64,
                                                                .fill = DRIVE_CACHE_FILL_LATER};
    }
}

bool lab_run(struct lab *lab, void (*script)(struct lab *lab))
{
    const struct loop_node node = {receive, reply, reply_parts, start, end, lab, lab};
    const struct ext2_env env = {.log = {log_line, lab}, .now_s = now_s};
    struct server *s = server_new(VOLUME_NODE, 1, &env);
    struct loop *l = loop_new(s, &node, LAB_DISKS, IO_BYTES);

    lab->server = s;
    lab->script = script;
    lab->over = false;
    lab->message_bytes = 0;
    memset(lab->pending, 0, sizeof lab->pending);
    const char *unmounted = drives_mount(&lab->drives, s, l);
    cr_assert_null(unmounted, "%s", unmounted);
    running = lab;
    getcontext(&script_context);
    script_context.uc_stack.ss_sp = stack;
    script_context.uc_stack.ss_size = sizeof stack;
    script_context.uc_link = &loop_context;
    makecontext(&script_context, run_script, 0);
    loop_run(l);
    bool well = server_shutdown(s) == 0;
    loop_free(l);
    server_free(s);
    return well;
}

int lab_fsck(struct lab *lab, const char *options)
{
    int worst = 0;

    for (uint32_t i = 0; i < LAB_DISKS; i++) {
        int status = volume_fsck(&lab->drives.volume[i], options);

        worst = status > worst ? status : worst;
    }
    return worst;
}

void lab_free(struct lab *lab)
{
    for (uint32_t i = 0; i < LAB_DISKS; i++)
        volume_free(&lab->drives.volume[i]);
}
