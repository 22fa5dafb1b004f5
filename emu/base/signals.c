/* The signal handlers set flags of type sig_atomic_t, each written by one handler and taken by ncube's thread. During
 * an orderly end a repeated SIGALRM looks whether virtual time advances, or whoever has to advance it works. */
#include "emu/base/signals.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <sys/time.h>
#include <unistd.h>

#include "emu/base/starved.h"

static volatile sig_atomic_t asked_signal; /* the first signal that asked for the end */
static volatile sig_atomic_t end_signal;   /* the same, once the process must end at once */
static volatile sig_atomic_t orderly;
static volatile sig_atomic_t request; /* an orderly end was asked for; signals_take_request clears it */
static volatile sig_atomic_t child_ended;
static volatile sig_atomic_t beat;
static uint32_t *volatile bell;
static volatile pid_t keeper; /* the thread for the handlers; 0: any */

static volatile uint64_t progress; /* of the machine, in virtual time */
static const struct signals_work *volatile work;
static void *work_ctx;
static struct {
    uint64_t progress, work_ns; /* at the last SIGALRM */
    uint64_t own_ns;            /* for which this process had waited for a processor then */
    uint64_t work_of_progress;  /* work_ns when there was progress last */
    int idle;                   /* looks since then, or since the last work */
} seen;

#define LOOK_US       500000
#define IDLE_LOOKS    2             /* a look may come late, just after the host has held up this process */
#define WORK_LEAST_NS 100000        /* less is no work: QEMU's other threads look around now and then */
#define WORK_MOST_NS  1000000000ull /* more without progress is a loop */
#define HELD_UP_NS    (LOOK_US * 1000ull / 2)

static uint64_t work_done(void)
{
    return work ? work->done_ns(work_ctx) : 0;
}

/* Whoever has to advance virtual time gets no processor, or this process has got none for much of the time since the
 * last look. */
static bool waits_for_processor(void)
{
    uint64_t before_ns = seen.own_ns;

    seen.own_ns = starved_own_ns();
    return seen.own_ns - before_ns >= HELD_UP_NS || (work && work->waits(work_ctx));
}

/* Starts a repeated SIGALRM. setitimer may be called in a handler: it is a bare system call. */
static void begin_looks(void)
{
    const struct itimerval interval = {{0, LOOK_US}, {0, LOOK_US}};

    seen.progress = progress;
    seen.work_ns = seen.work_of_progress = work_done();
    seen.own_ns = starved_own_ns();
    seen.idle = 0;
    setitimer(ITIMER_REAL, &interval, NULL);
}

/* Returns true if an orderly end makes no progress; then it is given up. On a host that has little time for QEMU, a
 * step of virtual time may take long: as long as QEMU works at it, or would if it got a processor, it is not stuck. One
 * that a signal has suspended is. */
static bool is_stuck(void)
{
    uint64_t now_ns = work_done();
    bool moves = progress != seen.progress;

    if (moves)
        seen.work_of_progress = now_ns;
    bool loops = now_ns >= seen.work_of_progress + WORK_MOST_NS;
    bool works = now_ns >= seen.work_ns + WORK_LEAST_NS && !loops;
    bool waits = waits_for_processor() && !loops;
    seen.idle = moves || works || waits ? 0 : seen.idle + 1;
    seen.progress = progress;
    seen.work_ns = now_ns;
    return asked_signal != 0 && seen.idle >= IDLE_LOOKS;
}

static void note_end(int signal)
{
    bool first = asked_signal == 0;

    if (first)
        asked_signal = signal;
    if (!first || !orderly) {
        end_signal = asked_signal;
        return;
    }
    request = 1;
    begin_looks();
}

static bool look_finds_stuck(void)
{
    int before = errno;
    bool stuck = is_stuck();

    errno = before; /* of the call that the signal interrupts */
    return stuck;
}

/* Returns true if another thread is to handle the signal. */
static bool pass_on(int signal)
{
    int before = errno;

    if (keeper == 0 || gettid() == keeper)
        return false;
    tgkill(getpid(), keeper, signal);
    errno = before;
    return true;
}

