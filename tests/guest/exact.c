/*
 * A random program. It computes in several ways, sends, polls, receives, waits, is signalled, reads files, sleeps and
 * prints, in an order drawn from a seed, and notes its clock all the time: the sum over all that it saw, and when, is
 * its last line. So a single cycle's difference between two runs shows.
 *
 *   exact MIX SEED [VOLUMES]     VOLUMES: the number of volumes df00, df01 ... on which it may keep files
 *
 * Every process draws the messages of all processes from the seed. So it knows which messages will arrive, and ends
 * when it has sent and received all of its own. Some catch SIGMSGS and SIGUSR1, and get some messages in a handler.
 * Built with -DPROCS=2 -Nprocs 2, too: then each node has two processes.
 */
#include <fcntl.h>
#include <nio.h>
#include <ntime.h>
#include <pio.h>
#include <signal.h>
#include <sys/time.h>
#include <unistd.h>

#include "exact_processes.h"

enum { PROCESSES_MAX = 64, COUNT_MAX = 24, BYTES_MAX = 64 << 10, FILE_BYTES = 24000 };
enum { TYPES = 4, TYPE_HANDLED = TYPES, TYPE_SIGNAL };
enum { TO_ALL = -1 };

struct plan {
    int dest, type, bytes; /* dest: process, or TO_ALL: the first process of each node */
    uint32_t seed;
    int done;
};

static struct plan plan[PROCESSES_MAX][COUNT_MAX];
static char space[BYTES_MAX + 8] __attribute__((aligned(8)));
static uint64_t own_choice, seen;
static int count, volumes;

/* ---- The sum over all times and messages ---- */

static uint64_t clock_cycles(void)
{
    return (uint64_t)(amicclk() * 20 + 0.5);
}

static void note(uint64_t value)
{
    seen = (seen ^ value) * 0x100000001b3ull;
    seen = (seen ^ clock_cycles()) * 0x100000001b3ull;
}

static uint32_t choose(uint32_t n)
{
    return draw(&own_choice) % n;
}

/* ---- Mixes ---- */

struct mix;
typedef void (*act_fn)(const struct mix *mix);

static void compute_integers(const struct mix *mix);
static void compute_reals(const struct mix *mix);
static void walk_memory(const struct mix *mix);
static void branch(const struct mix *mix);
static void use_atomics(const struct mix *mix);
static void send_next(const struct mix *mix);
static void poll_awhile(const struct mix *mix);
static void call_often(const struct mix *mix);
static void receive_if_any(const struct mix *mix);
static void nap(const struct mix *mix);
static void print(const struct mix *mix);
static void read_plainly(const struct mix *mix);
static void read_started(const struct mix *mix);
static void read_in_parallel(const struct mix *mix);

enum { ACTS = 14 };
static const act_fn acts[ACTS] = {compute_integers, compute_reals, walk_memory,      branch,    use_atomics,
                                  send_next,        poll_awhile,   receive_if_any,   nap,       print,
                                  read_plainly,     read_started,  read_in_parallel, call_often};

static const struct mix {
    const char *name;
    int messages;        /* of each process */
    uint32_t iterations; /* of a computation, at most; now and then it is twenty times as long */
    uint32_t catching;   /* percent of the processes that have handlers */
    uint8_t weight[ACTS];
    long alarm_us; /* the interval of alarms, or 0; with it handlers take no messages, and code runs ahead in quanta */
} mixes[] = {
    {"compute", 5, 1000, 0, {5, 5, 4, 4, 2, 2, 0, 1, 0, 1, 0, 0, 0, 0}, 0},
    {"poll", 12, 300, 0, {1, 1, 1, 1, 1, 4, 8, 4, 1, 1, 0, 0, 0, 1}, 0},
    {"await", 5, 4000, 20, {4, 4, 2, 2, 2, 6, 0, 6, 0, 0, 0, 0, 0, 0}, 2900},
    {"calls", 12, 200, 20, {1, 1, 1, 1, 1, 4, 2, 3, 1, 1, 0, 0, 0, 8}, 0},
    {"receive", 20, 400, 0, {3, 3, 2, 2, 3, 9, 1, 1, 0, 1, 0, 0, 0, 0}, 0},
    {"signals", 12, 400, 60, {2, 2, 1, 1, 3, 5, 2, 3, 1, 1, 0, 0, 0, 0}, 0},
    {"handlers", 12, 1500, 80, {4, 4, 2, 2, 3, 5, 2, 3, 1, 1, 0, 0, 0, 1}, 3700},
    {"files", 6, 500, 0, {2, 2, 1, 1, 1, 3, 1, 2, 1, 1, 2, 2, 2, 0}, 0},
    {"all", 10, 400, 30, {2, 2, 2, 2, 2, 4, 3, 3, 1, 1, 1, 1, 1, 1}, 0},
    {"brief", 6, 20, 30, {1, 1, 1, 1, 1, 6, 0, 3, 0, 1, 0, 0, 0, 0}, 0}, /* for machines that step by two cycles */
};

