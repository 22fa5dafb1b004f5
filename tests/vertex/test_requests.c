/*
 * The file calls of a process (file.c, async.c, request.c, with buffers.c and queue.c) on the host, under the
 * sanitizers, which see what a node does not: a message used after its release, or released twice. The node is played
 * (request_node.h). At every place memory may run out, a copy may fail, or the process may be killed. After each end no
 * allocation is left.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/vertex/request_node.h"
#include "vertex/contract/errors.h"
#include "vertex/file/ask.h"
#include "vertex/file/async.h"
#include "vertex/file/file.h"
#include "vertex/file/request.h"
#include "vertex/memory/kmem.h"
#include "vertex/message/buffers.h"
#include "vertex/message/channels.h"
#include "vertex/message/lost.h"
#include "vertex/message/sends.h"
#include "vertex/process/dispatch.h"
#include "vertex/trap/event.h"
#include "vertex/trap/syscall.h"
#include "vertex/trap/timer.h"

/* ---- Calls ---- */

static char buffer[sizeof(struct abi_opened) + BYTES];
static int64_t file;

#define CALL(name, ...) sys_##name(&p, (const uint64_t[8]){__VA_ARGS__})
#define NAME            ((uint64_t) "//df00/a-name-of-some-length-so-that-the-message-is-no-spare-one")
#define BUFFER          ((uint64_t)buffer)

static int64_t open_one(void)
{
    return CALL(open, NAME, N_O_RDWR | N_O_CREAT, 0644);
}

static int64_t close_it(void)
{
    return CALL(close, file);
}

static int64_t read_it(void)
{
    return CALL(read, file, BUFFER, BYTES);
}

static int64_t write_it(void)
{
    return CALL(write, file, BUFFER, BYTES);
}

static int64_t stat_name(void)
{
    return CALL(stat, NAME, BUFFER);
}

static int64_t stat_it(void)
{
    return CALL(fstat, file, BUFFER);
}

static int64_t statfs_it(void)
{
    return CALL(statfs, file, BUFFER);
}

static int64_t seek_end(void)
{
    return CALL(lseek, file, 0, 2);
}

static int64_t rename_it(void)
{
    return CALL(rename, NAME, NAME);
}

static int64_t list_it(void)
{
    return CALL(readdir, file, BUFFER, BYTES);
}

static int64_t sync_it(void)
{
    return CALL(fsync, file);
}

static int64_t start_read(void)
{
    return CALL(readstart, file, BYTES);
}

static int64_t start_read_at(void)
{
    return CALL(preadstart, file, BYTES, 1 << 20);
}

static int64_t start_write_at(void)
{
    return CALL(pwritestart, file, BUFFER, BYTES, 1 << 20);
}

static int64_t start_write(void)
{
    return CALL(writestart, file, BUFFER, BYTES);
}

static int64_t start_short_write(void)
{
    return CALL(writestart, file, BUFFER, 8);
}

static int64_t start_and_end_read(void)
{
    int64_t status = start_read();

    return status < 0 || p.killed ? status : CALL(readend, file, BUFFER);
}

static int64_t start_and_end_write(void)
{
    int64_t status = start_write();

    return status < 0 || p.killed ? status : CALL(writeend, file);
}

static int64_t start_and_close(void)
{
    int64_t status = start_read();

    if (status >= 0 && !p.killed)
        status = start_write();
    return status < 0 || p.killed ? status : close_it();
}

static int64_t ask(uint64_t type)
{
    int64_t number = CALL(askstart, NAME, type, 0644, BUFFER, type == N_FREADNAME || type == N_FMAKE ? BYTES : 0);

    return number < 0 || p.killed ? number : CALL(askend, (uint64_t)number, BUFFER);
}

static int64_t ask_for_status(void)
{
    return ask(N_FSTATNAME);
}

static int64_t ask_for_content(void)
{
    return ask(N_FREADNAME);
}

static int64_t ask_to_make(void)
{
    return ask(N_FMAKE);
}

static int64_t ask_to_open(void)
{
    int64_t number = CALL(askstart, NAME, N_FOPENREAD, N_O_RDWR, NAME, BYTES);

    return number < 0 || p.killed ? number : CALL(askend, (uint64_t)number, BUFFER);
}

