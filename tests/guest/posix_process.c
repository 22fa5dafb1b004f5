/*
 * Calls of POSIX on the process and its time, and those of the library that need no file.
 *
 *   posix_process CASE PREFIX     PREFIX is the root of names: "/"
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <libgen.h>
#include <locale.h>
#include <ntime.h>
#include <regex.h>
#include <setjmp.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <termios.h>
#include <unistd.h>

#include "check_files.h"

/* ---- The process ---- */

static void knows_itself(void)
{
    struct utsname u;
    struct rusage r;
    char name[32], expected[32];
    int node = own_node();

    check(getuid() == 0 && geteuid() == 0 && getgid() == 0 && getegid() == 0, "not the superuser");
    check_works(setuid(0));
    check_fails(setuid(5), EPERM);
    check_works(setreuid(-1, 0));
    check_equal(getgroups(0, NULL), 0);
    check(getppid() > 0 && getpgrp() > 0 && getpgid(0) == getpgrp(), "process groups");
    check_equal(getpagesize(), 4096);
    check_equal(sysconf(_SC_PAGESIZE), 4096);
    check_equal(sysconf(_SC_OPEN_MAX), getdtablesize());
    check_equal(sysconf(_SC_CLK_TCK), CLOCKS_PER_SEC);
    check_equal(sysconf(_SC_NPROCESSORS_ONLN), 1);
    check_fails(sysconf(9999), EINVAL);
    errno = 0;
    check(sysconf(_SC_ATEXIT_MAX) == -1 && errno == 0, "no limit is no error");
    snprintf(expected, sizeof expected, "node%d", node);
    check_works(gethostname(name, sizeof name));
    check_text(name, expected);
    check_fails(gethostname(name, 5), ENAMETOOLONG);
    check_works(uname(&u));
    check_text(u.nodename, expected);
    check_text(u.sysname, "Vertex");
    check_works(getrusage(RUSAGE_SELF, &r));
    check(r.ru_utime.tv_sec > 0 || r.ru_utime.tv_usec > 0, "no time");
    check_fails(getrusage(7, &r), EINVAL);
}

static void finds_memory(void)
{
    void *block = NULL;

    for (size_t alignment = sizeof(void *); alignment <= 65536; alignment *= 2) {
        check_equal(posix_memalign(&block, alignment, 100), 0);
        check((uintptr_t)block % alignment == 0, "%p at %zu", block, alignment);
        memset(block, 1, 100);
        free(block);
    }
    check_equal(posix_memalign(&block, 24, 100), EINVAL);
    check_equal(posix_memalign(&block, 2, 100), EINVAL);
    errno = 0;
    check_equal(posix_memalign(&block, 8, 1ul << 40), ENOMEM);
    check_equal(errno, 0);
}

static void knows_patterns(void)
{
    char path[] = "/usr/lib/libc.a", again[] = "/usr/lib/libc.a", last[] = "dir///";
    regex_t r;
    regmatch_t m[2];

    check_equal(fnmatch("*.[ch]", "file.c", 0), 0);
    check_equal(fnmatch("*.[ch]", "file.o", 0), FNM_NOMATCH);
    check_equal(fnmatch("*", "a/b", FNM_PATHNAME), FNM_NOMATCH);
    check_text(basename(path), "libc.a");
    check_text(dirname(again), "/usr/lib");
    check_text(basename(last), "dir");
    check_equal(regcomp(&r, "^node ([0-9]+):", REG_EXTENDED), 0);
    check_equal(regexec(&r, "node 17: text", 2, m, 0), 0);
    check(m[1].rm_so == 5 && m[1].rm_eo == 7, "%d to %d", (int)m[1].rm_so, (int)m[1].rm_eo);
    check_equal(regexec(&r, "node x: text", 2, m, 0), REG_NOMATCH);
    regfree(&r);
    check(regcomp(&r, "(", REG_EXTENDED) != 0, "half a pattern");
}

static void reads_lines(void)
{
    static char text[] =
        "short\na much longer line than the first one was, with which the buffer grows\nlast:no newline";
    FILE *f = fmemopen(text, strlen(text), "r");
    char *line = NULL;
    size_t size = 0;

    check(f != NULL, "fmemopen");
    check_equal(getline(&line, &size, f), 6);
    check_text(line, "short\n");
    check_equal(getline(&line, &size, f), 71);
    check_equal(getdelim(&line, &size, ':', f), 5);
    check_text(line, "last:");
    check_equal(getline(&line, &size, f), 10);
    check_text(line, "no newline");
    check_equal(getline(&line, &size, f), -1);
    free(line);
    fclose(f);
}

/* ---- Alarms ---- */

static volatile int rings;
static double rang_us;

