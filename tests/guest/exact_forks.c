/*
 * Random processes on each node: they are forked, compute, write to a pipe and to a file that all share, fork again,
 * and end by themselves, by a fault or by a signal; the first one polls and reads, waits for them, and exchanges
 * messages with other nodes. It adds up what it saw, and when.
 *
 *   exact_forks MIX SEED VOLUMES     MIX: not used; make exact names one
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "exact_work.h"

enum { TURNS = 60, CHILDREN = 5, TYPE = 7 };

static pid_t child[CHILDREN]; /* 0: none */
static struct pollfd from[CHILDREN];
static int shared = -1; /* a file; -1: there are no volumes */
static volatile uint32_t rung;

static void ring(int number)
{
    (void)number;
    rung++;
}

static uint32_t choose(uint32_t n)
{
    return draw(&own_choice) % n;
}

/* ---- A child ---- */

static void write_some(int to)
{
    static char bytes[20000];
    size_t n = choose(4) ? choose(200) : choose(sizeof bytes);

    fill_pattern(bytes, n, choose(1000));
    if (write(to, bytes, n) < 0)
        _exit(100 + errno);
    if (shared >= 0)
        write(shared, bytes, n < 300 ? n : 300);
}

static void end_somehow(void)
{
    static volatile int *volatile nowhere = (volatile int *)16;

    switch (choose(8)) {
    case 0:
        raise(SIGTERM);
        break;
    case 1:
        *nowhere = 1;
        break;
    default:
        _exit((int)choose(100));
    }
}

static void live(int to)
{
    for (uint32_t turns = choose(6); turns > 0; turns--) {
        compute();
        if (choose(3))
            write_some(to);
        if (choose(4) == 0)
            usleep(choose(3000));
        if (choose(6) == 0 && fork() == 0)
            own_choice ^= 0x5555;
        if (choose(6) == 0)
            waitpid(-1, NULL, choose(2) ? WNOHANG : 0);
    }
    end_somehow();
}

/* ---- The parent ---- */

static void fork_one(int i)
{
    int fd[2];

    check(pipe(fd) == 0, "pipe: %d", errno);
    uint32_t drawn = draw(&own_choice);
    pid_t pid = fork();
    if (pid == 0) {
        own_choice ^= drawn * 0x9e3779b97f4a7c15ull;
        close(fd[0]);
        live(fd[1]);
    }
    note(pid > 0 ? (uint64_t)pid : (uint64_t)errno);
    close(fd[1]);
    if (pid < 0) {
        close(fd[0]);
        return;
    }
    child[i] = pid;
    from[i] = (struct pollfd){.fd = fd[0], .events = POLLIN};
}

static void read_from(int i)
{
    static char bytes[5000];
    ssize_t n = read(from[i].fd, bytes, choose(sizeof bytes));

    note((uint64_t)n);
    for (ssize_t k = 0; k < n; k += 97)
        note((uint64_t)bytes[k]);
}

static void listen_to_all(int timeout)
{
    note((uint64_t)poll(from, CHILDREN, timeout));
    for (int i = 0; i < CHILDREN; i++) {
        note((uint64_t)from[i].revents);
        if (from[i].revents & POLLIN)
            read_from(i);
    }
}

static void forget(pid_t pid, int status)
{
    note((uint64_t)pid << 32 | (uint64_t)status);
    for (int i = 0; i < CHILDREN; i++)
        if (child[i] == pid) {
            close(from[i].fd);
            from[i].fd = -1;
            child[i] = 0;
        }
}

static void exchange(void)
{
    int number = (int)choose(1000), src = N_ANY, type = TYPE;

    nwrite(&number, sizeof number, (int)choose((uint32_t)node_count()), TYPE, NULL);
    if (ntest(&src, &type) >= 0 && nread(&number, sizeof number, &src, &type, NULL) >= 0)
        note((uint64_t)number);
}

static void take_turn(void)
{
    int i = (int)choose(CHILDREN), status;
    pid_t pid;

    compute();
    switch (choose(5)) {
    case 0:
    case 1:
        if (child[i] == 0)
            fork_one(i);
        break;
    case 2:
        listen_to_all((int)choose(4) - 1 ? 0 : (int)choose(20));
        break;
    case 3:
        if (child[i] > 0 && choose(3) == 0)
            note((uint64_t)kill(child[i], choose(2) ? SIGKILL : SIGUSR1));
        else if ((pid = waitpid(-1, &status, WNOHANG)) > 0)
            forget(pid, status);
        break;
    case 4:
        exchange();
        break;
    }
    note(rung);
}

int main(int argc, char **argv)
{
    uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
    char name[60];
    int status;
    pid_t pid;

    own_choice = seed * 1000003 + (uint64_t)own_node();
    for (int i = 0; i < CHILDREN; i++)
        from[i].fd = -1;
    if (argc > 3 && atoi(argv[3]) > 0) {
        snprintf(name, sizeof name, "//df00/shared%d", own_node());
        shared = open(name, O_RDWR | O_CREAT | O_TRUNC, 0600);
        check(shared >= 0, "errno %d", errno);
    }
    if (seed % 2)
        signal(SIGCHLD, ring);
    for (int turn = 0; turn < TURNS; turn++)
        take_turn();
    for (int i = 0; i < CHILDREN; i++)
        if (child[i] > 0)
            close(from[i].fd); /* whoever still writes gets SIGPIPE */
    while ((pid = wait(&status)) > 0)
        note((uint64_t)pid << 32 | (uint64_t)status);
    if (shared >= 0)
        note((uint64_t)lseek(shared, 0, SEEK_CUR));
    printf("%d: %016llx\n", own_node(), (unsigned long long)seen);
    return 0;
}
