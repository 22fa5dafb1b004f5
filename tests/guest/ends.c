/* Ends of a program and of its nodes, its memory, and the registers that a trap preserves. */
#include <errno.h>
#include <n_errno.h>
#include <ntime.h>
#include <signal.h>
#include <unistd.h>

#include "check.h"
#include "vertex/contract/abi.h"

/* ---- Ends ---- */

static void ends_in_another_order(void)
{
    double start = amicclk();

    while (amicclk() - start < 500.0 * (node_count() - own_node()))
        ;
}

static void waits_for_one_that_has_ended(void)
{
    int src = 1, type = 42, value;

    if (own_node() == 0)
        nread(&value, sizeof value, &src, &type, NULL);
    exit(10 + own_node());
}

static void leaves_messages_unread(void)
{
    static char buf[30000];

    for (int i = 0; own_node() != 0 && i < 20; i++)
        check_equal(nwrite(buf, i % 2 ? sizeof buf : 8, 0, 1, NULL), 0);
}

static void aborts(void)
{
    int src = N_ANY, type = 1;

    if (own_node() == node_count() - 1)
        abort();
    nread(NULL, 0, &src, &type, NULL);
}

static void print_farewell(void)
{
    printf("farewell from node %d\n", own_node());
}

static void runs_exit_handlers(void)
{
    atexit(print_farewell);
    exit(5);
}

static void skips_exit_handlers(void)
{
    atexit(print_farewell);
    _exit(6);
}

static volatile int handled;

static void handle(int signal_number)
{
    handled = signal_number;
}

static void handles_own_signals(void)
{
    check(signal(SIGUSR1, handle) != SIG_ERR, "signal");
    check_equal(raise(SIGUSR1), 0);
    check_equal(handled, SIGUSR1);
    signal(SIGTERM, handle);
    check_equal(kill(getpid(), SIGTERM), 0);
    check_equal(handled, SIGTERM);
    check_equal(kill(getpid(), 0), 0);
    check_equal(kill(getpid() + 1000, SIGTERM), -1);
    check_equal(errno, ESRCH);
}

/* Tells a test that the loop is next. */
static void begins(void)
{
    if (own_node() == 0)
        printf("begins\n");
    fflush(stdout);
}

static void spins(void)
{
    begins();
    for (;;)
        ;
}

/* Node 0 never reads the messages of the others. */
static void spins_among_messages(void)
{
    begins();
    for (int i = 0; own_node() == 0; i++)
        ;
    for (;;) {
        check_equal(nwrite("x", 1, 0, 1, NULL), 0);
        usleep(300);
    }
}

/* Every node does the same in each turn, so that ncube need not execute any. */
static void polls_for_nothing(void)
{
    begins();
    for (;;) {
        int src = -1, type = 42;

        if (ntest(&src, &type) >= 0)
            return;
    }
}

static void polls_with_a_handler(void)
{
    signal(SIGUSR1, handle);
    polls_for_nothing();
}

static void spins_with_a_handler(void)
{
    signal(SIGMSGS, handle);
    spins_among_messages();
}

/* With a reservation that no sc ends. */
static void spins_in_reservation(void)
{
    long word = 0;

    begins();
    if (own_node() == 0)
        __asm__ volatile("1: lr.d t0, (%0)\n j 1b" : : "r"(&word) : "t0", "memory");
    spins_among_messages();
}

static void talks(void)
{
    int node = own_node(), value = 0;

    for (int to = node ^ 1;;) {
        check(nwrite(&value, sizeof value, to, 1, NULL) == 0, "nwrite");
        check(nread(&value, sizeof value, NULL, NULL, NULL) == sizeof value, "nread");
    }
}

static void prints(void)
{
    for (long i = 0;; i++)
        printf("line %ld of node %d\n", i, own_node());
}

/* ---- Memory ---- */

/* Takes all memory and writes each page; then frees it, and can take as much again. */
static int take_all_memory(void)
{
    enum { BLOCK = 128 << 10, MOST = 1024 };
    static char *block[MOST];
    int n = 0;

    while (n < MOST && (block[n] = malloc(BLOCK))) {
        memset(block[n], n, BLOCK);
        n++;
    }
    check(n < MOST, "no end of memory");
    check_equal(errno, ENOMEM);
    for (int i = 0; i < n; i++) {
        for (int k = 0; k < BLOCK; k += 1000)
            check(block[i][k] == (char)i, "block %d of %d", i, n);
        free(block[i]);
    }
    return n;
}

