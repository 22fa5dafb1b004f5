/*
 * Several jobs on one machine of 2^3 nodes without drives, played by the test as Vertex would. test_front.c has one job
 * and the I/O nodes.
 */
#include "emu/job/job.h"

#include <criterion/criterion.h>
#include <signal.h>

#include "emu/front/front.h"
#include "emu/job/lives.h"
#include "tests/emu/scratch.h"
#include "tiny_elf.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

#define MESSAGES 512

static struct topo topo = {.dim = 3, .ram_bytes = NODE_RAM_DEFAULT_BYTES};

static struct sent {
    uint32_t to, type;
    struct file_reply reply;
    struct load_begin begin;
} sent[MESSAGES];
static unsigned n_sent;
static uint32_t ended[16];
static unsigned n_ended;

static struct scratch dir;
static char path[PATH_MAX], error[400];
static struct front *front;
static char *arguments[] = {"prog"};

static void record(void *ctx, uint32_t to, uint32_t tag, const void *bytes, size_t n)
{
    (void)ctx;
    cr_assert_lt(n_sent, MESSAGES);
    struct sent *s = &sent[n_sent++];
    *s = (struct sent){.to = to, .type = TAG_TYPE(tag)};
    if (s->type == N_LOAD_BEGIN)
        memcpy(&s->begin, bytes, sizeof s->begin);
    else if (n >= sizeof s->reply)
        memcpy(&s->reply, bytes, sizeof s->reply);
}

static void note_end(void *ctx, uint32_t id)
{
    (void)ctx;
    ended[n_ended++] = id;
}

static void set_up(void)
{
    static const struct front_ops ops = {.job = {.send = record}, .ended = note_end};
    const struct front_options options = {.topo = &topo, .out = 1, .err = 2};
    struct tiny_elf e = tiny_elf_program();

    signal(SIGPIPE, SIG_IGN);
    scratch_make(&dir);
    tiny_elf_write(&dir, "prog", &e);
    strcpy(path, scratch_path(&dir, "prog"));
    n_sent = n_ended = 0;
    cr_assert_eq(front_new(&front, &options, &ops, NULL, error, sizeof error), 0, "%s", error);
    front_start(front);
}

static void tear_down(void)
{
    front_free(front);
    scratch_remove(&dir);
}

TestSuite(job, .init = set_up, .fini = tear_down);

/* ---- Playing ---- */

/* The test's ends of a job's streams. */
struct user {
    int in, out, err;
};

static void make_pipe(int *read_end, int *write_end)
{
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    *read_end = ends[0];
    *write_end = ends[1];
}

static struct job_options options_for(struct user *u, uint32_t dim, const struct job_program *program,
                                      uint32_t programs)
{
    struct job_options o = {.dim = dim, .program = program, .programs = programs, .keeps_going = true};

    make_pipe(&o.in, &u->in);
    make_pipe(&u->out, &o.out);
    make_pipe(&u->err, &o.err);
    cr_assert_eq(fcntl(u->out, F_SETFL, O_NONBLOCK), 0);
    cr_assert_eq(fcntl(u->err, F_SETFL, O_NONBLOCK), 0);
    return o;
}

/* 0: refused, with the reason in `error`. */
static uint32_t begin(struct user *u, uint32_t dim)
{
    static struct job_program program = {.path = path, .argv = arguments, .argc = 1};
    const struct job_options o = options_for(u, dim, &program, 1);
    uint32_t id = 0;

    front_begin_job(front, &o, &id, error, sizeof error);
    return id;
}

static const char *text_at(int end)
{
    static char text[65536];
    ssize_t n = read(end, text, sizeof text - 1);

    text[n < 0 ? 0 : n] = '\0';
    return text;
}

static void exits(uint32_t node, uint32_t job, uint32_t logical, int32_t status)
{
    const struct job_exit e = {.job = job, .node = logical, .status = status};

    front_receive(front, node, TAG(N_EXIT, 0, 0), &e, sizeof e);
}

static void all_exit(uint32_t job)
{
    const struct job *j = front_find_job(front, job);

    for (uint32_t i = 0; i < j->nodes; i++)
        exits(j->base + i, job, i, 0);
}

static void ask_stream(uint32_t node, uint32_t type, uint64_t sfid, uint32_t seq, uint32_t bytes, const char *data)
{
    struct {
        struct file_request r;
        char data[400000];
    } *m = calloc(1, sizeof *m);

    m->r = (struct file_request){.seq = seq, .sfid = sfid, .bytes = bytes};
    if (data)
        memcpy(m->data, data, bytes);
    front_receive(front, node, TAG(type, 0, 0), m, sizeof m->r + (data ? bytes : 0));
    free(m);
}

