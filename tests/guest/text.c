/*
 * A program's own text. The build makes two programs of it, guest/text and guest/text_other, that differ only in the
 * results of their functions: equal addresses, other instructions.
 */
#include <errno.h>
#include <fcntl.h>
#include <nself.h>
#include <ntime.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "check.h"

#ifndef VARIANT
#define VARIANT 1
#endif

/* Makes functions on pages of their own, about which the compiler may assume nothing. */
#define FUNCTION(n)                                                                \
    __attribute__((noinline, noipa, aligned(4096))) static int function_##n(int x) \
    {                                                                              \
        return x * 10 + VARIANT;                                                   \
    }
FUNCTION(0)
FUNCTION(1)
FUNCTION(2)
FUNCTION(3)

static int (*const function[])(int) = {function_0, function_1, function_2, function_3};

static int call_all(void)
{
    int digits = 0;

    for (int round = 0; round < 100; round++) {
        digits = 0;
        for (size_t i = 0; i < sizeof function / sizeof *function; i++)
            digits = function[i](digits);
    }
    return digits;
}

static void say_which(void)
{
    printf("node %d: %d at %p\n", own_node(), call_all(), (void *)function_0);
}

/* No call writes into text, whatever its arguments. */
static void cannot_be_written(void)
{
    char *text = (char *)function_0;
    uint32_t before;

    memcpy(&before, text, sizeof before);
    errno = 0;
    check_equal(read(0, text, 1), -1);
    check_equal(errno, EFAULT);
    check_equal(nwrite("1234", 4, own_node(), 1, NULL), 0);
    check(nread(text, 4, NULL, NULL, NULL) < 0, "nread wrote into text");
    check(memcmp(&before, text, sizeof before) == 0, "the text has changed");
    check_equal(call_all(), VARIANT * 1111);
}

static void may_fence(void)
{
    __asm__ volatile("fence.i" : : : "memory");
    check_equal(call_all(), VARIANT * 1111);
}

/* Takes all the memory that a program can have beside its text, and checks its contents. */
static void takes_all_memory(void)
{
    uint64_t pages = 0;

    for (char *page; (page = sbrk(4096)) != (char *)-1; pages++)
        for (int i = 0; i < 4096; i += 8)
            check_equal(*(uint64_t *)(page + i), 0);
    printf("node %d: %lu pages\n", own_node(), (unsigned long)pages);
}

/* ---- Calls for which Vertex reads text ---- */

static const char constant[20000] = {1, 2, 3}; /* lies with the text */
static char buffer[sizeof constant];

static void nothing(int signal)
{
    (void)signal;
}

static void set_handler(void)
{
    signal(SIGUSR1, nothing);
}

static void send_and_take(size_t bytes)
{
    check_equal(nwrite(constant, bytes, own_node(), 1, NULL), 0);
    check_equal(nread(buffer, sizeof buffer, NULL, NULL, NULL), bytes);
}

static void send_few(void)
{
    send_and_take(50);
}

static void send_pages(void)
{
    send_and_take(sizeof constant);
}

static void write_to_pipe(void)
{
    int end[2];

    check_equal(pipe(end), 0);
    check_equal(write(end[1], constant, 8000), 8000);
    close(end[0]);
    close(end[1]);
}

static void open_nothing(void)
{
    check_equal(open("//none/at-all", O_RDONLY), -1);
}

static void fork_and_wait(void)
{
    pid_t child = fork();

    if (child == 0) {
        write_to_pipe();
        _exit(0);
    }
    check_equal(waitpid(child, NULL, 0), child);
}

/* Prints what each of them takes: it may not depend on where the text is executed. */
static void is_read_by_calls(void)
{
    static const struct {
        const char *name;
        void (*act)(void);
    } calls[] = {
        {"signal", set_handler},           {"nwrite of 50 bytes", send_few}, {"nwrite of pages", send_pages},
        {"a pipe's write", write_to_pipe}, {"open", open_nothing},           {"fork", fork_and_wait},
    };

    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++) {
        double begin = amicclk();

        calls[i].act();
        printf("node %d: %s: %.2f us\n", own_node(), calls[i].name, amicclk() - begin);
    }
}

static const struct test_case cases[] = {
    {"says which", say_which},
    {"cannot be written", cannot_be_written},
    {"may fence", may_fence},
    {"takes all memory", takes_all_memory},
    {"is read by calls", is_read_by_calls},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