/* Returns how many pages sbrk gives, and gives them back. */
static int take_pages(void)
{
    enum { PAGE = 4096 };
    int n = 0;

    while (sbrk(PAGE) != (void *)-1)
        n++;
    sbrk(-(intptr_t)n * PAGE);
    return n;
}

static void memory_ends(void)
{
    int value = 7, n = take_all_memory();

    check(n >= 80, "only %d blocks of 128 KB in 16 MB", n);
    check_equal(take_all_memory(), n);
    check_equal(nwrite(&value, sizeof value, own_node(), 1, NULL), 0);
    check_equal(nread(&value, sizeof value, NULL, NULL, NULL), sizeof value);
}

/* A request that can never succeed takes no memory: as many pages as before are free. */
static void refused_memory_costs_nothing(void)
{
    static const intptr_t too_much[] = {1l << 40, 1 << 30, 1000 << 20, 100 << 20, 20 << 20};
    int pages, before = take_pages();

    for (size_t i = 0; i < sizeof too_much / sizeof *too_much; i++) {
        errno = 0;
        check(sbrk(too_much[i]) == (void *)-1 && errno == ENOMEM, "sbrk(%ld): errno %d", (long)too_much[i], errno);
        pages = take_pages();
        check(pages == before, "%d pages after sbrk(%ld), %d before", pages, (long)too_much[i], before);
    }
}

static void new_memory_is_zero(void)
{
    enum { BYTES = 1 << 20 };
    char *low = sbrk(BYTES);

    check(low != (char *)-1, "sbrk");
    for (int i = 0; i < BYTES; i++)
        check(low[i] == 0, "byte %d is %d", i, low[i]);
    memset(low, 0x77, BYTES);
    check(sbrk(-BYTES) == low + BYTES, "sbrk back");
    check(sbrk(BYTES) == low, "sbrk again");
    for (int i = 0; i < BYTES; i++)
        check(low[i] == 0, "again, byte %d is %d", i, low[i]);
    check(sbrk(1 << 30) == (void *)-1 && errno == ENOMEM, "a gigabyte");
    check(sbrk(-(1 << 30)) == (void *)-1, "below the start");
}

/* ---- Traps and hints ---- */

/* The hints with which the kernel commands the NCU do nothing here. */
static void ncu_hints_do_nothing(void)
{
    double before = amicclk();

    __asm__ volatile("slti x0, x0, 1\n slti x0, x0, 2\n slti x0, x0, 3\n slti x0, x0, 4\n"
                     "slti x0, x0, 5\n slti x0, x0, 6\n slti x0, x0, 7\n slti x0, x0, 8\n"
                     "slti x0, x0, 9\n slti x0, x0, 10\n slti x0, x0, 11\n slti x0, x0, 12\n"
                     "slti x0, x0, 0\n slti x0, x0, -1\n slti x0, x0, 2047\n" ::
                         : "memory");
    check(amicclk() - before < 1000, "%f us", amicclk() - before);
}

static long trap(long number)
{
    register long a0 __asm__("a0") = 0;
    register long a7 __asm__("a7") = number;

    __asm__ volatile("ecall"
                     : "+r"(a0), "+r"(a7)
                     :
                     : "memory", "a1", "a2", "a3", "a4", "a5", "a6", "t0", "t1", "t2", "t3", "t4", "t5", "t6");
    return a0;
}

static void unknown_traps(void)
{
    static const long numbers[] = {-1, TRAPS, TRAPS + 1, 1000, 1l << 32, 1l << 63, 0x8021};

    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        check(trap(numbers[i]) == -N_ENOSYS, "trap %ld", numbers[i]);
    check(trap(TRAP_disk_info) < 0 && trap(TRAP_disk_io) < 0 && trap(TRAP_disk_start) < 0 && trap(TRAP_disk_end) < 0 &&
              trap(TRAP_disk_or_read) < 0 && trap(TRAP_reply) < 0 && trap(TRAP_pay) < 0,
          "a compute node has drives");
}

/* Every register gets its own number before a trap. The trap must preserve the registers that a function call
 * preserves, ra, and a1-a3 if it has no results there. */
