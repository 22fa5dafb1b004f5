/*
 * nsdisk: the program of an I/O node. Mounts the volumes of the node's drives, tells the front end, then serves until
 * N_SHUTDOWN: in order (in_order.h) or concurrently (loop.h), as the machine file says.
 *
 * Built into the boot image; Vertex starts it and lets it see raw node addresses and every message type.
 *
 * No request makes it end: it takes the memory for the largest request and the largest answer at the start, Vertex
 * reserves memory for sending one answer, and a request that finds no memory for a table is answered with ENOMEM.
 */
#include <limits.h>
#include <malloc.h>
#include <ntime.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nsdisk/serve/in_order.h"
#include "nsdisk/serve/loop.h"
#include "nsdisk/serve/pages.h"
#include "nsdisk/serve/serve.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"
#include "vertex/contract/traps.h"
#include "vertex/shared/text.h"

#define CACHE_BYTES  (1u << 20)   /* of all volumes together, */
#define SMALL_BYTES  (2u << 20)   /* but on nodes of no more memory */
#define CACHE_SMALL  (128u << 10) /* this */
#define TABLES_BYTES (64u << 10)  /* for open files and inodes, whatever else memory is used for, */
#define TABLES_SHARE 8u           /* and as much of what is left, up to this part of the node's memory, */
#define VIEWS_SHARE  3 / 32       /* of which views may take three quarters */

_Static_assert(SERVE_DRIVES == DRIVE_MAX, "the server has a place for every drive");

_Static_assert(SERVE_REQUEST_MAX_BYTES - FILE_IO_MAX_BYTES <= ARRIVAL_REPLY_AT,
               "a request's header and names lie before the reply");

static struct in_order in_order;
static struct loop *loop; /* NULL: in order */
static uint32_t waiting;  /* messages that were in the queue when the last command of a drive ended, less those read */

/* ---- What the file system needs from the node ---- */

static void console_write(void *ctx, const char *text)
{
    (void)ctx;
    trap_nwrite(text, (long)strlen(text), NODE_HOST, N_CONSOLE);
}

static uint32_t now_s(void *ctx)
{
    (void)ctx;
    return (uint32_t)(NTIME_EPOCH_S + (uint64_t)trap_cycles() / CLOCK_HZ);
}

static uint64_t now_cycles(void *ctx)
{
    (void)ctx;
    return (uint64_t)trap_cycles();
}

static int drive_io(long drive, bool write, uint64_t sector, void *buf, uint32_t sectors)
{
    long result = trap_disk_io(drive, write, sector, buf, sectors);

    if (result < 0)
        return (int)result;
    waiting = (uint32_t)result;
    return 0;
}

static int drive_read(void *ctx, uint64_t sector, void *buf, uint32_t sectors)
{
    return drive_io((long)(uintptr_t)ctx, false, sector, buf, sectors);
}

static int drive_write(void *ctx, uint64_t sector, const void *buf, uint32_t sectors)
{
    return drive_io((long)(uintptr_t)ctx, true, sector, (void *)buf, sectors);
}

static void give_up(const char *why)
{
    console_write(NULL, why);
    trap_exit(1);
}

/* ---- Memory ---- */

static void take_memory(uint64_t ram_bytes)
{
    struct arrival_area *area = &in_order.area;
    void *tables = malloc(TABLES_BYTES);

    area->size = arrival_area_bytes(file_io_bytes(ram_bytes));
    area->bytes = malloc(area->size);
    if (!tables || !area->bytes)
        give_up("nsdisk: not enough memory to start");
    pages_touch(area->bytes, area->size);
    free(tables); /* malloc's from now on */
}

/* Messages that wait take all memory that is free. So malloc takes what the tables may need before there are any. */
static void set_tables_aside(uint64_t ram_bytes)
{
    void *tables = NULL;

    mallopt(M_TRIM_THRESHOLD, INT_MAX); /* it keeps what is freed */
    for (size_t bytes = ram_bytes / TABLES_SHARE; !tables && bytes > TABLES_BYTES; bytes /= 2)
        tables = malloc(bytes);
    free(tables);
}

/* ---- Mounting ---- */

