/* The lives of a job's nodes alone: four nodes from address 8 on, of job 5. The test is the files and the network. */
#include "emu/job/lives.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "vertex/contract/errors.h"
#include "vertex/contract/machine.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

#define JOB   5u
#define BASE  8u
#define NODES 4u

static struct lives *lives;
static struct host_file file = {.fd = 77};
static unsigned opened, closed;

static struct answer {
    uint32_t to, tag;
    struct file_reply reply;
} answers[16];
static unsigned n_answers;

struct host_file *hostfs_open_program(struct hostfs *s, const char *name)
{
    (void)s;
    opened += strcmp(name, "none") != 0;
    return strcmp(name, "none") != 0 ? &file : NULL;
}

void hostfs_close_program(struct hostfs *s, struct host_file *program)
{
    (void)s;
    cr_assert_eq(program, &file);
    closed++;
}

static void record(void *ctx, uint32_t to, uint32_t tag, const void *bytes, size_t n)
{
    (void)ctx;
    cr_assert(n_answers < 16 && n == sizeof(struct file_reply));
    answers[n_answers] = (struct answer){.to = to, .tag = tag};
    memcpy(&answers[n_answers++].reply, bytes, n);
}

static void set_up(void)
{
    const struct lives_options o = {.job = JOB, .base = BASE, .nodes = NODES, .send = record};

    opened = closed = n_answers = 0;
    lives = lives_new(&o);
    cr_assert_not_null(lives);
}

static void tear_down(void)
{
    lives_free(lives);
}

TestSuite(lives, .init = set_up, .fini = tear_down);

/* A request of process `process` of logical node `node`. Its sequence names both. */
static void ask(uint32_t node, uint32_t process, uint32_t type, uint64_t sfid, uint64_t offset, const char *name)
{
    struct {
        struct file_request r;
        char name[16];
    } m = {.r = {.seq = 100 * node + process, .sfid = sfid, .offset = offset, .name_bytes = (uint32_t)strlen(name)}};

    memcpy(m.name, name, strlen(name));
    cr_expect_null(lives_request(lives, BASE + node, TAG(type, process, 0), &m, sizeof m.r + strlen(name)));
}

/* Expects one more answer, to that process. Returns its status. */
static int32_t take_answer(uint32_t node, uint32_t process, uint32_t type, const char *what)
{
    cr_assert_geq(n_answers, 1, "%s: no answer", what);
    const struct answer a = answers[0];

    memmove(answers, answers + 1, --n_answers * sizeof *answers);
    cr_expect_eq(a.to, BASE + node, "%s: to node %u", what, a.to);
    cr_expect_eq(a.tag, TAG(N_REPLY(type), 0, process), "%s: tag %#x", what, a.tag);
    cr_expect_eq(a.reply.seq, 100 * node + process, "%s", what);
    return a.reply.status;
}

static int32_t claim(uint32_t first, uint64_t nodes, const char *name)
{
    ask(0, 1, N_RCLAIM, first, nodes, name);
    return take_answer(0, 1, N_RCLAIM, name);
}

static const char *started(uint32_t node, uint32_t life)
{
    const struct job_exit e = {.job = JOB, .node = node, .status = (int32_t)life};

    return lives_receive_started(lives, BASE + node, (const uint8_t *)&e, sizeof e);
}

/* ---- Claims ---- */

