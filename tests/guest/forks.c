/*
 * Processes that programs make: fork, wait, pipe, exec, as on Unix. A check that fails in a child ends it with status
 * 1, which its parent sees. The program is its own successor in the cases that call exec.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <nio.h>
#include <nself.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysn.h>
#include <unistd.h>

#include "check.h"

enum { CHILDREN_MAX = 7, PIPE_HOLDS = 8192, ATOMIC = 4096, TYPE = 7, BARRIER = 9 };

static pid_t fork_one(void)
{
    pid_t pid = fork();

    check(pid >= 0, "fork: %s", strerror(errno));
    return pid;
}

static int status_of(pid_t pid)
{
    int status = -1;

    check_equal(waitpid(pid, &status, 0), pid);
    return status;
}

/* Runs the function in a child, which must end with status 0. */
static pid_t begin(void (*function)(void))
{
    pid_t pid = fork_one();

    if (pid == 0) {
        function();
        _exit(0);
    }
    return pid;
}

static void await(pid_t pid)
{
    int status = status_of(pid);

    check(WIFEXITED(status) && WEXITSTATUS(status) == 0, "a child has ended with 0x%x", status);
}

static void make_pipe(int fd[2])
{
    check(pipe(fd) == 0, "pipe: %s", strerror(errno));
}

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

/* ---- Pipes ---- */

static void ends_when_all_have_closed(void)
{
    int fd[2];
    char text[100];

    make_pipe(fd);
    for (int i = 0; i < 3; i++)
        if (fork_one() == 0) {
            usleep((unsigned)i * 10000);
            write(fd[1], "12345", 5);
            _exit(0);
        }
    close(fd[1]);
    int total = 0, n;
    while ((n = (int)read(fd[0], text, 2)) > 0)
        total += n;
    check_equal(n, 0);
    check_equal(total, 15);
    check_equal(read(fd[0], text, 2), 0);
}

static void has_no_reader(void)
{
    int fd[2];

    make_pipe(fd);
    close(fd[0]);
    signal(SIGPIPE, SIG_IGN);
    check(write(fd[1], "x", 1) == -1 && errno == EPIPE, "write: %d", errno);
    check_equal(write(fd[1], "x", 0), 0);
    signal(SIGPIPE, SIG_DFL);
    pid_t pid = fork_one();
    if (pid == 0) {
        write(fd[1], "x", 1);
        _exit(0);
    }
    int status = status_of(pid);
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGPIPE, "status 0x%x", status);
}

/* The reader goes while a writer waits for room. */
static void loses_its_reader(void)
{
    static char bytes[3 * PIPE_HOLDS];
    int fd[2];

    make_pipe(fd);
    pid_t pid = fork_one();
    if (pid == 0) {
        signal(SIGPIPE, SIG_IGN);
        close(fd[0]);
        check_equal(write(fd[1], bytes, sizeof bytes), PIPE_HOLDS + 100);
        check(write(fd[1], bytes, 1) == -1 && errno == EPIPE, "write: %d", errno);
        _exit(0);
    }
    close(fd[1]);
    usleep(20000);
    check_equal(read(fd[0], bytes, 100), 100);
    usleep(20000);
    close(fd[0]);
    await(pid);
}

static void does_not_wait(void)
{
    static char bytes[PIPE_HOLDS];
    int fd[2];

    check_equal(pipe2(fd, O_NONBLOCK | O_CLOEXEC), 0);
    check(fcntl(fd[0], F_GETFL, 0) == (O_RDONLY | O_NONBLOCK) && fcntl(fd[1], F_GETFD, 0) == FD_CLOEXEC, "flags");
    check(read(fd[0], bytes, 1) == -1 && errno == EAGAIN, "empty: %d", errno);
    check_equal(write(fd[1], bytes, ATOMIC + 100), ATOMIC + 100);
    check(write(fd[1], bytes, ATOMIC) == -1 && errno == EAGAIN, "no room for all: %d", errno);
    check_equal(write(fd[1], bytes, ATOMIC + 1), PIPE_HOLDS - ATOMIC - 100);
    check(write(fd[1], bytes, 1) == -1 && errno == EAGAIN, "full: %d", errno);
    check_equal(fcntl(fd[0], F_SETFL, 0), 0);
    check_equal(fcntl(fd[0], F_GETFL, 0) & O_NONBLOCK, 0);
    check_equal(fcntl(fd[1], F_GETFL, 0) & O_NONBLOCK, O_NONBLOCK);
    check_equal(read(fd[0], bytes, sizeof bytes), PIPE_HOLDS);
    check_equal(pipe2(fd, 0x10) == -1 && errno == EINVAL, 1);
}

