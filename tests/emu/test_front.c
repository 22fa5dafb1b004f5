/* The front end against a machine that this test plays: mounting, loads, ends, refused messages, shutdown. */
#include "emu/front/front.h"

#include <criterion/criterion.h>
#include <signal.h>

#include "emu/hostfs/console.h"
#include "tiny_elf.h"
#include "vertex/contract/errors.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

/*
 * A machine of 2^3 nodes and two I/O nodes with three drives, played by the test: it records the messages of the front
 * end and, unless a single test does so itself, answers them as Vertex and nsdisk would.
 */
#define NODES    8u
#define IO_0     NODE_IO(3, 0) /* df00 */
#define IO_1     NODE_IO(3, 1) /* df01, df02 */
#define MESSAGES 4096

static struct topo_io_node io_nodes[] = {
    {.node = IO_0, .ndrives = 1, .drive = {{.volume = "df00"}}},
    {.node = IO_1, .ndrives = 2, .drive = {{.volume = "df01"}, {.volume = "df02"}}},
};
static struct topo topo = {.dim = 3, .ram_bytes = NODE_RAM_DEFAULT_BYTES, .n_io = 2, .io = io_nodes};

static struct sent {
    uint32_t to, type, procid;
    size_t n;
    uint8_t head[64]; /* the first bytes */
} sent[MESSAGES];
static unsigned n_sent;

static struct scratch dir;
static struct front *front;
static struct front_options machine;
static struct job_program program;
static struct job_options options;
static uint32_t job;
static unsigned ends;
static char *arguments[] = {"prog", "x"};
static int in_end, out_end, err_end;
static char error[400];

static void record(void *ctx, uint32_t to, uint32_t tag, const void *bytes, size_t n)
{
    (void)ctx;
    cr_assert_lt(n_sent, MESSAGES);
    struct sent *s = &sent[n_sent++];
    *s = (struct sent){.to = to, .type = TAG_TYPE(tag), .procid = TAG_TO(tag), .n = n};
    if (n)
        memcpy(s->head, bytes, n < sizeof s->head ? n : sizeof s->head);
}

static void make_pipe(int *read_end, int *write_end)
{
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    *read_end = ends[0];
    *write_end = ends[1];
}

static void set_up(void)
{
    struct tiny_elf e = tiny_elf_program();

    signal(SIGPIPE, SIG_IGN);
    scratch_make(&dir);
    tiny_elf_write(&dir, "prog", &e);
    static char path[PATH_MAX];
    strcpy(path, scratch_path(&dir, "prog"));
    program = (struct job_program){.path = path, .argv = arguments, .argc = 2};
    options = (struct job_options){.dim = 2, .program = &program, .programs = 1, .serve = dir.path};
    make_pipe(&options.in, &in_end);
    make_pipe(&out_end, &options.out);
    make_pipe(&err_end, &options.err);
    cr_assert_eq(fcntl(err_end, F_SETFL, O_NONBLOCK), 0);
    machine = (struct front_options){.topo = &topo, .out = options.out, .err = options.err};
    n_sent = 0;
    ends = 0;
}

static void tear_down(void)
{
    front_free(front);
    scratch_remove(&dir);
}

TestSuite(front, .init = set_up, .fini = tear_down);

/* ---- Playing the machine ---- */

static void note_end(void *ctx, uint32_t id)
{
    (void)ctx;
    cr_expect(job_has_ended(front_find_job(front, id)));
    ends++;
}

/* As ncube run does: it stops when its job has ended. */
static void end_machine(void *ctx, uint32_t id)
{
    note_end(ctx, id);
    front_stop(front);
}

static void make_machine(void (*ended)(void *ctx, uint32_t id))
{
    const struct front_ops ops = {.job = {.send = record}, .ended = ended};

    front_free(front);
    cr_assert_eq(front_new(&front, &machine, &ops, NULL, error, sizeof error), 0, "%s", error);
}

static int make_front(void)
{
    make_machine(end_machine);
    return front_begin_job(front, &options, &job, error, sizeof error);
}

/* Of ncube run. */
static int status(void)
{
    return front_failed(front) ? 1 : job_status(front_find_job(front, job));
}

static void start(void)
{
    cr_assert_eq(make_front(), 0, "%s", error);
    front_start(front);
}

/* Returns the text written to standard error since the last call. */
static const char *take_err(void)
{
    static char text[65536];
    ssize_t n = read(err_end, text, sizeof text - 1);

    text[n < 0 ? 0 : n] = '\0';
    return text;
}