/* The UFID, the lowest free one, does not belong to the question any more. */
static int64_t ask_to_open_and_close(void)
{
    int64_t number = CALL(askstart, NAME, N_FOPENREAD, N_O_RDWR, NAME, BYTES);

    if (number < 0 || p.killed)
        return number;
    CALL(close, (uint64_t)file + 1);
    if (!p.killed)
        CALL(open, NAME, 0, 0);
    return p.killed ? 0 : CALL(askend, (uint64_t)number, BUFFER);
}

static int64_t ask_for_view(void)
{
    int64_t number = CALL(askstart, file, N_FVIEW, 2, BUFFER, BYTES);

    return number < 0 || p.killed ? number : CALL(askend, (uint64_t)number, 0);
}

/* Answers that nobody asks for any more, and one of two that is taken. */
static int64_t ask_twice(void)
{
    int64_t first = CALL(askstart, NAME, N_FREADNAME, 0, 0, BYTES);

    if (first >= 0)
        CALL(askstart, NAME, N_FUNLINK, 0, 0, 0);
    return first < 0 || p.killed ? first : CALL(askend, (uint64_t)first, BUFFER);
}

static int64_t request_one(void)
{
    static const struct file_request head;

    return CALL(requeststart, IO_NODE, TYPES_CFS, (uint64_t)&head, sizeof head, BUFFER, BYTES);
}

static int64_t end_request(int64_t number)
{
    static uint64_t head;

    return CALL(requestend, (uint64_t)number, (uint64_t)&head, sizeof head, BUFFER, BYTES);
}

static int64_t request_and_end(void)
{
    int64_t number = request_one();

    return number < 0 || p.killed ? number : end_request(number);
}

/* Several of them, the second ended first, and one that uses its record again. */
static int64_t request_several(void)
{
    int64_t first = request_one(), second = first < 0 ? first : request_one();
    int64_t status = second < 0 ? second : end_request(second);

    if (status < 0 || p.killed)
        return status;
    request_one();
    return p.killed ? 0 : end_request(first);
}

/* The answer is in the inbox when the call asks for it, and the process is to die. */
static int64_t end_when_killed(void)
{
    int64_t status = start_read();

    if (status < 0)
        return status;
    proc_wait(&p, NCU_WAIT_REPLY, 0, 0);
    p.killed = true;
    return CALL(readend, file, BUFFER);
}

static const struct {
    const char *name;
    int64_t (*make)(void);
} calls[] = {
    {"open", open_one},
    {"close", close_it},
    {"read", read_it},
    {"write", write_it},
    {"stat", stat_name},
    {"fstat", stat_it},
    {"statfs", statfs_it},
    {"lseek", seek_end},
    {"rename", rename_it},
    {"readdir", list_it},
    {"fsync", sync_it},
    {"readstart", start_read},
    {"writestart", start_write},
    {"writestart of 8 bytes", start_short_write},
    {"readstart and readend", start_and_end_read},
    {"writestart and writeend", start_and_end_write},
    {"starts and close", start_and_close},
    {"readend of one who is killed", end_when_killed},
    {"a question for a status", ask_for_status},
    {"a question for content", ask_for_content},
    {"a question to make a file", ask_to_make},
    {"two questions", ask_twice},
    {"preadstart", start_read_at},
    {"pwritestart", start_write_at},
    {"a question that opens", ask_to_open},
    {"a question that opens what is closed", ask_to_open_and_close},
    {"a question for a view", ask_for_view},
    {"a request of a family", request_one},
    {"a request of a family, and its end", request_and_end},
    {"several requests of a family", request_several},
};

static void begin(void)
{
    static const struct load_volume volume = {.name = "df00", .node = IO_NODE};

    memset(&p, 0, sizeof p);
    p.volume = &volume;
    p.volumes = 1;
    request_count = probes = 0;
    now_cycles = 0;
    answer = GOOD;
    allocations_left = copies_left = NEVER;
    cr_assert_eq(file_open_standard(&p), 0);
    file = open_one();
    cr_assert_eq(file, 3);
}

/* As the end of a process does it. */
static void end(void)
{
    struct message *m;

    allocations_left = copies_left = NEVER;
    event_reap();
    while ((m = queue_take_first(&p.inbox)))
        message_release(m);
    file_free_all(&p);
    if (kept)
        kmem_free(MEM_PROCESS, kept, LOST_KEPT_BYTES);
    kept = NULL;
}