__asm__(
    ".text\n.globl registers_around_trap\nregisters_around_trap:\n"
    " addi sp, sp, -128\n sd ra, 0(sp)\n sd s0, 8(sp)\n sd s1, 16(sp)\n sd s2, 24(sp)\n sd s3, 32(sp)\n"
    " sd s4, 40(sp)\n sd s5, 48(sp)\n sd s6, 56(sp)\n sd s7, 64(sp)\n sd s8, 72(sp)\n sd s9, 80(sp)\n"
    " sd s10, 88(sp)\n sd s11, 96(sp)\n sd a0, 104(sp)\n"
    " li ra, 1\n li t0, 5\n li t1, 6\n li t2, 7\n li s0, 8\n li s1, 9\n li a1, 11\n li a2, 12\n li a3, 13\n"
    " li a4, 14\n li a5, 15\n li a6, 16\n li a7, 6\n li s2, 18\n li s3, 19\n li s4, 20\n li s5, 21\n li s6, 22\n"
    " li s7, 23\n li s8, 24\n li s9, 25\n li s10, 26\n li s11, 27\n li t3, 28\n li t4, 29\n li t5, 30\n li t6, 31\n"
    " ecall\n"
    " ld a0, 104(sp)\n sd ra, 0(a0)\n sd t0, 8(a0)\n sd t1, 16(a0)\n sd t2, 24(a0)\n sd s0, 32(a0)\n sd s1, 40(a0)\n"
    " sd a1, 48(a0)\n sd a2, 56(a0)\n sd a3, 64(a0)\n sd a4, 72(a0)\n sd a5, 80(a0)\n sd a6, 88(a0)\n"
    " sd s2, 96(a0)\n sd s3, 104(a0)\n sd s4, 112(a0)\n sd s5, 120(a0)\n sd s6, 128(a0)\n sd s7, 136(a0)\n"
    " sd s8, 144(a0)\n sd s9, 152(a0)\n sd s10, 160(a0)\n sd s11, 168(a0)\n sd t3, 176(a0)\n sd t4, 184(a0)\n"
    " sd t5, 192(a0)\n sd t6, 200(a0)\n"
    " ld ra, 0(sp)\n ld s0, 8(sp)\n ld s1, 16(sp)\n ld s2, 24(sp)\n ld s3, 32(sp)\n ld s4, 40(sp)\n ld s5, 48(sp)\n"
    " ld s6, 56(sp)\n ld s7, 64(sp)\n ld s8, 72(sp)\n ld s9, 80(sp)\n ld s10, 88(sp)\n ld s11, 96(sp)\n"
    " addi sp, sp, 128\n ret\n");
void registers_around_trap(long *after);

static void traps_leave_registers_alone(void)
{
    static const int expected[] = {1,  0,  0,  0,  8,  9,  11, 12, 13, 0, 0, 0, 18,
                                   19, 20, 21, 22, 23, 24, 25, 26, 27, 0, 0, 0, 0};
    long after[sizeof expected / sizeof *expected];

    registers_around_trap(after);
    for (size_t i = 0; i < sizeof expected / sizeof *expected; i++)
        check(expected[i] == 0 || after[i] == expected[i], "x%d is %ld after a trap", expected[i], after[i]);
}

/* ---- Time ---- */

static void clock_moves_on(void)
{
    double last = amicclk();
    int us, last_us = 0;
    long last_s = 0, last_ticks = 0;

    for (int i = 0; i < 2000; i++) {
        double now = amicclk();

        check(now > last, "%f after %f", now, last);
        check(now < last + 1000, "%f after %f", now, last);
        last = now;
        long s = n_time(&us), ticks = ntime();
        check(s > last_s || (s == last_s && us >= last_us), "%ld s %d us", s, us);
        check(us >= 0 && us < 1000000, "%d us", us);
        check(ticks >= last_ticks && ticks * 128 <= last + 1000, "%ld ticks", ticks);
        last_s = s, last_us = us, last_ticks = ticks;
    }
}

static void prints_its_clock(void)
{
    printf("%.2f us on node %d\n", amicclk(), own_node());
}

static const struct test_case cases[] = {
    {"in another order", ends_in_another_order},
    {"waits for one that has ended", waits_for_one_that_has_ended},
    {"leaves messages unread", leaves_messages_unread},
    {"aborts", aborts},
    {"runs exit handlers", runs_exit_handlers},
    {"skips exit handlers", skips_exit_handlers},
    {"handles own signals", handles_own_signals},
    {"spins", spins},
    {"spins among messages", spins_among_messages},
    {"spins with a handler", spins_with_a_handler},
    {"spins in a reservation", spins_in_reservation},
    {"polls for nothing", polls_for_nothing},
    {"polls with a handler", polls_with_a_handler},
    {"talks", talks},
    {"prints", prints},
    {"memory ends", memory_ends},
    {"refused memory costs nothing", refused_memory_costs_nothing},
    {"new memory is zero", new_memory_is_zero},
    {"NCU hints", ncu_hints_do_nothing},
    {"unknown traps", unknown_traps},
    {"registers", traps_leave_registers_alone},
    {"clock moves on", clock_moves_on},
    {"prints its clock", prints_its_clock},
    {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