static const struct mix *find_mix(const char *name)
{
    for (size_t i = 0; i < sizeof mixes / sizeof *mixes; i++)
        if (strcmp(mixes[i].name, name) == 0)
            return &mixes[i];
    check(0, "no mix '%s'", name);
    return NULL;
}

static act_fn choose_act(const struct mix *mix)
{
    uint32_t sum = 0, at = 0;

    for (int i = 0; i < ACTS; i++)
        sum += mix->weight[i];
    for (uint32_t left = choose(sum); left >= mix->weight[at]; at++)
        left -= mix->weight[at];
    return acts[at];
}

/* ---- Computing ---- */

static uint32_t choose_iterations(const struct mix *mix)
{
    return choose(mix->iterations) * (choose(20) == 0 ? 20 : 1);
}

static void compute_integers(const struct mix *mix)
{
    uint64_t x = own_choice;

    for (uint32_t i = choose_iterations(mix); i > 0; i--)
        x = x * 6364136223846793005ull / (i + 3) + (x >> 7) % (i + 1);
    note(x);
}

static void compute_reals(const struct mix *mix)
{
    double x = 1.0;

    for (uint32_t i = choose_iterations(mix); i > 0; i--)
        x = x * 1.0000001 + 1.0 / (double)i;
    note((uint64_t)(x * 1e6));
}

static void walk_memory(const struct mix *mix)
{
    static uint32_t words[64 << 10]; /* each page is made by the first access to it */
    uint32_t at = choose(64 << 10), sum = 0;

    for (uint32_t i = choose_iterations(mix); i > 0; i--, at = at * 5 + 4091)
        sum += words[at % (64 << 10)] += i;
    note(sum);
}

static void branch(const struct mix *mix)
{
    uint32_t steps = 0, longest = 0;

    for (uint32_t i = choose_iterations(mix) / 16 + 1; i > 0; i--, longest = steps > longest ? steps : longest)
        for (uint32_t n = i, k = steps = 0; n > 1 && k < 100; k++, steps++)
            n = n % 2 ? 3 * n + 1 : n / 2;
    note(longest);
}