static int64_t try_call(int call, enum answer with, int allocations, int copies)
{
    begin();
    answer = with;
    allocations_left = allocations;
    copies_left = copies;
    int64_t status = calls[call].make();
    end();
    cr_assert_eq(channels_other_messages(), 0, "%s, answer %d, %d allocations, %d copies: %u messages are left",
                 calls[call].name, with, allocations, copies, channels_other_messages());
    cr_assert_eq(live, 0, "%s, answer %d, %d allocations, %d copies: %d objects are left", calls[call].name, with,
                 allocations, copies, live);
    return status;
}

#define CALLS ((int)(sizeof calls / sizeof calls[0]))

Test(requests, leave_nothing_whatever_the_server_answers)
{
    for (int call = 0; call < CALLS; call++)
        for (enum answer with = GOOD; with < ANSWERS; with++)
            try_call(call, with, NEVER, NEVER);
}

Test(requests, leave_nothing_wherever_memory_runs_out)
{
    for (int call = 0; call < CALLS; call++)
        for (enum answer with = GOOD; with < ANSWERS; with++)
            for (int allocations = 0; allocations < 8; allocations++)
                try_call(call, with, allocations, NEVER);
}

Test(requests, leave_nothing_wherever_a_copy_fails)
{
    for (int call = 0; call < CALLS; call++)
        for (enum answer with = GOOD; with < ANSWERS; with++)
            for (int copies = 0; copies < 5; copies++)
                try_call(call, with, NEVER, copies);
}

Test(requests, tell_what_went_wrong)
{
    enum { READ = 2, WRITE = 3, STARTED_WRITE = 12, ASK = 19 };

    cr_expect_eq(try_call(READ, GOOD, NEVER, NEVER), BYTES);
    cr_expect_eq(try_call(READ, EMPTY, NEVER, NEVER), -N_EPROTO);
    cr_expect_eq(try_call(READ, TOO_LONG, NEVER, NEVER), -N_EPROTO);
    cr_expect_eq(try_call(READ, SILENT, NEVER, NEVER), -N_ETIMEDOUT);
    cr_expect_eq(try_call(READ, UNDELIVERABLE, NEVER, NEVER), -N_EHOSTUNREACH);
    cr_expect_eq(try_call(WRITE, GOOD, NEVER, 0), -N_EFAULT);
    cr_expect_eq(try_call(WRITE, TOO_LONG, NEVER, NEVER), -N_EPROTO);
    cr_expect_eq(try_call(STARTED_WRITE, GOOD, NEVER, 0), -N_EFAULT);
    cr_expect_eq(try_call(STARTED_WRITE, GOOD, 0, NEVER), -N_ENOMEM);
    cr_expect_eq(try_call(ASK, GOOD, NEVER, NEVER), BYTES);
    cr_expect_eq(try_call(ASK, EMPTY, NEVER, NEVER), -N_EPROTO);
    cr_expect_eq(try_call(ASK, SILENT, NEVER, NEVER), -N_ETIMEDOUT);
    cr_expect_eq(try_call(ASK, FAILED, NEVER, NEVER), -N_EIO);
    cr_expect_eq(try_call(ASK, GOOD, NEVER, 0), -N_EFAULT);
}

/* ---- Servers that take their time ---- */

#define SECONDS(cycles) ((cycles) / (double)CLOCK_HZ)

Test(requests, wait_for_a_server_that_works_and_give_up_one_that_does_not)
{
    enum { READ = 2, ASK = 19 };

    for (int call = READ; call <= ASK; call += ASK - READ) {
        cr_expect_eq(try_call(call, SLOW, NEVER, NEVER), BYTES);
        cr_expect_geq(SECONDS(now_cycles), 120, "%.0f s", SECONDS(now_cycles));
        cr_expect_eq(try_call(call, HUNG, NEVER, NEVER), -N_ETIMEDOUT);
        cr_expect(SECONDS(now_cycles) >= 60 && SECONDS(now_cycles) < 60.1, "%.3f s", SECONDS(now_cycles));
        try_call(call, SLOW, NEVER, NEVER); /* forgets that it was given up */
        cr_expect_eq(try_call(call, DYING, NEVER, NEVER), -N_ETIMEDOUT);
        cr_expect(SECONDS(now_cycles) >= 180 && SECONDS(now_cycles) < 210.1, "%.0f s", SECONDS(now_cycles));
        try_call(call, SLOW, NEVER, NEVER);
        cr_expect_eq(try_call(call, SILENT, NEVER, NEVER), -N_ETIMEDOUT);
        cr_expect_eq(now_cycles, 60 * CLOCK_HZ, "%.3f s", SECONDS(now_cycles));
        try_call(call, SLOW, NEVER, NEVER);
    }
}

