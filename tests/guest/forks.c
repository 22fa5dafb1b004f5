/*
 * Processes that programs make: fork, wait and what ends them, as on Unix. Pipes are in fork_pipes.c, exec in
 * fork_execs.c.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <nio.h>
#include <nself.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <sysn.h>
#include <unistd.h>

#include "forked.h"

enum { CHILDREN_MAX = 7, TYPE = 7, BARRIER = 9 };

/* ---- Copies ---- */

static void is_a_copy(void)
{
    static volatile long data = 1, bss;
    volatile long stack = 2, *heap = malloc(100000);
    register double x = own_node() + 0.5, y = 3;

    heap[5000] = 3;
    pid_t pid = fork_one();
    if (pid == 0) {
        check(data == 1 && bss == 0 && stack == 2 && heap[5000] == 3, "the copy differs");
        check(x == own_node() + 0.5 && x * y == 3 * x, "registers are lost: %g, %g", x, y);
        data = stack = heap[5000] = bss = 9;
        check(malloc(100000) != NULL, "no heap");
        _exit(0);
    }
    await(pid);
    check(data == 1 && bss == 0 && stack == 2 && heap[5000] == 3, "the child has changed its parent");
    check(x * y == 3 * x, "registers are lost");
}

static pid_t parents_pid;

static void has_numbers_of_its_own(void)
{
    int node, procid;

    whoami(&node, &procid, NULL, NULL);
    check(node == own_node() && procid == 1, "the child is %d on node %d", procid, node);
    check(getpid() != parents_pid && getpid() == N_PROCESS(node, procid) + 1, "the child's number is %d", getpid());
    check_equal(getppid(), parents_pid);
}

static void knows_who_it_is(void)
{
    int procid;

    parents_pid = getpid();
    check_equal(getppid(), 1);
    pid_t pid = begin(has_numbers_of_its_own);
    check_equal(pid, N_PROCESS(own_node(), 1) + 1);
    await(pid);
    whoami(NULL, &procid, NULL, NULL);
    check(procid == 0 && getpid() == parents_pid, "the parent has become %d", getpid());
}

static void sees_its_grandparent_go(void)
{
    while (getppid() != 1)
        usleep(1000);
}

static void leaves_an_orphan(void)
{
    begin(sees_its_grandparent_go);
}

static void may_fork_itself(void)
{
    int fd[2];
    char c;

    make_pipe(fd);
    await(begin(leaves_an_orphan));
    check(waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD, "the orphan is its grandparent's");
    close(fd[1]);
    check_equal(read(fd[0], &c, 1), 0); /* when the orphan has ended, too */
    close(fd[0]);
}

static void many(void)
{
    for (int i = 0; i < 300; i++) {
        pid_t pid = fork_one();

        if (pid == 0)
            _exit(i & 255);
        check_equal(WEXITSTATUS(status_of(pid)), i & 255);
    }
}

/* ---- Ends ---- */

static void tells_its_status(void)
{
    static const int statuses[] = {0, 1, 7, 255, 256 + 3, -1};

    for (size_t i = 0; i < sizeof statuses / sizeof *statuses; i++) {
        pid_t pid = fork_one();

        if (pid == 0)
            exit(statuses[i]);
        int status = status_of(pid);
        check(WIFEXITED(status) && !WIFSIGNALED(status), "status 0x%x", status);
        check_equal(WEXITSTATUS(status), statuses[i] & 255);
    }
}

static void sleep_long(void)
{
    for (;;)
        pause();
}

static void tells_its_signal(void)
{
    static const int signals[] = {SIGKILL, SIGTERM, SIGUSR1, SIGALRM, SIGPIPE, SIGABRT};

    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        pid_t pid = begin(sleep_long);

        check_equal(kill(pid, 0), 0);
        check_equal(kill(pid, signals[i]), 0);
        int status = status_of(pid);
        check(WIFSIGNALED(status) && !WIFEXITED(status) && WTERMSIG(status) == signals[i], "signal %d gives 0x%x",
              signals[i], status);
        check(kill(pid, 0) == -1 && errno == ESRCH, "the child is still known");
    }
}

