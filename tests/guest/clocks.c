/*
 * Looks for everything that could tell a program about the host: QEMU's clocks and counters, devices, what others left
 * in registers and memory.
 *
 *   clocks registers   which of the 4096 control and status registers it can read and write
 *   clocks all         prints every time, address and number that it can get at
 *   clocks leave       fills memory and registers with a pattern
 *   clocks find        expects no other program's data in memory or, at its first instruction, in the registers
 */
#include <ntime.h>
#include <fcntl.h>
#include <nmon.h>
#include <setjmp.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/time.h>
#include <sys/times.h>
#include <time.h>
#include <unistd.h>

#include "check.h"

/* ---- The first instruction: the program's entry point (-e) is not _start but this ---- */

struct registers {
    uint64_t x[32], f[32], fcsr;
};

struct registers at_entry;

__asm__(".text\n.globl look_at_entry\nlook_at_entry:\n"
        " sd t0, -16(sp)\n la t0, at_entry\n"
        " sd x1, 8(t0)\n sd x2, 16(t0)\n sd x3, 24(t0)\n sd x4, 32(t0)\n"
        " sd x6, 48(t0)\n sd x7, 56(t0)\n sd x8, 64(t0)\n sd x9, 72(t0)\n"
        " .irp r, 10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n sd x\\r, \\r*8(t0)\n .endr\n"
        " .irp r, 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17,18,19,20,21,22,23,24,25,26,27,28,29,30,31\n"
        " fsd f\\r, 256+\\r*8(t0)\n .endr\n"
        " frcsr t1\n sd t1, 512(t0)\n ld t1, -16(sp)\n sd t1, 40(t0)\n sd zero, -16(sp)\n j _start\n");

static void expect_clean_entry(void)
{
    for (int i = 1; i < 32; i++)
        if (i != 2 && i != 10 && i != 11) /* sp, argc, argv */
            check(at_entry.x[i] == 0, "x%d is %llx", i, (unsigned long long)at_entry.x[i]);
    for (int i = 0; i < 32; i++)
        check(at_entry.f[i] == 0, "f%d is %llx", i, (unsigned long long)at_entry.f[i]);
    check(at_entry.fcsr == 0, "fcsr is %llx", (unsigned long long)at_entry.fcsr);
}

/* ---- Control and status registers ---- */

/* Two tables of functions of eight bytes each: `csrrs a0, n, zero; ret`, and `csrrw a0, n, a0; ret`. */
#define CSRS 4096
__asm__(".text\n.balign 8\n"
        "csr_read:\n .set n, 0\n .rept 4096\n .4byte 0x2573 | n << 20, 0x8067\n .set n, n + 1\n .endr\n"
        "csr_write:\n .set n, 0\n .rept 4096\n .4byte 0x51573 | n << 20, 0x8067\n .set n, n + 1\n .endr\n");
extern const char csr_read[], csr_write[];

static jmp_buf after_fault;

static void leave(int number)
{
    (void)number;
    longjmp(after_fault, 1);
}

/* Whether the function ends, and not in a signal. */
static int works(const char *code)
{
    sigset_t set;

    if (setjmp(after_fault) == 0) {
        ((uint64_t(*)(uint64_t))code)(0);
        return 1;
    }
    sigemptyset(&set);
    sigaddset(&set, SIGILL);
    check_equal(sigprocmask(SIG_UNBLOCK, &set, NULL), 0);
    return 0;
}

static void list_working(const char *what, const char *table)
{
    printf("%s:", what);
    for (int n = 0; n < CSRS; n++)
        if (works(table + 8 * n))
            printf(" %03x", n);
    printf("\n");
}

static void registers(void)
{
    signal(SIGILL, leave);
    list_working("read", csr_read);
    list_working("written", csr_write);
}

/* ---- Everything that can be asked ---- */

__asm__(".text\n.balign 4\npause_hart:\n .4byte 0x0100000f, 0x8067\nwrs_nto:\n .4byte 0x00d00073, 0x8067\n"
        "wrs_sto:\n .4byte 0x01d00073, 0x8067\n");
extern const char pause_hart[], wrs_nto[], wrs_sto[];

/* Instructions that wait, on a real hart, for a time of the hardware's. */
static void tell_waiting(const char *name, const char *code)
{
    double start = amicclk();
    int n = 0;

    for (int i = 0; i < 20; i++)
        n += works(code);
    printf("%s: %d, %.2f us\n", name, n, amicclk() - start);
}

