/* exec in programs that have forked, or not: the program is its own successor. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <sysn.h>
#include <unistd.h>

#include "forked.h"

static volatile int rung;

static void on_time(int number)
{
    (void)number;
    rung = 1;
}

static void loads_from_nowhere(void)
{
    volatile int *nowhere = NULL;

    _exit(*nowhere);
}

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
    execl("/fork_execs", "fork_execs", name, one, two, NULL);
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
    int fd = open("/fork_execs", O_RDONLY | O_CLOEXEC);

    signal(SIGUSR1, on_time);
    check(execl("/none", "none", NULL) == -1 && errno == ENOENT, "none: %d", errno);
    write_file("/tmp/text", "no program", 10, 0777);
    check(execl("/tmp/text", "text", NULL) == -1 && errno == ENOEXEC, "text: %d", errno);
    write_file("/tmp/data", "\177ELF\2\1", 6, 0666);
    check(execl("/tmp/data", "data", NULL) == -1 && errno == EACCES, "not executable: %d", errno);
    memset(long_word, 'x', sizeof long_word - 1);
    check(execv("/fork_execs", words) == -1 && errno == E2BIG, "too long: %d", errno);
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

static const struct test_case cases[] = {
    {"exec", execs},
    {"exec keeps signals", execs_with_signals},
    {"exec keeps descriptors", execs_with_descriptors},
    {"exec fails", cannot_exec},
    {"exec again and again", execs_again_and_again},
    {"exec closes", exec_closes},
    {"exec of a fault", execs_what_faults},
    {"a fault of its own", loads_from_nowhere},
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