static unsigned count_sent(uint32_t type, uint32_t to)
{
    unsigned n = 0;

    for (unsigned i = 0; i < n_sent; i++)
        n += sent[i].type == type && sent[i].to == to;
    return n;
}

/* ---- Subcubes ---- */

Test(job, jobs_get_subcubes_of_their_own_and_give_them_back)
{
    struct user a, b, c;
    uint32_t first = begin(&a, 1), second = begin(&b, 2);

    cr_assert(first && second && first != second);
    cr_expect_eq(front_find_job(front, first)->base, 0);
    cr_expect_eq(front_find_job(front, second)->base, 4);
    cr_expect_eq(count_sent(N_LOAD_START, 0), 1);
    cr_expect_eq(count_sent(N_LOAD_START, 4), 1);
    cr_expect_eq(begin(&c, 2), 0);
    cr_expect_str_eq(error, "no subcube of 4 nodes is free now; other programs use the nodes");
    all_exit(second);
    cr_expect(n_ended == 1 && ended[0] == second);
    cr_expect_neq(begin(&c, 2), 0);
    cr_expect_eq(lives_exits(front_find_job(front, first)->lives), 0, "the other goes on");
}

Test(job, a_node_speaks_for_its_own_job_only)
{
    struct user a, b;
    uint32_t first = begin(&a, 1), second = begin(&b, 1);

    exits(0, second, 0, 0);
    cr_expect_eq(lives_exits(front_find_job(front, second)->lives), 0);
    exits(2, first, 2, 0);
    cr_expect_eq(lives_exits(front_find_job(front, first)->lives), 0, "node 2 is the second's");
    ask_stream(2, N_FWRITE, SFID_STDOUT, 1, 7, "second\n");
    ask_stream(0, N_FWRITE, SFID_STDOUT, 1, 6, "first\n");
    cr_expect_str_eq(text_at(a.out), "first\n");
    cr_expect_str_eq(text_at(b.out), "second\n");
    n_sent = 0;
    ask_stream(6, N_FWRITE, SFID_STDOUT, 1, 5, "none\n");
    cr_expect_eq(n_sent, 0, "node 6 is in no job");
    all_exit(first);
    ask_stream(0, N_FWRITE, SFID_STDOUT, 1, 5, "late\n");
    cr_expect_eq(n_sent, 0, "nor is node 0 any more");
}

Test(job, killing_one_leaves_the_other)
{
    struct user a, b;
    uint32_t first = begin(&a, 1), second = begin(&b, 1);

    front_kill_job(front, first);
    front_kill_job(front, first);
    cr_expect(count_sent(N_KILL, 0) == 1 && count_sent(N_KILL, 1) == 1 && count_sent(N_KILL, 2) == 0);
    cr_expect_eq(n_ended, 0, "its nodes have not confirmed it");
    exits(0, first, 0, 5);
    exits(1, first, 1, 0);
    cr_expect_eq(job_status(front_find_job(front, first)), 1);
    all_exit(second);
    cr_expect_eq(job_status(front_find_job(front, second)), 0);
    front_forget_job(front, first);
    cr_expect_null(front_find_job(front, first));
}

Test(job, the_machine_stops_when_the_last_has_ended)
{
    struct user a, b;
    uint32_t first = begin(&a, 0), second = begin(&b, 0);

    front_stop(front);
    cr_expect_not(front_finished(front));
    cr_expect_eq(begin(&b, 0), 0);
    cr_expect_str_eq(error, "the machine is shutting down");
    all_exit(first);
    cr_expect_not(front_finished(front));
    all_exit(second);
    cr_expect(front_finished(front));
}

/* ---- Descriptors, and nodes that messages do not reach ---- */