static unsigned count_lines(const char *text)
{
    unsigned lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

static unsigned count_sent(uint32_t type, uint32_t to)
{
    unsigned n = 0;

    for (unsigned i = 0; i < n_sent; i++)
        n += sent[i].type == type && sent[i].to == to;
    return n;
}

static unsigned count_type(uint32_t type)
{
    unsigned n = 0;

    for (unsigned i = 0; i < n_sent; i++)
        n += sent[i].type == type;
    return n;
}

static void arrive(uint32_t from, uint32_t type, const void *head, size_t head_bytes, const char *text)
{
    uint8_t message[512];

    memcpy(message, head, head_bytes);
    memcpy(message + head_bytes, text, strlen(text));
    front_receive(front, from, TAG(type, 0, 0), message, head_bytes + strlen(text));
}

static void mounted(uint32_t node, uint32_t drive, int32_t status, const char *text)
{
    const struct file_reply r = {.seq = drive, .status = status};

    arrive(node, N_MOUNTED, &r, sizeof r, text);
}

static void mount_all(void)
{
    mounted(IO_0, 0, 0, "");
    mounted(IO_1, 0, 0, "");
    mounted(IO_1, 1, 0, "");
}

static void exited(uint32_t node, int32_t status, uint32_t how, const char *text)
{
    const struct {
        struct job_exit exit;
        struct exit_fault fault;
    } e = {.exit = {.job = 1, .node = node, .status = status, .how = how},
           .fault = {.pc = 0x10044, .x[1] = 0x6ffffff0}};

    arrive(node, N_EXIT, &e, how == EXIT_FAULT ? sizeof e : sizeof e.exit, text);
}

static void shut_down(uint32_t node, int32_t status)
{
    const struct file_reply r = {.status = status};

    arrive(node, N_REPLY(N_SHUTDOWN), &r, sizeof r, "");
}

static void run_until_loaded(void)
{
    start();
    mount_all();
    cr_assert_eq(count_sent(N_LOAD_START, 0), 1);
}

static void shut_all_down(void)
{
    cr_assert_eq(count_sent(N_SHUTDOWN, IO_0), 1);
    cr_assert_eq(count_sent(N_SHUTDOWN, IO_1), 1);
    cr_assert_not(front_finished(front));
    shut_down(IO_0, 0);
    shut_down(IO_1, 0);
    cr_assert(front_finished(front));
}

static void expect_wait(const char *expected)
{
    char text[200];

    front_describe_wait(front, text, sizeof text);
    cr_expect_str_eq(text, expected);
}

/* ---- A whole run ---- */

Test(front, a_program_is_loaded_after_all_mounts_and_stopped_after_all_exits)
{
    static const int statuses[] = {0, 3, 2, 0};

    start();
    expect_wait("the front end waits for 3 of 3 volumes to be mounted, first df00");
    mounted(IO_1, 1, 0, "");
    mounted(IO_0, 0, 0, "");
    cr_expect_eq(n_sent, 0, "nothing is loaded before every drive is mounted");
    expect_wait("the front end waits for 1 of 3 volumes to be mounted, first df01");
    mounted(IO_1, 0, 0, "");

    cr_expect_eq(count_sent(N_LOAD_BEGIN, 0), 1);
    cr_expect_eq(count_sent(N_LOAD_DATA, 0), 3);
    cr_expect_eq(count_sent(N_LOAD_START, 0), 1);
    cr_expect_eq(n_sent, 5, "nothing goes to other nodes");
    const struct load_begin *begin = (const void *)sent[0].head;
    cr_expect_eq(begin->dim, 2);
    cr_expect_eq(begin->volumes, 3);
    cr_expect_eq(begin->argc, 2);
    cr_expect_eq(begin->stack_bytes, 256 << 10, "the default");

    for (uint32_t i = 0; i < 4; i++) {
        cr_expect_eq(count_type(N_SHUTDOWN), 0);
        exited(i, statuses[i], EXIT_NORMAL, "");
        if (i == 0)
            expect_wait("the front end waits for 3 of 4 nodes to exit, first node 1");
    }
    expect_wait("the front end waits for 2 nsdisk to shut down, first on I/O node 0 of board 3");
    shut_all_down();
    expect_wait("the front end waits for nothing");
    cr_expect_eq(status(), 3, "the highest");
    cr_expect_str_empty(take_err());
}

Test(front, a_machine_without_drives_needs_no_mounts)
{
    static struct topo bare = {.dim = 0, .ram_bytes = NODE_RAM_DEFAULT_BYTES};

    machine.topo = &bare;
    options.dim = 0;
    start();
    cr_expect_eq(count_sent(N_LOAD_START, 0), 1);
    exited(0, 256 + 7, EXIT_NORMAL, "");
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 7, "eight bits, as a shell sees it");
}