/* lr and sc: QEMU drops the reservation when the hart is interrupted between them. */
static void use_atomics(const struct mix *mix)
{
    static uint64_t word;
    uint64_t failed = 0;

    for (uint32_t i = choose_iterations(mix); i > 0; i--) {
        uint64_t old = __atomic_load_n(&word, __ATOMIC_RELAXED);

        failed += !__atomic_compare_exchange_n(&word, &old, old + i, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
        failed += __atomic_compare_exchange_n(&word, &(uint64_t){old}, 0, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
    }
    note(word + failed);
}

static void nap(const struct mix *mix)
{
    (void)mix;
    usleep(choose(700));
    note(1);
}

static void print(const struct mix *mix)
{
    printf("process %d, %s: %016llx\n", self, mix->name, (unsigned long long)seen);
}

/* ---- Messages ---- */

static int is_catching(const struct mix *mix, int process, uint64_t seed)
{
    uint64_t state = seed * 31 + (uint64_t)process;

    draw(&state);
    return draw(&state) % 100 < mix->catching;
}

/* Short ones are the most frequent; every power of two has its share. */
static int draw_length(uint64_t *state)
{
    uint32_t most = 8u << draw(state) % 14;

    return (int)(draw(state) % (most + 1));
}

static struct plan draw_plan(const struct mix *mix, uint64_t seed, uint64_t *state)
{
    struct plan p = {.dest = (int)(draw(state) % (unsigned)processes), .type = (int)(draw(state) % TYPES)};
    uint32_t how = draw(state) % 8;

    p.bytes = draw_length(state);
    p.seed = draw(state);
    if (how < 4 && is_catching(mix, p.dest, seed))
        p.type = how < 2 && !mix->alarm_us ? TYPE_HANDLED : TYPE_SIGNAL;
    else if (how == 7)
        p.dest = TO_ALL;
    return p;
}

static void make_plan(const struct mix *mix, uint64_t seed)
{
    for (int process = 0; process < processes; process++) {
        uint64_t state = seed * 1000003 + (uint64_t)process;

        draw(&state);
        for (int i = 0; i < count; i++)
            plan[process][i] = draw_plan(mix, seed, &state);
    }
}

static int is_for_us(const struct plan *p)
{
    return p->dest == self || (p->dest == TO_ALL && self < node_count());
}

static int sent, to_come, handled_to_come;

static void expect_all(void)
{
    for (int src = 0; src < processes; src++)
        for (int i = 0; i < count; i++)
            if (is_for_us(&plan[src][i])) {
                to_come += plan[src][i].type < TYPES;
                handled_to_come += plan[src][i].type == TYPE_HANDLED;
            }
}

static void send_next(const struct mix *mix)
{
    const struct plan *p = &plan[self][sent];
    int dest = p->dest == TO_ALL ? N_DEST_ALL : address_of(p->dest);

    (void)mix;
    if (sent == count)
        return;
    sent++;
    if (p->type == TYPE_SIGNAL) {
        check_equal(kill(dest + 1, SIGUSR1), 0);
    } else if (choose(2)) {
        char *buf = ngetp(p->bytes);

        fill_pattern(buf, (size_t)p->bytes, p->seed);
        check_equal(nwritep(buf, p->bytes, dest, p->type, NULL), 0);
    } else {
        fill_pattern(space, (size_t)p->bytes, p->seed);
        check_equal(nwrite(space, p->bytes, dest, p->type, NULL), 0);
    }
    note((uint64_t)dest);
}

/* Returns the first message of the sender's plan to this process, of this type, that has not arrived. */
static struct plan *expected(int src, int type)
{
    for (int i = 0; i < count; i++) {
        struct plan *p = &plan[src][i];

        if (is_for_us(p) && p->type == type && !p->done)
            return p;
    }
    check(0, "nothing of type %d is to come from process %d", type, src);
    return NULL;
}

static void judge(const char *buf, int n, int address, int type)
{
    struct plan *p = expected(process_at(address), type);

    check(n == p->bytes, "%d bytes from 0x%x, type %d, not %d", n, address, type, p->bytes);
    check(find_wrong_byte(buf, (size_t)n, p->seed) == (size_t)n, "%d bytes from 0x%x, type %d", n, address, type);
    p->done = 1;
    note((uint64_t)address << 32 | (unsigned)n);
}

static void receive_one(void)
{
    int src = N_ANY, type = N_ANY;
    char *buf = space;
    int mapped = (int)choose(2);
    int n = mapped ? nreadp(&buf, BYTES_MAX, &src, &type, NULL) : nread(buf, BYTES_MAX, &src, &type, NULL);

    check(n >= 0, "receive: %d", n);
    judge(buf, n, src, type);
    if (mapped)
        check_equal(nrelp(buf), 0);
    to_come--;
}

/* Polls in a loop that stays the same, or in one that counts. */
static void poll_for_one(void)
{
    static volatile uint64_t turns;
    uint32_t counts = choose(2);

    while (ntest(NULL, NULL) < 0)
        if (counts)
            turns++;
    note(turns);
}

static void receive_if_any(const struct mix *mix)
{
    (void)mix;
    if (to_come > 0 && sent == count && choose(4))
        poll_for_one();
    if (to_come > 0 && (sent == count || ntest(NULL, NULL) >= 0))
        receive_one();
}

static void poll_awhile(const struct mix *mix)
{
    int there = 0;

    (void)mix;
    for (uint32_t i = choose(40); i > 0; i--)
        there += ntest(NULL, NULL) >= 0;
    note((uint64_t)there);
}

/* Short calls that cannot send. */
static void call_often(const struct mix *mix)
{
    int node, there = 0;

    (void)mix;
    for (uint32_t i = choose(200); i > 0; i--)
        switch (choose(4)) {
        case 0:
            whoami(&node, NULL, NULL, NULL);
            break;
        case 1:
            note(clock_cycles());
            break;
        case 2:
            there += sbrk(0) != NULL;
            break;
        default:
            there += ntest(NULL, NULL) >= 0;
        }
    note((uint64_t)there);
}

/* ---- Handlers ---- */

/* Between its ntest and nread nothing else takes the message: a handler's own signal is blocked. */
static void take_handled(int signal_number)
{
    static char buf[BYTES_MAX];
    int src = N_ANY, type = TYPE_HANDLED;

    note((uint64_t)signal_number);
    while (ntest(&src, &type) >= 0) {
        int n = nread(buf, sizeof buf, &src, &type, NULL);

        judge(buf, n, src, type);
        handled_to_come--;
        src = N_ANY;
    }
}

static void note_signal(int signal_number)
{
    note((uint64_t)signal_number);
}

static void await_handled(const struct mix *mix)
{
    while (*(volatile int *)&handled_to_come > 0) {
        compute_integers(mix);
        usleep(200);
    }
}

/* ---- Files ---- */

static int own_file, shared_file;

static void make_files(void)
{
    struct pio_layout layout = {.disks = volumes, .block_size = 4096, .buffers = 2};
    char name[32];

    snprintf(name, sizeof name, "//df%02d/exact.%d", self % volumes, self);
    own_file = open(name, O_RDWR | O_CREAT, 0666);
    check(own_file >= 0, "%s", name);
    write_pattern_by(write, own_file, FILE_BYTES, (uint32_t)self);
    shared_file = pio_open_layout("/exact", O_RDWR | O_CREAT, 0666, &layout);
    check(shared_file >= 0, "/exact");
    if (self == 0)
        write_pattern_by(pio_write, shared_file, FILE_BYTES, 99);
}

static off_t choose_offset(void)
{
    return choose(FILE_BYTES);
}

static int bytes_there(off_t at, int n)
{
    return at + n <= FILE_BYTES ? n : (int)(FILE_BYTES - at);
}

/* n bytes at `at` of a file that is a pattern. */
static void judge_part(const char *buf, ssize_t n, off_t at, uint32_t seed)
{
    static char whole[FILE_BYTES];

    fill_pattern(whole, FILE_BYTES, seed);
    check(n >= 0 && memcmp(buf, whole + at, (size_t)n) == 0, "%ld bytes at %ld", (long)n, (long)at);
    note((uint64_t)n);
}

static void read_plainly(const struct mix *mix)
{
    off_t at = choose_offset();
    int n = (int)choose(12000);

    (void)mix;
    if (volumes == 0)
        return;
    check_equal(lseek(own_file, at, SEEK_SET), at);
    check_equal(read(own_file, space, (size_t)n), bytes_there(at, n));
    judge_part(space, bytes_there(at, n), at, (uint32_t)self);
}

static void read_started(const struct mix *mix)
{
    off_t at = choose_offset();
    int n = 1 + (int)choose(12000);

    if (volumes == 0)
        return;
    if (choose(2)) {
        check_equal(lseek(own_file, at, SEEK_SET), at);
        check_equal(readstart(own_file, n), 0);
    } else {
        check_equal(preadstart(own_file, n, at), 0);
    }
    compute_reals(mix);
    poll_awhile(mix);
    check_equal(readend(own_file, space), bytes_there(at, n));
    judge_part(space, bytes_there(at, n), at, (uint32_t)self);
}

static void read_in_parallel(const struct mix *mix)
{
    off_t at = choose_offset();
    int n = (int)choose(FILE_BYTES);

    (void)mix;
    if (volumes == 0)
        return;
    check_equal(pio_lseek(shared_file, at, SEEK_SET), at);
    check_equal(pio_read(shared_file, space, (size_t)n), bytes_there(at, n));
    judge_part(space, bytes_there(at, n), at, 99);
}

/* ---- The program ---- */

static void catch_signals(const struct mix *mix)
{
    const struct timeval interval = {.tv_usec = mix->alarm_us + self};
    const struct itimerval alarms = {.it_interval = interval, .it_value = interval};

    signal(SIGUSR1, note_signal);
    if (mix->alarm_us == 0) {
        signal(SIGMSGS, take_handled);
        return;
    }
    signal(SIGALRM, note_signal);
    check_equal(setitimer(ITIMER_REAL, &alarms, NULL), 0);
}

/* Of the mix's messages, one in `parts` is sent. */
static void begin(const struct mix *mix, uint64_t seed, int parts)
{
    count_processes();
    count = mix->messages / parts;
    own_choice = seed * 7919 + (uint64_t)self;
    check(processes <= PROCESSES_MAX && count <= COUNT_MAX, "%d processes", processes);
    make_plan(mix, seed);
    expect_all();
    check_equal(nrange(0, TYPES - 1), 0);
    if (volumes > 0)
        make_files();
    if (is_catching(mix, self, seed))
        catch_signals(mix);
    meet();
}

int main(int argc, char **argv)
{
    check(argc >= 3, "usage: exact MIX SEED [VOLUMES [PARTS]]");
    const struct mix *mix = find_mix(argv[1]);
    uint64_t seed = strtoull(argv[2], NULL, 10);

    volumes = argc > 3 ? atoi(argv[3]) : 0;
    begin(mix, seed, argc > 4 ? atoi(argv[4]) : 1);
    while (sent < count || to_come > 0)
        choose_act(mix)(mix);
    await_handled(mix);
    compute_integers(mix);
    printf("process %d: %.2f us, %016llx\n", self, amicclk(), (unsigned long long)seen);
    return 0;
}