Test(job, a_job_keeps_no_descriptor_whether_it_runs_or_is_refused)
{
    struct user u;
    const struct job_program good = {.path = path, .argv = arguments, .argc = 1},
                             bad = {.path = "/none", .argv = arguments, .argc = 1};
    const struct job_program programs[][2] = {{good, good}, {bad, good}, {good, bad}};
    struct job_options o = options_for(&u, 1, NULL, 2);
    unsigned before = count_descriptors();

    o.serve = dir.path;
    for (size_t i = 0; i < sizeof programs / sizeof *programs; i++) {
        uint32_t id = 0;

        o.program = programs[i];
        int begun = front_begin_job(front, &o, &id, error, sizeof error);
        cr_expect_eq(begun, i == 0 ? 0 : -1, "%s", error);
        if (id) {
            all_exit(id);
            front_forget_job(front, id);
        }
        cr_expect_eq(count_descriptors(), before, "%u more", count_descriptors() - before);
        cr_expect_neq(fcntl(STDIN_FILENO, F_GETFD), -1, "a descriptor that was never opened is closed");
    }
}

Test(job, a_node_that_the_load_does_not_reach_is_told_once_by_the_programs_number)
{
    struct user a, b;
    uint32_t second;

    begin(&a, 1);
    cr_assert_neq(second = begin(&b, 1), 0);
    front_undeliverable(front, 3, TAG(N_LOAD_BEGIN, 0, 0), "", 0);
    const char *told = text_at(b.err);
    cr_expect(strstr(told, "prog can't be loaded: no path to node 1 works\n"), "%s", told);
    cr_expect_eq(count_sent(N_KILL, 2), 1);
    front_undeliverable(front, 3, TAG(N_KILL, 0, 0), "", 0);
    cr_expect_str_eq(text_at(b.err), "", "why was told");
    exits(2, second, 0, 0);
    cr_expect(n_ended == 1 && ended[0] == second);
    cr_expect_str_eq(text_at(a.err), "", "it is another's");
}

/* ---- Statuses ---- */

Test(job, the_status_follows_the_rule)
{
    static const struct {
        enum job_status_rule rule;
        int expected;
    } cases[] = {{JOB_STATUS_HIGHEST, 9}, {JOB_STATUS_FIRST, 3}, {JOB_STATUS_NODE0, 4}};
    static struct job_program program = {.path = path, .argv = arguments, .argc = 1};

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct user u;
        uint32_t id;
        struct job_options o = options_for(&u, 2, &program, 1);

        o.status_rule = cases[i].rule;
        cr_assert_eq(front_begin_job(front, &o, &id, error, sizeof error), 0);
        exits(2, id, 2, 3);
        exits(1, id, 1, 9);
        exits(0, id, 0, 4);
        exits(3, id, 3, 0);
        cr_expect_eq(job_status(front_find_job(front, id)), cases[i].expected, "rule %d", cases[i].rule);
    }
}

/* ---- Several programs ---- */

static const struct {
    const char *name;
    uint32_t nodes, programs, wants[4], share[4];
    const char *error;
} shares[] = {
    {"all to one", 8, 1, {0}, {8}, NULL},
    {"halves", 8, 2, {0, 0}, {4, 4}, NULL},
    {"thirds of eight", 8, 3, {0, 0, 0}, {3, 3, 2}, NULL},
    {"one and the rest", 8, 2, {1, 0}, {1, 7}, NULL},
    {"the rest and one", 8, 3, {0, 1, 0}, {4, 1, 3}, NULL},
    {"exactly", 4, 2, {1, 3}, {1, 3}, NULL},
    {"too many", 4, 2, {2, 3}, {0}, "more nodes than the subcube's 4"},
    {"far too many", 4, 2, {UINT32_MAX, 5}, {0}, "more nodes than the subcube's 4"},
    {"nothing left to share", 4, 2, {4, 0}, {0}, "more nodes than the subcube's 4"},
    {"more programs than nodes", 1, 2, {0, 0}, {0}, "more nodes than the subcube's 1"},
    {"not all", 8, 2, {1, 4}, {1, 4}, NULL},
    {"few", 8, 2, {1, 2}, {1, 2}, NULL},
};

Test(job, programs_share_the_nodes)
{
    for (size_t i = 0; i < sizeof shares / sizeof *shares; i++) {
        struct job_program program[4] = {{.nodes = shares[i].wants[0]},
                                         {.nodes = shares[i].wants[1]},
                                         {.nodes = shares[i].wants[2]},
                                         {.nodes = shares[i].wants[3]}};
        uint32_t share[4];
        int result = job_share_nodes(program, shares[i].programs, shares[i].nodes, share, error, sizeof error);

        cr_expect_eq(result, shares[i].error ? -1 : 0, "%s", shares[i].name);
        if (shares[i].error)
            cr_expect_not_null(strstr(error, shares[i].error), "%s: %s", shares[i].name, error);
        for (uint32_t k = 0; result == 0 && k < shares[i].programs; k++)
            cr_expect_eq(share[k], shares[i].share[k], "%s: program %u gets %u", shares[i].name, k, share[k]);
    }
}

