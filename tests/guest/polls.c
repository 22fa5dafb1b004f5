/* poll, select and pselect: what is ready, and when a wait for it ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <nself.h>
#include <ntime.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <stropts.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <sys/wait.h>
#include <sysn.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

enum { PIPE_HOLDS = 8192, TYPE = 5, BARRIER = 6 };

static int poll_one(int fd, int events, int timeout)
{
    struct pollfd p = {.fd = fd, .events = (short)events, .revents = -1};
    int n = poll(&p, 1, timeout);

    check_equal(n, p.revents != 0);
    return p.revents;
}

static void make_pipe(int fd[2])
{
    check(pipe(fd) == 0, "pipe: %s", strerror(errno));
}

static pid_t fork_one(void)
{
    pid_t pid = fork();

    check(pid >= 0, "fork: %s", strerror(errno));
    return pid;
}

static void await(pid_t pid)
{
    int status = -1;

    check(waitpid(pid, &status, 0) == pid && status == 0, "a child has ended with 0x%x", status);
}

static long now_us(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return t.tv_sec * 1000000 + t.tv_nsec / 1000;
}

/* The wait began at `from` and was to take so many microseconds. */
static void check_waited(long from, long us)
{
    long took = now_us() - from;

    check(took >= us && took < us + 2000, "the wait took %ld us, not %ld", took, us);
}

/* ---- What is ready ---- */

static void pipes_have_states(void)
{
    static char bytes[PIPE_HOLDS];
    int fd[2];

    make_pipe(fd);
    check_equal(poll_one(fd[0], POLLIN, 0), 0);
    check_equal(poll_one(fd[1], POLLOUT | POLLWRNORM, 0), POLLOUT | POLLWRNORM);
    check_equal(poll_one(fd[1], POLLIN, 0), 0);
    check_equal(write(fd[1], bytes, 1), 1);
    check_equal(poll_one(fd[0], POLLIN | POLLOUT, 0), POLLIN);
    check_equal(write(fd[1], bytes, PIPE_HOLDS - 1), PIPE_HOLDS - 1);
    check_equal(poll_one(fd[1], POLLOUT, 0), 0);
    check_equal(read(fd[0], bytes, 4095), 4095);
    check_equal(poll_one(fd[1], POLLOUT, 0), 0);
    check_equal(read(fd[0], bytes, 1), 1);
    check_equal(poll_one(fd[1], POLLOUT, 0), POLLOUT);
    close(fd[1]);
    check_equal(poll_one(fd[0], POLLIN, 0), POLLIN | POLLHUP);
    check_equal(read(fd[0], bytes, sizeof bytes), 4096);
    check_equal(poll_one(fd[0], POLLIN, 0), POLLHUP);
    check_equal(poll_one(fd[0], 0, -1), POLLHUP);
    close(fd[0]);
    make_pipe(fd);
    close(fd[0]);
    check_equal(poll_one(fd[1], POLLOUT, -1), POLLOUT | POLLERR);
}

static void others_are_ready(void)
{
    int file = open("/tmp/file", O_CREAT | O_WRONLY, 0666);

    check_equal(poll_one(file, POLLIN | POLLOUT, -1), POLLOUT);
    check_equal(poll_one(STDIN_FILENO, POLLIN | POLLOUT, -1), POLLIN);
    check_equal(poll_one(77, POLLIN, -1), POLLNVAL);
    check_equal(poll_one(-1, POLLIN, 1), 0);
    check(poll(NULL, 257, 0) == -1 && errno == EINVAL, "too many: %d", errno);
    check_equal(poll(NULL, 0, 0), 0);
}

/* ---- Waiting ---- */

static void time_passes(void)
{
    int fd[2];
    long from = now_us();

    make_pipe(fd);
    check_equal(poll_one(fd[0], POLLIN, 50), 0);
    check_waited(from, 50000);
    from = now_us();
    check_equal(poll(NULL, 0, 20), 0);
    check_waited(from, 20000);
    from = now_us();
    check_equal(poll_one(fd[0], POLLIN, 0), 0);
    check_waited(from, 0);
}

