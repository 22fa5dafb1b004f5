/* A machine that a test plays for the front end: see front_play.h. */
#include "tests/emu/front_play.h"

#include <criterion/criterion.h>
#include <signal.h>

#include "vertex/contract/machine.h"
#include "vertex/contract/proto.h"
#include "vertex/contract/system.h"

static struct topo_io_node io_nodes[] = {
    {.node = IO_0, .ndrives = 1, .drive = {{.volume = "df00"}}},
    {.node = IO_1, .ndrives = 2, .drive = {{.volume = "df01"}, {.volume = "df02"}}},
};
struct topo topo = {.dim = 3, .ram_bytes = NODE_RAM_DEFAULT_BYTES, .n_io = 2, .io = io_nodes};

struct sent sent[MESSAGES];
unsigned n_sent;

static struct scratch dir;
struct front *front;
struct front_options machine;
struct job_program program;
struct job_options options;
uint32_t job;
static char *arguments[] = {"prog", "x"};
int in_end, out_end, err_end;
char error[400];

static void record(void *ctx, uint32_t to, uint32_t tag, const void *bytes, size_t n)
{
    (void)ctx;
    cr_assert_lt(n_sent, MESSAGES);
    struct sent *s = &sent[n_sent++];
    *s = (struct sent){.to = to, .type = TAG_TYPE(tag), .procid = TAG_TO(tag), .n = n};
    if (n)
        memcpy(s->head, bytes, n < sizeof s->head ? n : sizeof s->head);
}

void make_pipe(int *read_end, int *write_end)
{
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    *read_end = ends[0];
    *write_end = ends[1];
}

void set_up(void)
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
}

void tear_down(void)
{
    front_free(front);
    scratch_remove(&dir);
}

/* ---- Playing the machine ---- */

/* As ncube run does: it stops when its job has ended. */
static void end_machine(void *ctx, uint32_t id)
{
    (void)ctx;
    cr_expect(job_has_ended(front_find_job(front, id)));
    front_stop(front);
}

static void make_machine(void (*ended)(void *ctx, uint32_t id))
{
    const struct front_ops ops = {.job = {.send = record}, .ended = ended};

    front_free(front);
    cr_assert_eq(front_new(&front, &machine, &ops, NULL, error, sizeof error), 0, "%s", error);
}

int make_front(void)
{
    make_machine(end_machine);
    return front_begin_job(front, &options, &job, error, sizeof error);
}

int status(void)
{
    return front_failed(front) ? 1 : job_status(front_find_job(front, job));
}

void start(void)
{
    cr_assert_eq(make_front(), 0, "%s", error);
    front_start(front);
}

const char *take_err(void)
{
    static char text[65536];
    ssize_t n = read(err_end, text, sizeof text - 1);

    text[n < 0 ? 0 : n] = '\0';
    return text;
}

unsigned count_lines(const char *text)
{
    unsigned lines = 0;

    for (; *text; text++)
        lines += *text == '\n';
    return lines;
}

unsigned count_sent(uint32_t type, uint32_t to)
{
    unsigned n = 0;

    for (unsigned i = 0; i < n_sent; i++)
        n += sent[i].type == type && sent[i].to == to;
    return n;
}

unsigned count_type(uint32_t type)
{
    unsigned n = 0;

    for (unsigned i = 0; i < n_sent; i++)
        n += sent[i].type == type;
    return n;
}

void arrive(uint32_t from, uint32_t type, const void *head, size_t head_bytes, const char *text)
{
    uint8_t message[512];

    memcpy(message, head, head_bytes);
    memcpy(message + head_bytes, text, strlen(text));
    front_receive(front, from, TAG(type, 0, 0), message, head_bytes + strlen(text));
}

void mounted(uint32_t node, uint32_t drive, int32_t status, const char *text)
{
    const struct file_reply r = {.seq = drive, .status = status};

    arrive(node, N_MOUNTED, &r, sizeof r, text);
}

void mount_all(void)
{
    mounted(IO_0, 0, 0, "");
    mounted(IO_1, 0, 0, "");
    mounted(IO_1, 1, 0, "");
}

void exited(uint32_t node, int32_t status, uint32_t how, const char *text)
{
    const struct {
        struct job_exit exit;
        struct exit_fault fault;
    } e = {.exit = {.job = 1, .node = node, .status = status, .how = how},
           .fault = {.pc = 0x10044, .x[1] = 0x6ffffff0}};

    arrive(node, N_EXIT, &e, how == EXIT_FAULT ? sizeof e : sizeof e.exit, text);
}

void shut_down(uint32_t node, int32_t status)
{
    const struct file_reply r = {.status = status};

    arrive(node, N_REPLY(N_SHUTDOWN), &r, sizeof r, "");
}

void run_until_loaded(void)
{
    start();
    mount_all();
    cr_assert_eq(count_sent(N_LOAD_START, 0), 1);
}

void shut_all_down(void)
{
    cr_assert_eq(count_sent(N_SHUTDOWN, IO_0), 1);
    cr_assert_eq(count_sent(N_SHUTDOWN, IO_1), 1);
    cr_assert_not(front_finished(front));
    shut_down(IO_0, 0);
    shut_down(IO_1, 0);
    cr_assert(front_finished(front));
}

void expect_wait(const char *expected)
{
    char text[200];

    front_describe_wait(front, text, sizeof text);
    cr_expect_str_eq(text, expected);
}