static void does_not_mix(void)
{
    static char bytes[ATOMIC];
    enum { WRITERS = 4, TIMES = 20 };
    int fd[2], of[WRITERS] = {0};

    make_pipe(fd);
    for (int i = 0; i < WRITERS; i++)
        if (fork_one() == 0) {
            memset(bytes, 'a' + i, sizeof bytes);
            for (int k = 0; k < TIMES; k++)
                check_equal(write(fd[1], bytes, (size_t)ATOMIC - k * 13), ATOMIC - k * 13);
            _exit(0);
        }
    close(fd[1]);
    int total = 0, n, run = 0, last = 0;
    while ((n = (int)read(fd[0], bytes, 1000)) > 0) {
        for (int i = 0; i < n; i++) {
            int c = bytes[i] - 'a';
            check(c == last || run == 0 || run >= ATOMIC - TIMES * 13, "a write is broken off after %d bytes", run);
            run = c == last ? run + 1 : 1;
            last = c;
            of[c]++;
        }
        total += n;
    }
    for (int i = 1; i < WRITERS; i++)
        check_equal(of[i], of[0]);
    for (int i = 0; i < WRITERS; i++)
        check(wait(&n) > 0 && n == 0, "a writer has ended with 0x%x", n);
}

enum { PASSED = 400000, LONGEST = 3 * PIPE_HOLDS };

/* Short and long, and what is left at the end. */
static long draw_length(uint64_t *state, long at)
{
    uint32_t most = draw(state) % 2 ? LONGEST : 300;
    long n = draw(state) % most + 1;

    return n < PASSED - at ? n : PASSED - at;
}

static char byte_at(long at)
{
    return (char)(at * 31 >> 3);
}

/* Random lengths on both sides, longer and shorter than the pipe. */
static void passes_all_bytes(void)
{
    static char bytes[LONGEST];
    uint64_t state = 12345 + (uint64_t)own_node();
    int fd[2];

    make_pipe(fd);
    pid_t pid = fork_one();
    if (pid == 0) {
        for (long at = 0, n; at < PASSED; at += n) {
            n = draw_length(&state, at);
            for (long i = 0; i < n; i++)
                bytes[i] = byte_at(at + i);
            check_equal(write(fd[1], bytes, (size_t)n), n);
        }
        _exit(0);
    }
    close(fd[1]);
    draw(&state);
    long at = 0, n;
    while ((n = read(fd[0], bytes, (size_t)draw_length(&state, -1))) > 0) {
        for (long i = 0; i < n; i++)
            check(bytes[i] == byte_at(at + i), "byte %ld is wrong", at + i);
        at += n;
    }
    check_equal(at, PASSED);
    await(pid);
}

static void is_a_descriptor(void)
{
    struct stat st;
    int fd[2], copy, before = open("/tmp/a", O_CREAT | O_RDWR, 0666);
    char *volatile nowhere = (char *)8;
    char c;

    make_pipe(fd);
    check(fstat(fd[0], &st) == 0 && S_ISFIFO(st.st_mode), "mode %o", (unsigned)st.st_mode);
    check(isatty(fd[1]) == 0 && lseek(fd[0], 0, SEEK_SET) == -1 && errno == ESPIPE, "lseek: %d", errno);
    check(pread(fd[0], &c, 1, 0) == -1 && errno == ESPIPE, "pread: %d", errno);
    check(read(fd[1], &c, 1) == -1 && errno == EBADF, "read of the other end: %d", errno);
    check(write(fd[0], &c, 1) == -1 && errno == EBADF, "write to the other end: %d", errno);
    check(read(fd[0], nowhere, 0) == 0, "read of nothing: %d", errno);
    check(ftruncate(fd[1], 0) == -1 && errno == EINVAL, "ftruncate: %d", errno);
    copy = dup(fd[1]);
    check_equal(close(fd[1]), 0);
    check_equal(write(copy, "z", 1), 1);
    check(read(fd[0], nowhere, 1) == -1 && errno == EFAULT, "a bad address: %d", errno);
    check_equal(close(copy), 0);
    check(read(fd[0], &c, 1) == 1 && c == 'z' && read(fd[0], &c, 1) == 0, "the byte is lost");
    check_equal(close(fd[0]), 0);
    check(close(fd[0]) == -1 && errno == EBADF, "closed twice: %d", errno);
    check_equal(close(before), 0);
}