static void loads_from_nowhere(void)
{
    volatile int *nowhere = NULL;

    _exit(*nowhere);
}

static void a_fault_ends_the_child(void)
{
    int status = status_of(begin(loads_from_nowhere));

    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "a fault gives 0x%x", status);
}

static volatile int told;

static void hear(int number)
{
    (void)number;
    told++;
}

static void hears_its_parent(void)
{
    while (told == 0)
        pause();
}

/* kill(0): all processes, also when the procids have a gap. */
static void all_get_a_signal(void)
{
    pid_t pid[3];

    signal(SIGUSR1, hear);
    for (int i = 0; i < 3; i++)
        pid[i] = begin(hears_its_parent);
    check_equal(kill(pid[0], SIGKILL), 0);
    check_equal(WTERMSIG(status_of(pid[0])), SIGKILL);
    check_equal(kill(0, SIGUSR1), 0);
    check_equal(told, 1);
    await(pid[1]);
    await(pid[2]);
}

static void waits_for_whom_it_names(void)
{
    pid_t pid[3];
    int status;

    check(wait(&status) == -1 && errno == ECHILD, "no child: %d", errno);
    check(waitpid(getpid(), &status, 0) == -1 && errno == ECHILD, "itself: %d", errno);
    check(waitpid(getpid() + 1, &status, 0) == -1 && errno == ECHILD, "another node's: %d", errno);
    check(waitpid(-1, &status, 64) == -1 && errno == EINVAL, "options: %d", errno);
    for (int i = 0; i < 3; i++) {
        pid[i] = fork_one();
        if (pid[i] == 0) {
            usleep((unsigned)(30000 - i * 10000));
            _exit(i);
        }
    }
    check_equal(waitpid(pid[1], &status, WNOHANG), 0);
    check_equal(WEXITSTATUS(status_of(pid[0])), 0); /* the last to end */
    check_equal(waitpid(pid[2], &status, WNOHANG), pid[2]);
    check_equal(WEXITSTATUS(status), 2);
    check_equal(wait(NULL), pid[1]);
    check(wait(&status) == -1 && errno == ECHILD, "all have ended: %d", errno);
}

static volatile int rung;

static void ring(int number)
{
    rung += number == SIGCHLD;
}

static void end_at_once(void)
{
}

static void gets_a_signal(void)
{
    signal(SIGCHLD, ring);
    pid_t pid = begin(end_at_once);
    while (rung == 0)
        pause();
    check_equal(waitpid(pid, NULL, WNOHANG), pid);
    pid = begin(end_at_once);
    await(pid); /* the handler interrupts the wait, which goes on */
    check_equal(rung, 2);
}

static void does_not_care(void)
{
    int fd[2];
    char c;

    signal(SIGCHLD, SIG_IGN);
    for (int i = 0; i < 20; i++) { /* none leaves a status behind */
        make_pipe(fd);
        begin(end_at_once);
        close(fd[1]);
        check_equal(read(fd[0], &c, 1), 0);
        close(fd[0]);
    }
    check(wait(NULL) == -1 && errno == ECHILD, "wait: %d", errno);
}

/* ---- Limits ---- */

static void the_table_is_full(void)
{
    pid_t pid[CHILDREN_MAX];
    int fd[2];
    char c;

    make_pipe(fd);
    for (int i = 0; i < CHILDREN_MAX; i++) {
        pid[i] = fork_one();
        if (pid[i] == 0) {
            close(fd[1]);
            _exit((int)read(fd[0], &c, 1));
        }
    }
    check(fork() == -1 && errno == EAGAIN, "one more: %d", errno);
    close(fd[1]);
    usleep(100000);
    check(fork() == -1 && errno == EAGAIN, "ended, but not waited for: %d", errno);
    for (int i = CHILDREN_MAX; i-- > 0;)
        await(pid[i]);
    close(fd[0]);
    await(begin(end_at_once));
}