static void tell_times(void)
{
    struct timeval tv;
    struct timespec ts;
    struct tms tms;
    int us;
    long s = n_time(&us);

    gettimeofday(&tv, NULL);
    check_equal(clock_gettime(CLOCK_REALTIME, &ts), 0);
    printf("%.2f %ld.%06d %ld %ld %ld.%06ld %ld.%09ld %ld %ld\n", amicclk(), s, us, ntime(), (long)time(NULL),
           (long)tv.tv_sec, (long)tv.tv_usec, (long)ts.tv_sec, ts.tv_nsec, (long)clock(), (long)times(&tms));
}

static void tell_places(void)
{
    int local;
    char *page = ngetp(5000);

    printf("%p %p %p %p %p %d %d\n", (void *)&local, malloc(100), sbrk(0), (void *)tell_places, page, (int)getpid(),
           rand());
    check_equal(nrelp(page), 0);
}

/* A fresh file on a volume: everything in it but its name is the machine's. */
static void tell_file(const char *path)
{
    struct stat st;
    int fd = open(path, O_RDWR | O_CREAT, 0644);

    check(fd >= 0, "%s", path);
    check_equal(write(fd, "x", 1), 1);
    check_equal(fstat(fd, &st), 0);
    printf("%ld %ld %o %ld %ld %ld %ld %ld\n", (long)st.st_dev, (long)st.st_ino, (unsigned)st.st_mode, (long)st.st_uid,
           (long)st.st_mtime, (long)st.st_atime, (long)st.st_ctime, (long)st.st_blocks);
}

extern char **environ;

static void tell_all(void)
{
    struct nmonitor monitor;

    signal(SIGILL, leave);
    tell_times();
    tell_places();
    tell_waiting("pause", pause_hart);
    tell_waiting("wrs.nto", wrs_nto);
    tell_waiting("wrs.sto", wrs_sto);
    for (char **e = environ; e && *e; e++)
        printf("%s\n", *e);
    if (test_argc > 0)
        tell_file(test_argv[0]);
    usleep(1234);
    check_equal(nmonitor(&monitor), 0);
    for (size_t i = 0; i < sizeof monitor / 8; i++)
        printf("%llx ", (unsigned long long)((uint64_t *)&monitor)[i]);
    printf("\n");
    tell_times();
}

/* ---- Data that other programs left ---- */

enum { BLOCK = 64 << 10, BLOCKS = 1024, HEAP = 8 << 20 };

static void *blocks[BLOCKS];

static int take_memory(void)
{
    int n = 0;

    while (n < BLOCKS && (blocks[n] = malloc(BLOCK)))
        n++;
    return n;
}

static void leave_pattern(void)
{
    for (int n = take_memory(); n > 0; n--)
        fill_pattern(blocks[n - 1], BLOCK, (uint32_t)n);
    for (int i = 0; i < 20; i++) {
        char *page = ngetp(4096);

        fill_pattern(page, 4096, (uint32_t)i);
    }
    __asm__ volatile(".irp r, 8,9,18,19,20,21,22,23,24,25,26,27\n fmv.d.x f\\r, %0\n .endr\n fscsr %0" : : "r"(0x5fl));
    __asm__ volatile("li s10, -1\n li s11, -1\n mv a7, %0\n li a0, 0\n mv t3, s11"
                     :
                     : "r"(0l)
                     : "s10", "s11", "a7", "a0", "t3");
}

static void expect_zeros(const uint64_t *words, size_t bytes, const char *what)
{
    for (size_t i = 0; i < bytes / 8; i++)
        check(words[i] == 0, "%s: word %zu is %llx", what, i, (unsigned long long)words[i]);
}

static uint64_t untouched[BLOCK / 8];

static void find_nothing(void)
{
    volatile uint64_t here[4];
    uint64_t *below = (uint64_t *)(((uint64_t)here - 40000) & ~7ul);

    expect_clean_entry();
    expect_zeros(untouched, sizeof untouched, "bss");
    expect_zeros(below, 16000, "stack");
    expect_zeros(sbrk(HEAP), HEAP, "heap");
    expect_zeros((uint64_t *)ngetp(30000), 30000, "message buffer");
    here[0] = 0;
}

static const struct test_case cases[] = {
    {"registers", registers}, {"all", tell_all}, {"leave", leave_pattern}, {"find", find_nothing}, {NULL, NULL},
};

int main(int argc, char **argv)
{
    return run_case(cases, argc, argv);
}