static void there_are_too_many(void)
{
    int fd[2], n = 0;

    while (pipe(fd) == 0)
        n++;
    check(n == 64 && errno == EMFILE, "%d pipes: %d", n, errno);
    check_equal(close(fd[0]), 0);
    check_equal(close(fd[1]), 0);
    make_pipe(fd);
    check_equal(write(fd[1], "x", 1), 1);
}

/* ---- exec ---- */

static void child_counts(void)
{
    printf("%d %s %s\n", test_argc, test_argv[0], test_argv[test_argc - 1]);
    exit(5);
}

static void child_has_signals(void)
{
    sigset_t set;
    struct sigaction action;
    mode_t mask = umask(0);
    char text[100];

    sigprocmask(SIG_BLOCK, NULL, &set);
    check((sigismember)(&set, SIGUSR2) == 1, "the mask is lost");
    check(mask == 077, "the umask is %o", (unsigned)mask);
    check(getcwd(text, sizeof text) && strcmp(text, "/tmp") == 0, "it is in %s", text);
    check_equal(raise(SIGTERM), 0); /* ignored */
    check_equal(sigaction(SIGTERM, NULL, &action), 0);
    check(action.sa_handler == SIG_IGN, "sigaction does not say that SIGTERM is ignored");
    check(signal(SIGTERM, SIG_DFL) == SIG_IGN && signal(SIGTERM, SIG_IGN) == SIG_DFL, "nor does signal");
    check(signal(SIGUSR1, SIG_DFL) == SIG_DFL, "a caught signal is not caught any longer");
    check_equal(sigaction(SIGUSR1, NULL, &action), 0);
    check(alarm(0) > 0, "the alarm is lost");
    raise(SIGUSR1); /* caught before: ends it */
}

/* Replaces the caller by this program's case. */
static void become(const char *name, const char *one, const char *two)
{
    execl("/forks", "forks", name, one, two, NULL);
    check(0, "execl: %s", strerror(errno));
}

static void execs(void)
{
    int out[2], status;
    char text[100] = "";

    make_pipe(out);
    pid_t pid = fork_one();
    if (pid == 0) {
        dup2(out[1], STDOUT_FILENO);
        become("child: counts", "", "a b");
    }
    close(out[1]);
    int n = 0, m;
    while ((m = (int)read(out[0], text + n, sizeof text - 1 - (size_t)n)) > 0)
        n += m;
    check(strcmp(text, "2  a b\n") == 0, "it has printed '%s'", text);
    status = status_of(pid);
    check(WIFEXITED(status) && WEXITSTATUS(status) == 5, "status 0x%x", status);
}

static void execs_with_signals(void)
{
    pid_t pid = fork_one();

    if (pid == 0) {
        sigset_t set;

        sigemptyset(&set);
        (sigaddset)(&set, SIGUSR2);
        sigprocmask(SIG_BLOCK, &set, NULL);
        signal(SIGUSR1, on_time);
        signal(SIGTERM, SIG_IGN);
        umask(077);
        chdir("/tmp");
        alarm(1000);
        become("child: has signals", "", "");
    }
    int status = status_of(pid);
    check(WIFSIGNALED(status) && WTERMSIG(status) == SIGUSR1, "status 0x%x", status);
}

static void child_has_descriptors(void)
{
    char text[10] = "";

    check(fcntl(3, F_GETFD, 0) == 0 && fcntl(4, F_GETFD, 0) == -1 && errno == EBADF, "descriptors 3 and 4");
    check(fcntl(5, F_GETFL, 0) == (O_WRONLY | O_NONBLOCK), "flags of 5: 0x%x", (unsigned)fcntl(5, F_GETFL, 0));
    check_equal(lseek(3, 0, SEEK_CUR), 2);
    check_equal(read(3, text, 3), 3);
    check(strcmp(text, "cde") == 0, "it has read '%s'", text);
    check_equal(lseek(6, 0, SEEK_CUR), 5); /* a copy of 3 */
    check_equal(write(5, "done", 4), 4);
    check_equal(open("/tmp/new", O_RDWR | O_CREAT, 0666), 4);
    _exit(0);
}