static uint32_t count_drives(struct abi_drive info[SERVE_DRIVES])
{
    uint32_t drives = 0;

    while (drives < SERVE_DRIVES && trap_disk_info(drives, &info[drives]) == 0)
        drives++;
    return drives;
}

/* What N_MOUNTED says of a volume that is mounted (vertex/contract/system.h). */
static int mounted_status(const struct server *s, uint32_t drive)
{
    return (int)(uintptr_t)server_counts_place(s, drive);
}

static void report_mount(uint32_t drive, int status, const char *text)
{
    uint8_t message[sizeof(struct file_reply) + 256];
    struct file_reply reply = {drive, status};
    size_t n = status < 0 ? strlen(text) : 0;

    memcpy(message, &reply, sizeof reply);
    memcpy(message + sizeof reply, text, n);
    trap_nwrite(message, (long)(sizeof reply + n), NODE_HOST, N_MOUNTED);
}

/* ---- What the loop needs from the node ---- */

static void answer(int to, int type, const void *reply, size_t n);
static void answer_parts(int to, int type, const void *head, size_t head_bytes, const void *data, size_t bytes);

static long loop_receive(void *ctx, void *buf, size_t bytes, int *from, int *type)
{
    (void)ctx;
    return trap_message_or_disk(buf, (long)bytes, from, type);
}

static void loop_reply(void *ctx, int to, int type, const void *reply, size_t n)
{
    (void)ctx;
    answer(to, type, reply, n);
}

static void loop_reply_parts(void *ctx, int to, int type, const void *head, size_t head_bytes, const void *data,
                             size_t bytes)
{
    (void)ctx;
    answer_parts(to, type, head, head_bytes, data, bytes);
}

/* ---- Paying after a reply: the server waits until it has left, as one of NX does in csend ---- */

static long owed_bytes; /* of requests of families that have come since the last reply to one */

static long loop_receive_owing(void *ctx, void *buf, size_t bytes, int *from, int *type)
{
    long n = loop_receive(ctx, buf, bytes, from, type);

    if (n > 0 && N_IS_FAMILY_REQUEST(*type))
        owed_bytes += n;
    return n;
}

static void pay(int type, size_t bytes)
{
    if (!N_IS_FAMILY_REQUEST(type))
        return;
    trap_pay((long)bytes + owed_bytes);
    owed_bytes = 0;
}

static void loop_reply_paying(void *ctx, int to, int type, const void *reply, size_t n)
{
    loop_reply(ctx, to, type, reply, n);
    pay(type, n);
}

static void loop_reply_parts_paying(void *ctx, int to, int type, const void *head, size_t head_bytes, const void *data,
                                    size_t bytes)
{
    loop_reply_parts(ctx, to, type, head, head_bytes, data, bytes);
    pay(type, head_bytes + bytes);
}

static long loop_disk_start(void *ctx, uint32_t drive, bool write, uint64_t sector, void *buf, uint32_t sectors,
                            int type)
{
    (void)ctx;
    return trap_disk_start(drive, write, sector, buf, sectors, type);
}

static long loop_disk_end(void *ctx, struct abi_disk_done *done, bool wait)
{
    (void)ctx;
    return trap_disk_end(done, wait);
}

/* Without memory for it, requests are served in order. */
static struct loop *start_loop(struct server *s, const struct abi_drive *info, uint32_t drives)
{
    static const struct loop_node node[2] = {
        {loop_receive, loop_reply, loop_reply_parts, loop_disk_start, loop_disk_end, NULL, NULL},
        {loop_receive_owing, loop_reply_paying, loop_reply_parts_paying, loop_disk_start, loop_disk_end, NULL, NULL}};

    if (drives == 0 || !info->concurrent)
        return NULL;
    struct loop *l = loop_new(s, &node[info->concurrent - 1], drives, file_io_bytes(info->ram_bytes));
    if (!l)
        console_write(NULL, "nsdisk: not enough memory for concurrent service; requests are served in order");
    return l;
}

/* ---- Starting ---- */

static struct blockdev disk_of(uint32_t drive, uint64_t sectors)
{
    if (loop)
        return loop_disk(loop, drive, sectors);
    return (struct blockdev){
        .read = drive_read, .write = drive_write, .sectors = sectors, .ctx = (void *)(uintptr_t)drive};
}

