/* A folder that is served, and requests for it: see served.h. */
#define _GNU_SOURCE
#include "tests/emu/served.h"

#include <criterion/criterion.h>
#include <signal.h>

#include "vertex/contract/machine.h"

struct scratch dir;
struct streams streams;
struct lines lines;
struct hostfs *host;
int in_end, out_end;

static void make_tree(void)
{
    scratch_make(&dir);
    scratch_write(&dir, "secret", "secret", 6);
    cr_assert_eq(mkdir(scratch_path(&dir, "outside"), 0755), 0);
    cr_assert_eq(mkdir(scratch_path(&dir, "in"), 0755), 0);
    cr_assert_eq(mkdir(scratch_path(&dir, "in/sub"), 0755), 0);
    scratch_write(&dir, "in/file", "hello", 5);
    scratch_write(&dir, "in/sub/deep", "deep", 4);
    cr_assert_eq(symlink("sub/deep", scratch_path(&dir, "in/good")), 0);
    cr_assert_eq(symlink("../secret", scratch_path(&dir, "in/bad")), 0);
    cr_assert_eq(symlink(scratch_path(&dir, "secret"), scratch_path(&dir, "in/abs")), 0);
    cr_assert_eq(symlink("..", scratch_path(&dir, "in/up")), 0);
    cr_assert_eq(symlink("sub", scratch_path(&dir, "in/subin")), 0);
    cr_assert_eq(mkfifo(scratch_path(&dir, "in/fifo"), 0666), 0);
}

void start_serving(const char *folder)
{
    char error[200];

    cr_assert_eq(hostfs_new(&host, folder, &lines, error, sizeof error), 0, "%s", error);
}

static unsigned descriptors; /* open before the server was made */

void set_up(void)
{
    int in[2], out[2];

    signal(SIGPIPE, SIG_IGN);
    make_tree();
    cr_assert_eq(pipe(in), 0);
    cr_assert_eq(pipe(out), 0);
    in_end = in[1];
    out_end = out[0];
    cr_assert_eq(streams_init(&streams, in[0], out[1], out[1], NULL, NULL), 0);
    cr_assert_eq(lines_init(&lines, &streams, 0, 1, false), 0);
    descriptors = count_descriptors();
    start_serving(scratch_path(&dir, "in"));
}

void tear_down(void)
{
    hostfs_free(host);
    streams_free(&streams);
    scratch_remove(&dir);
}

void expect_all_closed(void)
{
    hostfs_free(host);
    host = NULL;
    cr_expect_eq(count_descriptors(), descriptors, "%d descriptors stay open",
                 (int)(count_descriptors() - descriptors));
}

/* ---- Asking ---- */

struct file_reply head;
const uint8_t *payload;
size_t payload_bytes;

int32_t take_reply(const void *reply, size_t n)
{
    cr_assert_geq(n, sizeof head);
    memcpy(&head, reply, sizeof head);
    payload = (const uint8_t *)reply + sizeof head;
    payload_bytes = n - sizeof head;
    return head.status;
}

static uint8_t *put(uint8_t *to, const void *bytes, size_t n)
{
    memcpy(to, bytes, n);
    return to + n;
}

int32_t ask(struct ask a)
{
    static uint8_t message[sizeof(struct file_request) + 2 * FILE_NAME_MAX_BYTES + FILE_IO_MAX_BYTES];
    static uint32_t seq;
    const void *reply;
    const struct file_request r = {
        .seq = ++seq,
        .drive = a.drive,
        .flags = a.flags,
        .mode = a.mode,
        .sfid = a.sfid,
        .offset = a.offset,
        .bytes = a.bytes,
        .name_bytes = a.name ? strlen(a.name) : 0,
        .name2_bytes = a.name2 ? strlen(a.name2) : 0,
    };
    uint8_t *end = message;

    end = put(end, &r, sizeof r);
    end = put(end, a.name ? a.name : "", r.name_bytes);
    end = put(end, a.name2 ? a.name2 : "", r.name2_bytes);
    if (a.data)
        end = put(end, a.data, a.bytes);
    int32_t status = take_reply(reply, hostfs_request(host, a.node, a.procid, a.type, message, end - message, &reply));
    cr_assert_eq(head.seq, seq, "the sequence number comes back");
    return status;
}

/* The SFID of a name opened by node 0, process 0. */
uint64_t open_name(const char *name, uint32_t flags)
{
    struct file_opened opened;

    cr_assert_eq(ask((struct ask){N_FOPEN, .name = name, .flags = flags, .mode = 0644}), 0, "%s", name);
    cr_assert_eq(payload_bytes, sizeof opened);
    memcpy(&opened, payload, sizeof opened);
    return opened.sfid;
}

bool exists(const char *name)
{
    struct stat st;

    return lstat(scratch_path(&dir, name), &st) == 0;
}
