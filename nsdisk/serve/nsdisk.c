/*
 * nsdisk: the program of an I/O node. Mounts the volumes of the node's drives, tells the front end, then answers one
 * request after another in the order of their arrival, until N_SHUTDOWN.
 *
 * Built into the boot image; Vertex starts it and lets it see raw node addresses and every message type.
 * Its two message buffers grow to what is needed and are never given back.
 */
#include <ntime.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "nsdisk/serve/serve.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"
#include "vertex/contract/traps.h"
#include "vertex/shared/text.h"

#define CACHE_BYTES        (1u << 20)  /* of all volumes together */
#define BUFFER_FIRST_BYTES (32u << 10) /* holds the requests that programs usually make */
#define REPLY_BIT          (N_REPLY(N_FOPEN) & ~N_FOPEN)

_Static_assert(SERVE_DRIVES == DRIVE_MAX, "the server has a place for every drive");

struct buffer {
    void *bytes;
    size_t size;
};

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

static int drive_read(void *ctx, uint64_t sector, void *buf, uint32_t sectors)
{
    return (int)trap_disk_io((long)(uintptr_t)ctx, 0, sector, buf, sectors);
}

static int drive_write(void *ctx, uint64_t sector, const void *buf, uint32_t sectors)
{
    return (int)trap_disk_io((long)(uintptr_t)ctx, 1, sector, (void *)buf, sectors);
}

static void give_up(const char *why)
{
    console_write(NULL, why);
    trap_exit(1);
}

/* ---- Mounting ---- */

static uint32_t count_drives(struct abi_drive info[SERVE_DRIVES])
{
    uint32_t drives = 0;

    while (drives < SERVE_DRIVES && trap_disk_info(drives, &info[drives]) == 0)
        drives++;
    return drives;
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

static struct server *start_server(void)
{
    struct abi_drive info[SERVE_DRIVES];
    struct abi_whoami who;
    struct ext2_env env = {.log = {console_write, NULL}, .now_s = now_s};
    char text[256] = "";
    uint32_t drives = count_drives(info);

    trap_whoami(&who);
    struct server *s = server_new((uint32_t)who.node, drives == 0 ? 0 : info[0].boot_number, &env);
    if (!s)
        give_up("nsdisk: not enough memory to start");
    for (uint32_t drive = 0; drive < drives; drive++) {
        struct blockdev dev = {drive_read, drive_write, info[drive].sectors, (void *)(uintptr_t)drive};
        int status = server_mount(s, drive, &dev, info[drive].volume, CACHE_BYTES / drives, text, sizeof text);

        report_mount(drive, status, text);
    }
    return s;
}

/* ---- Serving ---- */

/* What a buffer held is lost. */
static void buffer_grow(struct buffer *b, size_t bytes)
{
    size_t size = b->size == 0 ? BUFFER_FIRST_BYTES : b->size;

    while (size < bytes)
        size *= 2;
    if (size == b->size)
        return;
    free(b->bytes);
    b->bytes = malloc(size);
    b->size = size;
    if (!b->bytes)
        give_up("nsdisk: not enough memory for a message");
}

/* Waits for the next message. Returns its length. */
static size_t receive(struct buffer *b, int *from, int *type)
{
    long n;

    for (;;) {
        *from = *type = -1;
        n = trap_read_message(b->bytes, (long)b->size, from, type);
        if (n >= 0)
            return (size_t)n;
        *from = *type = -1;
        if (n == -N_EMSGSIZE && (n = trap_test_message(from, type)) >= 0)
            buffer_grow(b, (size_t)n);
    }
}

static void send_reply(int to, int type, const void *reply, size_t n)
{
    trap_nwrite(reply, (long)n, to, (long)N_REPLY((unsigned)type));
}

/* Messages of programs, and answers, are nobody's requests: to answer them could go on for ever. */
static bool is_request(int type)
{
    return type > (int)N_TYPE_USER_MAX && ((unsigned)type & REPLY_BIT) == 0;
}

static void serve_until_shutdown(struct server *s)
{
    struct buffer request = {0}, reply = {0};
    int from, type;

    buffer_grow(&request, BUFFER_FIRST_BYTES);
    buffer_grow(&reply, BUFFER_FIRST_BYTES);
    for (;;) {
        size_t n = receive(&request, &from, &type);
        uint32_t tag = TAG(type, from >> 16, 0); /* a source is a node, and a procid from bit 16 up */

        if (type == N_SHUTDOWN && from == (int)NODE_HOST)
            return;
        if (!is_request(type))
            continue;
        buffer_grow(&reply, serve_reply_bytes(tag, request.bytes, n));
        n = serve_request(s, (uint32_t)from & 0xffff, tag, request.bytes, n, reply.bytes, reply.size);
        send_reply(from, type, reply.bytes, n);
    }
}

int main(void)
{
    struct server *s = start_server();

    serve_until_shutdown(s);
    struct file_reply reply = {0, server_shutdown(s)};
    send_reply(NODE_HOST, N_SHUTDOWN, &reply, sizeof reply);
    server_free(s);
    return 0;
}
