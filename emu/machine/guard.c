/*
 * A signal that asks for the end is passed on; ncube inside of QEMU then ends as it would anywhere. Whether that is
 * stuck is judged here, by the rules of signals.h: ncube cannot, as long as its thread is with the harts.
 */
#include "emu/machine/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/pidfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "emu/base/memory.h"
#include "emu/base/signals.h"
#include "emu/machine/assemble.h"
#include "emu/machine/run.h"
#include "emu/machine/starting.h"
#include "emu/qemu/fiber.h"
#include "emu/qemu/inside.h"
#include "emu/state/explain.h"

#define LOOK_MS 500 /* between two looks at an end that is stuck */

struct guard {
    struct machine *machine;
    struct inside_page *page;
    size_t page_bytes;
    struct pollfd process; /* whose end it is */
    uint32_t bell;         /* for the signals' handlers */
    void (*up)(void *ctx); /* not called yet; NULL: none */
    void *ctx;
    bool ends_at_once; /* has been passed on, */
    uint32_t carried;  /* and what the page said at the last look since then */
};

/* ---- Whether ---- */

/* There is none with sanitizers, which QEMU does not have. */
static bool has_plugin(struct machine *m)
{
    char path[PART_PATH_BYTES];

    machine_find_part(m, "ncube.so", path);
    return access(path, R_OK) == 0;
}

/* Returns why ncube cannot be inside, in `text` perhaps; or NULL. */
static const char *find_obstacle(struct machine *m, char *text, size_t bytes)
{
    if (m->options->far)
        return "other hosts have its nodes";
    if (m->cabinets > 1) {
        snprintf(text, bytes, "the machine has %u cabinets", m->cabinets);
        return text;
    }
    if (!machine_fits_inside(m))
        return "there are not enough addresses (ulimit -v)";
    return has_plugin(m) ? NULL : "lib/ncube.so is missing";
}

int guard_is_wanted(struct machine *m)
{
    enum machine_harts harts = m->options->harts;
    char text[64];

    if (inside_has_guard() || !m->options->from_words || harts == MACHINE_HARTS_THREADS || harts == MACHINE_HARTS_TURNS)
        return 0;
    if (machine_check_host(m) != 0)
        return -1;
    const char *obstacle = find_obstacle(m, text, sizeof text);
    if (harts != MACHINE_HARTS_INSIDE)
        return !obstacle && fiber_pays();
    return obstacle ? machine_complain(m, "harts 'inside': %s", obstacle) : 1;
}

bool guard_is_there(void)
{
    return inside_has_guard();
}

void guard_tell_up(void)
{
    inside_tell_up();
}

/* ---- The process ---- */

/* Copies of standard output and error, for ncube there, which says so if it has not got them. */
static void copy_streams(struct inside_page *p)
{
    p->stream[0] = fcntl(STDOUT_FILENO, F_DUPFD, STDERR_FILENO + 1);
    p->stream[1] = fcntl(STDERR_FILENO, F_DUPFD, STDERR_FILENO + 1);
}

static void close_streams(const struct inside_page *p)
{
    for (int i = 0; i < 2; i++)
        if (p->stream[i] >= 0)
            close(p->stream[i]);
}

/* For the next two: the process, and its stage. */
static volatile sig_atomic_t guarded;
static uint32_t *volatile guarded_stage;

/* A user asks for a heartbeat. */
static void pass_beat(int signal)
{
    int before = errno;

    if (__atomic_load_n(guarded_stage, __ATOMIC_SEQ_CST) != INSIDE_STARTS)
        kill(guarded, signal);
    errno = before;
}

/* Ctrl-Z: the process has a session of its own. */
static void stop_both(int signal)
{
    int before = errno;

    (void)signal;
    kill(guarded, SIGSTOP);
    raise(SIGSTOP);
    kill(guarded, SIGCONT);
    errno = before;
}