Test(lives, only_nodes_that_have_exited_can_be_claimed_and_each_once)
{
    static const struct {
        const char *name;
        uint64_t first, nodes;
        int32_t expected;
    } cases[] = {{"outside", 4, 1, -N_EINVAL},
                 {"none", 2, 0, -N_EINVAL},
                 {"across the end", 3, 2, -N_EINVAL},
                 {"more than there are", 2, UINT64_MAX, -N_EINVAL},
                 {"one that runs", 1, 1, -N_EBUSY},
                 {"one that runs before", 1, 2, -N_EBUSY},
                 {"both", 2, 2, 1},
                 {"one again", 3, 1, -N_EBUSY},
                 {"the own node", 0, 1, 2}};

    lives_note_exit(lives, 2);
    lives_note_exit(lives, 3);
    lives_note_exit(lives, 3);
    cr_expect_eq(lives_exits(lives), 2, "each counts once");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        ask(0, 1, N_RCLAIM, cases[i].first, cases[i].nodes, "prog");
        int32_t status = take_answer(0, 1, N_RCLAIM, cases[i].name);
        cr_expect_eq(status, cases[i].expected, "%s: %d", cases[i].name, status);
    }
    cr_expect_eq(lives_exits(lives), 0);
    cr_expect_not(lives_has_exited(lives, 2));
    cr_expect(lives_of(lives, 0) == 2 && lives_of(lives, 1) == 0 && lives_of(lives, 2) == 1 && lives_of(lives, 3) == 1);
    lives_note_exit(lives, 1);
    lives_refuse_claims(lives);
    cr_expect_eq(claim(1, 1, "prog"), -N_EINTR, "the job is being killed");
}

Test(lives, a_request_that_makes_no_sense_is_refused_or_answered)
{
    const struct file_request r = {.seq = 1, .name_bytes = 3};

    cr_expect_not_null(lives_request(lives, BASE, TAG(N_RCLAIM, 1, 0), &r, sizeof r - 1));
    cr_expect_eq(n_answers, 0);
    cr_expect_null(lives_request(lives, BASE, TAG(N_RCLAIM, 1, 0), &r, sizeof r));
    cr_expect_eq(take_answer(0, 1, N_RCLAIM, "the name is missing"), -N_EPROTO);
}

/* ---- Programs ---- */

Test(lives, a_program_is_open_until_its_last_node_has_ended)
{
    int fd;

    cr_expect_null(lives_program(lives, 2, &fd), "life 0");
    lives_note_exit(lives, 2);
    lives_note_exit(lives, 3);
    cr_assert_eq(claim(2, 2, "prog"), 1);
    cr_expect(strcmp(lives_program(lives, 3, &fd), "prog") == 0 && fd == 77);
    lives_note_exit(lives, 2);
    lives_end(lives, 2, 0);
    lives_end(lives, 2, 0);
    cr_expect_eq(closed, 0, "node 3 runs it");
    lives_note_exit(lives, 3);
    lives_end(lives, 3, 0);
    cr_expect_eq(closed, 1);
    cr_assert_eq(claim(2, 1, "none"), 2);
    cr_expect(strcmp(lives_program(lives, 2, &fd), "none") == 0 && fd == -1);
    cr_assert_eq(claim(3, 1, "again"), 3);
    cr_expect_eq(opened, 2);
    lives_free(lives);
    lives = NULL;
    cr_expect_eq(closed, 2, "the job's end closes the rest");
}

/* ---- Waits ---- */

Test(lives, who_asks_whether_a_load_has_begun_is_told_when_all_nodes_have_answered)
{
    lives_note_exit(lives, 2);
    lives_note_exit(lives, 3);
    cr_assert_eq(claim(2, 2, "prog"), 1);
    ask(0, 1, N_RBEGUN, 1, 0, "");
    ask(1, 6, N_RBEGUN, 1, 0, "");
    cr_expect_null(started(3, 1));
    cr_expect_eq(n_answers, 0, "node 2 has not answered");
    cr_expect_null(started(2, 1));
    cr_expect_eq(take_answer(0, 1, N_RBEGUN, "the first"), 0);
    cr_expect_eq(take_answer(1, 6, N_RBEGUN, "the second"), 0);
    ask(0, 1, N_RBEGUN, 1, 0, "");
    cr_expect_eq(take_answer(0, 1, N_RBEGUN, "a late one"), 0);
    ask(0, 1, N_RBEGUN, 2, 0, "");
    cr_expect_eq(take_answer(0, 1, N_RBEGUN, "of no life"), -N_EINVAL);
    cr_expect_eq(n_answers, 0);
}

