/* Messages to the front end: requests and text that it serves, and those that make no sense. */
#include "emu/front/front.h"

#include <criterion/criterion.h>

#include "tests/emu/front_play.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

TestSuite(front_messages, .init = set_up, .fini = tear_down);

/* ---- Files and text ---- */

Test(front_messages, requests_of_nodes_in_the_job_and_of_io_nodes_are_answered)
{
    struct {
        struct file_request r;
        char name[4];
    } open_prog = {{.seq = 77, .name_bytes = 4}, {'p', 'r', 'o', 'g'}};

    run_until_loaded();
    n_sent = 0;
    front_receive(front, 3, TAG(N_FOPEN, 5, 0), &open_prog, sizeof open_prog.r + 4);
    front_receive(front, IO_1, TAG(N_FOPEN, 0, 0), &open_prog, sizeof open_prog.r + 4);
    cr_assert_eq(n_sent, 2);
    cr_expect_eq(sent[0].to, 3);
    cr_expect_eq(sent[0].procid, 5, "the reply goes to the process that asked");
    cr_expect_eq(sent[0].type, N_REPLY(N_FOPEN));
    cr_expect_eq(sent[0].n, sizeof(struct file_reply) + sizeof(struct file_opened));
    cr_expect_eq(((const struct file_reply *)sent[0].head)->seq, 77);
    cr_expect_eq(((const struct file_reply *)sent[0].head)->status, 0);
    cr_expect_eq(sent[1].to, IO_1);

    front_receive(front, 4, TAG(N_FOPEN, 0, 0), &open_prog, sizeof open_prog.r + 4);
    cr_expect_eq(n_sent, 2, "node 4 is not in the job");
    front_receive(front, 3, TAG(N_FOPEN, 0, 0), &open_prog, 10);
    cr_expect_eq(n_sent, 2, "too short to answer");
    cr_expect_eq(count_lines(take_err()), 3, "two were refused, and an I/O node has no folder");
}

Test(front_messages, a_nodes_files_are_closed_when_it_exits)
{
    struct {
        struct file_request r;
        char name[4];
    } m = {{.name_bytes = 4}, {'p', 'r', 'o', 'g'}};

    run_until_loaded();
    n_sent = 0;
    front_receive(front, 1, TAG(N_FOPEN, 0, 0), &m, sizeof m.r + 4);
    const struct file_opened *opened = (const void *)(sent[0].head + sizeof(struct file_reply));
    m.r = (struct file_request){.sfid = opened->sfid};
    exited(1, 0, EXIT_NORMAL, "");
    front_receive(front, 1, TAG(N_FSTAT, 0, 0), &m, sizeof m.r);
    cr_expect_eq(((const struct file_reply *)sent[1].head)->status, -N_ESTALE);
}

Test(front_messages, text_from_nodes_is_shown_line_by_line_behind_their_names)
{
    static char long_text[1024 + 1025];

    start();
    arrive(5, N_CONSOLE, "", 0, "hello\nwor\033ld");
    cr_expect_str_eq(take_err(), "node 5: hello\nnode 5: wor?ld\n");
    arrive(IO_1, N_CONSOLE, "", 0, "\n");
    cr_expect_str_eq(take_err(), "I/O node 1 of board 3: \n");
    memset(long_text, 'x', sizeof long_text);
    long_text[1024] = '\n';
    front_receive(front, 0, TAG(N_CONSOLE, 0, 0), long_text, sizeof long_text);
    cr_expect_eq(count_lines(take_err()), 2, "a full line and its newline are one line");
    front_receive(front, 0, TAG(N_CONSOLE, 0, 0), NULL, 0);
    cr_expect_str_empty(take_err());
}

/* ---- Messages without sense ---- */