/* ---- Failures ---- */

Test(front, a_fault_is_told_once_and_ends_the_other_nodes)
{
    run_until_loaded();
    exited(2, 5, EXIT_NORMAL, "");
    exited(1, 0, EXIT_FAULT, "node 1: store to 0x8 at pc 0x10044\n");
    cr_expect_str_eq(take_err(), "node 1: store to 0x8 at pc 0x10044\n");
    cr_expect_eq(count_type(N_KILL), 2);
    cr_expect_eq(count_sent(N_KILL, 0), 1);
    cr_expect_eq(count_sent(N_KILL, 3), 1);
    expect_wait("the front end waits for 2 of 4 nodes to confirm that they were killed, first node 0");
    exited(3, 0, EXIT_FAULT, "node 3: it faulted as well\n");
    exited(0, 0, EXIT_KILLED, "");
    cr_expect_eq(count_type(N_KILL), 2);
    cr_expect_str_empty(take_err());
    shut_all_down();
    cr_expect_eq(status(), 1);
}

Test(front, a_load_that_fails_is_told_with_its_reason)
{
    run_until_loaded();
    exited(3, -N_ENOMEM, EXIT_LOAD, "");
    const char *told = take_err();
    cr_expect_not_null(strstr(told, "/prog can't be loaded on node 3: out of memory\n"), "%s", told);
    cr_expect_eq(count_type(N_KILL), 3);
    for (uint32_t i = 0; i < 3; i++)
        exited(i, 0, EXIT_KILLED, "");
    shut_all_down();
    cr_expect_eq(status(), 1);
}

Test(front, a_failed_mount_is_told_and_the_others_are_shut_down)
{
    start();
    mounted(IO_0, 0, -N_EIO, "block 3 is no group descriptor");
    cr_expect_str_eq(take_err(), "ncube: volume df00 can't be mounted: block 3 is no group descriptor\n");
    cr_expect_eq(n_sent, 0, "the other mounts are awaited");
    mounted(IO_1, 0, 0, "");
    mounted(IO_1, 1, -N_ENOMEM, "");
    cr_expect_str_eq(take_err(), "ncube: volume df02 can't be mounted: out of memory\n");
    cr_expect_eq(n_sent, 1);
    cr_expect_eq(count_sent(N_SHUTDOWN, IO_1), 1, "it has a volume mounted");
    shut_down(IO_1, 0);
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 1);
}

/* IO_0 has df00, IO_1 has df01 and df02. */
Test(front, a_missing_volume_is_told_and_done_without)
{
    start();
    mounted(IO_1, 0, -N_ENODEV, "the drive failed to read");
    cr_expect_str_eq(take_err(), "ncube: volume df01 is missing: the drive failed to read\n");
    mounted(IO_1, 1, 0, "");
    front_unreachable(front, IO_0);
    cr_expect_str_eq(take_err(), "ncube: volume df00 is missing: I/O node 0 of board 3 does not answer\n");
    cr_expect(front_is_up(front));
    for (uint32_t i = 0; i < 4; i++)
        exited(i, 0, EXIT_NORMAL, "");
    cr_expect_eq(count_type(N_SHUTDOWN), 2, "IO_0 may be there again");
    front_undeliverable(front, IO_0, TAG(N_SHUTDOWN, 0, 0), NULL, 0);
    shut_down(IO_1, 0);
    cr_expect_str_eq(take_err(), "");
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 0);
}

