/*
 * Random processes that end each other. Each node forks children, which send, receive, poll, handle signals, compute or
 * sleep without end; their parent, and those of other nodes, send them signals, of which most end them, at any moment.
 * A parent adds up what it saw, and when: messages of children anywhere, how each of its own ended.
 *
 *   exact_kills MIX SEED     MIX: not used; make exact names one
 *
 * Built with -DPROCS=2 -Nprocs 2, too: then a node has two parents.
 */
#include <signal.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exact_processes.h"
#include "exact_work.h"

enum { TURNS = 80, CHILDREN = 3 / PROCS, BYTES_MAX = 3000, TYPE_FOR_PARENT = 7, TYPE_FOR_CHILD };

static pid_t child[CHILDREN]; /* 0: none */
static int left;

static uint32_t choose(uint32_t n)
{
    return draw(&own_choice) % n;
}

/* ---- A child ---- */

static void send_some(void)
{
    static char bytes[BYTES_MAX];

    nwrite(bytes, (int)choose(choose(4) ? 60 : BYTES_MAX), address_of((int)choose((uint32_t)processes)),
           TYPE_FOR_PARENT, NULL);
    compute();
}

static void receive_some(void)
{
    char bytes[BYTES_MAX];
    int src = N_ANY, type = TYPE_FOR_CHILD;

    nread(bytes, sizeof bytes, &src, &type, NULL);
}

static void poll_some(void)
{
    int src = N_ANY, type = TYPE_FOR_CHILD;

    while (ntest(&src, &type) < 0)
        src = N_ANY, type = TYPE_FOR_CHILD;
    receive_some();
}

static void handle(int number)
{
    note((uint64_t)number);
    compute();
    send_some();
}

static void handle_some(void)
{
    const struct timeval interval = {.tv_usec = 900};
    const struct itimerval alarms = {.it_interval = interval, .it_value = interval};

    signal(SIGUSR1, handle);
    signal(SIGALRM, handle);
    setitimer(ITIMER_REAL, &alarms, NULL);
    compute();
}

static void sleep_some(void)
{
    usleep(choose(4000));
}

/* A loop of one kind, or of all; some end by themselves. */
static void live(void)
{
    static void (*const acts[])(void) = {send_some, receive_some, poll_some, handle_some, sleep_some, compute};
    enum { ACTS = sizeof acts / sizeof *acts };
    uint32_t always = choose(2 * ACTS), turns = choose(4) ? UINT32_MAX : choose(50);

    for (; turns > 0; turns--)
        acts[always < ACTS ? always : choose(ACTS)]();
    _exit((int)choose(100));
}

/* ---- A parent ---- */

static void fork_one(int i)
{
    uint32_t drawn = draw(&own_choice);
    pid_t pid = fork();

    if (pid == 0) {
        own_choice ^= drawn * 0x9e3779b97f4a7c15ull;
        live();
    }
    note((uint64_t)pid);
    child[i] = pid > 0 ? pid : 0;
    left += pid > 0;
}

static void forget(pid_t pid, int status)
{
    note((uint64_t)pid << 32 | (uint64_t)status);
    left--;
    for (int i = 0; i < CHILDREN; i++)
        if (child[i] == pid)
            child[i] = 0;
}

static void drain(void)
{
    static char bytes[BYTES_MAX];

    for (int src = N_ANY, type = TYPE_FOR_PARENT, n; ntest(&src, &type) >= 0; src = N_ANY) {
        n = nread(bytes, sizeof bytes, &src, &type, NULL);
        note((uint64_t)src << 32 | (uint64_t)n);
    }
}

/* Any child of any node, if there is one of that number: SIGUSR1 ends those that do not catch it. */
static void kill_some(void)
{
    static const int numbers[] = {SIGKILL, SIGTERM, SIGUSR1, SIGUSR1};
    int node = (int)choose((uint32_t)node_count()), procid = PROCS + (int)choose(CHILDREN * PROCS);

    note((uint64_t)kill(N_PROCESS(node, procid) + 1, numbers[choose(4)]));
}

static void take_turn(void)
{
    static char bytes[100];
    int i = (int)choose(CHILDREN), status;
    pid_t pid;

    compute();
    drain();
    switch (choose(5)) {
    case 0:
    case 1:
        if (child[i] == 0)
            fork_one(i);
        break;
    case 2:
        kill_some();
        break;
    case 3:
        if (child[i])
            nwrite(bytes, (int)choose(sizeof bytes), child[i] - 1, TYPE_FOR_CHILD, NULL);
        break;
    case 4:
        if (left > 0 && (pid = waitpid(-1, &status, WNOHANG)) > 0)
            forget(pid, status);
        break;
    }
}

/* Those who are still there end, whatever they do. */
static void end_all(void)
{
    int status;

    for (int i = 0; i < CHILDREN; i++)
        if (child[i])
            kill(child[i], choose(2) ? SIGKILL : SIGTERM);
    while (left > 0) {
        pid_t pid = wait(&status);

        check(pid > 0, "%d children are left", left);
        forget(pid, status);
    }
}

int main(int argc, char **argv)
{
    count_processes();
    own_choice = (argc > 2 ? strtoull(argv[2], NULL, 10) : 0) * 1000003 + (uint64_t)self;
    meet();
    for (int turn = 0; turn < TURNS; turn++)
        take_turn();
    end_all();
    meet();
    drain();
    printf("%d: %016llx\n", self, (unsigned long long)seen);
    return 0;
}