static void watch_signals(struct guard *g)
{
    const struct sigaction stops = {.sa_handler = stop_both, .sa_flags = SA_RESTART},
                           beats = {.sa_handler = pass_beat, .sa_flags = SA_RESTART};
    struct sigaction now;

    guarded = g->machine->cabinet->pid;
    guarded_stage = &g->page->stage;
    if (sigaction(SIGTSTP, NULL, &now) == 0 && now.sa_handler != SIG_IGN)
        sigaction(SIGTSTP, &stops, NULL);
    signals_install(&g->bell);
    sigaction(SIGUSR1, &beats, NULL);
    machine_watch_work(g->machine);
    signals_be_orderly();
}

/* Signals wait until they can be passed on. */
static int start(struct guard *g)
{
    struct machine *m = g->machine;
    char plugin[PART_PATH_BYTES];
    sigset_t all, blocked;

    int page_fd = inside_make_page(&g->page, &g->page_bytes);
    if (page_fd < 0)
        return machine_complain(m, "cannot start a cabinet: %s", strerror(errno));
    copy_streams(g->page);
    m->cabinet = memory_new(1, sizeof *m->cabinet);
    machine_find_part(m, "ncube.so", plugin);
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, &blocked);
    int started = cabinet_start_inside(m->cabinet, m->nodes, m->config.topo.ram_bytes, m->config.topo.code_mb, page_fd,
                                       plugin, &blocked, m->error, sizeof m->error);
    if (started == 0)
        watch_signals(g);
    sigprocmask(SIG_SETMASK, &blocked, NULL);
    close(page_fd);
    close_streams(g->page);
    if (started != 0)
        return machine_complain(m, "%s", m->error);
    g->process = (struct pollfd){.fd = pidfd_open(m->cabinet->pid, 0), .events = POLLIN};
    return g->process.fd >= 0 ? 0 : machine_complain(m, "cannot wait for QEMU: %s", strerror(errno));
}

/* ---- Its life ---- */

static uint32_t get(const uint32_t *word)
{
    return __atomic_load_n(word, __ATOMIC_SEQ_CST);
}

/* Before ncube there handles signals, it finds this one in the page. */
static void pass(struct guard *g, int signal)
{
    pid_t process = g->machine->cabinet->pid;

    __atomic_store_n(&g->page->asked, signal, __ATOMIC_SEQ_CST);
    if (get(&g->page->stage) != INSIDE_STARTS && __atomic_exchange_n(&g->page->asked, 0, __ATOMIC_SEQ_CST) != 0)
        kill(process, signal);
    kill(process, SIGCONT); /* it may be suspended */
}

/* For a second signal, or an end that is stuck. If QEMU has not begun, or harts have not given ncube its thread back
 * since the last look, it ends by force. */
static void end_at_once(struct guard *g)
{
    uint32_t stage = get(&g->page->stage), carried = get(&g->page->carried);
    bool keeps_thread = stage == INSIDE_RUNS && carried == g->carried && carried % 2 != 0;

    if (!g->ends_at_once)
        pass(g, signals_end());
    else if (keeps_thread || stage == INSIDE_STARTS)
        cabinet_kill(g->machine->cabinet);
    g->ends_at_once = true;
    g->carried = carried;
}

/* Returns true, after a line, if QEMU hangs: it does not come up, or ncube waits for its thread, and nobody works. */
static bool hangs(struct guard *g)
{
    struct machine *m = g->machine;
    uint64_t before_ns = m->work_ns;

    if (get(&g->page->stage) == INSIDE_STARTS) {
        m->work_ns = machine_work_ns(m);
        return m->work_ns < before_ns + HARTS_TICK_NS && machine_explain_late(m, 0) != 0;
    }
    return get(&g->page->carried) % 2 != 0 && machine_is_lost(m) && machine_explain_silence(m, 0) != 0;
}

/* Copies of the process that wait (checkpoints.h) end with it. */
static void kill_copies(struct guard *g)
{
    for (uint32_t i = 0; i < INSIDE_COPIES; i++) {
        int32_t pid = __atomic_load_n(&g->page->copy[i].pid, __ATOMIC_SEQ_CST);

        if (pid != 0 && kill(pid, SIGKILL) == 0)
            waitpid(pid, NULL, 0);
    }
}