Test(front_messages, a_message_that_makes_no_sense_is_refused_in_one_line_and_changes_nothing)
{
    static const struct job_exit own_job = {.job = 1}, other_job = {.job = 2}, other_node = {.job = 1, .node = 2},
                                 strange = {.job = 1, .how = 9}, short_fault = {.job = 1, .how = EXIT_FAULT},
                                 outside = {.job = 1, .node = 6};
    static const struct file_reply third = {.seq = 2}, again = {.seq = 0};

    static const struct {
        const char *name;
        uint32_t from, type;
        const void *bytes;
        size_t n;
        const char *expected;
    } cases[] = {
        {"no such node", 8, N_CONSOLE, "x", 1, "there is no such node"},
        {"no such I/O node", NODE_IO(0, 0), N_MOUNTED, &again, 8, "there is no such node"},
        {"the front end itself", NODE_HOST, N_EXIT, &other_job, 16, "there is no such node"},
        {"a user's message", 0, 100, "x", 1, "reads no messages of programs"},
        {"a user's of a high type", 0, IN_CONTEXT(CONTEXT_HIGH, N_EXIT), &other_job, 16,
         "a message of type 0x8004 from node 0 is refused: the front end reads no messages of programs"},
        {"a library's", 0, IN_CONTEXT(CONTEXT_MOST, N_FOPEN), "x", 1, "reads no messages of programs"},
        {"a load", 0, N_LOAD_BEGIN, "x", 1, "there is no such type"},
        {"the last type", 0, 0xffff, "x", 1, "there is no such type"},
        {"a short start", 0, N_STARTED, &other_job, 15, "too short"},
        {"a start outside of jobs", 6, N_STARTED, &other_job, 16, "not in a job"},
        {"a start that nobody asked for", 0, N_STARTED, &own_job, 16, "nothing was to start there"},
        {"a short exit", 0, N_EXIT, &other_job, 15, "too short"},
        {"another job's exit", 0, N_EXIT, &other_job, 16, "no such job"},
        {"an exit for another", 0, N_EXIT, &other_node, 16, "another node"},
        {"a fault without registers", 0, N_EXIT, &short_fault, 16, "too short"},
        {"a strange exit", 0, N_EXIT, &strange, 16, "no such way"},
        {"an exit from outside", 6, N_EXIT, &outside, 16, "not in a job"},
        {"a short mount", IO_0, N_MOUNTED, &again, 7, "too short"},
        {"a second mount", IO_0, N_MOUNTED, &again, 8, "already reported"},
        {"a third drive", IO_1, N_MOUNTED, &third, 8, "no such drive"},
        {"a compute node's mount", 0, N_MOUNTED, &again, 8, "no such drive"},
        {"an early shutdown", IO_0, N_REPLY(N_SHUTDOWN), &again, 8, "no shutdown was requested"},
        {"a short shutdown", IO_0, N_REPLY(N_SHUTDOWN), &again, 4, "too short"},
    };

    run_until_loaded();
    n_sent = 0;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        front_receive(front, cases[i].from, TAG(cases[i].type, 0, 0), cases[i].bytes, cases[i].n);
        const char *told = take_err();
        cr_expect_not_null(strstr(told, cases[i].expected), "%s: %s", cases[i].name, told);
        cr_expect_eq(count_lines(told), 1, "%s", cases[i].name);
    }
    cr_expect_eq(n_sent, 0);
    expect_wait("the front end waits for 4 of 4 nodes to exit, first node 0");

    exited(0, 4, EXIT_NORMAL, "");
    exited(0, 200, EXIT_NORMAL, "");
    cr_expect_not_null(strstr(take_err(), "already exited"));
    cr_expect_eq(status(), 4);
}

Test(front_messages, messages_of_programs_that_are_refused_are_no_line_each_whatever_node_and_type_they_have)
{
    run_until_loaded();
    for (uint32_t i = 0; i < 100; i++)
        front_receive(front, i % 4, TAG(i * 300, 0, 0), "x", 1);
    const char *told = take_err();
    cr_expect_eq(count_lines(told), 5, "%s", told);
    cr_expect_not_null(strstr(told, "type 0x0 from node 0 is refused: the front end reads no messages of programs\n"));
    cr_expect_not_null(strstr(told, "from node 1 is refused: the front end reads no messages of programs (the 10th "));
    front_receive(front, 0, TAG(5, 0, 0), "x", 1);
    for (uint32_t node = 0; node < 4; node++)
        exited(node, 0, EXIT_NORMAL, "");
    shut_all_down();
    cr_expect_str_eq(take_err(), "ncube: 101 messages were refused: the front end reads no messages of programs\n");
}

Test(front_messages, an_exit_before_the_load_is_refused)
{
    start();
    exited(0, 1, EXIT_NORMAL, "");
    cr_expect_not_null(strstr(take_err(), "no such job is running"));
    mount_all();
    expect_wait("the front end waits for 4 of 4 nodes to exit, first node 0");
}

/* Message types and senders that mean something, so that random ones get past the first check. */
static uint32_t random_type(unsigned *seed)
{
    static const uint32_t types[] = {N_EXIT, N_MOUNTED, N_CONSOLE, N_REPLY(N_SHUTDOWN)};
    uint32_t r = rand_r(seed);

    if (r % 10 == 0)
        return r >> 8 & 0xffff;
    return r % 2 ? types[r / 16 % 4] : N_FOPEN + r / 16 % 20;
}

static uint32_t random_sender(unsigned *seed)
{
    static const uint32_t senders[] = {0, 1, 2, 3, 4, 8, IO_0, IO_1, NODE_IO(0, 0), NODE_HOST, UINT32_MAX};

    return senders[rand_r(seed) % 11];
}

static void throw_away_output(void)
{
    char bytes[65536];

    while (read(err_end, bytes, sizeof bytes) > 0)
        ;
}

Test(front_messages, random_messages_do_no_harm)
{
    unsigned seed = 42;

    close(in_end);
    fcntl(out_end, F_SETFL, O_NONBLOCK);
    for (int round = 0; round < 50; round++) {
        start();
        if (round % 3)
            mount_all();
        for (int i = 0; i < 400; i++) {
            uint8_t bytes[64];
            size_t n = rand_r(&seed) % (sizeof bytes + 1);

            for (size_t k = 0; k < n; k++)
                bytes[k] = rand_r(&seed) % 3 ? rand_r(&seed) % 4 : rand_r(&seed);
            front_receive(front, random_sender(&seed), TAG(random_type(&seed), rand_r(&seed), 0), bytes, n);
            n_sent = 0;
            throw_away_output();
            while (read(out_end, bytes, sizeof bytes) > 0)
                ;
        }
        status();
        arrive(5, N_CONSOLE, "", 0, "hello\n");
        cr_expect(strstr(take_err(), "node 5: hello\n"), "round %d: nobody is heard any more", round);
        front_free(front);
        front = NULL;
    }
}