Test(job, each_program_is_loaded_on_its_part)
{
    struct job_program program[2] = {{path, NULL, arguments, 1, 3, false, 0, NULL},
                                     {path, NULL, arguments, 1, 0, false, 0, NULL}};
    struct user u, other;
    uint32_t id, before = begin(&other, 2);
    struct job_options o = options_for(&u, 2, program, 2);

    cr_assert_neq(before, 0);
    n_sent = 0;
    cr_assert_eq(front_begin_job(front, &o, &id, error, sizeof error), 0, "%s", error);
    cr_expect(sent[0].to == 4 && sent[0].begin.part_first == 0 && sent[0].begin.part_nodes == 3);
    cr_expect(sent[1].to == 7 && sent[1].begin.part_first == 3 && sent[1].begin.part_nodes == 1);
    cr_expect(sent[0].begin.base == 4 && sent[1].begin.base == 4 && sent[1].begin.dim == 2);
}

/* ---- Faults ---- */

Test(job, a_fault_prints_registers_on_request)
{
    static struct job_program program = {.path = path, .argv = arguments, .argc = 1};

    struct {
        struct job_exit exit;
        struct exit_fault fault;
        char text[16];
    } m = {
        {.job = 1, .how = EXIT_FAULT}, {.pc = 0x10044, .x = {[0] = 0x10050, [16] = 0xabc, [26] = 0xdef}}, "it faulted"};
    struct user u;
    uint32_t id;
    struct job_options o = options_for(&u, 0, &program, 1);

    o.registers = true;
    cr_assert_eq(front_begin_job(front, &o, &id, error, sizeof error), 0);
    m.exit.job = id;
    front_receive(front, 0, TAG(N_EXIT, 0, 0), &m, sizeof m.exit + sizeof m.fault + 10);
    const char *told = text_at(u.err);
    cr_expect_eq(strncmp(told, "it faulted\n  pc   0x0000000000010044  ra   0x0000000000010050", 59), 0, "%s", told);
    cr_expect_not_null(strstr(told, "  a7   0x0000000000000abc  s2   0x0000000000000000"), "%s", told);
    cr_expect_not_null(strstr(told, "  s10  0x0000000000000000  s11  0x0000000000000def\n"), "%s", told);
}

/* ---- Streams that are not ready ---- */

Test(job, a_read_is_answered_when_its_input_has_come_and_in_order)
{
    struct user u;
    uint32_t id = begin(&u, 1);

    n_sent = 0;
    ask_stream(1, N_FREAD, SFID_STDIN, 11, 100, NULL);
    cr_assert_eq(write(u.in, "abcdef", 6), 6);
    ask_stream(0, N_FREAD, SFID_STDIN, 22, 3, NULL);
    cr_expect(n_sent == 0 && job_holds_requests(front_find_job(front, id)),
              "the second is ready, but it is not its turn");
    front_resume(front);
    cr_expect_eq(n_sent, 0, "nor is it now");
    cr_assert_eq(write(u.in, "\nxyz", 4), 4);
    front_resume(front);
    cr_expect_eq(n_sent, 2);
    cr_expect(sent[0].to == 1 && sent[0].reply.seq == 11 && sent[0].reply.status == 7);
    cr_expect(sent[1].to == 0 && sent[1].reply.seq == 22 && sent[1].reply.status == 3);
    cr_expect_not(job_holds_requests(front_find_job(front, id)));
}

Test(job, a_write_waits_as_long_as_the_host_does_not_take_the_last)
{
    static char text[300000];
    struct user u;
    uint32_t id = begin(&u, 0);
    struct pollfd p[STREAMS];

    n_sent = 0;
    memset(text, 'x', sizeof text);
    ask_stream(0, N_FWRITE, SFID_STDOUT, 1, sizeof text, text);
    cr_expect_eq(n_sent, 1, "the first is taken whole");
    ask_stream(0, N_FWRITE, SFID_STDOUT, 2, 5, "next\n");
    ask_stream(0, N_FWRITE, SFID_STDERR, 3, 6, "error\n");
    cr_expect(n_sent == 2 && sent[1].reply.seq == 3, "the other stream is free");
    cr_expect_eq(job_poll_streams(front_find_job(front, id), p), 1);
    cr_expect_eq(p[0].events, POLLOUT);
    for (size_t seen = 0; seen < sizeof text + 5;) {
        seen += strlen(text_at(u.out));
        front_resume(front);
    }
    cr_expect(n_sent == 3 && sent[2].reply.seq == 2 && sent[2].reply.status == 5);
    cr_expect_eq(job_poll_streams(front_find_job(front, id), p), 0);
}

