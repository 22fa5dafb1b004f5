/*
 * Calls of the kernel with random arguments, many of them bad, from every node at once.
 *
 *   calls COUNT SEED
 *
 * Each must return a result, or an error that has a name. At the end the memory of all nodes is intact, and they can
 * still exchange messages. tame() changes calls that would rightly wait for ever, end the program, or overwrite it as
 * it asked.
 */
#include <n_errno.h>
#include <unistd.h>

#include "check.h"
#include "vertex/contract/abi.h"
#include "vertex/contract/system.h"

enum { SCRATCH_BYTES = 64 << 10, GUARD_WORDS = 4096, EVERY_DRAIN = 32, TYPE_BARRIER = 9, LONG_BYTES = 8192 };

static char scratch[SCRATCH_BYTES] __attribute__((aligned(4096)));
static uint64_t guard[GUARD_WORDS];
static uint64_t state;

static long trap(long number, const long *arg, long *result)
{
    register long a0 __asm__("a0") = arg[0];
    register long a1 __asm__("a1") = arg[1];
    register long a2 __asm__("a2") = arg[2];
    register long a3 __asm__("a3") = arg[3];
    register long a4 __asm__("a4") = arg[4];
    register long a5 __asm__("a5") = arg[5];
    register long a7 __asm__("a7") = number;

    __asm__ volatile("ecall"
                     : "+r"(a0), "+r"(a1), "+r"(a2), "+r"(a3), "+r"(a4), "+r"(a5), "+r"(a7)
                     :
                     : "memory", "a6", "t0", "t1", "t2", "t3", "t4", "t5", "t6");
    *result = a3;
    return a0;
}

/* ---- Arguments ---- */

static long draw_pointer(void)
{
    static const unsigned long bad[] = {0,          1,          8,          0xffff,     0x10000,
                                        0x6fffffff, 0x70000000, 0x78000000, 0x7ffffff8, 0x80000000,
                                        0x80001000, 0xc0000000, 0xc0001000, 0xc0002000, 0x10000000,
                                        0x02f00000, 1ul << 38,  1ul << 63,  -1ul,       -8ul};

    if (draw(&state) % 3 == 0)
        return (long)bad[draw(&state) % (sizeof bad / sizeof *bad)];
    return (long)scratch + (long)(draw(&state) % SCRATCH_BYTES);
}

static long draw_number(void)
{
    static const long odd[] = {0,       1,          2,          3,        4,
                               7,       8,          31,         255,      256,
                               1280,    1281,       4096,       8192,     32767,
                               32768,   0x8021,     0x80a3,     0xffff,   0x10000,
                               1 << 20, 0x7fffffff, 0x80000000, 1l << 62, (long)(1ul << 63)};
    long n = odd[draw(&state) % (sizeof odd / sizeof *odd)];

    return draw(&state) % 4 == 0 ? -n : draw(&state) % 2 ? n : (long)(draw(&state) % 64);
}

static int is_pointer_argument(long number, int i)
{
    switch (number) {
    case TRAP_rename:
    case TRAP_link:
    case TRAP_symlink:
    case TRAP_readlink:
    case TRAP_lstat:
    case TRAP_itimer:
        return i < 2;
    case TRAP_setattr:
        return i != 1;
    case TRAP_fstat:
    case TRAP_read:
    case TRAP_write:
    case TRAP_pread:
    case TRAP_pwrite:
    case TRAP_readdir:
    case TRAP_readend:
    case TRAP_writestart:
    case TRAP_pwritestart:
    case TRAP_statfs:
    case TRAP_stat:
    case TRAP_fdpath:
    case TRAP_fsetattr:
    case TRAP_fadd:
    case TRAP_disk_info:
    case TRAP_askend:
    case TRAP_requestend:
        return i == 1;
    case TRAP_requeststart:
        return i == 2 || i == 4;
    case TRAP_askstart:
        return i == 0 || i == 3;
    case TRAP_disk_io:
    case TRAP_disk_start:
        return i == 3;
    case TRAP_rexec:
        return i == 2;
    case TRAP_rwait:
    case TRAP_wait:
    case TRAP_pipe_state:
        return 0;
    default:
        return i == 0;
    }
}