/* Takes the end of a process that does not run the machine: a copy, or one that another has followed. */
static void take(struct guard *g, pid_t pid)
{
    waitpid(pid, NULL, 0);
    for (uint32_t i = 0; i < INSIDE_COPIES; i++)
        if (__atomic_load_n(&g->page->copy[i].pid, __ATOMIC_SEQ_CST) == pid)
            __atomic_store_n(&g->page->copy[i].pid, 0, __ATOMIC_SEQ_CST);
}

static void take_ends(struct guard *g)
{
    for (;;) {
        siginfo_t end = {.si_pid = 0};

        if (waitid(P_ALL, 0, &end, WEXITED | WNOHANG | WNOWAIT) != 0 || end.si_pid == 0 ||
            end.si_pid == g->machine->cabinet->pid ||
            end.si_pid == __atomic_load_n(&g->page->process, __ATOMIC_SEQ_CST))
            return;
        take(g, end.si_pid);
    }
}

static void take_child(struct guard *g)
{
    take_ends(g);
    if (get(&g->page->up) && g->up) {
        g->up(g->ctx);
        g->up = NULL;
    }
}

static bool is_copy(const struct guard *g, pid_t pid)
{
    bool is = false;

    for (uint32_t i = 0; i < INSIDE_COPIES; i++)
        is = is || __atomic_load_n(&g->page->copy[i].pid, __ATOMIC_SEQ_CST) == pid;
    return is;
}

/* Returns true if another process runs the machine now. The one before has ended, or waits. A signal may have been
 * passed to it. */
static bool follow(struct guard *g)
{
    struct cabinet *c = g->machine->cabinet;
    pid_t next = __atomic_load_n(&g->page->process, __ATOMIC_SEQ_CST);

    if (next == 0 || next == c->pid)
        return false;
    if (!is_copy(g, c->pid))
        waitpid(c->pid, NULL, 0);
    close(g->process.fd);
    guarded = c->pid = next;
    g->machine->work_ns = 0;
    g->process.fd = pidfd_open(next, 0);
    if (g->page->passed != 0 && __atomic_load_n(&g->page->taken_by, __ATOMIC_SEQ_CST) != next)
        pass(g, g->page->passed);
    return g->process.fd >= 0;
}

static void look(struct guard *g)
{
    signals_note_progress(get(&g->page->carried));
    follow(g);
    if (signals_take_child())
        take_child(g);
    if (signals_take_request()) {
        __atomic_store_n(&g->page->passed, signals_asked(), __ATOMIC_SEQ_CST);
        pass(g, signals_asked());
    }
    if (signals_end() != 0)
        end_at_once(g);
}

/* Returns true when the process has ended, false after a line if it hangs. */
static bool await_end(struct guard *g)
{
    for (;;) {
        look(g);
        int ready = signals_end() != 0 ? poll(&g->process, 1, LOOK_MS) : signals_poll(&g->process, 1, HARTS_SILENCE_MS);
        if (ready > 0 && follow(g))
            continue;
        if (ready > 0)
            return true;
        if (ready == 0 && signals_end() == 0 && hangs(g))
            return false;
    }
}

static int conclude(struct guard *g)
{
    struct machine *m = g->machine;

    cabinet_died(m->cabinet, m->error, sizeof m->error);
    if (g->page->ended != 0)
        return (int)g->page->ended - 1;
    if (signals_asked() != 0)
        return RUN_SIGNAL + signals_asked();
    machine_complain(m, "cabinet 0: %s", m->error);
    return RUN_FAILED;
}

int guard_run(struct machine *m, void (*up)(void *ctx), void *ctx)
{
    struct guard g = {.machine = m, .process = {.fd = -1}, .up = up, .ctx = ctx};
    int status = RUN_FAILED;

    if (start(&g) == 0) {
        if (await_end(&g))
            status = conclude(&g);
        kill_copies(&g);
        signals_release();
        signal(SIGUSR1, SIG_IGN);
    }
    if (g.process.fd >= 0)
        close(g.process.fd);
    if (g.page)
        munmap(g.page, g.page_bytes);
    machine_free(m);
    return status;
}