/* The time of one limit is for all of them. */
Test(requests, give_up_a_server_that_was_given_up_soon)
{
    begin();
    answer = SILENT;
    cr_expect_eq(read_it(), -N_ETIMEDOUT);
    cr_expect_eq(now_cycles, 60 * CLOCK_HZ);
    cr_expect_eq(read_it(), -N_ETIMEDOUT);
    cr_expect_eq(now_cycles, 61 * CLOCK_HZ, "%.3f s", SECONDS(now_cycles));
    answer = SLOW;
    cr_expect_eq(stat_name(), 0, "it works again");
    answer = SILENT;
    uint64_t from = now_cycles;
    cr_expect_eq(read_it(), -N_ETIMEDOUT);
    cr_expect_eq(now_cycles - from, 60 * CLOCK_HZ);
    answer = GOOD;
    cr_expect_eq(stat_name(), 0);
    end();
    cr_expect_eq(channels_other_messages(), 0);
}

Test(requests, open_a_file_and_read_another)
{
    enum { OPEN = 24, OPEN_AND_CLOSE = 25 };

    cr_expect_eq(try_call(OPEN, GOOD, NEVER, NEVER), BYTES);
    cr_expect_eq(try_call(OPEN, EMPTY, NEVER, NEVER), -N_EPROTO);
    cr_expect_eq(try_call(OPEN, TOO_LONG, NEVER, NEVER), -N_EPROTO);
    cr_expect_eq(try_call(OPEN, FAILED, NEVER, NEVER), -N_EIO);
    cr_expect_eq(try_call(OPEN, GOOD, NEVER, 0), -N_EFAULT);
    cr_expect_eq(try_call(OPEN, GOOD, 0, NEVER), -N_ENOMEM);
    cr_expect_eq(try_call(OPEN_AND_CLOSE, GOOD, NEVER, NEVER), -N_EBADF);
    begin();
    cr_expect_eq(ask_to_open(), BYTES);
    cr_expect_eq(file_get(&p, (uint64_t)file + 1)->sfid, 77);
    cr_expect_eq(CALL(askstart, NAME, N_FOPENREAD, N_O_RDWR | N_O_CREAT, NAME, BYTES), -N_EINVAL);
    cr_expect_eq(CALL(askstart, NAME, N_FOPENREAD, N_O_ACCMODE, NAME, BYTES), -N_EINVAL);
    end();
}

Test(requests, set_the_view_of_the_file_they_named_when_its_server_agrees)
{
    begin();
    int64_t number = CALL(askstart, file, N_FVIEW, 2, BUFFER, BYTES);
    cr_assert_gt(number, 0);
    cr_expect_eq(file_get(&p, file)->view, 0, "not yet");
    cr_expect_eq(CALL(askend, number, 0), 0);
    cr_expect_eq(file_get(&p, file)->view, 2);
    answer = FAILED;
    cr_expect_eq(CALL(askend, CALL(askstart, file, N_FVIEW, 3, BUFFER, BYTES), 0), -N_EIO);
    cr_expect_eq(file_get(&p, file)->view, 2, "as before");
    answer = GOOD;
    number = CALL(askstart, file, N_FVIEW, 2, BUFFER, 0);
    cr_expect_eq(CALL(askend, number, 0), 0);
    cr_expect_eq(file_get(&p, file)->view, 0);
    cr_expect_eq(CALL(askstart, file, N_FVIEW, 2, 0, 0), 0, "it has none");
    number = CALL(askstart, file, N_FVIEW, 2, BUFFER, BYTES);
    file_get(&p, file)->sfid = 78; /* as after a close and an open */
    cr_expect_eq(CALL(askend, number, 0), 0);
    cr_expect_eq(file_get(&p, file)->view, 0, "of another file");
    cr_expect_eq(CALL(askstart, 9, N_FVIEW, 2, BUFFER, BYTES), -N_EBADF);
    cr_expect_eq(CALL(askstart, file, N_FVIEW, 0, BUFFER, BYTES), -N_EINVAL);
    cr_expect_eq(CALL(askstart, file, N_FVIEW, FILE_VIEWS + 1, BUFFER, BYTES), -N_EINVAL);
    cr_expect_eq(CALL(askstart, file, N_FVIEW, 1, BUFFER, FILE_VIEW_MAX_BYTES + 1), -N_E2BIG);
    end();
    cr_expect_eq(live, 0);
    cr_expect_eq(channels_other_messages(), 0);
}