Test(lives, the_first_error_of_a_load_is_told)
{
    lives_note_exit(lives, 2);
    lives_note_exit(lives, 3);
    cr_expect_not(lives_fail(lives, 1, -N_EIO), "the program that the job began with");
    cr_assert_eq(claim(2, 2, "prog"), 1);
    ask(0, 1, N_RBEGUN, 1, 0, "");
    cr_expect(lives_fail(lives, 2, -N_ENOMEM));
    cr_expect(lives_fail(lives, 3, -N_EIO));
    cr_expect_eq(take_answer(0, 1, N_RBEGUN, "both fail"), -N_ENOMEM);
    cr_expect_not(lives_fail(lives, 3, -N_EIO), "it has answered");
    cr_assert_eq(claim(0, 1, "in place"), 2);
    cr_expect_not(lives_fail(lives, 0, -N_EIO), "nobody is left to be told");
}

Test(lives, a_start_that_makes_no_sense_is_refused)
{
    static const struct {
        const char *name;
        struct job_exit e;
        uint32_t from;
    } cases[] = {{"another job's", {.job = 6, .node = 2, .status = 1}, 2},
                 {"of another node", {.job = JOB, .node = 3, .status = 1}, 2},
                 {"of another life", {.job = JOB, .node = 2, .status = 2}, 2},
                 {"of a node that runs", {.job = JOB, .node = 1, .status = 0}, 1},
                 {"of a node that has exited", {.job = JOB, .node = 3, .status = 1}, 3}};

    lives_note_exit(lives, 2);
    lives_note_exit(lives, 3);
    cr_assert_eq(claim(2, 2, "prog"), 1);
    lives_note_exit(lives, 3);
    ask(0, 1, N_RBEGUN, 1, 0, "");
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        cr_expect_not_null(
            lives_receive_started(lives, BASE + cases[i].from, (const uint8_t *)&cases[i].e, sizeof cases[i].e), "%s",
            cases[i].name);
    cr_expect_not_null(lives_receive_started(lives, BASE + 2, (const uint8_t *)&cases[0].e, sizeof cases[0].e - 1),
                       "short");
    cr_expect_eq(n_answers, 0, "none counts");
}

Test(lives, who_waits_for_a_node_is_told_its_status)
{
    ask(0, 1, N_RWAIT, 2, 0, "");
    ask(0, 2, N_RWAIT, 3, 0, "");
    ask(0, 3, N_RWAIT, NODES, 0, "");
    cr_expect_eq(take_answer(0, 3, N_RWAIT, "of no node"), -N_EINVAL);
    lives_note_exit(lives, 2);
    lives_end(lives, 2, 42);
    cr_expect_eq(take_answer(0, 1, N_RWAIT, "of node 2"), 42);
    cr_expect_eq(n_answers, 0, "node 3 runs");
    ask(0, 4, N_RWAIT, 2, 0, "");
    cr_expect_eq(take_answer(0, 4, N_RWAIT, "afterwards"), 42);
}

Test(lives, a_process_that_has_ended_is_not_answered)
{
    ask(0, 1, N_RWAIT, 3, 0, "");
    ask(0, 2, N_RWAIT, 3, 0, "");
    ask(1, 1, N_RWAIT, 3, 0, "");
    ask(2, 1, N_RWAIT, 3, 0, "");
    lives_drop_client(lives, BASE, 1);
    lives_note_exit(lives, 2);
    lives_note_exit(lives, 3);
    lives_end(lives, 3, 7);
    cr_expect_eq(take_answer(0, 2, N_RWAIT, "its neighbour"), 7);
    cr_expect_eq(take_answer(1, 1, N_RWAIT, "another node's of that number"), 7);
    cr_expect_eq(n_answers, 0);
}