static void memory_is_full(void)
{
    size_t bytes = 4096;
    char *most = NULL;

    for (size_t step = 1 << 26; step >= 65536; step /= 2) {
        char *more = realloc(most, bytes + step);

        if (more) {
            most = more;
            bytes += step;
        }
    }
    memset(most, 5, bytes);
    for (int i = 0; i < 20; i++)
        check(fork() == -1 && errno == ENOMEM, "fork: %d", errno);
    free(most);
    most = malloc(200000);
    memset(most, 5, 200000);
    check_equal(most[199999], 5);
}

/* ---- What a child has of its parent ---- */

static void on_time(int number)
{
    (void)number;
    rung = 1;
}

static void has_signals(void)
{
    sigset_t set;

    check_equal(alarm(0), 0);
    check_equal(raise(SIGUSR1), 0);
    check(rung == 1, "the handler was not called");
    sigprocmask(SIG_BLOCK, NULL, &set);
    check((sigismember)(&set, SIGUSR2) == 1, "the mask is lost");
    sigpending(&set);
    check_equal(set, 0);
    check_equal(raise(SIGTERM), 0); /* ignored */
}

static void gives_its_signals(void)
{
    sigset_t set;

    signal(SIGUSR1, on_time);
    signal(SIGTERM, SIG_IGN);
    sigemptyset(&set);
    (sigaddset)(&set, SIGUSR2);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGUSR2);
    alarm(1000);
    await(begin(has_signals));
    check(alarm(0) > 0, "the alarm is lost");
    check_equal(rung, 0);
}

static char *buffer;

static void looks_at_a_buffer(void)
{
    _exit(*(volatile char *)buffer);
}

/* Buffers of ngetp and transfers under way are the parent's. */
static void keeps_what_is_its_own(void)
{
    static char text[200];
    int fd = open("/forks", O_RDONLY), status;

    buffer = ngetp(5000);
    check(buffer != NULL, "no buffer");
    memset(buffer, 7, 5000);
    check_equal(readstart(fd, sizeof text), 0);
    status = status_of(begin(looks_at_a_buffer));
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGSEGV, "the child has ended with 0x%x", status);
    pid_t pid = fork_one();
    if (pid == 0)
        _exit(readend(fd, text) < 0 ? 0 : 1);
    await(pid);
    check(buffer[0] == 7 && buffer[4999] == 7, "the buffer has changed");
    check_equal(nrelp(buffer), 0);
    check_equal(readend(fd, text), sizeof text);
    check(memcmp(text, "\177ELF", 4) == 0, "other bytes were read");
    check_equal(lseek(fd, 0, SEEK_CUR), sizeof text);
}

static void use_shared_file(int fd)
{
    char text[100] = "";

    check_equal(write(fd, "abc", 3), 3);
    pid_t pid = fork_one();
    if (pid == 0) {
        check_equal(write(fd, "defg", 4), 4);
        check_equal(close(fd), 0);
        check(write(fd, "x", 1) == -1 && errno == EBADF, "closed: %d", errno);
        _exit(0);
    }
    await(pid);
    check_equal(lseek(fd, 0, SEEK_CUR), 7);
    check_equal(write(fd, "hi", 2), 2);
    pid = fork_one();
    if (pid == 0)
        _exit(lseek(fd, 1, SEEK_SET) == 1 ? 0 : 1); /* ends with the file open */
    await(pid);
    check_equal(read(fd, text, sizeof text), 8);
    check(strcmp(text, "bcdefghi") == 0, "the file has '%s'", text);
    pid = fork_one();
    if (pid == 0) { /* its parent closes first */
        usleep(50000);
        _exit(pread(fd, text, 3, 6) == 3 && memcmp(text, "ghi", 3) == 0 ? 0 : 1);
    }
    close(fd);
    await(pid);
}