/* Children write one after the other; the parent always hears from the one whose turn it is. */
static void hears_from_each(void)
{
    enum { CHILDREN = 5 };
    struct pollfd p[CHILDREN];
    pid_t pid[CHILDREN];
    long from = now_us();

    for (int i = 0; i < CHILDREN; i++) {
        int fd[2];

        make_pipe(fd);
        pid[i] = fork_one();
        if (pid[i] == 0) {
            usleep((unsigned)(200000 + 50000 * (i * 3 % CHILDREN) - (now_us() - from)));
            _exit(write(fd[1], "x", 1) == 1 ? 0 : 1);
        }
        close(fd[1]);
        p[i] = (struct pollfd){.fd = fd[0], .events = POLLIN};
    }
    for (int k = 0; k < CHILDREN; k++) {
        int i = k * 2 % CHILDREN; /* 3 * 2 = 1 modulo 5 */
        char c;

        check_equal(poll(p, CHILDREN, -1), 1);
        check(p[i].revents & POLLIN, "child %d is heard too late", i);
        check_waited(from, 200000 + 50000 * k);
        check_equal(read(p[i].fd, &c, 1), 1);
        await(pid[i]);
        check_equal(poll(p, CHILDREN, 0), 1); /* its end */
        check_equal(p[i].revents, POLLHUP);
        p[i].fd = -1;
    }
    check_equal(poll(p, CHILDREN, 10), 0);
}

static void waits_for_room(void)
{
    static char bytes[PIPE_HOLDS];
    int fd[2];
    long from = now_us();

    make_pipe(fd);
    check_equal(write(fd[1], bytes, sizeof bytes), sizeof bytes);
    pid_t pid = fork_one();
    if (pid == 0) {
        usleep((unsigned)(100000 - (now_us() - from)));
        _exit(read(fd[0], bytes, 5000) == 5000 ? 0 : 1);
    }
    check_equal(poll_one(fd[1], POLLOUT, 1000), POLLOUT);
    check_waited(from, 100000);
    await(pid);
}

static volatile int rung;

static void ring(int number)
{
    (void)number;
    rung++;
}

static void a_signal_ends_it(void)
{
    struct pollfd p = {.events = POLLIN};
    int fd[2];

    make_pipe(fd);
    p.fd = fd[0];
    signal(SIGALRM, ring);
    ualarm(30000, 0);
    check(poll(&p, 1, -1) == -1 && errno == EINTR, "poll: %d", errno);
    check_equal(rung, 1);
    ualarm(30000, 0);
    check(poll(&p, 1, 100) == -1 && errno == EINTR, "poll: %d", errno);
    check_equal(rung, 2);
}