static void execs_with_descriptors(void)
{
    int file = open("/tmp/file", O_RDWR | O_CREAT, 0666), fd[2];
    char text[10] = "";

    check_equal(write(file, "abcdefgh", 8), 8);
    check_equal(lseek(file, 2, SEEK_SET), 2);
    make_pipe(fd);
    check(file == 3 && fd[0] == 4 && fd[1] == 5 && dup(file) == 6, "descriptors");
    check_equal(fcntl(4, F_SETFD, FD_CLOEXEC), 0);
    check_equal(fcntl(5, F_SETFL, O_NONBLOCK), 0);
    pid_t pid = fork_one();
    if (pid == 0)
        become("child: has descriptors", "", "");
    await(pid);
    check_equal(lseek(file, 0, SEEK_CUR), 5);
    check_equal(read(fd[0], text, sizeof text), 4);
}

static void write_file(const char *name, const char *text, size_t n, mode_t mode)
{
    int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC, mode);

    check(fd >= 0 && write(fd, text, n) == (ssize_t)n, "%s: %s", name, strerror(errno));
    close(fd);
}

/* A call that fails changes nothing. */
static void cannot_exec(void)
{
    static char long_word[70000];
    char *words[] = {"x", long_word, NULL};
    int fd = open("/forks", O_RDONLY | O_CLOEXEC);

    signal(SIGUSR1, on_time);
    check(execl("/none", "none", NULL) == -1 && errno == ENOENT, "none: %d", errno);
    write_file("/tmp/text", "no program", 10, 0777);
    check(execl("/tmp/text", "text", NULL) == -1 && errno == ENOEXEC, "text: %d", errno);
    write_file("/tmp/data", "\177ELF\2\1", 6, 0666);
    check(execl("/tmp/data", "data", NULL) == -1 && errno == EACCES, "not executable: %d", errno);
    memset(long_word, 'x', sizeof long_word - 1);
    check(execv("/forks", words) == -1 && errno == E2BIG, "too long: %d", errno);
    check_equal(lseek(fd, 0, SEEK_CUR), 0);
    raise(SIGUSR1);
    check_equal(rung, 1);
}

static void child_sleeps(void)
{
    usleep(200000);
    _exit(0);
}

/* The pipe's end is closed by exec, not by the end of the process. */
static void exec_closes(void)
{
    int fd[2];
    char c;

    check_equal(pipe2(fd, O_CLOEXEC), 0);
    pid_t pid = fork_one();
    if (pid == 0)
        become("child: sleeps", "", "");
    close(fd[1]);
    check_equal(read(fd[0], &c, 1), 0);
    check_equal(waitpid(pid, NULL, WNOHANG), 0);
    await(pid);
}

static void execs_what_faults(void)
{
    become("a fault of its own", "", "");
}

static void child_is_last(void)
{
    if (atoi(test_argv[0]) > 0) {
        char left[20];

        snprintf(left, sizeof left, "%d", atoi(test_argv[0]) - 1);
        become("child: is last", left, "");
    }
    _exit(0);
}

static void execs_again_and_again(void)
{
    pid_t pid = fork_one();

    if (pid == 0)
        become("child: is last", "30", "");
    await(pid);
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
    {"a pipe ends", ends_when_all_have_closed},
    {"a pipe without a reader", has_no_reader},
    {"a pipe loses its reader", loses_its_reader},
    {"a pipe does not wait", does_not_wait},
    {"a pipe does not mix", does_not_mix},
    {"a pipe passes all bytes", passes_all_bytes},
    {"a pipe is a descriptor", is_a_descriptor},
    {"too many pipes", there_are_too_many},
    {"exec", execs},
    {"exec keeps signals", execs_with_signals},
    {"exec keeps descriptors", execs_with_descriptors},
    {"exec fails", cannot_exec},
    {"exec again and again", execs_again_and_again},
    {"exec closes", exec_closes},
    {"exec of a fault", execs_what_faults},
    {"a fault of its own", loads_from_nowhere},
    {"messages", children_exchange},
    {"messages to nobody", names_nobody},
    {"outlived", is_outlived},
    {"nobody writes", nobody_writes},
    {"nobody ends", nobody_ends},
    {"dies with children", dies_with_children},
    {"child: counts", child_counts},
    {"child: has signals", child_has_signals},
    {"child: sleeps", child_sleeps},
    {"child: has descriptors", child_has_descriptors},
    {"child: is last", child_is_last},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
