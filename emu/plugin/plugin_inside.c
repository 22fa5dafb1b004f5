/*
 * Starts ncube in the process of its cabinet (inside.h), from the command line that the process which guards this one
 * has left in the page.
 */
#include "emu/qemu/inside.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "emu/base/beside.h"
#include "emu/base/signals.h"

#define STACK_BYTES (8u << 20)

/* main() of emu/cmd/ncube.c */
int ncube_main(int argc, char **argv);

static char **word;
static int words;

static int cut_text(struct inside_page *p)
{
    char *end = p->text + p->text_bytes, *path = p->text;

    for (const char *at = p->text; at < end; at += strlen(at) + 1)
        words++;
    words--; /* the path */
    word = calloc((size_t)words + 1, sizeof *word);
    if (!word)
        return -1;
    char *at = path + strlen(path) + 1;
    for (int i = 0; i < words; i++, at += strlen(at) + 1)
        word[i] = at;
    beside_set_program(path, getppid());
    return 0;
}

/* Whatever QEMU would do at its end needs its other threads. */
static void leave(int status, void *unused)
{
    (void)unused;
    if (gettid() != inside.thread)
        return;
    fflush(NULL);
    __atomic_store_n(&inside.page->ended, 1 + (uint32_t)status, __ATOMIC_SEQ_CST);
    _exit(status);
}

static void *run(void *unused)
{
    inside.thread = gettid();
    signals_keep_to(inside.thread);
    inside_take_signals();
    leave(ncube_main(words, word), unused);
    return NULL;
}

/* What QEMU has printed so far is in its log; what follows is ncube's. */
static int take_streams(const struct inside_page *p)
{
    inside.log_fd = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
    for (int i = 0; i < 2; i++) {
        if (dup2(p->stream[i], STDOUT_FILENO + i) < 0)
            return -1;
        close(p->stream[i]);
    }
    program_invocation_name = word[0];
    const char *name = strrchr(word[0], '/');
    program_invocation_short_name = (char *)(name ? name + 1 : word[0]);
    return inside.log_fd < 0 ? -1 : 0;
}

/* Only ncube's thread takes the signals that ncube handles, also of the threads that QEMU starts from now on. */
static void leave_signals(void)
{
    sigset_t all;

    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, NULL);
}

static int start_thread(void)
{
    pthread_attr_t attributes;
    pthread_t thread;

    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, STACK_BYTES);
    errno = pthread_create(&thread, &attributes, run, NULL);
    pthread_attr_destroy(&attributes);
    return errno == 0 ? 0 : -1;
}

int inside_start(int page_fd, int ram_fd)
{
    struct stat st;
    void *page = MAP_FAILED;

    if (fstat(page_fd, &st) == 0)
        page = mmap(NULL, (size_t)st.st_size, PROT_READ | PROT_WRITE, MAP_SHARED, page_fd, 0);
    if (page != MAP_FAILED && cut_text(page) == 0 && sem_init(&inside.ready, 0, 0) == 0 && take_streams(page) == 0) {
        inside.page = page;
        inside.ram_fd = ram_fd;
        fcntl(ram_fd, F_SETFD, FD_CLOEXEC);
        close(page_fd);
        on_exit(leave, NULL);
        if (start_thread() == 0) {
            leave_signals();
            while (sem_wait(&inside.ready) != 0)
                ;
            return 0;
        }
    }
    dprintf(inside.log_fd > 0 ? inside.log_fd : STDERR_FILENO, "ncube.so: cannot begin: %s\n", strerror(errno));
    return -1;
}