Test(job, a_process_that_ends_waits_for_no_answer)
{
    struct user u;
    uint32_t id = begin(&u, 1);
    struct job *j = front_find_job(front, id);

    ask_stream(0, N_FREAD, SFID_STDIN, 1, 10, NULL);
    ask_stream(1, N_FREAD, SFID_STDIN, 2, 10, NULL);
    n_sent = 0;
    ask_stream(0, N_FEXIT, 0, 3, 0, NULL);
    cr_expect(n_sent == 1 && sent[0].reply.seq == 3);
    cr_assert_eq(write(u.in, "line\n", 5), 5);
    front_resume(front);
    cr_expect(n_sent == 2 && sent[1].reply.seq == 2, "the line is the other's");
    ask_stream(1, N_FREAD, SFID_STDIN, 4, 10, NULL);
    exits(1, id, 1, 0);
    cr_expect_not(job_holds_requests(j));
}

Test(job, a_question_is_seen_before_the_answer_is_awaited)
{
    struct user u;

    begin(&u, 1);
    ask_stream(0, N_FWRITE, SFID_STDOUT, 1, 6, "name? ");
    cr_expect_str_eq(text_at(u.out), "");
    ask_stream(0, N_FREAD, SFID_STDIN, 2, 10, NULL);
    cr_expect_str_eq(text_at(u.out), "name? ");
}

/* ---- Ends ---- */

Test(job, tells_how_each_node_has_ended)
{
    static const struct {
        uint32_t how;
        int32_t status;
        const char *text; /* NULL: it has not */
    } cases[] = {
        {EXIT_NORMAL, 0, "has ended with status 0"},
        {EXIT_NORMAL, 258, "has ended with status 2"},
        {EXIT_KILLED, 0, "has been ended"},
        {EXIT_NORMAL, 0, NULL},
    };
    struct user u;
    uint32_t id = begin(&u, 2);
    struct job *j = front_find_job(front, id);
    char text[100];

    for (uint32_t i = 0; i < 4; i++) {
        const struct job_exit e = {.job = id, .node = i, .status = cases[i].status, .how = cases[i].how};

        cr_expect_not(job_describe_end(j, j->base + i, text, sizeof text), "node %u is there", i);
        if (cases[i].text)
            front_receive(front, j->base + i, TAG(N_EXIT, 0, 0), &e, sizeof e);
    }
    for (uint32_t i = 0; i < 4; i++) {
        bool ended = job_describe_end(j, j->base + i, text, sizeof text);

        cr_expect_eq(ended, cases[i].text != NULL, "node %u", i);
        if (ended && cases[i].text)
            cr_expect_str_eq(text, cases[i].text);
    }
    cr_expect_not(job_describe_end(j, j->base + 4, text, sizeof text), "of another job");
    cr_expect(job_describe_failure(j, text, sizeof text));
    cr_expect_str_eq(text, "first failure: node 1 has ended with status 2");
}

/* The program has ended before the host takes, or refuses, the last of its output. */
Test(job, whose_last_output_is_lost_fails)
{
    static const struct {
        bool full; /* a disk is, else the reader has gone */
        int exits, expected;
        const char *text;
    } cases[] = {
        {false, 0, 141, ""},
        {false, 3, 3, ""},
        {true, 0, 1, "ncube: output of the program is lost: no space left on volume\n"},
    };

    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct user u;
        uint32_t id = begin(&u, 1);
        struct job *j = front_find_job(front, id);

        if (cases[i].full)
            cr_assert_eq(dup2(open("/dev/full", O_WRONLY), j->options.out), j->options.out);
        close(u.out);
        ask_stream(j->base, N_FWRITE, SFID_STDOUT, 1, 4, "part");
        exits(j->base, id, 0, cases[i].exits);
        exits(j->base + 1, id, 1, 0);
        cr_expect_eq(job_conclude(j), cases[i].expected, "case %zu: %d", i, job_status(j));
        cr_expect_str_eq(text_at(u.err), cases[i].text);
        front_forget_job(front, id);
    }
}
