/* What ncube does for its life inside of QEMU; the thread is started by plugin_inside.c. */
#include "emu/qemu/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct inside inside;

#define TEXT_BYTES (4u << 20) /* Linux gives a command line and its environment 6 MB at most, by the usual limits */

/* Returns the number of bytes of the command line, or -1 with errno. */
static ssize_t read_words(char *to, size_t bytes)
{
    int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    size_t at = 0;
    ssize_t n = fd < 0 ? -1 : 0;

    while (fd >= 0 && at < bytes && (n = read(fd, to + at, bytes - at)) > 0)
        at += (size_t)n;
    if (fd >= 0)
        close(fd);
    errno = n > 0 ? E2BIG : errno;
    return n == 0 ? (ssize_t)at : -1;
}

static int fill_page(struct inside_page *p)
{
    ssize_t path = readlink("/proc/self/exe", p->text, PATH_MAX - 1);
    ssize_t words = path > 0 ? read_words(p->text + path + 1, TEXT_BYTES - (size_t)path - 1) : -1;

    p->text_bytes = (uint32_t)(path + 1 + words);
    return words > 0 ? 0 : -1;
}

int inside_make_page(struct inside_page **page, size_t *bytes)
{
    int fd = memfd_create("ncube-inside", MFD_CLOEXEC);

    *page = NULL;
    *bytes = sizeof **page + TEXT_BYTES;
    if (fd >= 0 && ftruncate(fd, (off_t)*bytes) == 0) {
        *page = mmap(NULL, *bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
        if (*page != MAP_FAILED && fill_page(*page) == 0)
            return fd;
    }
    int error = errno;
    if (*page && *page != MAP_FAILED)
        munmap(*page, *bytes);
    *page = NULL;
    if (fd >= 0)
        close(fd);
    errno = error;
    return -1;
}

static void mask(int how, const int signals[3])
{
    sigset_t set;

    sigemptyset(&set);
    for (int i = 0; i < 3; i++)
        sigaddset(&set, signals[i]);
    pthread_sigmask(how, &set, NULL);
}

static const int ends[3] = {SIGINT, SIGTERM, SIGHUP};

/* QEMU has blocked SIGUSR1, SIGALRM and SIGIO for its main loop, which reads them from a descriptor and calls their
 * handlers: either thread may be first, and signals.c passes them on to this one. */
void inside_take_signals(void)
{
    mask(SIG_UNBLOCK, (const int[3]){SIGUSR1, SIGALRM, SIGIO});
    mask(SIG_BLOCK, ends);
}

void inside_begin_signals(void)
{
    mask(SIG_UNBLOCK, ends);
    __atomic_store_n(&inside.page->stage, INSIDE_RUNS, __ATOMIC_SEQ_CST);
    int asked = __atomic_exchange_n(&inside.page->asked, 0, __ATOMIC_SEQ_CST);
    if (asked != 0)
        raise(asked);
}

void inside_end_signals(void)
{
    if (inside_has_guard())
        __atomic_store_n(&inside.page->stage, INSIDE_ENDS, __ATOMIC_SEQ_CST);
}

int inside_begin_again(void)
{
    inside.thread = gettid();
    return inside.carry_again();
}

/* From here on the guard passes signals to this process. */
int inside_go_on(void)
{
    int asked = __atomic_load_n(&inside.page->passed, __ATOMIC_SEQ_CST);

    if (asked != 0)
        __atomic_store_n(&inside.page->taken_by, getpid(), __ATOMIC_SEQ_CST);
    __atomic_store_n(&inside.page->process, getpid(), __ATOMIC_SEQ_CST);
    kill(getppid(), SIGCHLD); /* the guard looks */
    return asked;
}

void inside_leave(void)
{
    inside.left = inside_has_guard();
    inside.carry = NULL;
}

/* The signal has the guard look. */
void inside_tell_up(void)
{
    __atomic_store_n(&inside.page->up, 1, __ATOMIC_SEQ_CST);
    kill(getppid(), SIGCHLD);
}