/* The signal comes before the wait, which must end nevertheless. */
static void no_signal_is_missed(void)
{
    sigset_t set, none, after;
    int fd[2];
    fd_set reads;

    make_pipe(fd);
    signal(SIGCHLD, ring);
    sigemptyset(&none);
    sigemptyset(&set);
    (sigaddset)(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    pid_t pid = fork_one();
    if (pid == 0)
        _exit(0);
    usleep(50000);
    check_equal(rung, 0);
    FD_ZERO(&reads);
    FD_SET(fd[0], &reads);
    check(pselect(fd[0] + 1, &reads, NULL, NULL, NULL, &none) == -1 && errno == EINTR, "pselect: %d", errno);
    check_equal(rung, 1);
    sigprocmask(SIG_BLOCK, NULL, &after);
    check_equal(after, set);
    const struct timespec t = {.tv_nsec = 1000000};
    check_equal(pselect(fd[0] + 1, &reads, NULL, NULL, &t, &none), 0);
    sigprocmask(SIG_BLOCK, NULL, &after);
    check_equal(after, set);
    await(pid);
}

/* ---- select ---- */

static void selects(void)
{
    struct timeval t = {.tv_usec = 30000};
    fd_set reads, writes;
    int fd[2], other[2];
    long from = now_us();

    make_pipe(fd);
    make_pipe(other);
    FD_ZERO(&reads);
    FD_ZERO(&writes);
    FD_SET(fd[0], &reads);
    FD_SET(other[0], &reads);
    check_equal(select(other[1] + 1, &reads, &writes, NULL, &t), 0);
    check(!FD_ISSET(fd[0], &reads) && !FD_ISSET(other[0], &reads), "what is not ready stays in the set");
    check_waited(from, 30000);
    check_equal(write(other[1], "x", 1), 1);
    FD_SET(fd[0], &reads);
    FD_SET(other[0], &reads);
    FD_SET(fd[1], &writes);
    check_equal(select(other[1] + 1, &reads, &writes, NULL, NULL), 2);
    check(!FD_ISSET(fd[0], &reads) && FD_ISSET(other[0], &reads) && FD_ISSET(fd[1], &writes), "the sets are wrong");
    close(fd[1]);
    FD_SET(fd[0], &reads);
    FD_CLR(other[0], &reads);
    check_equal(select(other[1] + 1, &reads, NULL, NULL, NULL), 1); /* the end of the file can be read */
    close(fd[0]);
    FD_SET(fd[0], &reads);
    check(select(other[1] + 1, &reads, NULL, NULL, NULL) == -1 && errno == EBADF, "closed: %d", errno);
    t = (struct timeval){.tv_sec = -1};
    check(select(0, NULL, NULL, NULL, &t) == -1 && errno == EINVAL, "a negative time: %d", errno);
}

/* ---- Messages ---- */

static void messages_are_ready(void)
{
    int fd[2], number = 0, src = N_ANY, type = TYPE, left = (own_node() + node_count() - 1) % node_count();
    struct pollfd p[2] = {{.fd = nself, .events = POLLIN}, {.events = POLLIN}};

    make_pipe(fd);
    p[1].fd = fd[0];
    check_equal(poll(p, 2, 0), 0);
    check_equal(poll_one(nself, POLLOUT, -1), POLLOUT);
    check_equal(nsync(BARRIER), 0);
    if (own_node() > 0)
        check_equal(poll(p, 2, -1), 1);
    usleep(10000);
    check_equal(nwrite(&number, sizeof number, (own_node() + 1) % node_count(), TYPE, NULL), 0);
    check_equal(poll(p, 2, -1), 1);
    check(p[0].revents == POLLIN && p[1].revents == 0, "0x%x, 0x%x", (unsigned)p[0].revents, (unsigned)p[1].revents);
    check_equal(nread(&number, sizeof number, &src, &type, NULL), sizeof number);
    check_equal(src, left);
    check_equal(poll(p, 2, 1), 0);
    check_equal(nsync(BARRIER), 0);
}

static void only_one_address_counts(void)
{
    struct ncaddr from = {.pid = 0, .procid = 0, .type = TYPE + 1};
    int number = 3, src = N_ANY, type = TYPE;

    if (own_node() != 0) {
        check_equal(ioctl(nself, N_CONNECT, &from), 0);
        check_equal(poll_one(nself, POLLIN, 500), POLLIN);
        check_equal(read(nself, &number, sizeof number), sizeof number);
        check_equal(number, 5);
        check_equal(poll_one(nself, POLLIN, 5), 0);
        check_equal(ioctl(nself, N_CONNECT, NULL), 0);
        check_equal(poll_one(nself, POLLIN, 0), POLLIN);
        check_equal(nread(&number, sizeof number, &src, &type, NULL), sizeof number);
    }
    for (int node = 1; own_node() == 0 && node < node_count(); node++)
        check_equal(nwrite(&number, sizeof number, node, TYPE, NULL), 0);
    number = 5;
    usleep(20000);
    for (int node = 1; own_node() == 0 && node < node_count(); node++)
        check_equal(nwrite(&number, sizeof number, node, TYPE + 1, NULL), 0);
}

/* ---- In a pipeline ---- */

enum { BURST = 2 << 20 };

/* Writes slowly, then as long as there is room, which the reader makes when it has slept. */
static void writes_to_a_pipe(void)
{
    static char bytes[4096];
    long room = 0;

    usleep(200000);
    check_equal(poll_one(STDOUT_FILENO, POLLIN | POLLOUT, -1), POLLOUT);
    check_equal(write(STDOUT_FILENO, "one\n", 4), 4);
    usleep(200000);
    for (; room < BURST && poll_one(STDOUT_FILENO, POLLOUT, 0) == POLLOUT; room += 4096)
        check_equal(write(STDOUT_FILENO, bytes, sizeof bytes), sizeof bytes);
    check(room >= 16384 && room < BURST, "there is room for %ld bytes", room);
    check_equal(poll_one(STDOUT_FILENO, POLLOUT, 10000), POLLOUT);
    for (; room < BURST; room += 4096)
        check_equal(write(STDOUT_FILENO, bytes, sizeof bytes), sizeof bytes);
    exit(0);
}

/* The child's copy of the end is good for nothing, and harms nothing. */
static void uses_its_parents_pipe(void)
{
    char c;

    check(read(STDIN_FILENO, &c, 1) == -1 && errno == EBADF, "read: %d", errno);
    check_equal(close(STDIN_FILENO), 0);
}

static void reads_from_a_pipe(void)
{
    static char bytes[5000];
    int turns = 0;
    long n, all = 0;

    pid_t pid = fork_one();
    if (pid == 0) {
        uses_its_parents_pipe();
        _exit(0);
    }
    await(pid);
    while (poll_one(STDIN_FILENO, POLLIN, 10) == 0)
        turns++;
    check(turns > 2, "there was something after %d turns", turns);
    check_equal(read(STDIN_FILENO, bytes, sizeof bytes), 4);
    check_equal(poll_one(STDIN_FILENO, POLLIN, 0), 0);
    check_equal(poll_one(STDIN_FILENO, POLLIN | POLLOUT, 1000), POLLIN);
    sleep(1);
    while (poll_one(STDIN_FILENO, POLLIN, -1) & POLLIN) {
        n = read(STDIN_FILENO, bytes, sizeof bytes);
        all += n;
        if (n == 0)
            break;
    }
    check_equal(all, BURST);
    check_equal(poll_one(STDIN_FILENO, POLLIN, -1), POLLHUP);
}

/* ---- The standard input ---- */

/* Says of each line, and of the end, whether it had to wait, and what else came first. */
static void waits_for_input(void)
{
    struct pollfd p[2] = {{.fd = STDIN_FILENO, .events = POLLIN}, {.events = POLLIN}};
    char line[100];
    int fd[2], turns = 0;
    ssize_t n;

    make_pipe(fd);
    p[1].fd = fd[0];
    pid_t pid = fork_one();
    if (pid == 0) {
        usleep(50000);
        _exit(write(fd[1], "x", 1) == 1 ? 0 : 1);
    }
    close(fd[1]);
    printf("asks\n");
    fflush(stdout);
    while (poll(p, 1, 10) == 0)
        if (turns++ == 0) {
            printf("waits\n");
            fflush(stdout);
        }
    check_equal(p[0].revents, POLLIN);
    n = read(STDIN_FILENO, line, sizeof line);
    printf("%.*s: %s\n", (int)n - 1, line, turns ? "waited" : "there");
    fflush(stdout);
    check(poll(p, 2, -1) >= 1, "poll: %d", errno);
    printf("input %d, child %d\n", p[0].revents == POLLIN, (p[1].revents & POLLIN) != 0);
    fflush(stdout);
    await(pid);
    check_equal(poll(p, 1, -1), 1);
    n = read(STDIN_FILENO, line, sizeof line);
    printf("%.*s\n", (int)n - 1, line);
    fflush(stdout);
    check_equal(poll(p, 1, -1), 1);
    check_equal(read(STDIN_FILENO, line, sizeof line), 0);
}

/* ---- Nobody comes ---- */

static void nobody_comes(void)
{
    int fd[2];

    make_pipe(fd);
    poll_one(fd[0], POLLIN, -1);
}

static const struct test_case cases[] = {
    {"pipes", pipes_have_states},
    {"others", others_are_ready},
    {"time", time_passes},
    {"each", hears_from_each},
    {"room", waits_for_room},
    {"a signal", a_signal_ends_it},
    {"no signal is missed", no_signal_is_missed},
    {"select", selects},
    {"messages", messages_are_ready},
    {"one address", only_one_address_counts},
    {"writes to a pipe", writes_to_a_pipe},
    {"reads from a pipe", reads_from_a_pipe},
    {"input", waits_for_input},
    {"nobody comes", nobody_comes},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