static uint32_t cache_bytes(const struct abi_drive *info)
{
    return info->ram_bytes <= SMALL_BYTES ? CACHE_SMALL : CACHE_BYTES;
}

static struct server *start_server(void)
{
    struct abi_drive info[SERVE_DRIVES];
    struct abi_whoami who;
    struct ext2_env env = {.log = {console_write, NULL}, .now_s = now_s, .now_cycles = now_cycles};
    char text[256] = "";
    uint32_t drives = count_drives(info);

    trap_whoami(&who);
    struct server *s = server_new((uint32_t)who.node, drives == 0 ? 0 : info[0].boot_number, &env);
    if (!s)
        give_up("nsdisk: not enough memory to start");
    if (drives > 0)
        server_limit_views(s, info[0].ram_bytes * VIEWS_SHARE);
    loop = start_loop(s, info, drives);
    if (!loop)
        take_memory(drives == 0 ? 0 : info[0].ram_bytes);
    for (uint32_t drive = 0; drive < drives; drive++) {
        struct blockdev dev = disk_of(drive, info[drive].sectors);
        int status = server_mount(s, drive, &dev, info[drive].volume, cache_bytes(&info[drive]) / drives,
                                  &info[drive].cache, text, sizeof text);

        report_mount(drive, status < 0 ? status : mounted_status(s, drive), text);
    }
    set_tables_aside(drives == 0 ? 0 : info[0].ram_bytes);
    return s;
}

/* ---- Serving ---- */

/* Waits for the next message and returns its length in bytes. Vertex answers requests that are longer than the
 * buffer. */
static size_t receive(void *ctx, void *buf, size_t bytes, int *from, int *type)
{
    long n;

    (void)ctx;
    do {
        *from = *type = -1;
        n = trap_read_message(buf, (long)bytes, from, type);
    } while (n < 0);
    waiting -= waiting > 0;
    return (size_t)n;
}

static uint32_t known_to_wait(void *ctx)
{
    (void)ctx;
    return waiting;
}

static long test(void *ctx, int *type)
{
    int from = -1;

    (void)ctx;
    *type = -1;
    return trap_test_message(&from, type);
}

static long send_reply(int to, int type, const void *reply, size_t n)
{
    return trap_nwrite(reply, (long)n, to, (long)N_REPLY((unsigned)type));
}

/* Vertex has no memory to send a reply's data. */
static void answer_no_memory(int to, int type, const struct file_reply *head)
{
    const struct file_reply error = {head->seq, -N_ENOMEM};

    send_reply(to, type, &error, sizeof error);
}

/* Sends the reply, or N_ENOMEM. */
static void answer(int to, int type, const void *reply, size_t n)
{
    if (send_reply(to, type, reply, n) == -N_ENOMEM)
        answer_no_memory(to, type, reply);
}

static void answer_parts(int to, int type, const void *head, size_t head_bytes, const void *data, size_t bytes)
{
    if (trap_reply(head, (long)head_bytes, data, (long)bytes, to, (long)N_REPLY((unsigned)type)) == -N_ENOMEM)
        answer_no_memory(to, type, head);
}

static void serve_in_order(struct server *s)
{
    static const struct in_order_node node = {receive, known_to_wait, test, NULL};

    in_order.server = s;
    in_order.node = &node;
    serve_hold_replies(s, &in_order.replies, loop_reply, NULL);
    in_order_run(&in_order);
}

static void answer_shutdown(struct server *s)
{
    struct {
        struct file_reply reply;
        struct drive_cache_counts counts[SERVE_DRIVES];
    } answer = {.reply = {0, server_shutdown(s)}};
    size_t n = 0;

    for (uint32_t drive = 0; drive < SERVE_DRIVES && answer.reply.status == 0; drive++) {
        n += server_cache_counts(s, drive, &answer.counts[n]);
    }
    send_reply(NODE_HOST, N_SHUTDOWN, &answer, sizeof answer.reply + n * sizeof answer.counts[0]);
}

int main(void)
{
    struct server *s = start_server();

    if (loop)
        loop_run(loop);
    else
        serve_in_order(s);
    answer_shutdown(s);
    server_free(s);
    return 0;
}