Test(front, a_notice_without_a_way_is_sent_when_something_recovers)
{
    struct file_reply reply = {.seq = 7};
    struct lost_notice notice = {.sequence = 7, .count = 1};
    uint32_t tag = TAG(N_REPLY(N_FWRITE), 0, 0), lost = TAG(N_LOST, 0, 0);

    start();
    mount_all();
    front_recovered(front);
    cr_expect_eq(count_type(N_LOST), 0, "nothing is owed");
    front_undeliverable(front, 1, tag, &reply, sizeof reply);
    cr_expect_eq(count_sent(N_LOST, 1), 1);
    front_undeliverable(front, 1, lost, &notice, sizeof notice);
    cr_expect_eq(count_sent(N_LOST, 1), 1, "not before there is a way");
    front_recovered(front);
    front_recovered(front);
    cr_expect_eq(count_sent(N_LOST, 1), 2, "once");
    front_undeliverable(front, 1, lost, &notice, sizeof notice);
    for (uint32_t i = 0; i < 4; i++)
        exited(i, 0, EXIT_NORMAL, "");
    front_recovered(front);
    cr_expect_eq(count_sent(N_LOST, 1), 2, "its job has ended");
}

Test(front, an_io_node_that_a_shutdown_does_not_reach_is_not_awaited)
{
    run_until_loaded();
    front_undeliverable(front, IO_0, TAG(N_KILL, 0, 0), "", 0);
    cr_expect_str_eq(take_err(), "", "only a shutdown that is lost tells");
    for (uint32_t i = 0; i < 4; i++)
        exited(i, 0, EXIT_NORMAL, "");
    shut_down(IO_1, 0);
    cr_expect_not(front_finished(front));
    front_undeliverable(front, IO_0, TAG(N_SHUTDOWN, 0, 0), "", 0);
    cr_expect_str_eq(take_err(), "ncube: I/O node 0 of board 3 was not shut down: no path to it works\n");
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 1);
}

Test(front, is_up_from_the_last_mount_to_the_call_to_stop)
{
    start();
    cr_expect_not(front_is_up(front));
    mount_all();
    cr_expect(front_is_up(front));
    front_stop(front);
    cr_expect_not(front_is_up(front), "a program runs, but no other may begin");
}

Test(front, the_reason_that_a_node_gives_is_cut_to_a_line)
{
    char reason[2 * CONSOLE_LINE_BYTES], line[CONSOLE_LINE_BYTES + 1];

    memset(reason, 'x', sizeof reason);
    for (size_t n = CONSOLE_LINE_BYTES - 2; n < CONSOLE_LINE_BYTES + 2; n++) {
        memset(line, '?', sizeof line);
        console_explain(reason, n, 0, line);
        cr_expect_eq(strlen(line), n < CONSOLE_LINE_BYTES ? n : CONSOLE_LINE_BYTES - 1, "%zu bytes", n);
        cr_expect_eq(line[CONSOLE_LINE_BYTES], '?', "%zu bytes", n);
    }
}

Test(front, mounts_that_never_come_are_given_up)
{
    start();
    mounted(IO_0, 0, 0, "");
    cr_expect(front_give_up(front));
    cr_expect_str_eq(take_err(), "ncube: volume df01 is missing: I/O node 1 of board 3 does not answer\n"
                                 "ncube: volume df02 is missing: I/O node 1 of board 3 does not answer\n");
    cr_expect(front_is_up(front));
    cr_expect_not(front_give_up(front), "none is awaited");
    mounted(IO_1, 0, 0, "");
    cr_expect_str_eq(take_err(), "", "it may come late");
    for (uint32_t i = 0; i < 4; i++)
        exited(i, 0, EXIT_NORMAL, "");
    shut_down(IO_0, 0);
    cr_expect(front_give_up(front));
    cr_expect_str_eq(take_err(), "ncube: I/O node 1 of board 3 was not shut down: no path to it works\n");
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 1);
}

Test(front, nodes_that_do_not_confirm_their_end_are_given_up)
{
    run_until_loaded();
    cr_expect_not(front_give_up(front), "they run");
    exited(3, -N_ENOMEM, EXIT_LOAD, "");
    take_err();
    cr_expect(front_give_up(front));
    cr_expect_str_eq(take_err(), "", "why was told");
    shut_down(IO_0, 0);
    shut_down(IO_1, 0);
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 1);
}

Test(front, a_failed_shutdown_is_told)
{
    run_until_loaded();
    for (uint32_t i = 0; i < 4; i++)
        exited(i, 0, EXIT_NORMAL, "");
    shut_down(IO_1, -N_EIO);
    cr_expect_str_eq(take_err(), "ncube: I/O node 1 of board 3 did not shut down cleanly: I/O error\n");
    shut_down(IO_0, 0);
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 1);
}