/* Shortens a length that is valid, but would fill the memories of all nodes. */
static void shorten(long *bytes)
{
    if (*bytes > LONG_BYTES && *bytes <= 64 << 20)
        *bytes %= LONG_BYTES;
}

/* False for a library's context: a message sent in one would stay for ever, and a read would wait for ever. */
static int is_own_context(unsigned long context)
{
    return context < CONTEXT_SYNC || context > CONTEXT_MOST;
}

/* Draws a nearly sound program for rexec and exec, so that all of its checks are reached; never for the caller's node
 * alone. */
static void draw_program(long number, long *arg)
{
    static struct abi_segment segment[ABI_SEGMENTS_MAX];
    static struct abi_program p;

    for (size_t i = 0; i < ABI_SEGMENTS_MAX; i++)
        segment[i] = (struct abi_segment){0x10000 + i * 0x10000 * (draw(&state) % 8), (uint64_t)draw_pointer(),
                                          draw(&state) % LONG_BYTES, draw(&state) % (2 * LONG_BYTES), 1};
    p = (struct abi_program){.entry = 0x10000,
                             .segment = draw(&state) % 4 ? (uint64_t)segment : (uint64_t)draw_pointer(),
                             .arguments = (uint64_t)draw_pointer(),
                             .name = (uint64_t)draw_pointer(),
                             .segments = draw(&state) % (ABI_SEGMENTS_MAX + 2),
                             .argc = draw(&state) % 3,
                             .arg_bytes = draw(&state) % 16,
                             .procs = 1 + draw(&state) % PROCS_MAX,
                             .stack_bytes = 4096u << draw(&state) % 20};
    if (draw(&state) % 4)
        arg[2] = (long)&p;
    if (number == TRAP_exec) { /* of several processes: refused in the end */
        p.procs = 2 + draw(&state) % 4;
        arg[0] = arg[2];
        return;
    }
    if (draw(&state) % 2) {
        arg[0] = 0;
        arg[1] = node_count();
    }
    if (arg[0] == own_node() && arg[1] == 1)
        arg[1] = 0;
}

/* Returns false if the call must not be made with these arguments. */
static int tame(long number, long *arg)
{
    long none;

    switch (number) {
    case TRAP_exit:
    case TRAP_endjob:
    case TRAP_sleep:
        return 0;
    case TRAP_nwrite:
        shorten(&arg[1]);
        return 1;
    case TRAP_nwritep:
    case TRAP_cwrite:
        shorten(&arg[1]);
        return is_own_context((unsigned long)arg[4]);
    case TRAP_readstart:
    case TRAP_preadstart:
        shorten(&arg[1]);
        return 1;
    case TRAP_sbrk:
    case TRAP_ngetp:
        shorten(&arg[0]);
        return 1;
    case TRAP_itimer: /* an alarm would end the program */
        if ((unsigned long)arg[0] < 0x80000000)
            arg[0] = 0;
        return 1;
    case TRAP_nread: /* waits for ever if no message is queued */
        return trap(TRAP_ntest, arg, &none) != -N_EAGAIN;
    case TRAP_nreadp:
    case TRAP_cread:
        return is_own_context((unsigned long)arg[4]) && trap(TRAP_ntest, arg, &none) != -N_EAGAIN;
    case TRAP_csync: /* waits for ever, but in a context that does not exist */
        arg[1] = (unsigned long)arg[4] > CONTEXT_MOST;
        arg[5] = -1;
        return is_own_context((unsigned long)arg[4]);
    case TRAP_cwrite_read:
        shorten(&arg[1]);
        arg[5] = arg[2];
        return is_own_context((unsigned long)arg[4]) && trap(TRAP_ntest, arg, &none) != -N_EAGAIN;
    case TRAP_close: /* the standard streams are left alone */
        return (unsigned long)arg[0] > 2;
    case TRAP_write:
    case TRAP_pwrite:
    case TRAP_writestart:
    case TRAP_pwritestart:
        shorten(&arg[2]);
        return (unsigned long)arg[0] > 2 && arg[0] < ABI_PIPE_UFID;
    case TRAP_sigaction: /* the default may end it */
        arg[1] = draw(&state) % 2 ? SIGNAL_IGNORE : SIGNAL_CATCH;
        arg[3] = 0;
        return 1;
    case TRAP_sigsuspend: /* waits for ever */
        return 0;
    case TRAP_sigwait:
        arg[1] = trap(TRAP_cycles, arg, &none) + 1000;
        return 1;
    case TRAP_sigreturn: /* jumps where the program says */
        return (unsigned long)arg[0] < 0x1000 || (unsigned long)arg[0] >= USER_STACK_TOP - 8;
    case TRAP_kill:
        arg[1] = draw(&state) % 2 ? 0 : 99;
        return 1;
    case TRAP_rexec:
    case TRAP_exec:
        draw_program(number, arg);
        return 1;
    case TRAP_fork: /* the child would have none of its registers */
        return 0;
    case TRAP_read: /* waits for ever at an empty pipe */
        return arg[0] < ABI_PIPE_UFID;
    case TRAP_pipeopen: /* waits for ever for another program */
        arg[0] = draw(&state) % 2 ? 0 : 8;
        return 1;
    case TRAP_poll:
        arg[2] = draw(&state) % 2 ? 0 : trap(TRAP_cycles, arg, &none) + 1000;
        return 1;
    case TRAP_rwait: /* of a node that goes on */
        return arg[0] < 0 || arg[0] >= node_count() || arg[0] == own_node();
    case TRAP_mkdir: /* the front end's folder stays as it is */
    case TRAP_open:
        arg[1] = 0;
        return 1;
    default:
        return 1;
    }
}

