/*
 * What clients send to a machine that is kept up: a machine of four nodes without QEMU, whose front end is the real one
 * and whose nodes never answer. The bytes are messages of up to three clients, one after the other:
 *
 *   client 0..2 and 0x80: it hangs up then | descriptors 0..5 | length, two bytes, low first | content
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "emu/link/clients.h"
#include "emu/watch/debugger.h"
#include "emu/state/explain.h"
#include "emu/link/machine_load.h"
#include "emu/machine/operate.h"
#include "emu/machine/recorder.h"
#include "tests/emu/tiny_elf.h"
#include "tests/fuzz/fuzz.h"

#define CLIENTS     3
#define HEAD_BYTES  4u
#define FDS_MOST    5
#define PROGRAM_FD  77 /* /proc/self/fd/77 is a program for nodes, which messages can name */
#define ERROR_BYTES 512

/* ---- Parts of the machine that are not there ---- */

void debugger_drop(struct machine *m, uint32_t id)
{
    (void)m;
    (void)id;
}

void debugger_begun(struct machine *m, uint32_t id)
{
    (void)m;
    (void)id;
}

bool debugger_offer(struct machine *m, uint32_t id, char *text, size_t bytes)
{
    (void)m;
    snprintf(text, bytes, "%u", id);
    return true;
}

void machine_report_waits(struct machine *m, const struct job *j, unsigned options,
                          void (*say)(void *ctx, const char *line), void *ctx)
{
    (void)m;
    (void)j;
    (void)options;
    say(ctx, "nobody waits");
}

double machine_seconds(const struct machine *m)
{
    (void)m;
    return 1;
}

json_t *machine_load(struct machine *m, size_t room)
{
    (void)m;
    (void)room;
    return NULL;
}

/* Of what is recorded, and of deadlocks, clients know nothing. */
void machine_settle(struct machine *m)
{
    (void)m;
}

uint64_t sched_now(const struct sched *s)
{
    (void)s;
    return 0;
}

json_t *recorder_keep_job(struct machine *m, const struct job_options *j)
{
    (void)m;
    (void)j;
    return NULL;
}

int machine_complain(struct machine *m, const char *format, ...)
{
    (void)m;
    (void)format;
    return -1;
}

const struct fault *machine_find_dead_node(const struct machine *m, const struct job *j)
{
    (void)m;
    (void)j;
    return NULL;
}

static void send_nowhere(void *ctx, uint32_t to, uint32_t tag, const void *bytes, size_t n)
{
    (void)ctx;
    (void)to;
    (void)tag;
    (void)bytes;
    (void)n;
}

/* ---- The machine ---- */

static struct machine machine;
static struct clients clients;
static struct front_options options;
static const struct machine_options machine_options;
static char name[64], error[ERROR_BYTES];
static int fd[CLIENTS], nothing = -1;

static void write_program(void)
{
    struct scratch s;
    struct tiny_elf e = tiny_elf_program();

    scratch_make(&s);
    tiny_elf_write(&s, "prog", &e);
    int file = open(scratch_path(&s, "prog"), O_RDONLY);
    if (file < 0 || dup2(file, PROGRAM_FD) < 0)
        abort();
    close(file);
    scratch_remove(&s);
}

static void set_up_once(void)
{
    if (nothing >= 0)
        return;
    signal(SIGPIPE, SIG_IGN);
    nothing = open("/dev/null", O_RDWR | O_CLOEXEC);
    write_program();
    snprintf(name, sizeof name, "fuzz-%d", (int)getpid());
}

static void start_machine(void)
{
    const struct front_ops ops = {.job = {.send = send_nowhere}};

    machine = (struct machine){.options = &machine_options};
    config_default(&machine.config, 2);
    options = (struct front_options){.topo = &machine.config.topo, .out = nothing, .err = nothing, .keeps_going = true};
    if (front_new(&machine.front, &options, &ops, &machine, error, sizeof error) < 0)
        abort();
    front_start(machine.front);
    if (clients_open(&clients, &machine, name) < 0)
        abort();
    clients.announced = true;
    for (int i = 0; i < CLIENTS; i++)
        fd[i] = -1;
}

static void end_machine(void)
{
    for (int i = 0; i < CLIENTS; i++)
        if (fd[i] >= 0)
            close(fd[i]);
    clients_listen(&clients); /* it hears that they have gone */
    clients_finish(&clients);
    clients_close(&clients);
    clients_free(&clients, 0);
    front_free(machine.front);
    config_free(&machine.config);
}

/* ---- Messages ---- */

static void send_message(int to, const uint8_t *bytes, size_t n, int descriptors)
{
    union {
        struct cmsghdr head;
        char bytes[CMSG_SPACE(FDS_MOST * sizeof(int))];
    } control = {.bytes = {0}};
    int sent[FDS_MOST];
    struct iovec part = {(void *)bytes, n};
    struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};

    if (descriptors > 0) {
        m.msg_control = &control;
        m.msg_controllen = CMSG_SPACE((size_t)descriptors * sizeof *sent);
        control.head = (struct cmsghdr){.cmsg_level = SOL_SOCKET,
                                        .cmsg_type = SCM_RIGHTS,
                                        .cmsg_len = CMSG_LEN((size_t)descriptors * sizeof *sent)};
        for (int i = 0; i < descriptors; i++)
            sent[i] = nothing;
        memcpy(CMSG_DATA(&control.head), sent, (size_t)descriptors * sizeof *sent);
    }
    sendmsg(to, &m, MSG_NOSIGNAL | MSG_DONTWAIT); /* the machine may have hung up */
}

/* What the machine has to say is taken, so that it does not wait for room. */
static void drain(int from)
{
    struct link_message m;

    while (link_receive(from, &m) > 0)
        link_message_free(&m);
}

static void act(uint8_t who, int descriptors, const uint8_t *bytes, size_t n)
{
    uint32_t i = (who & 0x7fu) % CLIENTS;

    if (fd[i] < 0)
        fd[i] = link_try_connect(name);
    if (fd[i] < 0)
        return;
    send_message(fd[i], bytes, n, descriptors);
    if (who & 0x80) {
        close(fd[i]);
        fd[i] = -1;
    }
    clients_listen(&clients);
    clients_give_turns(&clients);
    clients_finish(&clients);
    if (fd[i] >= 0)
        drain(fd[i]);
}

static void take(const uint8_t *bytes, size_t n)
{
    set_up_once();
    start_machine();
    for (size_t at = 0; n - at >= HEAD_BYTES;) {
        size_t length = bytes[at + 2] | (size_t)bytes[at + 3] << 8, left = n - at - HEAD_BYTES;

        length = length < left ? length : left;
        act(bytes[at], bytes[at + 1] % (FDS_MOST + 1), bytes + at + HEAD_BYTES, length);
        at += HEAD_BYTES + length;
    }
    end_machine();
}

static const char *const words[] = {"BUCN", "/proc/self/fd/77", "load", "fuzz", "/tmp", "prog", NULL};

const struct fuzz_target fuzz_link = {"link", .take = take, .words = words, .short_runs = 1500};