static void ring(int number)
{
    rings += number == SIGALRM;
    rang_us = amicclk();
}

static void expect_ring_at(double us, int n)
{
    while (rings < n)
        pause();
    check(rings == n, "%d rings, not %d", rings, n);
    check(rang_us >= us && rang_us < us + 1000, "at %.2f us, not %.2f", rang_us, us);
}

static void alarms_ring(void)
{
    const struct itimerval often = {{0, 20000}, {0, 50000}}, never = {{0, 0}, {0, 0}};
    struct itimerval old;
    double start;

    signal(SIGALRM, ring);
    start = amicclk();
    check_equal(alarm(2), 0);
    check_equal(alarm(1), 2);
    expect_ring_at(start + 1e6, 1);
    check_equal(alarm(0), 0);
    start = amicclk();
    check_works(setitimer(ITIMER_REAL, &often, NULL));
    expect_ring_at(start + 50e3, 2);
    expect_ring_at(start + 70e3, 3);
    check_works(getitimer(ITIMER_REAL, &old));
    check(old.it_interval.tv_usec == 20000 && old.it_value.tv_usec > 18000 && old.it_value.tv_usec <= 20000,
          "%ld us left", (long)old.it_value.tv_usec);
    while (amicclk() < start + 135e3) /* while it computes, too */
        ;
    check_equal(rings, 6);
    check_works(setitimer(ITIMER_REAL, &never, &old));
    check(old.it_value.tv_usec > 0, "it was not set");
    usleep(100000);
    check_equal(rings, 6);
    check_fails(setitimer(ITIMER_VIRTUAL, &often, NULL), EINVAL);
    check_fails(setitimer(ITIMER_REAL, &(struct itimerval){.it_value = {0, 1000000}}, NULL), EINVAL);
    alarm(1);
    check(usleep(2000000) == -1 && errno == EINTR && rings == 7, "a sleep goes on");
    ualarm(500, 0);
    int value = 1;
    check_equal(nwrite(&value, 4, own_node(), 2, NULL), 0);
    check_equal(nread(&value, 4, NULL, NULL, NULL), 4);
    expect_ring_at(rang_us, 8);
}

/* An alarm without a handler ends the program, whatever it does. */
static void alarm_ends_computing(void)
{
    alarm(1);
    for (;;)
        ;
}

static void alarm_ends_waiting(void)
{
    int value;

    if (own_node() == 0)
        alarm(1);
    nread(&value, sizeof value, NULL, NULL, NULL);
}

/* ---- Waiting for descriptors ---- */

static void note_alarm(int signal)
{
    (void)signal;
}

static void selects(void)
{
    fd_set reads, writes, others;
    struct timeval t = {.tv_usec = 20000};
    struct timespec ts = {.tv_nsec = 20000000};
    sigset_t none;

    FD_ZERO(&reads);
    FD_ZERO(&writes);
    FD_ZERO(&others);
    FD_SET(0, &reads);
    FD_SET(1, &reads);
    FD_SET(1, &writes);
    FD_SET(2, &others);
    check_equal(select(3, &reads, &writes, &others, NULL), 2);
    check(FD_ISSET(0, &reads) && !FD_ISSET(1, &reads) && FD_ISSET(1, &writes) && !FD_ISSET(2, &others), "wrong sets");
    FD_SET(60, &reads);
    check_fails(select(61, &reads, NULL, NULL, NULL), EBADF);
    check_fails(select(-1, NULL, NULL, NULL, NULL), EINVAL);
    double start_us = amicclk();
    check_equal(select(0, NULL, NULL, NULL, &t), 0);
    check_equal(pselect(0, NULL, NULL, NULL, &ts, NULL), 0);
    check(amicclk() - start_us >= 40000 && amicclk() - start_us < 41000, "%.0f us", amicclk() - start_us);
    signal(SIGALRM, note_alarm);
    ualarm(10000, 0);
    check_fails(select(0, NULL, NULL, NULL, NULL), EINTR);
    sigemptyset(&none);
    ualarm(10000, 0);
    check_fails(pselect(0, NULL, NULL, NULL, NULL, &none), EINTR);
}

/* There is no shell and no terminal. */
static void lacks_what_a_node_lacks(void)
{
    struct termios t;

    check_equal(system(NULL), 0);
    check(popen("ls", "r") == NULL && errno == ENOSYS, "popen");
    check_fails(tcgetattr(1, &t), ENOTTY);
    check_fails(tcsetattr(99, TCSANOW, &t), EBADF);
}

/* ---- Small calls ---- */

static sigjmp_buf back;

static void leave(int number)
{
    siglongjmp(back, number);
}