Test(front, an_nsdisk_that_ends_takes_the_program_with_it)
{
    const struct {
        struct job_exit exit;
        struct exit_fault fault;
    } e = {.exit = {.node = IO_0, .status = 1, .how = EXIT_FAULT}}; /* as Vertex sends it: vertex/process/proc_end.c */

    run_until_loaded();
    arrive(IO_0, N_EXIT, &e, sizeof e, "node 16432 (address 0x4030): misaligned jump, pc 0x1, address 0x1");
    cr_expect_str_eq(take_err(),
                     "ncube: nsdisk on I/O node 0 of board 3 has ended: node 16432 (address 0x4030): "
                     "misaligned jump, pc 0x1, address 0x1\n",
                     "told once, where both have one stream");
    cr_expect_eq(count_type(N_KILL), 4);
    for (uint32_t i = 0; i < 4; i++)
        exited(i, 0, EXIT_KILLED, "");
    cr_expect_eq(count_sent(N_SHUTDOWN, IO_0), 0);
    shut_down(IO_1, 0);
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 1);
}

Test(front, an_nsdisk_that_ends_is_told_to_users_with_streams_of_their_own)
{
    const struct job_exit e = {.node = IO_1, .status = 3};
    int machine_err_end;

    make_pipe(&machine_err_end, &machine.err);
    run_until_loaded();
    arrive(IO_1, N_EXIT, &e, sizeof e, "");
    cr_expect_str_eq(take_err(), "ncube: nsdisk on I/O node 1 of board 3 has ended, and the program with it\n");
    err_end = machine_err_end;
    cr_expect_str_eq(take_err(), "ncube: nsdisk on I/O node 1 of board 3 has ended: status 3\n");
    cr_expect_eq(count_type(N_KILL), 4);
}

Test(front, an_nsdisk_that_ends_before_it_mounts_or_shuts_down_is_not_awaited)
{
    const struct job_exit e = {.how = EXIT_FAULT};

    start();
    arrive(IO_1, N_EXIT, &e, sizeof e, "");
    mounted(IO_0, 0, 0, "");
    cr_expect_eq(count_type(N_SHUTDOWN), 1);
    arrive(IO_0, N_EXIT, &e, sizeof e, "");
    cr_expect(front_finished(front));
    cr_expect_eq(status(), 1);
}

/* ---- Jobs that are refused before the machine starts ---- */

Test(front, options_that_do_not_fit_are_refused_in_one_line)
{
    static char long_argument[70000];
    static char *long_arguments[] = {"prog", long_argument};
    static struct topo one = {.dim = 0, .ram_bytes = NODE_RAM_DEFAULT_BYTES};
    const struct job_options good = options;
    const struct job_program good_program = program;

    options.dim = 7;
    cr_expect_eq(make_front(), -1);
    cr_expect_str_eq(error, "dimension 7 does not fit: the machine has 2^3 nodes; give -d 0 to 3");

    machine.topo = &one;
    options.dim = 1;
    cr_expect_eq(make_front(), -1);
    cr_expect_str_eq(error, "dimension 1 does not fit: the machine has 2^0 nodes; give -d 0");

    machine.topo = &topo;
    options = good;
    program.path = "/none/prog";
    cr_expect_eq(make_front(), -1);
    cr_expect_not_null(strstr(error, "/none/prog: cannot be opened"), "%s", error);

    program = good_program;
    options.serve = "/none";
    cr_expect_eq(make_front(), -1);
    cr_expect_not_null(strstr(error, "/none"), "%s", error);

    options = good;
    memset(long_argument, 'a', sizeof long_argument - 1);
    program.argv = long_arguments;
    cr_expect_eq(make_front(), -1);
    cr_expect_not_null(strstr(error, "the arguments take 70029 bytes"), "%s", error);

    options = good;
    program = good_program;
    options.stack_bytes = 1ull << 40;
    cr_expect_eq(make_front(), -1);
    cr_expect_not_null(strstr(error, "stack"), "%s", error);
}

/* ---- Files and text ---- */

Test(front, requests_of_nodes_in_the_job_and_of_io_nodes_are_answered)
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

Test(front, a_nodes_files_are_closed_when_it_exits)
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

Test(front, text_from_nodes_is_shown_line_by_line_behind_their_names)
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

Test(front, a_message_that_makes_no_sense_is_refused_in_one_line_and_changes_nothing)
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

Test(front, messages_of_programs_that_are_refused_are_no_line_each_whatever_node_and_type_they_have)
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

Test(front, an_exit_before_the_load_is_refused)
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

Test(front, random_messages_do_no_harm)
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
        front_free(front);
        front = NULL;
    }
}