Test(requests, have_as_many_questions_as_they_may)
{
    begin();
    for (int i = 0; i < 64; i++)
        cr_assert_gt(CALL(askstart, NAME, N_FSTATNAME, 0, 0, 0), 0, "question %d", i);
    cr_expect_eq(CALL(askstart, NAME, N_FSTATNAME, 0, 0, 0), -N_EAGAIN);
    cr_expect_eq(CALL(askstart, NAME, N_FOPEN, 0, 0, 0), -N_EINVAL);
    cr_expect_eq(CALL(askstart, NAME, N_FREADNAME, 0, 0, ASK_DATA_MAX_BYTES + 1), -N_EINVAL);
    cr_expect_eq(CALL(askend, 1, 0), -N_EINVAL, "the open's");
    end();
    cr_expect_eq(live, 0);
    cr_expect_eq(channels_other_messages(), 0);
}

Test(requests, of_families_are_ended_by_number_and_keep_what_does_not_fit)
{
    enum { REQUEST = 28 };

    cr_expect_str_eq(calls[REQUEST].name, "a request of a family, and its end");
    cr_expect_eq(try_call(REQUEST, GOOD, NEVER, NEVER), 5);
    cr_expect_eq(try_call(REQUEST, EMPTY, NEVER, NEVER), -N_EPROTO);
    cr_expect_eq(try_call(REQUEST, CUT, NEVER, NEVER), -N_EPROTO);
    cr_expect_eq(try_call(REQUEST, FAILED, NEVER, NEVER), -N_EIO);
    cr_expect_eq(try_call(REQUEST, SILENT, NEVER, NEVER), -N_ETIMEDOUT);
    cr_expect_eq(try_call(REQUEST, UNDELIVERABLE, NEVER, NEVER), -N_EHOSTUNREACH);
    cr_expect_eq(try_call(REQUEST, GOOD, NEVER, 0), -N_EFAULT);
    cr_expect_eq(try_call(REQUEST, GOOD, 0, NEVER), -N_ENOMEM);
    begin();
    cr_expect_eq(CALL(requesttest, 0), ASK_MAX, "so many may be started");
    int64_t number = request_one();
    cr_expect_eq(CALL(requesttest, 0), ASK_MAX - 1);
    cr_expect_eq(CALL(requesttest, number), 0);
    now_cycles = 60 * CLOCK_HZ;
    cr_expect_eq(CALL(requesttest, number), 1, "the limit has passed");
    copies_left = 1;
    cr_expect_eq(end_request(number), -N_EFAULT);
    copies_left = NEVER;
    cr_expect_eq(CALL(requesttest, number), 1);
    cr_expect_eq(end_request(number), 5);
    cr_expect_eq(end_request(number), -N_EINVAL);
    cr_expect_eq(end_request(0), -N_EINVAL);
    cr_expect_eq(CALL(askend, 0, BUFFER), -N_EINVAL);
    cr_expect_eq(CALL(requesttest, number), -N_EINVAL);
    number = CALL(askstart, NAME, N_FSTATNAME, 0, 0, 0);
    cr_expect_eq(end_request(number), -N_EINVAL);
    cr_expect_eq(CALL(requesttest, number), -N_EINVAL);
    p.builtin = true;
    cr_expect_eq(request_one(), -N_EPERM);
    p.builtin = false;
    end();
    cr_expect_eq(message_count(), 0);
    cr_expect_eq(live, 0);
}