static void shares_files(void)
{
    for (int i = 0; i < test_argc; i++) {
        int fd = open(test_argv[i], O_RDWR | O_CREAT | O_TRUNC, 0666), other = open(test_argv[i], O_RDWR);

        check(fd >= 0 && other >= 0, "%s: %s", test_argv[i], strerror(errno));
        use_shared_file(fd);
        check_equal(lseek(other, 0, SEEK_END), 9);
        close(other);
    }
}

static void directory_child(void)
{
    char text[100];

    check(getcwd(text, sizeof text) && strcmp(text, "/tmp") == 0, "the child is in %s", text);
    check_equal(chdir("/"), 0);
}

static void has_a_directory_of_its_own(void)
{
    char text[100];

    check_equal(chdir("/tmp"), 0);
    await(begin(directory_child));
    check(getcwd(text, sizeof text) && strcmp(text, "/tmp") == 0, "the parent is in %s", text);
}

/* ---- With messages ---- */

static void child_exchanges(void)
{
    int right = (own_node() + 1) % node_count(), number = own_node(), src = N_ANY, type = TYPE;

    check_equal(nwrite(&number, sizeof number, N_PROCESS(right, 1), TYPE, NULL), 0);
    check_equal(nread(&number, sizeof number, &src, &type, NULL), sizeof number);
    check_equal(N_PROCID_OF(src), 1);
    check_equal(number, (own_node() + node_count() - 1) % node_count());
    check_equal(nwrite(&number, sizeof number, own_node(), TYPE, NULL), 0);
}

static void children_exchange(void)
{
    pid_t pid = begin(child_exchanges);
    int number, src = N_ANY, type = TYPE;

    check_equal(nread(&number, sizeof number, &src, &type, NULL), sizeof number);
    check_equal(src, N_PROCESS(own_node(), 1));
    await(pid);
    check_equal(nsync(BARRIER), 0);
}

static void names_nobody(void)
{
    check(nwrite("", 1, N_PROCESS(0, 1), TYPE, NULL) < 0, "a message to no process");
    check(kill(N_PROCESS(own_node(), 1) + 1, 0) == -1 && errno == ESRCH, "kill: %d", errno);
    check_equal(nsync(BARRIER), 0);
}

/* ---- What ends a job ---- */

static void prints_later(void)
{
    sees_its_grandparent_go();
    usleep(200000);
    printf("the child is the last\n");
    exit(9);
}

static void is_outlived(void)
{
    begin(prints_later);
    exit(4);
}

static void nobody_writes(void)
{
    int fd[2];
    char c;

    make_pipe(fd);
    read(fd[0], &c, 1);
}

static void nobody_ends(void)
{
    begin(sleep_long);
    wait(NULL);
}

static void dies_with_children(void)
{
    begin(sleep_long);
    usleep(10000);
    abort();
}

static const struct test_case cases[] = {
    {"a copy", is_a_copy},
    {"numbers", knows_who_it_is},
    {"grandchildren", may_fork_itself},
    {"many", many},
    {"statuses", tells_its_status},
    {"signals", tells_its_signal},
    {"a signal for all", all_get_a_signal},
    {"a fault", a_fault_ends_the_child},
    {"whom to wait for", waits_for_whom_it_names},
    {"SIGCHLD", gets_a_signal},
    {"SIGCHLD ignored", does_not_care},
    {"the table is full", the_table_is_full},
    {"memory is full", memory_is_full},
    {"signals are kept", gives_its_signals},
    {"what is its own", keeps_what_is_its_own},
    {"files", shares_files},
    {"the working directory", has_a_directory_of_its_own},
    {"messages", children_exchange},
    {"messages to nobody", names_nobody},
    {"outlived", is_outlived},
    {"nobody writes", nobody_writes},
    {"nobody ends", nobody_ends},
    {"dies with children", dies_with_children},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