/* A handler that is left may come again only if its signal is unblocked. */
static void jumps_out_of_handlers(void)
{
    volatile int left = 0;

    signal(SIGUSR1, leave);
    for (volatile int i = 0; i < 3; i++)
        if (sigsetjmp(back, 1) == SIGUSR1)
            left++;
        else
            raise(SIGUSR1);
    check_equal(left, 3);
}

static volatile sig_atomic_t came;

static void count(int number)
{
    came += number == SIGUSR2;
}

static void signals_its_group(void)
{
    signal(SIGUSR2, count);
    check_equal(killpg(getpgrp(), SIGUSR2), 0);
    check_equal(kill(-getpgrp(), SIGUSR2), 0);
    check_equal(came, 2);
    check_fails(killpg(77, SIGUSR2), ESRCH);
    check_equal(setpgid(0, getpgrp()), 0);
    check_fails(setpgid(0, 2), EPERM);
    check_fails(tcgetpgrp(1), ENOTTY);
    check_fails(tcsetpgrp(99, 1), EBADF);
}

static void waits_as_bsd_does(void)
{
    struct rusage usage = {{1, 1}, {1, 1}};
    int status = 0;
    pid_t child = fork();

    if (child == 0)
        _exit(3);
    check_equal(wait3(&status, 0, &usage), child);
    check_equal(WEXITSTATUS(status), 3);
    check_equal(usage.ru_utime.tv_sec, 0);
    check_fails(wait3(&status, WNOHANG, NULL), ECHILD);
}

/* Of a program of one node; others get ENOLCK. */
static void locks(void)
{
    struct flock lock = {.l_type = F_WRLCK};
    bool alone = ncubesize() == 1;
    int fd = open("/tmp/locked", O_RDWR | O_CREAT, 0644), reader = open("/tmp/locked", O_RDONLY);

    if (!alone) {
        check_fails(fcntl(fd, F_SETLK, &lock), ENOLCK);
        check_fails(flock(fd, LOCK_SH), ENOLCK);
        check_fails(lockf(fd, F_TLOCK, 1), ENOLCK);
        return;
    }
    check_equal(fcntl(fd, F_SETLKW, &lock), 0);
    check_fails(fcntl(reader, F_SETLK, &lock), EBADF);
    check_equal(fcntl(fd, F_GETLK, &lock), 0);
    check_equal(lock.l_type, F_UNLCK);
    check_equal(flock(reader, LOCK_EX | LOCK_NB), 0);
    check_fails(flock(fd, 77), EINVAL);
    check_fails(flock(99, LOCK_EX), EBADF);
    check_equal(lockf(fd, F_LOCK, 10), 0);
    check_fails(lockf(reader, F_LOCK, 10), EBADF);
    check_fails(lockf(fd, 77, 10), EINVAL);
}

static void has_one_locale(void)
{
    static const char *const unknown[] = {"de_DE", "de_DE.UTF-8", "en_US", "nonsense"};

    for (int i = 0; i < 4; i++)
        check(setlocale(LC_ALL, unknown[i]) == NULL, "%s", unknown[i]);
    check_text(setlocale(LC_ALL, ""), "C");
    check_text(setlocale(LC_ALL, "POSIX"), "C");
}

static void has_devices(void)
{
    static const char *const names[] = {"/dev/null", "/dev/zero", "/dev/full"};
    char text[3] = "ab";
    struct stat st;

    for (int i = 0; i < 3; i++) {
        int fd = open(names[i], O_RDWR | O_CREAT | O_TRUNC, 0644);

        check(fd >= 0, "%s", names[i]);
        check_equal(read(fd, text, 2), i == 0 ? 0 : 2);
        check(text[0] == (i == 0 ? 'a' : 0), "%s: read", names[i]);
        if (i == 2)
            check_fails(write(fd, "x", 1), ENOSPC);
        else
            check_equal(write(fd, "x", 1), 1);
        check_works(stat(names[i], &st));
        check(S_ISCHR(st.st_mode), "%s: mode 0%o", names[i], (unsigned)st.st_mode);
        check_works(close(fd));
    }
}

static const struct test_case cases[] = {
    {"identity", knows_itself},
    {"memory", finds_memory},
    {"patterns", knows_patterns},
    {"lines", reads_lines},
    {"alarms", alarms_ring},
    {"selects", selects},
    {"no shell", lacks_what_a_node_lacks},
    {"left handlers", jumps_out_of_handlers},
    {"group", signals_its_group},
    {"wait3", waits_as_bsd_does},
    {"locks", locks},
    {"locale", has_one_locale},
    {"devices", has_devices},
    {"alarm ends computing", alarm_ends_computing},
    {"alarm ends waiting", alarm_ends_waiting},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