static long draw_call(long *arg)
{
    long number = draw(&state) % 50 == 0 ? draw_number() : (long)(draw(&state) % (TRAPS + 1));
    int is_file_call = number >= TRAP_open && number != TRAP_ionode && number <= TRAP_statfs;

    if (is_file_call && draw(&state) % 8) /* the front end answers slowly */
        number = (long)(draw(&state) % TRAP_open);
    for (int i = 0; i < 5; i++)
        arg[i] = is_pointer_argument(number, i) ? draw_pointer() : draw_number();
    return number;
}

/* ---- Judging ---- */

static void judge(long number, const long *arg, long result)
{
    if (result >= 0 || number == TRAP_sbrk || number == TRAP_sigreturn)
        return;
    check(result > -200 && strcmp(n_strerror((int)result), "unknown error") != 0, "trap %ld(%lx, %lx, %lx): %ld",
          number, arg[0], arg[1], arg[2], result);
}

/* Takes the messages that have arrived, so that memory does not fill up. */
static void drain(void)
{
    int n;

    check_equal(nrange(0, N_TYPE_MAX), 0);
    for (int src = N_ANY, type = N_ANY; (n = ntest(&src, &type)) >= 0; src = type = N_ANY) {
        char *buf;

        check_equal(nreadp(&buf, n, &src, &type, NULL), n);
        check_equal(nrelp(buf), 0);
    }
}

static void check_guard(void)
{
    size_t wrong = find_wrong_byte(guard, sizeof guard, (uint32_t)npid());

    check(wrong == sizeof guard, "own memory has changed at %zu", wrong);
}

int main(int argc, char **argv)
{
    long count = argc > 1 ? atol(argv[1]) : 10000, arg[6] = {0}, extra;

    state = (argc > 2 ? strtoull(argv[2], NULL, 10) : 1) * 1000 + (uint64_t)own_node();
    fill_pattern(guard, sizeof guard, (uint32_t)npid());
    for (long i = 0; i < count; i++) {
        long number = draw_call(arg);

        if (!tame(number, arg))
            continue;
        long result = trap(number, arg, &extra);
        judge(number, arg, result);
        if (number == TRAP_nreadp && result >= 0)
            check_equal(nrelp((char *)extra), 0);
        if (number == TRAP_ngetp && result >= 0 && draw(&state) % 64)
            check_equal(nrelp((char *)result), 0);
        if (number == TRAP_sbrk && result >= 0 && arg[0] > 0)
            sbrk(-arg[0]);
        if (i % EVERY_DRAIN == 0)
            drain();
    }
    check_guard();
    for (int round = 0; round < 2; round++) {
        drain();
        usleep(100000);
    }
    drain();
    check_equal(nsync(TYPE_BARRIER), 0);
    if (own_node() == 0)
        printf("passed\n");
    return 0;
}