static void note(int signal)
{
    if (pass_on(signal))
        return;
    if (signal == SIGALRM && !look_finds_stuck())
        return;
    if (signal == SIGALRM)
        end_signal = asked_signal;
    else if (signal == SIGCHLD)
        child_ended = 1;
    else if (signal == SIGUSR1)
        beat = 1;
    else if (signal != SIGIO)
        note_end(signal);
    if (bell)
        __atomic_add_fetch(bell, 1, __ATOMIC_SEQ_CST);
}

static const int caught[] = {SIGINT, SIGTERM, SIGHUP, SIGCHLD, SIGALRM};
static bool ignored[sizeof caught / sizeof *caught]; /* when the handlers were installed first */

/* A signal that was ignored when ncube was started, as by nohup, stays ignored. */
static bool is_ignored(int signal)
{
    struct sigaction now;

    return signal != SIGCHLD && signal != SIGALRM && sigaction(signal, NULL, &now) == 0 && now.sa_handler == SIG_IGN;
}

void signals_keep_to(pid_t thread)
{
    keeper = thread;
}

void signals_install(uint32_t *doorbell)
{
    static bool again;

    for (size_t i = 0; i < sizeof caught / sizeof *caught && !again; i++)
        ignored[i] = is_ignored(caught[i]);
    again = true;
    bell = doorbell;
    /* No SA_RESTART: a signal must interrupt a read of standard input. SA_NOCLDSTOP: a child that stops has not
     * ended. */
    struct sigaction action = {.sa_handler = note, .sa_flags = SA_NOCLDSTOP};
    sigfillset(&action.sa_mask);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        if (ignored[i])
            signal(caught[i], SIG_IGN);
        else
            sigaction(caught[i], &action, NULL);
    action.sa_flags = SA_RESTART; /* a heartbeat or a debugger must not disturb a read */
    sigaction(SIGUSR1, &action, NULL);
    sigaction(SIGIO, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
}

void signals_watch_work(const struct signals_work *w, void *ctx)
{
    work_ctx = ctx;
    work = w;
}

void signals_release(void)
{
    work = NULL;
    bell = NULL;
}

void signals_be_orderly(void)
{
    orderly = 1;
}

void signals_note_progress(uint64_t now_cycles)
{
    progress = now_cycles;
}

int signals_asked(void)
{
    return asked_signal;
}

const char *signals_name(int signal)
{
    return signal == SIGINT ? "SIGINT" : signal == SIGTERM ? "SIGTERM" : "SIGHUP";
}

int signals_end(void)
{
    return end_signal;
}

bool signals_request(void)
{
    return request != 0;
}

/* Reads and clears in one step: a signal that arrived between a read and a write would be lost. */
static bool take(volatile sig_atomic_t *flag)
{
    return __atomic_exchange_n(flag, 0, __ATOMIC_SEQ_CST) != 0;
}

bool signals_take_request(void)
{
    return take(&request);
}

bool signals_any(void)
{
    return end_signal != 0 || child_ended != 0;
}

bool signals_take_child(void)
{
    return take(&child_ended);
}

bool signals_take_beat(void)
{
    return take(&beat);
}

int signals_poll(struct pollfd *p, nfds_t n, int limit_ms)
{
    const struct timespec limit = {limit_ms / 1000, limit_ms % 1000 * 1000000};
    sigset_t held, before;
    int ready = -1;

    sigemptyset(&held);
    for (size_t i = 0; i < sizeof caught / sizeof *caught; i++)
        sigaddset(&held, caught[i]);
    sigprocmask(SIG_BLOCK, &held, &before);
    if (end_signal == 0 && !child_ended && !request)
        ready = ppoll(p, n, limit_ms == SIGNALS_FOREVER ? NULL : &limit, &before);
    else
        errno = EINTR;
    sigprocmask(SIG_SETMASK, &before, NULL);
    return ready;
}
